"""The family reduce: what its specs say."""
