"""The family window_reduce: its reference, and how its axes can be cut."""
