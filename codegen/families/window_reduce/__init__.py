"""The family window_reduce: its contract, its loops, and how a checked desc becomes their arguments."""
