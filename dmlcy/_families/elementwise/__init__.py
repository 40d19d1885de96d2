"""The family elementwise: its reference."""
