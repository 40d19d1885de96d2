"""The family window_scatter: its reference, and how its axes can be cut."""
