"""The family contract: what its specs say."""
