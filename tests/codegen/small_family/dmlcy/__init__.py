"""The family line: its reference."""
