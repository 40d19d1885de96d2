"""The family generate: its reference."""
