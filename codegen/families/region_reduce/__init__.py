"""The family region_reduce: its contract, its loops, and how a checked desc becomes their arguments."""
