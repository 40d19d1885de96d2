"""Loops over rows of double; nothing of them is for Python."""
