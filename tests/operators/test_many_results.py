"""More results than NumPy's iterators take at once, in shapes that end in axes of size 1, of each operator.

A drawn use grows along an axis whose slices are independent by the spec. The results are those of the same operator for
pieces of the axis, of which none has so many; sums that NumPy adds in another order are within the accuracy. The
operators without such an axis are compared with numbers of Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from depth import deep
from drawing import draw_some
from enlarged import Array, Use, uses_of
from example_descs import desc_of_example
from few import few_of_each_family
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import RUNNABLE
from dmlcy._families.slices import replaced
from dmlcy._field_types import type_of
from dmlcy._reference.expected import outputs_of
from dmlcy._testing.arrays import in_numpy, inputs
from dmlcy._testing.descs import class_of, descs
from dmlcy._testing.starts import Values
from dmlcy._testing.walk import Walk

MANY = 8_400
"""Results: NumPy's iterators have buffers of 8,192 elements."""
PIECE = 840
"""Results of a piece at most."""
DRAWN, MOST = 40, 10_000
"""Elements that a drawn use has, and that it may have in a shape that ends in 1."""
BY_STEPS, LARGER = ("attention",), 600
"""Families that compute one slice after another, and the elements of their drawn uses: few slices have many results."""
DRAWS, ENOUGH, ROUNDS = 3, 3, 12
"""Uses that are drawn at once, or one for each member of an enum; how often if not all members are met, or none is."""
EXACT = 3
"""Slices whose results are compared with exact numbers, where NumPy adds in another order."""


@st.composite
def cases(draw: st.DrawFn, operator: Operator) -> tuple[OperatorDesc, dict[str, Any]]:
    """A use with any members of its enums, whose outputs end in an axis of size 1 where they can; and its arrays."""
    examples = st.sampled_from([desc_of_example(operator, one) for one in operator.examples])
    most = LARGER if operator.family in BY_STEPS else DRAWN
    desc = draw(st.one_of(examples, descs(operator.name, most_elements=most, layouts=False)))
    walk = Walk(draw, operator, NEWEST, MOST, desc._values())
    for choice in draw(st.permutations([*walk.members()]))[:1]:
        for name, member in choice.items():
            walk.choose(operator.field(name), member)
    tensors = [one for one in operator.fields if one.kind != "attribute" and one.python in walk.given]
    tensors = [one for one in tensors if not walk.lacks(one)]
    lengthen(walk, tensors)
    for field in operator.fields:
        if field.python in walk.given and not walk.lacks(field) and not ends_in_one(walk):
            shorten(walk, field)
    desc = class_of(operator)(**walk.values)
    return desc, draw(inputs(desc)) if in_numpy(desc) else {}


def lengthen(walk: Walk, tensors: Sequence[Field]) -> None:
    """Makes a drawn axis long enough to be cut, in all tensors that have it, if its slices are independent."""
    rules = Formulas(class_of(walk.operator)(**walk.values)).rules
    axes = [
        (one, index)
        for one in walk.operator.independent
        for index in ([()] if one.domain is None else [(d,) for d in range(one.domain(rules))])
        if one.when is None or one.when(rules, *index)
    ]
    for one, index in walk.draw(st.permutations(axes))[:1]:
        count = walk.draw(st.integers(2, 3))
        size = count * one.takes(rules, *index)
        changes: Values = {
            name: replaced(walk.values[name], (int(entry(rules, *index)),), count * one.gives(rules, *index))
            for name, entry in one.sized.items()
        }
        for field in tensors:
            if field.python in one.axes:
                place = (int(one.axes[field.python](rules, *index)),)
                changes[field.python] = walk.resized(field, partial(replaced, place=place, entry=size))
        walk.take(changes)


def ends_in_one(walk: Walk) -> bool:
    """Whether all outputs end in an axis of size 1."""
    outputs = [field for field in walk.operator.fields if field.kind == "output" and not walk.lacks(field)]
    return all(tensor.sizes[-1] == 1 for field in outputs for tensor in walk.tensors(field))


