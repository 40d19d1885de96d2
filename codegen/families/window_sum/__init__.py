"""The family window_sum: what its specs say."""
