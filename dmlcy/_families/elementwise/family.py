"""elementwise: each element of an output is an expression of the elements at the same place."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from dmlcy._arithmetic import WIDE, Arithmetic
from dmlcy._arithmetic.counted import operations as counted
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Formula
from dmlcy._families import blocks, conditions
from dmlcy._families.activations import activated, along, magnitudes
from dmlcy._families.base import Family, Part, Result, Scaled, of_floats, tensors_of
from dmlcy._families.blocks import BLOCK, At
from dmlcy._families.given import Given, Kernel, kernel_of
from dmlcy._families.operations import sizes_only
from dmlcy._field_types.float import single
from dmlcy._field_types.tensor_array import by_path
from dmlcy._types import Array, DType, Number

OPERATION: Final = re.compile(r"[-+*/%<=>]+|\b(?:if|min|max)\b|\w\(")
FUNCTION: Final = re.compile(r"\w\(")
SCALED: Final = re.compile(r"\((\w+) - (\w+)\) \* (\w+)")
"""An integer, its zero point and its scale."""


class Elementwise(Family):
    """The family."""

    of_a_part = 18  # of integers, which are Python's where 64 bits do not hold them

    def evaluate(self, given: Given, output: str) -> Result:
        """The expression of the elements of all inputs, then the activation."""
        names = _names(given)
        given = _with_entries(given, spread=True)
        words, m = given.told.words, given.arithmetic
        elements = _elements(given, names)
        whole = all(array.dtype.kind in "iu" for array in given.arrays.values()) or "elements" in words
        scale_bias = given.of_role("scaled")
        if scale_bias is not None:
            elements[names[0]] = _scaled(m, elements[names[0]], scale_bias, given.input.dtype)
            whole = False
        if len(names) == 1:
            elements["x"] = elements.pop(names[0])
        key = "integers" if whole and _has(given, "integers") else "result"
        elements["stored_as"] = given.dtype(output)
        found = given.value(_key(given, key, output), **elements)
        other = _key(given, "devices", output)
        if other in given.told.formulas:
            found = m.also(found, partial(given.value, other, **elements))
        sizes = _key(given, "magnitudes", output)
        fused = given.of_role("fused")

        def terms() -> Number:
            return magnitudes(fused, found, given.value(sizes, **elements), m, given.dtype(output))

        return Result(activated(fused, found, m), magnitudes=terms if sizes in given.told.formulas else None)

    def result(self, given: Given, output: str) -> Array:
        """The same, block by block."""
        sizes = tuple(given.values[output].sizes)
        if math.prod(sizes) <= BLOCK:
            return super().result(given, output)
        given = _with_entries(given)
        result: Array = given.room(output)
        for at in blocks.parts(sizes, BLOCK):
            part = _given_part(given, at, sizes)
            target = result[at]
            target[...] = self.stored(given, self.evaluate(part, output).values, output, target.shape)
        return result

    def holds(self, condition: Formula, given: Given, output: str) -> Number:
        """The same of the elements at each place, and of the first one with scale and bias, block by block."""
        sizes = tuple(given.values[output].sizes)
        names, given = _names(given), _with_entries(given)
        result: Array = np.empty(sizes, np.bool_)
        for at in blocks.parts(sizes, BLOCK):
            part = _given_part(given, at, sizes)
            elements, scale_bias = _elements(part, names), part.of_role("scaled")
            if "scaled" in condition.reads:
                x = elements[names[0]]
                elements["scaled"] = x if scale_bias is None else _scaled(WIDE, x, scale_bias, part.input.dtype)
            result[at] = conditions.holds(condition, part, output, elements)
        return result

    def stored(self, given: Given, values: Number, output: str, sizes: tuple[int, ...] | None = None) -> Array:
        """Numbers in the data type of the output; of bits, those of the output."""
        if "elements" not in given.told.words:
            return super().stored(given, values, output, sizes)
        tensor = given.values[output]
        own = given.dtype(output)
        bits = given.arithmetic.stored(values, np.dtype(f"u{own.itemsize}"), tensor.sizes if sizes is None else sizes)
        return np.ascontiguousarray(bits).view(own)

    def operations(self, desc: OperatorDesc) -> int:
        """The operations of the expressions of all outputs, whose common parts count once, and of the activation."""
        sizes = tensors_of(desc)[-1].sizes
        several = any(key.partition(".")[0] == "tensors" for key in desc.operator.definition.words)
        given = sizes_only(desc, (lambda one: sizes if one.element_count > 1 else one.sizes) if several else None)
        return counted([self.evaluate(given, name).values for name, _ in given.outputs])

    def pointwise(self, desc: OperatorDesc) -> bool:
        """Where no input has an element for each index of an axis, or for blocks, and no activation needs others."""
        definition = desc.operator.definition
        fused = definition.roles.get("fused")
        fixed = any(key.partition(".")[0] in ("along", "tensors") for key in definition.words)
        return not fixed and (fused is None or not along(getattr(desc, fused), (1,)))

    def computes(self, desc: OperatorDesc) -> bool:
        """Not of bits."""
        return "elements" not in desc.operator.definition.words

    def parts(self, desc: OperatorDesc) -> tuple[Part, ...] | None:
        """The whole input, where each result is the element itself."""
        definition = desc.operator.definition
        if [*definition.formulas] != ["result"] or definition.formulas["result"].text != "x":
            return None
        changed = ("scaled", "fused")
        if any(getattr(desc, name) is not None for role, name in definition.roles.items() if role in changed):
            return None
        given, made = tensors_of(desc)
        return None if given.dtype != made.dtype else (Part.whole(given.rank),)

    def keeps_bits(self, desc: OperatorDesc) -> bool:
        """Where no activation needs other elements."""
        fused = desc.operator.definition.roles.get("fused")
        return fused is None or not along(getattr(desc, fused), (1,))

    def scaled(self, desc: OperatorDesc) -> Scaled | None:
        """The integers, the scale and the zero point, where the formula is (integer - zero) * scale."""
        definition = desc.operator.definition
        found = SCALED.fullmatch(definition.formulas["result"].text) if "result" in definition.formulas else None
        if found is None or any(desc._values()[definition.roles[role]] for role in definition.roles):
            return None
        paths = dict[str, str]()
        for path, _ in by_path(desc.operator.fields, "input", desc._values()):
            field, _, place = path.partition("[")
            names = definition.words.get(f"tensors.{field}", field).split()
            paths[names[int(place[:-1])] if place else field] = path
        integer, zero, scale = found.groups()
        given = paths[zero] if zero in paths else int(kernel_of(desc).value(f"absent.{zero}"))
        return Scaled(paths[integer], paths[scale], given)

    def numbers_of_a_part(self, desc: OperatorDesc) -> int:
        """Of floating-point elements: the inputs, the result, and what the operations of the formula leave."""
        if not of_floats(desc):
            return self.of_a_part
        definition = desc.operator.definition
        texts = [formula.text for key, formula in definition.formulas.items() if not key.startswith("absent.")]
        operations = [len(OPERATION.findall(text)) + 4 * len(FUNCTION.findall(text)) for text in texts]
        scaled = definition.roles.get("scaled")
        return (
            len(tensors_of(desc))
            + min(max(operations), 6)
            + 2 * (scaled is not None and desc._values()[scaled] is not None)
        )

    def applied(self, desc: OperatorDesc, kernel: Kernel, values: Number, arithmetic: Arithmetic) -> Number:
        """The operator as an activation."""
        fields = {name: single(value) if type(value) is float else value for name, value in desc._values().items()}
        scaled = kernel.told.roles.get("scaled")
        scale_bias = None if scaled is None else getattr(desc, scaled)
        if scale_bias is not None:
            values = _scaled(arithmetic, values, scale_bias, np.dtype(np.float32))
        return kernel.value("result", **{**fields, "x": values})

    def applied_along(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """No axes: each result is of one number."""
        return ()


def _scaled(m: Arithmetic, x: Number, scale_bias: Sequence[float], dtype: DType) -> Number:
    """The elements times the scale, plus the bias: rounded to FLOAT32, or at each step to FLOAT64 beyond its range."""
    scale, bias = map(single, scale_bias)
    if dtype.kind == "f" and dtype.itemsize <= np.dtype(np.float32).itemsize:
        return m.single_sum(m.multiply(x, scale), bias)
    return m.double(m.add(m.double(m.multiply(m.double(x), scale)), bias))


def _names(given: Given) -> list[str]:
    """The names of the elements of the inputs; those of an array of tensors are the names in ``tensors``."""
    fields = [field.python for field in given.operator.fields if field.kind == "input"]
    return [name for field in fields for name in given.told.words.get(f"tensors.{field}", field).split()]


def _elements(given: Given, names: Sequence[str]) -> dict[str, Number]:
    """The elements of the inputs as numbers: None, or what ``absent`` gives, for one that is left out."""
    m, found = given.arithmetic, dict[str, Number]()
    for name in names:
        array = given.arrays.get(name)
        if array is None:
            found[name] = given.value(f"absent.{name}") if f"absent.{name}" in given.told.formulas else None
        else:
            found[name] = m.of(array.view(f"u{array.itemsize}") if "elements" in given.told.words else array)
    return found | {name: m.of(array) for name, array in given.arrays.items() if name not in names}


def _given_part(given: Given, at: At, sizes: Sequence[int]) -> Given:
    """The use with what goes with a part of the output."""
    return given.with_arrays({name: _part(array, at, sizes) for name, array in given.arrays.items()})


def _with_entries(given: Given, spread: bool = False) -> Given:
    """The use with the tensors of arrays by their names, and the arrays among its attributes as tensors.

    Such tensors have one axis of more than one element. ``spread``: a tensor whose elements are for blocks gets the
    sizes of the output.
    """
    rank = len(given.output_sizes)
    several = {name: found for name, found in given.arrays.items() if type(found) is tuple}
    if several:
        arrays = {name: found for name, found in given.arrays.items() if name not in several}
        for field, found in several.items():
            arrays |= dict(zip(given.told.words[f"tensors.{field}"].split(), found, strict=False))
        if spread:
            every = blocks.whole(given.output_sizes)
            arrays = {name: _part(array, every, given.output_sizes) for name, array in arrays.items()}
        given = given.with_arrays(arrays)
    arrays = {}
    for key, axis in given.told.words.items():
        head, _, name = key.partition(".")
        if head == "along" and name not in given.arrays:
            entries = np.array(given.values[name], np.float32)
            arrays[name] = entries.reshape([entries.size if d == int(axis) else 1 for d in range(rank)])
    return given.with_arrays({**given.arrays, **arrays}) if arrays else given


def _has(given: Given, key: str) -> bool:
    return any(name.partition(".")[0] == key for name in given.told.formulas)


def _part(array: Array, at: At, sizes: Sequence[int]) -> Array:
    """The part of an input that goes with a part of the output.

    An axis of one element goes with all; of fewer elements than the output has, each goes with a block of them.
    """
    if all(own in (1, size) for own, size in zip(array.shape, sizes, strict=True)):
        return blocks.within(array, at)
    places = [
        np.arange(one.start, one.stop) * own // size for one, own, size in zip(at, array.shape, sizes, strict=True)
    ]
    return array[np.ix_(*places)]


def _key(given: Given, key: str, output: str) -> str:
    """The key of an expression, or, of several outputs, that of the output."""
    several = f"{key}.{output}"
    return several if several in given.told.formulas else key


FAMILY: Final = Elementwise()