def shorten(walk: Walk, field: Any) -> None:
    """Makes the last axis of a tensor one element long, alone or with axes of others of that size; or a last entry."""
    value = walk.values[field.python]
    if field.kind != "attribute":
        sizes = (*walk.tensors(field)[0].sizes[:-1], 1)
        alone = {field.python: walk.resized(field, lambda old: (*old[:-1], 1))}
        any(walk.take(changes) for changes in (alone, *walk.together(field, sizes)))
    elif field.minimum in (0, 1):
        walk.take({field.python: (*value[:-1], 1) if isinstance(value, tuple) else 1})


def groups_of(use: Use) -> int:
    """How many slices give more than so many results: a multiple of the present number."""
    results = max(use.tensors[path].element_count for path in outputs_of(use.desc))
    return -(-MANY // results) * use.groups


def uses(operator: Operator) -> list[Use]:
    """Drawn uses that can have many results, one for each member of an enum.

    Of several uses, the one with the most outputs that end in 1 is taken, and among equal ones the one with the most
    inputs. Where slices are computed one after the other, the use with the fewest slices is taken.
    """
    found: dict[object, tuple[tuple[int, float], Use]] = {}
    by_steps = operator.family in BY_STEPS
    infos = {one.python: type_of(one.type).info for one in operator.fields if one.kind == "attribute" and not by_steps}
    enums = {name: info for name, info in infos.items() if info is not None}
    wanted = sum(len(info.members) for info in enums.values()) or 1

    def look(case: tuple[OperatorDesc, dict[str, Any]]) -> None:
        for use in uses_of(*case) if case[1] else ():
            outputs = [use.tensors[path].sizes for path in outputs_of(use.desc)]
            taken = sum(array.size for array in use.arrays.values()) / max(map(math.prod, outputs))
            worth = (sum(sizes[-1] == 1 for sizes in outputs), -groups_of(use) if by_steps else taken)
            members: list[Any] = [(name, getattr(use.desc, name)) for name in enums] or [None]
            better = [one for one in members if one not in found or worth > found[one][0]]
            if better and not dml.check(use.resized(groups_of(use))):
                found.update(dict.fromkeys(better, (worth, use)))

    for number in range(ROUNDS):
        draw_some(cases(operator), max(DRAWS, wanted), look, number)
        enough = 1 if len(found) == wanted and not by_steps else ENOUGH
        if number + 1 >= enough and found and all(ones for (ones, _), _ in found.values()):
            break
    assert any(ones for (ones, _), _ in found.values())
    return [*{id(use): use for _, use in found.values()}.values()]


def differing(use: Use, groups: int, one: dict[str, Array], other: dict[str, Array]) -> list[int]:
    """The slices of results whose elements are not the same; only numbers of floating point may differ.

    NaN equals NaN, whatever its bits are.
    """
    found: set[int] = set()
    for path, array in one.items():
        axis = use.along.axes[path]
        same = (array == other[path]) | ((array != array) & (other[path] != other[path]))
        wrong = np.flatnonzero(~same.all(tuple(d for d in range(same.ndim) if d != axis)))
        assert not wrong.size or array.dtype.kind == "f", (use.desc, use.along, path, wrong[:EXACT])
        found |= {int(place) * groups // same.shape[axis] for place in wrong}
    return sorted(found)


def hold(use: Use) -> None:
    """The results are those of the pieces, or within the accuracy of some slices where they differ."""
    groups = groups_of(use)
    arrays = use.large(groups)
    whole = use.run(groups, arrays)
    step = max(1, groups * PIECE // max(result.size for result in whole.values()))
    wrong: list[int] = []
    for first in range(0, groups, step):
        piece = range(first, min(first + step, groups))
        found = use.run(len(piece), use.parts(piece, groups, arrays))
        wrong += [first + place for place in differing(use, len(piece), found, use.parts(piece, groups, whole))]
    if wrong:
        use.assert_exact([*wrong[:EXACT], wrong[-1]], groups, arrays, whole)


def numbers(sizes: Sequence[int]) -> list[int]:
    """An integer for each element of a tensor, drawn without NumPy."""
    random = Random(5)
    return [random.randint(-9, 9) for _ in range(math.prod(sizes))]


def diagonals() -> None:
    """Of matrices of two rows and one column: the diagonal below the main one has the second element."""
    found = dml.diagonal_matrix(output_sizes=(60, 70, 2, 1), offset=-1, value=3.0)
    assert found.ravel().tolist() == [3.0 * (place % 2) for place in range(MANY)]


def constants() -> None:
    found = dml.fill_value_constant(output_sizes=(MANY, 1), value=7, output_dtype="INT32")
    assert found.ravel().tolist() == [7] * MANY


def sequences() -> None:
    found = dml.fill_value_sequence(output_sizes=(60, 140, 1), value_start=3, value_delta=5, output_dtype="INT32")
    assert found.ravel().tolist() == [3 + 5 * place for place in range(MANY)]


def generated() -> None:
    """Pieces begin with the state that the piece before leaves."""
    state = np.array([2**32 - 9, 7, 5, 3, 1, 2], np.uint32)
    whole = dml.random_generator(state, output_sizes=(MANY, 1))
    pieces = []
    for _ in range(MANY // PIECE):
        found, state = dml.random_generator(state, output_sizes=(PIECE, 1), output_state=True)
        pieces += found.ravel().tolist()
    assert whole.ravel().tolist() == pieces


def unpooled() -> None:
    size = MANY + 100
    places = Random(5).sample(range(size), MANY)
    values = numbers((MANY,))
    given = [np.array(one, dtype).reshape(1, 1, MANY, 1) for one, dtype in ((values, np.int32), (places, np.uint32))]
    by_place = dict(zip(places, values, strict=True))
    found = dml.max_unpooling(*given, output_sizes=(1, 1, size, 1))
    assert found.ravel().tolist() == [by_place.get(place, 0) for place in range(size)]


def coordinates() -> None:
    sizes = (2, 1, MANY, 1)
    values = numbers(sizes)
    count, found = dml.nonzero_coordinates(np.array(values, np.int8).reshape(sizes))
    expected = [[place // MANY, 0, place % MANY, 0] for place, value in enumerate(values) if value]
    assert count.item() == len(expected) > MANY
    assert found.reshape(-1, len(sizes))[: len(expected)].tolist() == expected


def quantized() -> None:
    """Pieces that have the extremes, too, have the same scale and zero point."""
    values = [value / 4 for value in numbers((MANY,))]
    whole, *scales = dml.dynamic_quantize_linear(np.array(values, np.float32).reshape(-1, 2, 1))
    pieces = []
    for first in range(0, MANY, PIECE):
        piece = [min(values), max(values), *values[first : first + PIECE]]
        found, *own = dml.dynamic_quantize_linear(np.array(piece, np.float32)[:, None])
        assert [one.item() for one in own] == [one.item() for one in scales]
        pieces += found.ravel().tolist()[2:]
    assert whole.ravel().tolist() == pieces


OWN: dict[str, Callable[[], None]] = {
    "DIAGONAL_MATRIX": diagonals, "DYNAMIC_QUANTIZE_LINEAR": quantized, "FILL_VALUE_CONSTANT": constants,
    "FILL_VALUE_SEQUENCE": sequences, "MAX_UNPOOLING": unpooled, "NONZERO_COORDINATES": coordinates,
    "RANDOM_GENERATOR": generated,
}  # fmt: skip


FEW = {*OWN, *few_of_each_family(RUNNABLE, 4)}
"""The operators of a default run."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else deep) for name in RUNNABLE])
def test_many_results(name: str) -> None:
    if name in OWN:
        OWN[name]()
        return
    for use in uses(RUNNABLE[name]):
        hold(use)
