"""Matrices of quantized integers, packed for products. The module has nothing that Python calls."""
