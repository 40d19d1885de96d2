"""Graphs of operators: nodes, constants and edges; their checks, their order and memory, and runs of them."""
