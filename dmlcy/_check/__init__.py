"""Checks what a desc or a call gives for each field, and says everything that is wrong."""
