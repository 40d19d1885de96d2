"""Lets the tests of this folder import their helpers, and those of the tests of operators."""

import sys
from pathlib import Path

for _folder in ("operators", "reliability", "facts", "cpp"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))
