"""The specs of the checkout, their plan and what is generated of them, made once for all tests of a process."""

from __future__ import annotations

import functools
from pathlib import Path

from codegen import emit
from codegen.__main__ import make_plan
from codegen.model import Specs
from codegen.plan import Plan

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def planned() -> Plan:
    """The plan of all operators."""
    return make_plan(ROOT)


def specs() -> Specs:
    """The specs, as the plan has them."""
    return planned().specs


@functools.cache
def files() -> dict[str, str]:
    """The text of every generated file, by its path."""
    return {path: text for path, text, _ in emit.made(planned(), ROOT)}
