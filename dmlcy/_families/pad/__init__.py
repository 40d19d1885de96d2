"""The family pad: its reference, and how its axes can be cut."""
