"""The loops that choose elements; nothing of them is for Python."""
