"""Attention. The module has nothing that Python calls."""
