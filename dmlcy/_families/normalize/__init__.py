"""The family normalize: its reference."""
