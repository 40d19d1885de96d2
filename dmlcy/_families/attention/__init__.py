"""The family attention: its reference."""
