"""The data types of the outputs of a node, from those of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from dmlcy._frontends.onnx.model import ELEMENTS, Element, Node, Tensor
from dmlcy._frontends.onnx.tables import OperatorRow, Parameter, Version
from dmlcy._types import Array

BY_NUMBER: Final = {one.number: one.name for one in ELEMENTS.values()}
_BY_NUMPY: Final = {one.numpy: one.name for one in reversed(ELEMENTS.values()) if one.directml and one.bits >= 8}


def parameter(rows: Sequence[Parameter], place: int) -> Parameter | None:
    """The row of an input or an output; the last row stands for all further ones where it takes any number."""
    if place < len(rows):
        return rows[place]
    return rows[-1] if rows and rows[-1].mark in ("*", "+") else None


def are_numbers(element: Element, kinds: str) -> bool:
    """Whether the arrays of a data type have its numbers, which are of these kinds of NumPy, and not their bits."""
    kind = "" if element.numpy is None else np.dtype(element.numpy).kind
    return kind != "" and kind in kinds and (kind == "f" or "FLOAT" not in element.name)


def element_of(array: Array) -> str | None:
    """ONNX's name for the data type of an array."""
    return "STRING" if array.dtype == object else _BY_NUMPY.get(array.dtype.name)


def as_element(array: Array, element: str) -> Array:
    """The array with the data type that an element of ONNX has in NumPy."""
    return np.asarray(array, ELEMENTS[element].numpy)


def output_elements(
    node: Node, row: OperatorRow, version: Version, inputs: Sequence[str | None]
) -> tuple[str | None, ...]:
    """The data type of each output; None where it is not known."""
    known: dict[str, str] = {}
    for place, element in enumerate(inputs):
        one = parameter(version.inputs, place)
        if one is not None and element is not None:
            known.setdefault(one.type, element)
    given = _given(node, row, version, known) if row.element or row.otherwise else None
    found: list[str | None] = []
    for place in range(len(node.outputs)):
        one = parameter(version.outputs, place)
        kind = "" if one is None else one.type
        found.append(kind if kind in ELEMENTS else known.get(kind) or given)
    return tuple(found)


def _given(node: Node, row: OperatorRow, version: Version, known: Mapping[str, str]) -> str | None:
    """The data type that the attribute of the table names, or that holds without the attribute."""
    attribute = node.attributes.get(row.element)
    declared = version.attributes.get(row.element)
    value = attribute.value if attribute is not None else declared.default if declared is not None else None
    if isinstance(value, Tensor):
        return value.element
    if isinstance(value, int) and value:
        return BY_NUMBER.get(value)
    if isinstance(value, str) and value in ELEMENTS:
        return value  # the first version of Cast
    return row.otherwise if row.otherwise in ELEMENTS else known.get(row.otherwise)
