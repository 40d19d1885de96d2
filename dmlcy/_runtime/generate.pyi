"""The loops of generate; nothing of them is for Python."""
