"""The definitions of families whose elements only move: pad, rearrange, window_gather."""

from __future__ import annotations

import math

import numpy as np

from dmlcy._reference.exact import Array, grid
from dmlcy._reference.given import Given
from dmlcy._reference.slide import slide


def pad(given: Given) -> Array:
    """Along each axis, the element that ``index`` says, or the padding value."""
    source, mode = given.input, given.field("mode").name
    start, sizes = given.field("start"), given.output_sizes
    result: Array = np.empty(sizes, source.dtype)
    if f"index.{mode}" not in given.told.formulas:
        result[...] = given.field("fill")
    inside: list[list[int]] = []
    outside: list[list[int]] = []
    for n, before, size in zip(source.shape, start, sizes, strict=True):
        places = range(-before, size - before)
        if f"index.{mode}" in given.told.formulas:
            read = {p: given.of(f"index.{mode}", p=p, n=n) for p in places}
        else:
            read = {p: p for p in places if 0 <= p < n}
        outside.append([p + before for p in read])
        inside.append([*read.values()])
    bits = f"u{source.itemsize}"
    result.view(bits)[np.ix_(*outside)] = np.ascontiguousarray(source).view(bits)[np.ix_(*inside)]
    return result


def rearrange(given: Given) -> Array:
    """The axes of the input split into the parts of its pattern, in the order of the output, and joined."""
    words = given.told.words
    pattern = words["pattern"] if "pattern" in words else words[f"pattern.{given.field('mode').name}"]
    left, right = (_groups(side) for side in pattern.split("->"))
    known = {key.removeprefix("axes."): words[key] for key in words if key.startswith("axes.")}
    sizes = {part: given.formulas.number(name) for part, name in known.items()}
    for size, group in zip(given.input.shape, left, strict=True):
        for part in group:
            if part not in known:
                sizes[part] = size // math.prod(sizes[other] for other in group if other != part)
    before = [part for group in left for part in group]
    after = [part for group in right for part in group]
    split = given.input.reshape([sizes[part] for part in before])
    return split.transpose([before.index(part) for part in after]).reshape(given.output_sizes)


def _groups(side: str) -> list[list[str]]:
    """``n (b c) h`` as [[n], [b, c], [h]]."""
    groups: list[list[str]] = []
    inside = False
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word in "()":
            inside = word == "("
            groups += [[]] if inside else []
        elif inside:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def window_gather(given: Given) -> Array:
    """What is under each position of a window, as a column; padding is 0."""
    source = given.input
    window = slide(given, source.shape)
    assert window.blocks is not None
    lead = source.shape[: -len(window.sizes)]
    result: Array = np.zeros((*lead, math.prod(window.sizes), math.prod(window.blocks)), source.dtype)
    bits = f"u{source.itemsize}"
    for column, position in enumerate(grid(window.blocks)):
        for row, place in window.inside(position):
            under: Array = source[(slice(None),) * len(lead) + place]
            result.view(bits)[..., row, column] = under.view(bits)
    return result.reshape(given.output_sizes)
