"""The loops of resample; nothing of them is for Python."""
