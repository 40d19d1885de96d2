"""The family select: its contract, its loops, and how a checked desc becomes their arguments."""
