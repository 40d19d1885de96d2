"""Calls of every operator in every way, and the bytes that they give: for tests in threads and in other processes."""

from __future__ import annotations

import functools
import itertools
import math
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

TESTS: Final = Path(__file__).resolve().parents[1]
if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from example_descs import arrays_of, attributes, desc_of_example  # noqa: E402
from few import few_of_each_family  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._desc.classes import desc_class  # noqa: E402
from dmlcy._facts.levels import NEWEST  # noqa: E402
from dmlcy._facts.rows import Example, Operator  # noqa: E402
from dmlcy._facts.tables import FAST, RUNNABLE  # noqa: E402
from dmlcy._reference.call import check_of, faces_of  # noqa: E402

Array = npt.NDArray[Any]

ELEMENTS: Final = 600_000
"""Of a large call: it is worth several threads."""
OF_A_FAMILY: Final = int(os.environ.get("DMLCY_CALLS_OF_A_FAMILY", "7"))
"""Large calls, at most: processes of tests that look at all of them several times have fewer."""


WAYS: Final = 6
"""Of a call."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A use of an operator: its desc, and what a call is given for each input, in order; None for one left out."""

    desc: Any
    inputs: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The Python name of the operator."""
        return str(self.desc.operator.python)

    @property
    def attributes(self) -> dict[str, Any]:
        """The arguments of the function beside tensors."""
        return attributes(self.desc)

    def compiled(self) -> Any:
        """The compiled operator."""
        return dml.compile(self.desc)

    def result(self, **more: Any) -> Any:
        """An array, or a tuple of arrays."""
        return getattr(dml, self.name)(*self.inputs, **self.attributes, **more)

    def way(self, number: int) -> Callable[[], Any]:
        """One of the ways."""
        return next(itertools.islice(self.ways(), number % WAYS, None))

    def ways(self) -> Iterator[Callable[[], Any]]:
        """The functional and the compiled call, each without ``out`` and with one, of two layouts.

        The arrays for ``out`` belong to the calls: each caller needs ways of its own.
        """
        function, operator, given = getattr(dml, self.name), self.compiled(), self.attributes
        result = self.result()
        near, turned = of_each(result, np.empty_like), of_each(result, lambda one: np.empty_like(one.T, order="C").T)
        yield lambda: function(*self.inputs, **given)
        yield lambda: function(*self.inputs, **given, out=near)
        yield lambda: function(*self.inputs, **given, out=turned)
        yield lambda: operator(*self.inputs)
        yield lambda: operator(*self.inputs, out=near)
        yield lambda: operator(*self.inputs, out=turned)


def of_each(result: Any, function: Callable[[Array], Any]) -> Any:
    """The same of a result, or of each of several."""
    return tuple(map(function, result)) if isinstance(result, tuple) else function(result)


def as_bytes(result: Any) -> bytes:
    """The elements of a result, or of several."""
    return b"".join(one.tobytes() for one in result) if isinstance(result, tuple) else bytes(result.tobytes())


def refused(call: Callable[[], Any]) -> Callable[[], Array]:
    """A call that is refused: the text of its violations, as bytes."""

    def text() -> Array:
        try:
            call()
        except dml.DmlError as error:
            return np.frombuffer(str(error).encode(), np.uint8)
        raise AssertionError("accepted")

    return text


def of_example(operator: Operator, example: Example) -> Call:
    """The use that an example is."""
    return made(desc_of_example(operator, example), arrays_of(example.inputs))


def made(desc: Any, arrays: dict[str, Any]) -> Call:
    """The use of a desc with arrays by the names of inputs."""
    return Call(desc, tuple(arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"))


@functools.cache
def small_calls() -> list[Call]:
    """Of every operator that runs, the first example and the one with the most tensors."""
    found = []
    for operator in RUNNABLE.values():
        first = operator.examples[0]
        most = max(operator.examples, key=lambda one: len(one.inputs) + len(one.outputs))
        found += [of_example(operator, one) for one in ([first] if most is first else [first, most])]
    return found


@functools.cache
def large_calls() -> list[Call]:
    """Of a few operators with loops of each family one that is worth several threads, and some with other layouts."""
    few = map(FAST.__getitem__, few_of_each_family(FAST, OF_A_FAMILY))
    return [*filter(None, map(large_call, few)), *chosen()]


def large_call(operator: Operator) -> Call | None:
    """A use that is worth several threads, of which no result is much larger."""
    call = grown(operator, ELEMENTS)
    outputs = [one.python for one in operator.fields if one.kind == "output" and not one.optional]
    if call is None or all(getattr(call.desc, name).element_count <= 6 * ELEMENTS for name in outputs):
        return call
    return grown(operator, ELEMENTS // 6)


def grown(operator: Operator, elements: int) -> Call | None:
    """The first use that is ``grown_along`` an axis; None where each example has sizes that only fit each other."""
    return next(grown_along(operator, elements), None)


def grown_along(operator: Operator, elements: int) -> Iterator[Call]:
    """Uses with so many elements in a result, and in the first input: of each example, each axis that is repeated."""
    for example in operator.examples:
        arrays = arrays_of(example.inputs)
        first = next((array for array in arrays.values() if isinstance(array, np.ndarray)), None)
        for axis in range(len(next(iter(example.outputs.values()))[1]) if first is None else first.ndim):
            call = repeated(operator, example, arrays, axis, elements)
            if call is not None:
                yield call


def repeated(operator: Operator, example: Example, arrays: dict[str, Any], axis: int, elements: int) -> Call | None:
    """An example of which an axis is so long, in the first input, or in all inputs that have its size there."""
    first = next(iter(arrays), "")
    counts = [array.size for array in list(arrays.values())[:1] if isinstance(array, np.ndarray)]
    times = -(-elements // min(*counts, math.prod(next(iter(example.outputs.values()))[1]), elements))
    alike = [name for name, array in arrays.items() if 0 < size_of(array, axis) == size_of(arrays[first], axis)]
    said = attributes(desc_of_example(operator, example))
    sized = longer(operator, said, axis, times)
    for names, given in itertools.product((alike[:1], alike), (said, sized)):
        changed = arrays | {name: np.repeat(arrays[name], times, axis) for name in names}
        tensors = {name: described(array) for name, array in changed.items()}
        check = check_of(faces_of(operator.name), tensors, given, NEWEST)
        outputs = [check.resolved.get(field.python) for field in operator.fields if field.kind == "output"]
        sizes = [one.element_count for one in outputs if isinstance(one, dml.TensorDesc)]
        if not check.violations and max(sizes, default=0) >= elements:
            values = {one.python: check.resolved[one.python] for one in operator.fields if one.value is None}
            desc = desc_class(operator.name)(**values)
            return made(desc, {name: varied(operator, name, array) for name, array in changed.items()})
    return None


def size_of(array: Any, axis: int) -> int:
    """The size of an axis; 0 of several arrays, and of an axis that is not there."""
    return int(array.shape[axis]) if isinstance(array, np.ndarray) and axis < array.ndim else 0


def longer(operator: Operator, said: dict[str, Any], axis: int, times: int) -> dict[str, Any]:
    """The arguments of a call, with an axis of the outputs that is so many times as long, if the call gives sizes."""
    sized = {field.sized_by for field in operator.fields} | {field.python for field in operator.chosen}
    sized |= {name for one in operator.independent for name in one.sized}
    return {
        name: tuple(entry * (times if place == axis else 1) for place, entry in enumerate(value))
        if name in sized and value is not None and all(isinstance(entry, int) for entry in value)
        else value
        for name, value in said.items()
    }


def described(array: Any) -> Any:
    """The desc of an array, or of each of several."""
    return tuple(map(described, array)) if isinstance(array, tuple) else dml.TensorDesc.from_array(array)


def varied(operator: Operator, name: str, array: Any) -> Any:
    """Floats that differ, where no rule is about the values."""
    if isinstance(array, tuple) or array.dtype.kind != "f" or any(r.about == name for r in operator.rules if r.data):
        return array
    return _random(array.size, array.shape, array.dtype.str)


def _random(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    values: Array = (np.random.default_rng(seed).standard_normal(shape) * 50).astype(dtype)
    return values


def _regions(batches: int, size: int, dtype: str, count: int) -> Array:
    rng = np.random.default_rng(9)
    corners = np.sort(rng.integers(0, size, (count, 2, 2)), 1).reshape(count, 4)
    return np.column_stack([rng.integers(0, batches, count), corners])[None, None].astype(dtype)


@functools.cache
def chosen() -> list[Call]:
    """Large calls of planes, of another layout and with paddings."""
    x = _random(0, (16, 8, 72, 72), "f4")
    tensor = dml.TensorDesc.from_array(x)
    rois = _regions(16, 72, "f4", 640)
    around: dict[str, Any] = {"start_padding": 1, "end_padding": 1}
    window = dml.desc.AveragePooling(input=tensor, window_size=3, strides=1, **around)
    pooled = dml.desc.RoiPooling(
        input=tensor, roi=dml.TensorDesc.from_array(rois), spatial_scale=1, pooled_size=(12, 12)
    )
    ends: dict[str, Any] = {"start_padding": (0, 0, 1, 2), "end_padding": (0, 0, 2, 1)}
    padded = dml.desc.Padding1(input=tensor, **ends, padding_mode="REFLECTION")
    unfolded = dml.desc.Unfold(input=tensor, window_sizes=3, strides=2, **around)
    turned = x.transpose(0, 3, 2, 1)[:, :8, ::-1]
    blocks = dml.desc.DepthToSpace1(
        input=dml.TensorDesc("FLOAT32", turned.shape), block_size=2, order="COLUMN_ROW_DEPTH"
    )
    found = dml.desc.NonzeroCoordinates(
        input=tensor,
        output_count=dml.TensorDesc("UINT32", (1, 1, 1, 1)),
        output_coordinates=dml.TensorDesc("UINT32", (1, 1, x.size, 4)),
    )
    state = np.array([[[[7, 0, 0, 0, 1, 2]]]], np.uint32)
    drawn = dml.desc.RandomGenerator(
        input_state=dml.TensorDesc.from_array(state), output=dml.TensorDesc("UINT32", (1, 1, 1, ELEMENTS))
    )
    return [
        Call(window, (x,)),
        Call(found, (x,)),
        Call(drawn, (state,)),
        Call(pooled, (x, rois)),
        Call(padded, (x,)),
        Call(unfolded, (x,)),
        Call(blocks, (turned,)),
    ]


def ways(*, large: bool) -> list[Callable[[], Any]]:
    """Every way of every call; of the small ones, some that are refused too."""
    made = [way for call in (large_calls() if large else small_calls()) for way in call.ways()]
    if not large:
        made += [refused(lambda call=call: call.result(out="none")) for call in small_calls()]  # type: ignore[misc]
    return made


def digests(threads: int | None = None) -> list[int]:
    """A number for the result of each way of a few large calls; with so many threads, or as many as there are."""
    if threads is not None:
        dml.set_num_threads(threads)
    return [zlib.crc32(as_bytes(way())) for call in chosen() for way in call.ways()]


def same(expected: list[int]) -> bool:
    """Whether the large calls give these results in this process."""
    return digests() == expected


def all_digests(threads: int | None = None) -> list[int]:
    """Numbers for the results of every operator, functional and compiled, and of large calls of those with loops."""
    if threads is not None:
        dml.set_num_threads(threads)
    calls = (*small_calls(), *large_calls())
    return [zlib.crc32(as_bytes(found)) for call in calls for found in (call.result(), call.compiled()(*call.inputs))]


def all_same(expected: list[int]) -> bool:
    """Whether every operator gives these results in this process."""
    return all_digests() == expected
