"""A few random calls in the ordinary suite, and that the checks on them fail when an operator does what it must not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import random_calls
from depth import deep, in_turn, of_each_family
from random_arrays import inputs_of, placed
from random_calls import Caller, Failed, several
from random_cases import flat
from random_descs import Walk

import dmlcy as dml
from dmlcy._facts.tables import FAST, LEVELS, NAMES, RUNNABLE


def calls(count: int) -> Caller:
    """Of operators one after the other, GEMM and what follows it in the list."""
    caller = Caller(1, "wide")
    caller.run(list(RUNNABLE).index("GEMM"), lambda caller: caller.calls >= count)
    return caller


@pytest.mark.parametrize("count", [240, pytest.param(4000, marks=deep)])
def test_a_few(count: int) -> None:
    caller = calls(count)
    made = caller.made
    assert made["valid"] > 0.75 * count and made["broken"] > 0.075 * count
    assert made["compared with exact arithmetic"] > 0.075 * count
    assert len(caller.met) >= 0.015 * count and not caller.met.keys() - RUNNABLE.keys()
    assert dml.get_num_threads() == 1


@pytest.mark.parametrize("name", ["GEMM", "CONVOLUTION", "TOP_K"])
def test_walks_from_any_example(name: str) -> None:
    """Tensors that may be left out come and go, and an operator may have no example at its first level."""
    optional = [field.python for field in RUNNABLE[name].fields if field.kind == "input" and field.optional]
    lacking = set()
    for seed in range(6):
        walk = Walk(random.Random(seed), RUNNABLE[name])
        for _ in range(10):
            walk.step()
            lacking |= {(key, walk.values[key] is None) for key in optional}
            with dml.feature_level(LEVELS[walk.level].name):
                inputs_of(walk.chance, walk.desc())
    assert lacking == {(key, lacks) for key in optional for lacks in (True, False)}


def another_result(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    result = call()
    last = several(result)[-1]
    last.view(f"u{last.itemsize}")[(0,) * last.ndim] ^= 1
    return result


def written_beside_the_result(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    result = call()
    last = several(out)[-1]
    if out is not None and min(last.strides) >= 0 and last.ctypes.data > last.base.ctypes.data:
        last.base[0] ^= 1
    return result


def written_input(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    result = call()
    for x in flat(inputs):
        if x.base is not None:
            x.base[0] ^= 1
    return result


def all_accepted(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    try:
        return call()
    except dml.DmlError:
        return out


def written_when_refused(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    try:
        return call()
    except dml.DmlError:
        for one in several(out):
            if isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
                one.base.view(np.uint8).flat[0] ^= 1
        raise


def another_error(call: Callable[..., Any], out: Any, inputs: Any) -> Any:
    try:
        return call()
    except dml.DmlError as error:
        raise RuntimeError from error


FAULTS: list[tuple[Callable[..., Any], str]] = [
    (another_result, "Arrays are not equal|elements are wrong"),  # by another way, or by exact arithmetic
    (written_beside_the_result, "written beside out"),
    (written_input, "an input was written"),
    (all_accepted, "not refused"),
    (written_when_refused, "a call that was refused wrote"),
    (another_error, "RuntimeError"),
]
OF_BROKEN_CALLS = (all_accepted, written_when_refused, another_error)


def test_each_operator_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Caller, "walked", lambda *_: None)
    monkeypatch.setattr(Caller, "drawn", lambda *_: None)
    caller = Caller(1, "wide")
    caller.run(3, lambda caller: caller.walk >= 2 * len(RUNNABLE) + 3)
    assert {*caller.met.items()} == {(name, 2) for name in RUNNABLE}


@in_turn
@pytest.mark.parametrize("name", of_each_family(FAST))
def test_faults_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for fault, said in FAULTS:
        if has_inputs(name) or fault is not written_input:
            with monkeypatch.context() as patch:
                fault_is_found(name, fault, said, patch)


def has_inputs(operator: str) -> bool:
    return any(field.kind == "input" for field in RUNNABLE[operator].fields)


def fault_is_found(operator: str, fault: Callable[..., Any], said: str, patch: pytest.MonkeyPatch) -> None:
    name = NAMES[operator]
    function = getattr(dml, name)

    def faulty(*inputs: Any, out: Any = None, **others: Any) -> Any:
        return fault(lambda: function(*inputs, out=out, **others), out, inputs)

    patch.setattr(dml, name, faulty)
    patch.setattr(random_calls, "RUNNABLE", {operator: RUNNABLE[operator]})
    # The arrays are shown by their layouts; a broken call may hold anything in their place.
    layout = "" if fault in OF_BROKEN_CALLS or not has_inputs(operator) else ".* strides"
    with pytest.raises(Failed, match=rf"--isa wide --seed 1 --first \d+: (\w+ )?{name}\({layout}") as failed:
        calls(10_000)
    assert re.search(said, repr(failed.value.__cause__))


@pytest.mark.parametrize("shape", [(7,), (2, 3, 4), (1, 5, 1, 2, 3)])
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
def test_blocks_hold_the_array_and_nothing_after_it(shape: tuple[int, ...], dtype: str) -> None:
    chance, seen = random.Random(1), set()
    for _ in range(300):
        one = placed(chance, shape, dtype)
        low, high = np.lib.array_utils.byte_bounds(one.view)
        assert one.block.ctypes.data <= low and high == one.block.ctypes.data + one.block.size
        one.view[...] = 1
        assert one.after(one.view).block.tobytes() == one.block.tobytes()
        seen.update(
            {
                "contiguous" if one.view.flags.c_contiguous else "strided",
                "aligned" if one.view.flags.aligned else "misaligned",
                "backwards" if min(one.view.strides) < 0 else "forwards",
            }
        )
    wanted = {"contiguous", "strided", "aligned", "backwards", "forwards"} | (
        {"misaligned"} if dtype != "u1" else set()
    )
    assert seen >= wanted
