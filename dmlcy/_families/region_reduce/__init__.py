"""The family region_reduce: its reference, and how its axes can be cut."""
