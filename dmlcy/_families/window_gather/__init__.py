"""The family window_gather: its reference, and how its axes can be cut."""
