"""The family window_scatter: its contract, its loops, and how a checked desc becomes their arguments."""
