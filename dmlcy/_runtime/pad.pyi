"""The loops that pad; nothing of them is for Python."""
