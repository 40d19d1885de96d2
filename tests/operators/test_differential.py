"""Kernel = definition in the spec = independent definition = other libraries, on what ``dmlcy.testing`` draws."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from checks import assert_defined, assert_same_bits, assert_same_values
from depth import Draws, draws_of_seeds, of_each_family
from drawing import draw_all, draw_some
from example_descs import attributes
from families.common import inputs_of
from family_files import DEFINITIONS, has
from peers import PEERS, need
from strategies import Array, small_integers

import dmlcy as dml
from dmlcy import testing
from dmlcy._arithmetic.exact import as_float
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import FAST
from dmlcy._reference.expected import outputs_of

NAMES = list(FAST)
Case = tuple[OperatorDesc, dict[str, Array]]


@draws_of_seeds(3, 10, 3)
@pytest.mark.parametrize("name", NAMES)
def test_kernels_give_what_both_definitions_give(name: str, draws: Draws) -> None:
    def compare(case: Case) -> None:
        desc, arrays = case
        inputs = inputs_of(desc, arrays)
        result = getattr(dml, desc.operator.python)(*inputs, **attributes(desc))
        testing.assert_result(desc, arrays, result, bound="own")
        if has(DEFINITIONS, desc.operator.family):
            assert_defined(result, desc, arrays)
        compiled: Any = dml.compile(desc)
        assert_same_bits(without_ones(compiled(*inputs)), without_ones(result))
        kept = {one: x for one, x in arrays.items() if x is not None and not isinstance(x, (tuple, list))}
        for names in ([*kept][1:], [*kept]):
            compiled.initialize(**{one: kept[one] for one in names})
            called = [x for one, x in zip(dml.compile(desc).called, inputs, strict=False) if one not in names]
            assert_same_values(
                without_ones(compiled(*called)), without_ones(result)
            )  # copies are dense: a NaN may come from another operand

    draw_all(testing.cases(name, most_elements=400), draws.number, compare, 100, draws.seeds)


def without_ones(result: Any) -> Any:
    """A result, or several, without leading axes of size 1, which a desc may add."""
    if isinstance(result, tuple):
        return tuple(map(without_ones, result))
    first = next((axis for axis, size in enumerate(result.shape) if size != 1), result.ndim)
    return result.reshape(result.shape[first:])


def positive(result: Any) -> Any:
    """A result, or several, without -0."""
    return tuple(one + 0 for one in result) if isinstance(result, tuple) else result + 0


ENOUGH = 15  # comparisons with another library


@functools.cache
def drawn(name: str, number: int) -> list[Case]:
    """Some cases of an operator, the same for each library."""
    return listed(testing.cases(name, most_elements=600), number)


def listed(strategy: Any, number: int) -> list[Case]:
    """Some values of a strategy."""
    found: list[Case] = []
    draw_some(strategy, 15, found.append, number)
    return found


@pytest.mark.parametrize(("name", "peer"), PEERS, ids=lambda value: str(value))
def test_other_libraries_agree(name: str, peer: str) -> None:
    """At least a few of what is drawn can be expressed; the reasons of the others are shown if not."""
    need(peer)
    other = PEERS[name, peer]
    enough = ENOUGH if other.uses is None else 4 * ENOUGH
    seen: Counter[str | None] = Counter()

    def compare(desc: OperatorDesc, arrays: dict[str, Array]) -> None:
        refused = other.refuses(desc, arrays)
        seen[refused] += 1
        if refused is not None:
            return
        if other.integers:
            x = arrays["input"]
            arrays["input"] = small_integers(sum(seen.values()), x.shape, x.dtype)
        result = getattr(dml, desc.operator.python)(*arrays.values(), **attributes(desc))
        expected = other.run(desc, arrays)
        if other.integers:
            result, expected = positive(result), positive(expected)
        assert_same_values(result, expected)

    for number in range(200, 600):
        if seen[None] < enough:
            for desc, arrays in drawn(name, number) if other.uses is None else listed(other.uses, number):
                try:
                    compare(desc, dict(arrays))
                except Exception as error:
                    error.add_note(f"{desc}\n{arrays}")
                    raise
    assert seen[None] >= enough, f"compared {seen.pop(None, 0)}, not expressed: {seen}"


@draws_of_seeds(2, 5, 2)
@pytest.mark.parametrize("name", of_each_family())
def test_a_wrong_element_is_noticed(name: str, draws: Draws) -> None:
    def spoil(case: Case) -> None:
        desc, arrays = case
        compiled: Any = dml.compile(desc)
        results = compiled(*inputs_of(desc, arrays))
        others = () if isinstance(results, np.ndarray) else results[:-1]
        result = results if isinstance(results, np.ndarray) else results[-1]  # of several, the last one is spoilt
        found = testing.expected(desc, arrays, outputs_of(desc)[-1])
        at = tuple(size // 2 for size in found.values.shape)
        value, one = found.values[at], None if found.units is None else found.units[at]
        wrong = result.reshape(found.values.shape).copy()
        if found.units is None:
            bits = wrong.view(f"u{wrong.itemsize}")
            bits[at] ^= 1
            if value != value:  # other bits of a NaN are no other value
                wrong[at] = 1
        else:
            if one is None or isinstance(value, float) or found.ulp * 4 > 2 ** np.finfo(wrong.dtype).nmant:
                return
            with np.errstate(over="ignore"):
                wrong[at] = as_float(value + one * (int(found.ulp) + 2))
            if not np.isfinite(wrong[at]):
                return
        with pytest.raises(AssertionError, match=f"{desc.operator.python}: 1 of {wrong.size} elements are wrong"):
            testing.assert_result(desc, arrays, (*others, wrong) if others else wrong, bound="own")

    draw_all(testing.cases(name, most_elements=200), draws.number, spoil, 300, draws.seeds)
