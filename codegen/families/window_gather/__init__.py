"""The family window_gather: its contract, its loops, and how a checked desc becomes their arguments."""
