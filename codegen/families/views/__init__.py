"""The family views: what its specs say."""
