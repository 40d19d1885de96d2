"""The loops of window_sum; nothing of them is for Python."""
