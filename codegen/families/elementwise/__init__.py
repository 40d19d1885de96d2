"""The family elementwise: what its specs say."""
