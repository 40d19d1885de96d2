"""The family window_sum: its reference."""
