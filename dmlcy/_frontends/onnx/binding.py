"""Sizes that a user gives: ``x=1x3x224x224`` for an input, ``batch=1`` for a free dimension."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index

from dmlcy._facts.tables import DTYPES
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable, refuse, whole
from dmlcy._frontends.onnx.model import Model, Sizes
from dmlcy._words.values import listing, quote, show


@dataclass(frozen=True, slots=True)
class FreeDimension:
    """A size of a graph input that the model leaves open. ``name`` is "" where it has none."""

    input: str
    axis: int
    name: str
    sizes: Sizes


def device_types(names: Iterable[str]) -> frozenset[str]:
    """The data types that a device has; ValueError for a name that is none of DirectML's."""
    found = [names] if isinstance(names, str) else [*names]
    for name in found:
        if name not in DTYPES:
            raise ValueError(f"{show(name)} is no data type of DirectML: {listing([*DTYPES])}")
    return frozenset(found)


def sizes_of(shapes: Mapping[str, int | Sequence[int]] | None) -> dict[str, tuple[int, ...]]:
    """The sizes of each name, where a number is one size; ValueError for what are no sizes."""
    found: dict[str, tuple[int, ...]] = {}
    for name, given in (shapes or {}).items():
        try:
            sizes = tuple(map(index, given)) if isinstance(given, Iterable) else (index(given),)
        except TypeError:
            sizes = (-1,)
        if isinstance(given, str | bytes) or min(sizes, default=0) < 0:
            raise ValueError(f"shapes has {show(given)} for {show(name)}: sizes are integers, 0 or more.")
        found[name] = sizes
    return found


def bound(model: Model, shapes: Mapping[str, Sequence[int]]) -> tuple[dict[str, tuple[int, ...]], dict[str, int]]:
    """The sizes of inputs, and of free dimensions by name. Refuses names and sizes that the model does not have."""
    inputs = {one.name: one for one in model.graph.inputs}
    dimensions: dict[str, int] = {}
    wrong: list[Problem] = []
    names = {size for one in inputs.values() for size in one.sizes or () if isinstance(size, str)}
    for name, given in shapes.items():
        if name in inputs:
            known = inputs[name].sizes
            if known is not None and (
                len(known) != len(given)
                or any(isinstance(one, int) and one != size for one, size in zip(known, given, strict=True))
            ):
                values = {"name": name, "given": written(given), "sizes": written(known)}
                wrong.append(make("DML-ONNX-shape-sizes", whole(model.file), values))
            for one, size in zip(known or (), given, strict=False):
                if isinstance(one, str):
                    dimensions.setdefault(one, size)
        elif name in names and len(given) == 1:
            dimensions[name] = given[0]
        else:
            has = listing([quote(one) for one in (*inputs, *sorted(names))])
            wrong.append(make("DML-ONNX-shape-name", whole(model.file), {"name": name, "has": has}))
    if wrong:
        refuse(wrong)
    return {name: tuple(given) for name, given in shapes.items() if name in inputs}, dimensions


def unbound(dimensions: Iterable[FreeDimension]) -> dict[str, Sizes]:
    """The inputs that have free dimensions, with their sizes."""
    return {one.input: one.sizes for one in dimensions}


def options(inputs: Mapping[str, Sizes]) -> str:
    """The options that give inputs their sizes, with N for each number that is not known.

    Free dimensions are given by name, and an input as a whole if one of its free dimensions does not have a name.
    """
    found: list[str] = []
    for name, sizes in inputs.items():
        free = [one for one in sizes if not isinstance(one, int)]
        if all(free) and not any(one in inputs for one in free):
            found += [f"{one}=N" for one in free]
        else:
            found.append(f"{name}={'x'.join(str(one) if isinstance(one, int) else 'N' for one in sizes)}")
    return " ".join(f"--shape {shlex.quote(printable(one))}" for one in dict.fromkeys(found))


def written(sizes: Sequence[int | str | None]) -> str:
    """Such as 1x3x224x224, or batch x 3 x height x N with names and unknown sizes; () for a single number."""
    between = "x" if all(isinstance(size, int) for size in sizes) else " x "
    return printable("()" if not sizes else between.join("N" if size is None else str(size) for size in sizes))
