"""Repairs as changes of the text of a file: each replaces the value that is wrong and keeps every other character."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dmlcy._errors import Repair
from dmlcy._frontends.dxdispatch.json import Node, end_of
from dmlcy._frontends.dxdispatch.problems import Splice

_LAYOUT: Final = ("Sizes", "Strides", "DimensionCount", "TotalTensorSizeInBytes")
"""The members of a tensor that a repair may change."""


class Mend(NamedTuple):
    """A repair, and how a file gets it; no splices where the file does not have the value."""

    repair: Repair
    splices: tuple[Splice, ...]


def of_value(text: str, node: Node, value: object) -> Iterator[Splice]:
    """The edits that make a value another one: of an array of as many entries, the entries that differ."""
    old = node.plain()
    if node.kind == "array" and isinstance(value, list) and len(old) == len(value):
        for place, (before, after) in enumerate(zip(old, value, strict=True)):
            if before != after:
                yield _whole(text, node.value[place], after)
    elif old != value:
        yield _whole(text, node, value)


def of_tensor(text: str, body: Node, value: Mapping[str, object]) -> Iterator[Splice]:
    """The edits that make a tensor another one; ``value``: all of its members."""
    for name in _LAYOUT:
        member = body.get(name)
        if member is not None:
            yield from of_value(text, member, value[name])
        elif name == "Strides" and value[name] is not None:
            sizes = body.get("Sizes")
            assert sizes is not None, "a tensor without sizes has no repairs"
            yield Splice(sizes.key_at, sizes.key_at, f'"{name}": {json.dumps(value[name])}, ')


def _whole(text: str, node: Node, value: object) -> Splice:
    return Splice(node.at, end_of(text, node), json.dumps(value))


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of the changes, which do not overlap."""
    parts, last = [], 0
    for one in sorted(splices):
        parts += [text[last : one.at], one.text]
        last = one.end
    return "".join([*parts, text[last:]])
