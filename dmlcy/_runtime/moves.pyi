"""The loops that only move elements; nothing of them is for Python."""
