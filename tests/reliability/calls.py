"""Calls of every operator in every way, and the bytes that they give: for tests in threads and in other processes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import dmlcy as dml

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A use of an operator."""

    name: str
    inputs: tuple[Array, ...]
    attributes: dict[str, Any]

    def ways(self) -> Iterator[Callable[[], Array]]:
        """The functional and the compiled call, each without ``out`` and with one, of two layouts.

        The arrays for ``out`` belong to the calls: each caller needs ways of its own.
        """
        function = getattr(dml, self.name)
        operator = self.compiled()
        sizes, dtype = operator.desc.output.sizes, self.inputs[0].dtype
        if self.name == "unfold":
            sizes = sizes[-3:]
        near, turned = np.empty(sizes, dtype), np.empty(sizes[::-1], dtype).T
        yield lambda: function(*self.inputs, **self.attributes)
        yield lambda: function(*self.inputs, **self.attributes, out=near)
        yield lambda: function(*self.inputs, **self.attributes, out=turned)
        yield lambda: operator(*self.inputs)
        yield lambda: operator(*self.inputs, out=near)
        yield lambda: operator(*self.inputs, out=turned)

    def compiled(self) -> Any:
        """The compiled operator."""
        desc = getattr(dml.desc, "".join(part.capitalize() for part in self.name.split("_")))
        names = ("input", "roi")
        tensors = {}
        for name, array in zip(names, self.inputs, strict=False):
            tensors[name] = dml.TensorDesc.from_array(np.ascontiguousarray(array))
        return dml.compile(desc(**tensors, **self.attributes))


def refused(function: Any, *inputs: Array, **attributes: Any) -> Callable[[], Array]:
    """A call that is refused: the ids of its violations, as bytes."""

    def call() -> Array:
        try:
            function(*inputs, **attributes)
        except dml.DmlError as error:
            return np.frombuffer(str(error).encode(), np.uint8)
        raise AssertionError("accepted")

    return call


def _random(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    values: Array = (np.random.default_rng(seed).standard_normal(shape) * 50).astype(dtype)
    return values


def _regions(batches: int, size: int, dtype: str, count: int) -> Array:
    rng = np.random.default_rng(9)
    corners = np.sort(rng.integers(0, size, (count, 2, 2)), 1).reshape(count, 4)
    return np.column_stack([rng.integers(0, batches, count), corners])[None, None].astype(dtype)


def calls(*, large: bool) -> list[Call]:
    """Of each operator some: small ones that run on one thread, or one that is worth several."""
    n = 16 if large else 1
    side, pooled = (72, 12) if large else (9, 4)
    made = []
    for seed, dtype in enumerate(("f4",) if large else ("f4", "f2")):
        x = _random(seed, (n, 8, side, side), dtype)
        made += [
            Call("average_pooling", (x,), {"window_size": 3, "strides": 1, "start_padding": 1, "end_padding": 1}),
            Call("roi_pooling", (x, _regions(n, side, dtype, 40 * n)), {"spatial_scale": 1, "pooled_size": pooled}),
        ]
    for seed, dtype in enumerate(("f4",) if large else ("f4", "u1", "i8")):
        x = _random(seed, (n, 8, side, side), dtype)
        made += [
            Call("padding1", (x,), {"start_padding": (0, 0, 1, 2), "end_padding": (0, 0, 2, 1), "padding_mode": mode})
            for mode in (("REFLECTION",) if large else ("CONSTANT", "REFLECTION"))
        ]
        made.append(Call("unfold", (x,), {"window_sizes": 3, "strides": 2, "start_padding": 1, "end_padding": 1}))
        turned = x.transpose(0, 3, 2, 1)[:, :8, ::-1]
        made += [
            Call("depth_to_space1", (values,), {"block_size": 2, "order": order})
            for values in ((x,) if large else (x, turned))
            for order in (("COLUMN_ROW_DEPTH",) if large else ("COLUMN_ROW_DEPTH", "DEPTH_COLUMN_ROW"))
        ]
    return made


def ways(*, large: bool) -> list[Callable[[], Array]]:
    """Every way of every call; of the small ones, some that are refused too."""
    x = np.ones((1, 3, 5, 5), np.float32)
    made = [way for call in calls(large=large) for way in call.ways()]
    if not large:
        made.append(refused(dml.depth_to_space1, x, block_size=2))
        made.append(refused(dml.average_pooling, x, window_size=(9, 2)))
        made.append(refused(dml.padding1, x, start_padding=(1, 2), end_padding=0))
    return made


def digests(threads: int | None = None) -> list[int]:
    """A number for the result of each large call; with so many threads, or as many as there are."""
    if threads is not None:
        dml.set_num_threads(threads)
    return [zlib.crc32(way().tobytes()) for way in ways(large=True)]


def same(expected: list[int]) -> bool:
    """Whether the large calls give these results in this process."""
    return digests() == expected
