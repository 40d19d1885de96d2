"""The loops that add columns where windows lie; nothing of them is for Python."""
