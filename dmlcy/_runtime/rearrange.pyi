"""The loops that rearrange elements; nothing of them is for Python."""
