"""Attribute arguments: from Python objects to C. Nothing of it is for Python."""
