"""The version, which pyproject.toml reads from here."""

__version__ = "1.0.0"
