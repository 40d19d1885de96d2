"""How large graphs may be."""

from __future__ import annotations

from typing import Final

MOST: Final = 100_000
"""Nodes of a graph that is checked without another limit being given."""
