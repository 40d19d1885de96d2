"""normalize: each element of an output is an expression of elements, and of sums and extremes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from dmlcy._arithmetic import WIDE, Arithmetic, counted
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import blocks
from dmlcy._families.activations import activated, along, operations, promised
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import At
from dmlcy._families.given import Given, Kernel
from dmlcy._families.operations import sizes_only
from dmlcy._families.passes import MEAN, VALUE, Pass, Passes
from dmlcy._field_types.float import single
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._types import Array, DType, Number

AROUND: Final = "around"
FROM: Final = "from"
NEIGHBORS: Final = (AROUND, FROM)


class Normalize(Family):
    """The family."""

    of_a_part = 26  # where lines are short: their sums and extremes count as much as their elements

    def precedes(self, desc: OperatorDesc) -> bool:
        """Where no element is made of its neighbors, and no activation needs several elements."""
        definition = desc.operator.definition
        fused = definition.roles.get("fused")
        return "near" not in definition.roles and (fused is None or not along(getattr(desc, fused), (1,)))

    def evaluate(self, given: Given, output: str) -> Result:
        """The passes over all elements at once, then the result."""
        sizes = given.input.shape
        whole = blocks.whole(sizes)
        m, fused = given.arithmetic, _fused(given, output)
        numbers = self.numbers(given, self.run(given, _key(given, "result", output), sizes, [whole]), whole, output)
        found = activated(fused, numbers, m)

        def magnitudes() -> Number:
            key = _key(given, "size", output)
            if key not in given.told.formulas:
                return promised(fused, numbers, m.absolute(found), m)
            size = given.value(key, **self.run(given, key, sizes, [whole]).names(whole))
            both = size if fused is None else m.add(m.absolute(size), m.absolute(found))
            return promised(fused, numbers, both, m)

        return Result(found, magnitudes=magnitudes)

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``equal``: whether all elements along the axes are equal."""
        axes, array = _axes(given, given.input.shape), given.input
        return {"equal": lambda: array.max(axes, keepdims=True) == array.min(axes, keepdims=True)}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """All elements along the axes of a marked one."""
        return np.asarray(marks.any(_axes(given, given.input.shape), keepdims=True))

    def operations(self, desc: OperatorDesc) -> int:
        """The operations of all outputs, whose common parts count once, with one for each number that a pass adds."""
        given = sizes_only(desc)
        sizes = given.input.shape
        fields = [field.python for field in given.operator.fields if field.kind == "input"]
        names: dict[str, Number] = {name: counted.element(name, array.shape) for name, array in given.arrays.items()}
        names |= {
            name: given.value(f"absent.{name}") for name in fields if name not in names and _may_lack(given, name)
        }
        if len(fields) == 1:
            names["x"] = names[fields[0]]
        found = [_counted(given, _key(given, "result", output), sizes, names) for output, _ in given.outputs]
        activation = sum(operations(_fused(given, name), tensor.sizes) for name, tensor in given.outputs)
        return counted.operations(found) + activation

    def applied_operations(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> int:
        """Along axes of the numbers."""
        kernel = _kernel(desc, sizes, counted.COUNTING)
        return counted.operations([_counted(kernel, "result", sizes, {"x": counted.element("x", sizes)})])

    def run(self, kernel: Kernel, key: str, sizes: Sequence[int], parts: Sequence[At], x: Number = None) -> Passes:
        """The passes that an expression needs; ``x``: numbers in place of the arrays of a use."""
        m, words = kernel.arithmetic, kernel.told.words
        reads = _needed(words, key)
        axes, stored_as = _axes(kernel, sizes), _integers(kernel)

        def elements(at: At) -> Mapping[str, Number]:
            if x is None:
                assert isinstance(kernel, Given)
                names = _elements(kernel, reads, at)
            else:
                names = {"x": x}
            if "position" in reads:
                names["position"] = m.of(_positions(at, sizes, axes))
            return names | {"count": math.prod(sizes[d] for d in axes), "stored_as": stored_as}

        def made(name: str, kind: str) -> Pass:
            path = f"pass.{name}.{kind}"
            if kind not in NEIGHBORS:
                return Pass(name, kind, lambda names: kernel.value(path, **names))
            extents = kernel.numbers(kernel.told.roles["near"], len(sizes))
            return Pass(name, VALUE, lambda names: _near(m, kernel.value(path, **names), extents, kind == FROM))

        passes = [made(name, kind) for name, kind in _passes(words) if name in reads]
        return Passes(m, passes, elements, sizes, axes, parts)

    def numbers(self, given: Given, run: Passes, at: At, output: str) -> Number:
        """The numbers of a part of an output, before an activation."""
        return given.value(_key(given, "result", output), **run.names(at))

    def values(self, given: Given, run: Passes, at: At, output: str) -> Number:
        """The numbers of a part of an output."""
        return activated(_fused(given, output), self.numbers(given, run, at, output), given.arithmetic)

    def result(self, given: Given, output: str) -> Array:
        """The same, in parts."""
        sizes = given.input.shape
        key = _key(given, "result", output)
        result: Array = given.room(output)
        if "near" in given.told.roles:
            self.with_neighbors(given, output, result)
            return result
        for at in blocks.around(sizes, _axes(given, sizes), blocks.BLOCK):
            part = given.with_arrays({name: blocks.within(array, at) for name, array in given.arrays.items()})
            shape = part.input.shape
            target = blocks.within(result, at)
            inner = [*blocks.parts(shape, blocks.BLOCK)]
            run = self.run(part, key, shape, inner)
            places = inner
            if target.shape != shape:  # one result for all elements along the axes: it reads none of them
                places = [blocks.whole(target.shape)]
            for place in places:
                values = self.values(part, run, place, output)
                target[place] = self.stored(part, values, output, target[place].shape)
        return result

    def with_neighbors(self, given: Given, output: str, result: Array) -> None:
        """Writes an output whose elements need neighbors: each part is computed with those around it."""
        sizes = given.input.shape
        extents = given.numbers(given.told.roles["near"], len(sizes))
        depth = sum(kind in NEIGHBORS for _, kind in _passes(given.told.words))
        more = [depth * (extent - 1) for extent in extents]
        for at in blocks.cut(blocks.whole(sizes), blocks.steps_of(sizes, blocks.BLOCK, least=more)):
            wide = tuple(
                slice(max(0, one.start - far), min(size, one.stop + far))
                for one, far, size in zip(at, more, sizes, strict=True)
            )
            part = given.with_arrays({name: blocks.within(array, wide) for name, array in given.arrays.items()})
            shape = part.input.shape
            run = self.run(part, _key(given, "result", output), shape, [blocks.whole(shape)])
            values = np.broadcast_to(self.values(part, run, blocks.whole(shape), output), shape)
            result[at] = self.stored(part, values[blocks.inside(at, wide)], output, result[at].shape)

    def applied(self, desc: OperatorDesc, kernel: Kernel, values: Number, arithmetic: Arithmetic) -> Number:
        """The operator as an activation: along axes of the numbers, all of which must be there."""
        own = _kernel(desc, values.shape, arithmetic)
        at = blocks.whole(values.shape)
        return own.value("result", **self.run(own, "result", values.shape, [at], values).names(at))

    def applied_along(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The axes that passes reduce."""
        return _axes(_kernel(desc, sizes), sizes)


def _kernel(desc: OperatorDesc, sizes: tuple[int, ...], arithmetic: Arithmetic = WIDE) -> Kernel:
    """The kernel of an activation of numbers of these sizes."""
    tensor = TensorDesc("FLOAT32", sizes)
    whole = type(desc)(**{**_attributes(desc), "input": tensor, "output": tensor})
    return Kernel(desc.operator, Formulas(whole).rules, arithmetic)


def _attributes(desc: OperatorDesc) -> dict[str, object]:
    """The attributes that the desc of an activation has."""
    values = desc._values()
    names = [one.python for one in desc.operator.fields if one.kind == "attribute" and one.value is None]
    return {name: single(value) if isinstance(value := values[name], float) else value for name in names}


def _may_lack(given: Given, name: str) -> bool:
    return f"absent.{name}" in given.told.formulas


def _counted(kernel: Kernel, key: str, sizes: tuple[int, ...], elements: Mapping[str, Number]) -> Number:
    """An expression over numbers that count operations, and over the passes that it needs."""
    reads, axes = _needed(kernel.told.words, key), _axes(kernel, sizes)
    count = math.prod(sizes[d] for d in axes)
    position = counted.element("position", sizes)
    names = {**elements, "position": position, "count": count, "stored_as": _integers(kernel)}
    for name, kind in _passes(kernel.told.words):
        if name not in reads:
            continue
        found = kernel.value(f"pass.{name}.{kind}", **names)
        if kind in NEIGHBORS:
            near = kernel.numbers(kernel.told.roles["near"], len(sizes))
            found = counted.made(kind, (found, counted.element("whole", sizes)), sum(one for one in near if one > 1))
        elif kind != VALUE:
            found = counted.reduced(kind, found, sizes, axes)
            found = kernel.arithmetic.divide(found, count) if kind == MEAN else found
        names[name] = found
    return kernel.value(key, **names)


def _fused(given: Given, output: str) -> OperatorDesc | None:
    """The activation of an output: the first one may have one."""
    first = next(field.python for field in given.operator.fields if field.kind == "output")
    found: OperatorDesc | None = given.of_role("fused") if output == first else None
    return found


def _key(given: Given, key: str, output: str) -> str:
    """The key of the expression of an output."""
    one = f"{key}.{output}"
    return one if one in given.told.formulas or key not in given.told.formulas else key


def _passes(words: Mapping[str, str]) -> list[tuple[str, str]]:
    """The names and the kinds of the passes, in their order."""
    return [(name, kind) for name, _, kind in (one.partition(":") for one in words["passes"].split())]


def _needed(words: Mapping[str, str], key: str) -> set[str]:
    """All names that an expression reads, also through passes."""
    found: set[str] = set()
    ahead = words[f"reads.{key}"].split()
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += words.get(f"reads.{name}", "").split()
    return found


def _axes(kernel: Kernel, sizes: Sequence[int]) -> tuple[int, ...]:
    """The axes that passes reduce: the axes that have another size in the let; none without one."""
    if "over" not in kernel.told.roles:
        return ()
    kept = kernel.numbers(kernel.told.roles["over"], len(sizes))
    return tuple(d for d, size in enumerate(kept) if size == 1)


def _integers(kernel: Kernel) -> DType | None:
    """The data type of the integers among the tensors, to which ``saturate`` limits numbers."""
    if not isinstance(kernel, Given):
        return None
    dtypes = (kernel.dtype(name) for name, one in kernel.values.items() if type(one) is TensorDesc)
    return next((one for one in dtypes if one.kind in "iu"), None)


def _elements(kernel: Given, reads: set[str], at: At) -> dict[str, Number]:
    """The numbers of the inputs in a part, by their names."""
    fields = [field.python for field in kernel.operator.fields if field.kind == "input"]
    found = {}
    for name in fields:
        own = "x" if len(fields) == 1 else name
        array = kernel.arrays.get(name)
        if own not in reads:
            continue
        if array is None:
            found[own] = kernel.value(f"absent.{name}")
        else:
            found[own] = kernel.arithmetic.of(np.ascontiguousarray(blocks.within(array, at)))
    return found


def _positions(at: At, sizes: Sequence[int], axes: Sequence[int]) -> Array:
    """Of each element of a part the number among all elements along the axes, in row-major order."""
    number: Array = np.zeros((1,) * len(sizes), np.int64)
    for d in axes:
        along = np.arange(at[d].start, at[d].stop).reshape([-1 if k == d else 1 for k in range(len(sizes))])
        number = number * sizes[d] + along
    return number


def _near(m: Arithmetic, values: Number, extents: Sequence[int], mirrored: bool) -> Number:
    """The sums over the neighbors of each element, along one axis after another.

    Of an even number of neighbors one more is behind the element; mirrored, before it.
    """
    values = m.partial(values)
    for d, extent in enumerate(extents):
        size = values.shape[d]
        before = extent // 2 if mirrored else (extent - 1) // 2
        total = _behind(m, values, d, min(extent - before, size))
        if before and size > 1:
            ahead = np.flip(_behind(m, np.flip(values, d), d, min(before, size)), d)
            total = np.flip(_plus(m, np.flip(total, d), np.flip(ahead, d), d, 1), d)
        values = total
    return values


def _behind(m: Arithmetic, values: Number, d: int, count: int) -> Number:
    """The sums of so many elements from each one on, as far as there are any: of 1, 2, 4 and so on, joined."""
    total, done, some, width = None, 0, values, 1
    while True:
        if count & width:
            total = some if total is None else _plus(m, total, some, d, done)
            done += width
        if 2 * width > count:
            return total
        some = _plus(m, some, some, d, width)
        width *= 2


def _plus(m: Arithmetic, a: Number, b: Number, d: int, far: int) -> Number:
    """Each element of ``a`` plus the one of ``b`` so far behind it, if there is one."""
    total, size = a.copy(), a.shape[d]
    if far < size:
        inside = _along(total, d, 0, size - far)
        inside[...] = m.add(inside, _along(b, d, far, size))
    return total


def _along(array: Array, d: int, first: int, last: int) -> Array:
    return array[(slice(None),) * d + (slice(first, last),)]


FAMILY: Final = Normalize()
