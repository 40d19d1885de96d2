"""A function of a kernel that fills in a struct for the loops gives each member a value."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "dmlcy"
STRUCT = re.compile(r"^cdef struct (\w+):\n((?:(?: {4}.*)?\n)+)", re.M)
MEMBER = re.compile(r"^ {4}[^#\n]*?(\w+)(?:\[\w+\])*[ \t]*(?:#.*)?$", re.M)
FUNCTION = re.compile(r"^cdef inline (\w+) (\w+)\(const \w+\* a\).*:\n((?:(?: {4}.*)?\n)+)", re.M)


def members() -> dict[str, set[str]]:
    """By the name of a struct of the runtime."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "_runtime").glob("*.pxd")))
    return {name: {*MEMBER.findall(body)} for text in texts for name, body in STRUCT.findall(text)}


def unset(text: str, structs: dict[str, set[str]]) -> dict[str, set[str]]:
    """By the name of a function of a module, the members that it gives no value."""
    return {
        name: structs[struct] - {*re.findall(r"^ {4}work\.(\w+) = ", body, re.M)}
        for struct, name, body in FUNCTION.findall(text)
        if struct in structs
    }


def kernels() -> dict[str, str]:
    folder = PACKAGE / "_generated" / "kernels"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.pyx"))}


def test_each_member_has_a_value() -> None:
    structs = members()
    found: dict[str, set[str]] = {}
    for text in kernels().values():
        found |= unset(text, structs)
    assert len(found) >= 10
    assert {name: lacking for name, lacking in found.items() if lacking} == {}


def test_a_member_without_a_value_is_found() -> None:
    structs = {"Some": {*MEMBER.findall("    const Tensor* left   # of rows\n    int64_t[3] sizes\n    int all\n")}}
    assert structs == {"Some": {"left", "sizes", "all"}}
    text = "cdef inline Some f_work(const F* a) noexcept nogil:\n    cdef Some work\n    work.left = &a.b\n"
    assert unset(text, structs) == {"f_work": {"sizes", "all"}}
