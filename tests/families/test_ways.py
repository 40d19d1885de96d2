"""Each way through the kernels of a family: the values of the reference, any layout, nothing read beside the input."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_values, described
from depth import deep, in_turn
from each import each
from family_files import DEFINITIONS, WAYS, has
from instruction_levels import assert_same_lines
from strategies import Array, Layout, Placed, contiguous

import dmlcy as dml
from dmlcy._facts.tables import FAST
from dmlcy._runtime import isa
from dmlcy._runtime.processor import set_stream_limit, stream_limit
from families.ways import FAMILIES, NAMES, Use, every_use, family, inputs_of, some_uses

TESTS = Path(__file__).parents[1]
NEVER = 1 << 62
LAST = 1
ALL = range(12)


def layouts_of(rank: int, item: int) -> list[Layout]:
    """The second one is channels last."""
    straight, ones = tuple(range(rank)), (1,) * rank
    last = (0, *straight[2:], 1) if rank > 1 else straight
    found = [
        contiguous(rank),
        Layout(last, ones),
        Layout(straight[::-1], ones),
        Layout(straight, (*ones[1:], -1)),
        Layout(straight, ones, shift=item),
        Layout(straight, ones, shift=1),
        Layout(straight, (*ones[1:], 2)),
        Layout(straight, (*ones[1:], 7)),
        Layout(last, (*ones[1:], -1)),
    ]
    if rank > 1:
        found += [
            Layout(straight, (*ones[2:], -2, 1)),
            Layout(last, (1, 2, *ones[2:])),
            Layout(last, (1, -1, *ones[2:])),
        ]
    return found


@contextmanager
def streams_from(limit: int) -> Iterator[None]:
    """Outputs of so many bytes are streamed."""
    before = stream_limit()
    set_stream_limit(limit)
    try:
        yield
    finally:
        set_stream_limit(before)


def several(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


def defined(use: Use) -> None:
    """The use has the values of the definition, or of ``[kernel]`` where the definition is that of another library."""
    arrays = use.arrays(use.kind)
    inputs = inputs_of(use.operator, arrays)
    result = getattr(dml, use.operator.python)(*inputs, **use.way.given)
    if has(DEFINITIONS, use.operator.family):
        expected = reference.defined(use.operator, *inputs, **(use.way.given | requested(use)))
    else:
        desc = described(use.operator.python, arrays, use.way.given)
        expected = dml.compile(desc, path="reference")(*arrays)
    family(use.operator).same(result, expected)


def requested(use: Use) -> dict[str, str]:
    """Optional outputs that are not asked for have no name."""
    optional = (one.python for one in use.operator.fields if one.kind == "output" and one.optional)
    return {name: use.way.given[name] or "" for name in optional}


def held(x: Array, number: int) -> Placed:
    """The array in one of the layouts of its rank."""
    found = layouts_of(x.ndim, x.itemsize)
    return found[number % len(found)].hold(x)


def called(use: Use) -> Callable[..., Any]:
    """The function, which takes the arrays of the use."""
    return lambda *arrays, **given: getattr(dml, use.operator.python)(*inputs_of(use.operator, arrays), **given)


def in_layouts(use: Use, numbers: Sequence[int], limits: tuple[int, ...]) -> None:
    """The input in each of the layouts, the outputs, and both as channels last."""
    function, given, arrays = called(use), use.way.given, use.arrays(-1)
    expected = function(*arrays, **given)

    def check(first: list[Array], outs: list[Placed]) -> None:
        into = {"out": tuple(out.view for out in outs) if len(outs) > 1 else outs[0].view} if outs else {}
        result = function(*first, *arrays[1:], **given, **into)
        for found, one in zip(several(result), several(expected), strict=True):
            assert_same_values(np.ascontiguousarray(found), one)
        for out in outs:
            out.assert_unchanged_outside()

    for limit in limits:
        with streams_from(limit):
            for number in numbers:
                for source in [held(one, number) for one in arrays[:1]]:
                    check([source.view], [])
                    source.assert_unchanged()
                check(arrays[:1], [held(np.zeros_like(one), number) for one in several(expected)])
            last = [held(one, LAST).view for one in arrays[:1]]
            check(last, [held(np.zeros_like(one), LAST) for one in several(expected)])


def between_pages(use: Use) -> None:
    """The input at the beginning and at the end of memory beside which nothing may be read."""
    function, given, arrays = called(use), use.way.given, use.arrays(-1)
    if not arrays:
        return
    expected, x = function(*arrays, **given), arrays[0]
    mprotect, page = ctypes.CDLL(None).mprotect, mmap.PAGESIZE
    pages = -(-x.nbytes // page)
    with mmap.mmap(-1, (pages + 2) * page) as store:
        begin = ctypes.addressof(ctypes.c_char.from_buffer(store))
        for guard in (begin, begin + (pages + 1) * page):
            assert mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
        for offset in (page, (pages + 1) * page - x.nbytes):
            for axes in ([*range(x.ndim)], [0, *range(2, x.ndim), *range(1, x.ndim)[:1]]):
                laid: Array = np.ndarray([x.shape[d] for d in axes], x.dtype, store, offset)
                source = laid.transpose(np.argsort(axes))
                source.view(f"u{x.itemsize}")[...] = x.view(f"u{x.itemsize}")
                assert_same_values(function(source, *arrays[1:], **given), expected)
                del laid, source


def test_every_operator_has_ways() -> None:
    for name in NAMES:
        assert family(FAST[name]).ways(FAST[name]), WAYS.format(FAST[name].family)


@pytest.mark.parametrize("name", NAMES)
def test_ways_give_what_the_reference_gives(name: str) -> None:
    each(some_uses(FAST[name]), defined)


@deep
@pytest.mark.parametrize("name", NAMES)
def test_every_way_gives_what_the_reference_gives(name: str) -> None:
    each(every_use(FAST[name]), defined)


@pytest.mark.parametrize("name", NAMES)
def test_ways_in_layouts(name: str) -> None:
    each(some_uses(FAST[name]), lambda use: in_layouts(use, (use.seed, use.seed + 5), ((0, NEVER)[use.seed % 2],)))


@in_turn
@deep
@pytest.mark.parametrize("name", NAMES)
def test_every_way_in_every_layout(name: str) -> None:
    each(every_use(FAST[name]), lambda use: in_layouts(use, ALL, (0, NEVER)))


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.parametrize("name", NAMES)
def test_no_byte_is_read_outside_the_input(name: str) -> None:
    each(some_uses(FAST[name])[::3], between_pages)


@deep
@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.parametrize("name", NAMES)
def test_no_byte_is_read_outside_the_input_on_any_way(name: str) -> None:
    each(every_use(FAST[name]), between_pages)


@pytest.mark.parametrize("name", FAMILIES)
def test_faults_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong element of a packed tensor, of another layout, of a result that is given, and a byte beside that one."""
    use = next(use for one in NAMES if FAST[one].family == name for use in some_uses(FAST[one]) if use.arrays(-1))
    function = getattr(dml, use.operator.python)

    def faulty(fault: str) -> Any:
        def call(*inputs: Any, **given: Any) -> Any:
            result = function(*inputs, **given)
            first = several(result)[0]
            packed, out = several(inputs[0])[0].flags.c_contiguous, "out" in given
            if fault == {(True, False): "packed", (False, False): "layout", (True, True): "out"}.get((packed, out)):
                first.view(f"u{first.itemsize}")[(0,) * first.ndim] ^= 1 << 6
            if fault == "beside" and out:
                assert first.base is not None
                first.base[0] ^= 1
            return result

        return call

    def layouts(use: Use) -> None:
        in_layouts(use, ALL, (NEVER,))

    looks: dict[str, Callable[[Use], None]] = {
        "packed": defined, "layout": layouts, "out": layouts, "beside": layouts,
    }  # fmt: skip
    for fault, look in looks.items():
        look(use)
        with monkeypatch.context() as patch, pytest.raises(AssertionError):
            patch.setattr(dml, use.operator.python, faulty(fault))
            look(use)


def digest(deep: bool) -> None:
    """Print what identifies all results of each operator, packed and in Fortran's order."""
    for operator in map(FAST.__getitem__, NAMES):
        bits = hashlib.sha256()
        for use in every_use(operator) if deep else some_uses(operator):
            arrays = use.arrays(-1)
            for first in (arrays[:1], [*map(np.asfortranarray, arrays[:1])]):
                for one in several(called(use)(*first, *arrays[1:], **use.way.given)):
                    # The sign and the bits of a NaN are left open.
                    number = np.where(np.isnan(one), one.dtype.type(0), one) if one.dtype.kind == "f" else one
                    bits.update(number.tobytes())
        print(operator.name, bits.hexdigest())


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=deep)])
@pytest.mark.parametrize("level", ["baseline", *(pytest.param(name, marks=deep) for name in isa.LEVELS[1:])])
def test_levels_give_the_same_bits(level: str, every: bool) -> None:
    folders = [str(TESTS), str(TESTS / "operators")]
    program = f"import sys; sys.path[:0] = {folders}; from families import test_ways; test_ways.digest({every})"
    assert_same_lines(level, "-P", "-c", program)
