"""The family index: its reference."""
