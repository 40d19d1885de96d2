"""The family resample: what its specs say."""
