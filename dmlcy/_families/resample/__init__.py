"""The family resample: its reference."""
