"""The family contract: its reference."""
