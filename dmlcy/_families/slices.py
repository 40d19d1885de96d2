"""Along which axes a use of an operator can be cut: what its spec says of the independent ones, worked out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Independent, Operator, Rules
from dmlcy._families.activations import along
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc


@dataclass(frozen=True, slots=True)
class Slices:
    """An axis along which slices of the inputs give the slices of the outputs.

    ``axes``: the axis of each tensor, by its path, the inputs first. A slice of the first input has a multiple of
    ``takes`` elements, each ``takes`` of which give ``gives`` elements of each output. A slice of another input is the
    same part of that input. An input that is not in ``axes`` is given whole with each slice. ``sized``: of attributes,
    the entry that is the size of the slice of the output.
    """

    axes: dict[str, int]
    takes: int
    gives: int
    sized: dict[str, int]


def slices(operator: Operator, rules: Rules, values: Mapping[str, object], one: Independent) -> Iterator[Slices]:
    """The slices of a declaration in a valid use, for each axis of more than one element; ``values``: of its desc.

    An input with one element along the axis is given whole where another input has more. Nothing is cut for outputs
    that the use does not have, nor along an axis along which an activation makes each result of several numbers.
    """
    inputs, outputs = (dict(by_path(operator.fields, kind, values)) for kind in ("input", "output"))
    whole = _whole(operator, values, outputs)
    for index in [()] if one.domain is None else [(d,) for d in range(one.domain(rules))]:
        if one.when is not None and not one.when(rules, *index):
            continue
        named = {name: int(axis(rules, *index)) for name, axis in one.axes.items()}
        taken = {path: axis for path in inputs if (axis := named.get(_name(path))) is not None}
        given = {path: axis for path in outputs if (axis := named.get(_name(path))) is not None}
        sizes = {path: inputs[path].sizes[axis] for path, axis in taken.items()}
        long = {path: size for path, size in sizes.items() if size > 1}
        if not long or not given or any((path, axis) in whole for path, axis in given.items()):
            continue
        first = next(iter(long.values()))
        takes = one.takes(rules, *index)
        least = math.lcm(takes, *(first // math.gcd(first, size) for size in long.values()))
        axes = {path: taken[path] for path in long} | given
        sized = {name: int(entry(rules, *index)) for name, entry in one.sized.items()}
        yield Slices(axes, least, least // takes * one.gives(rules, *index), sized)


def _whole(operator: Operator, values: Mapping[str, object], outputs: Mapping[str, TensorDesc]) -> set[tuple[str, int]]:
    """The axes of outputs along which an activation that the operator applies reads several elements."""
    held = [values[field.python] for field in operator.fields if field.among]
    return {
        (path, axis)
        for desc in held
        if isinstance(desc, OperatorDesc)
        for path, tensor in outputs.items()
        for axis in along(desc, tuple(tensor.sizes))
    }


def _name(path: str) -> str:
    """The Python name of the field of a tensor."""
    return path.partition("[")[0]


def part(size: int, begin: int, end: int, whole: int) -> tuple[int, int]:
    """The part of an axis of ``size`` elements that elements ``begin`` to ``end`` are of ``whole``."""
    return begin * size // whole, end * size // whole


def sizes_of(
    operator: Operator, arguments: Mapping[str, object], axes: Mapping[str, int], sized: Mapping[str, int]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The arguments that say how long the outputs are along these axes: each keyword, and the place in its value."""
    yield from ((name, (entry,)) for name, entry in sized.items())
    outputs = {path: axis for path, axis in axes.items() if operator.field(path).kind == "output"}
    for path, axis in outputs.items():
        name, _, place = path.partition("[")
        said = operator.field(path).sized_by
        if said is not None and arguments.get(said) is not None:
            yield said, (int(place[:-1]), axis) if place else (axis,)
        for field in operator.chosen:
            if field.part is not None and field.part.tensor == name:
                at = axis - field.part.before
                sizes = cast("Sequence[int]", arguments.get(field.python, ()))  # () where a desc has them in an output
                if 0 <= at < len(sizes):
                    yield field.python, (at,)


def replaced(value: Any, place: tuple[int, ...], entry: Any) -> Any:
    """A sequence, perhaps of sequences, with another entry at a place."""
    if not place:
        return entry
    first, *rest = place
    return tuple(replaced(one, tuple(rest), entry) if at == first else one for at, one in enumerate(value))
