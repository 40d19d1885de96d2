"""Graphs laid out: as text, for Graphviz, and as a picture."""
