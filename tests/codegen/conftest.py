"""Texts of specs are read once: hundreds of tests here load the same facts beside one that they changed."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from codegen import source

TEXTS = 500


@pytest.fixture(scope="package", autouse=True)
def read_once() -> Iterator[None]:
    """Read each text once: the positions in it follow from the text, and nobody changes them."""
    keep = functools.lru_cache(TEXTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "scan", keep(source.scan))
        patch.setattr(source, "tomllib", SimpleNamespace(loads=keep(tomllib.loads)))
        yield
