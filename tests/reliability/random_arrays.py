"""Arrays of any layout and any values, each in a block of memory that has no byte more than the array needs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from example_descs import each_part

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Rule
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy.testing import specials

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Placed:
    """An array in its block, and what the block held before the call."""

    view: Array
    block: Array
    before: Array

    @property
    def unchanged(self) -> bool:
        """Whether the block holds what it held."""
        return self.block.tobytes() == self.before.tobytes()

    def after(self, values: Array) -> Placed:
        """The block after these values are written, and nothing else."""
        block = self.before.copy()
        offset = self.view.ctypes.data - self.block.ctypes.data
        view: Array = np.ndarray(self.view.shape, self.view.dtype, block, offset, self.view.strides)
        view.view(f"u{view.itemsize}")[...] = values.view(f"u{view.itemsize}")
        return Placed(view, block, self.before)


def placed(chance: random.Random, shape: tuple[int, ...], dtype: Any, shared: int = 0, values: Any = None) -> Placed:
    """An array of these values, or of any; along the first ``shared`` axes elements may lie in one place."""
    dtype = np.dtype(dtype)
    strides, shift = layout(chance, shape, dtype.itemsize, shared)
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    start = shift - sum(min(end, 0) for end in ends)
    size = start + sum(max(end, 0) for end in ends) + dtype.itemsize
    block: Array = np.frombuffer(chance.randbytes(size), np.uint8).copy()
    view: Array = np.ndarray(shape, dtype, block, start, strides)
    if values is None and chance.random() < 0.6:
        values = np.array(chance.choices(few(chance, dtype), k=31), dtype)
        values = np.resize(values, shape).view(f"u{dtype.itemsize}")
        view.view(f"u{dtype.itemsize}")[...] = values
    elif values is not None:
        view[...] = values
    return Placed(view, block, block.copy())


def few(chance: random.Random, dtype: np.dtype[Any]) -> list[Any]:
    """Some numbers whose sums are exact, and, now and then, one that is special."""
    numbers: list[Any] = list(range(10) if dtype.kind == "u" else range(-8, 9))
    return numbers if chance.random() < 0.5 else [*numbers, *specials(dtype)]


def layout(chance: random.Random, shape: tuple[int, ...], item: int, shared: int) -> tuple[list[int], int]:
    """Strides, and the bytes that lie before the array."""
    rank, kind = len(shape), chance.random()
    order, steps, gap, shift = list(range(rank)), [1] * rank, 0, 0
    if kind > 0.2:
        order = chance.choice([order, order, order[::-1], [0, *order[2:], *order[1:2]], chance.sample(order, rank)])
    if kind > 0.4:
        for axis in chance.sample(range(rank), chance.randint(0, min(2, rank))):
            steps[axis] = chance.choice([-1, -1, 2, 3, -2, 0 if axis < shared else 1])
    if kind > 0.6:
        gap, shift = chance.choice([0, item, 1, 2 * item]), chance.choice([0, item, 1, 8, 3])
    if kind > 0.95:
        steps[:shared] = [0] * shared
    strides, extent = [0] * rank, item + gap
    for axis in reversed(order):
        strides[axis] = steps[axis] * extent
        extent *= max(abs(steps[axis]) * shape[axis], 1) if steps[axis] else 1
    return strides, shift


def regions(chance: random.Random, count: int, batch: int, largest: int, scale: float, dtype: np.dtype[Any]) -> Array:
    """Regions of interest in and around an image, with halves and with huge and tiny coordinates."""
    limits = np.finfo(dtype)
    huge = [float(limits.max), 2.0**31, 2.0**31 - 128, 2.0**15, float(limits.tiny), float(limits.smallest_subnormal)]
    rows = []
    for _ in range(count):
        corners = []
        for _ in range(2):
            ends = [chance.randint(-2 * largest, 3 * largest) / 2 / scale for _ in range(2)]
            if chance.random() < 0.1:
                ends[0] = chance.choice([1, -1]) * chance.choice(huge)
            corners.append(sorted(ends))
        (x1, x2), (y1, y2) = corners
        rows.append([chance.randrange(batch), x1, y1, x2, y2])
    most = float(limits.max)
    found: Array = np.clip(np.array(rows), -most, most).astype(dtype)
    return found


def accepted(chance: random.Random, desc: OperatorDesc, rules: list[Rule], shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers that rules on each element take, which are those between two ends, for each place of the last axis."""
    formulas, limits = Formulas(desc).rules, np.iinfo(dtype)
    count = shape[-1] if any(rule.index is not None for rule in rules) else 1
    columns = []
    for place in range(count):

        def holds(value: int, place: int = place) -> bool:
            at = [() if rule.index is None else (place,) for rule in rules]
            return all(rule.holds(formulas, *own, value) for rule, own in zip(rules, at, strict=True))

        low, high = (farthest(holds, int(limit)) for limit in (limits.min, limits.max))
        columns.append([chance.randint(low, high) for _ in range(31)])
    drawn = np.array(columns, dtype)
    return np.resize(drawn, shape) if count == 1 else np.resize(drawn.T, shape)


def farthest(holds: Callable[[int], bool], limit: int) -> int:
    """The number farthest from 0, in the direction of a limit, up to which a condition holds."""
    near, far = 0, limit
    while abs(far - near) > 1:
        middle = near + (far - near) // 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return far if holds(far) else near


def inputs_of(chance: random.Random, desc: OperatorDesc) -> dict[str, Any]:
    """An array for each input of an operator with loops, or some; what a rule looks at is what it takes."""
    ruled = {rule.about for rule in desc.operator.rules if rule.data}
    found: dict[str, Any] = {}
    for field in desc.operator.fields:
        if field.kind == "input":
            tensor, values = getattr(desc, field.python), None
            if tensor is None:
                found[field.python] = None
                continue
            if isinstance(tensor, tuple):
                found[field.python] = tuple(of_tensor(chance, one, None) for one in tensor)
                continue
            dtype = np.dtype(tensor.dtype.name.lower())
            on_each = [rule for rule in desc.operator.rules if rule.each == field.python]
            if on_each:
                values = accepted(chance, desc, on_each, tensor.sizes, dtype)
            elif field.python in ruled:
                image = desc.input.sizes  # type: ignore[attr-defined]
                scale = desc.spatial_scale  # type: ignore[attr-defined]
                values = regions(chance, tensor.sizes[2], image[0], max(image[2:]), scale, dtype)
            found[field.python] = of_tensor(chance, tensor, values)
    return found


def of_tensor(chance: random.Random, tensor: TensorDesc, values: Any) -> Placed:
    """An array for a tensor."""
    shared = len(tensor.sizes) - (values is not None)
    return placed(chance, tensor.sizes, np.dtype(tensor.dtype.name.lower()), shared, values)


def views_of(inputs: dict[str, Any]) -> dict[str, Any]:
    """The arrays themselves."""
    return {name: each_part(value, lambda one: one.view) for name, value in inputs.items()}
