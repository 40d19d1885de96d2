"""The family select: what its specs say."""
