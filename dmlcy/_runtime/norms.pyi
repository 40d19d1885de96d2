"""The loops that normalize lines; nothing of them is for Python."""
