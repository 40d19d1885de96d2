"""The loops of views; nothing of them is for Python."""
