"""The loops over windows; nothing of them is for Python."""
