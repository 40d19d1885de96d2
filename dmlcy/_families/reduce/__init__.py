"""The family reduce: its reference."""
