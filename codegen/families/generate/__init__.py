"""The family generate: what its specs say."""
