"""The loops of elements by index; nothing of them is for Python."""
