"""The family rearrange: its reference, and how its axes can be cut."""
