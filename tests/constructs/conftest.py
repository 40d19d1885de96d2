"""Operators whose specs are in specs/ beside this file, in place of those of the package; they compile nothing.

Each operator is a real one of the catalogue, with a small spec that has one construct of the language.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import caches
import pytest
from own_specs import SPECS, generated, put_in_place

from codegen.plan import Plan


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    """A folder with these specs and everything that is generated of them."""
    root = tmp_path_factory.mktemp("constructs")
    return root, generated(root, SPECS.glob("*/*.toml"))


@pytest.fixture(scope="module", autouse=True)
def operators(checkout: tuple[Path, Plan]) -> Iterator[Plan]:
    """The package, with these operators."""
    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch, *checkout)
        caches.clear()
        yield checkout[1]
    caches.clear()
