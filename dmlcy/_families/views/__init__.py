"""The family views: its reference."""
