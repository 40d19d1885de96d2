"""One broken thing of an operator, how it is tried, and the values by which rules are broken."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from uses import LEVELS, NEWEST, NUMPY, Use

import dmlcy as dml
from dmlcy._check.optional import descs_for
from dmlcy._errors import raise_violations
from dmlcy._facts.tables import OPERATORS as TABLE
from dmlcy._facts.tables import FeatureLevelName

DELETED = object()


@dataclass(frozen=True, slots=True)
class Case:
    """One broken thing. ``way``: desc, json, call or compiled; ``alone``: nothing else follows from it; ``warns``: the
    desc is valid, and ``check`` warns of it.
    """

    id: str
    error: str
    subject: str
    use: Use
    way: str
    changes: Mapping[str, Any]
    level: FeatureLevelName = NEWEST
    alone: bool = True
    warns: bool = False

    def run(self, desc: Any = None) -> dml.DmlError:
        """The error that it gives; with its desc, where that is made already."""
        try:
            with dml.feature_level(self.level):
                result = self.attempt(desc)
        except dml.DmlError as error:
            return error
        raise AssertionError(f"{self} was accepted: {result!r}")

    def attempt(self, desc: Any = None) -> Any:
        """Does what the case does."""
        use, function = self.use, getattr(dml, self.use.operator.python)
        if self.way == "call":
            return use.call(function, self.changes, use.attributes)
        if self.way == "compiled":
            return use.call(dml.compile(use.desc, NEWEST), self.changes, {})
        desc = self.desc() if desc is None else desc
        if self.warns and (found := dml.check(desc, warnings=True)):
            raise_violations(found, "check")
        return dml.compile(desc)

    def desc(self) -> Any:
        """The broken desc."""
        if self.way == "desc":
            return self.use.make({**self.use.values(), **self.changes})
        model = copy.deepcopy(self.use.desc.to_dict())
        for path, value in self.changes.items():
            *owners, name = path.split(".")
            owner = model["desc"]
            for part in owners:
                owner = owner[int(part) if isinstance(owner, list) else part]
            if value is DELETED:
                del owner[name]
            else:
                owner[name] = value
        return type(self.use.desc).from_dict(model)

    def __str__(self) -> str:
        return f"{self.id} {self.way} {', '.join(self.changes) or self.level}"


def broken_by_hint(use: Use, name: str, hint: Any, way: str) -> Any:
    """The value that a rule's ``breaks`` stands for."""
    if hint == "absent":
        return None
    if hint == "present":
        known = TABLE[use.operator.name]
        desc = next(descs_for(known, known.field(name), use.values(), len(LEVELS) - 1))
        return np.zeros(desc.sizes, NUMPY[desc.dtype.name]) if way in ("call", "compiled") else desc
    if any(field.python == name and not field.fills for field in TABLE[use.operator.name].fields):
        return (hint,) * len(use.values()[name])
    if f"{name}[0]" in use.arrays:
        paths = [f"{name}[{min(place, len(use.values()[name]) - 1)}]" for place in range(len(hint))]
        return tuple(tensor_by_hint(use, path, one, way) for path, one in zip(paths, hint, strict=True))
    return tensor_by_hint(use, name, hint, way) if name in use.arrays else hint


def tensor_by_hint(use: Use, name: str, hint: Any, way: str) -> Any:
    """A tensor with what a hint says of it."""
    if not hint:
        return use.arrays[name] if way in ("call", "compiled") else use.tensor(name)
    if "sizes" in hint or "dtype" in hint:
        array = use.arrays[name]
        sizes, dtype = hint.get("sizes", array.shape), NUMPY[hint["dtype"]] if "dtype" in hint else array.dtype
        return np.zeros(sizes, dtype) if way in ("call", "compiled") else dml.TensorDesc(dtype, sizes)
    array = use.arrays[name].copy()
    for index, value in hint.items():
        array[tuple(int(part) for part in index.split(","))] = float(value)
    return array
