"""Makes codegen importable beside the package. The checkout comes last: an installed dmlcy is the one tested."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

os.environ.pop("FORCE_COLOR", None)  # reports are compared as they are without colours

# Files that take long: they come first, so that no processor works on them alone at the end.
LONG = (
    "codegen/test_build.py", "operators/test_bad_input.py", "operators/test_differential.py",
    "operators/test_testing.py", "site", "typing",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Keep this order where pytest-xdist would begin with the files of the most tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    first = tuple(str(ROOT / "tests" / name) for name in LONG)
    items.sort(key=lambda item: not str(item.path).startswith(first))
