"""The family select: its reference."""
