"""The family normalize: what its specs say."""
