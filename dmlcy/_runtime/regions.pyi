"""The loops of region_sample; nothing of them is for Python."""
