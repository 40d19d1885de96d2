"""Operator descs, and what can be asked of them: a check, the lowest level, a compiled operator."""
