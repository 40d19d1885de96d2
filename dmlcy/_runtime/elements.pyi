"""Loops over elements at the same place; nothing of them is for Python."""
