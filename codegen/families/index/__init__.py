"""The family index: what its specs say."""
