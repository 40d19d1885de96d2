"""The family attention: what its specs say."""
