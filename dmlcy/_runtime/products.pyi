"""Sums of products. The module has nothing that Python calls."""
