"""Sparse tensors of a file, which are dense when their elements are asked for."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Final

import numpy as np

from dmlcy._frontends.onnx import messages
from dmlcy._frontends.onnx.model import ELEMENTS, Tensor
from dmlcy._frontends.onnx.tensors import check_sizes, tensor
from dmlcy._frontends.onnx.wire import Span, Wire
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array
from dmlcy._words.values import quote

_LARGEST: Final = 2**31
"""Bytes of a tensor that is made dense."""


def sparse_tensor(wire: Wire, span: Span, folder: Path | None) -> Tensor:
    """The tensor of a SparseTensorProto: its values, and zeros elsewhere."""
    found, byte = wire.message(messages.SPARSE, (span,)), span[0]
    if "values" not in found:
        wire.refuse("sparse", byte, name="", why="does not have values")
    values, sizes = tensor(wire, found["values"], folder), tuple(found.get("dims", ()))
    element = ELEMENTS[values.element]
    check_sizes(wire, f"The sparse tensor {quote(values.name)}", byte, sizes, element)
    indices = tensor(wire, found["indices"], folder) if "indices" in found else None
    count = prod(values.sizes)
    allowed = {(count,), (count, len(sizes))}
    if len(values.sizes) != 1 or (count and (indices is None or indices.element != "INT64")):
        wire.refuse("sparse", byte, name=values.name, why="does not have values of one axis with indices of INT64")
    if indices is not None and indices.sizes not in allowed:
        why = f"has indices of the sizes {indices.sizes}, and must have ({count},) or ({count}, {len(sizes)})"
        wire.refuse("sparse", byte, name=values.name, why=why)

    def read() -> Array:
        given = values.array()
        if prod(sizes) * given.itemsize > _LARGEST:
            wire.refuse("sparse", byte, name=values.name, why=f"has more than {_LARGEST} bytes when it is dense")
        dense = np.zeros(sizes, given.dtype)
        if indices is not None and count:
            try:
                dense[_places(indices.array(), sizes)] = given
            except IndexError:
                wire.refuse("sparse", byte, name=values.name, why="has indices outside of its sizes")
        dense.flags.writeable = False
        return dense

    return Tensor(values.name, values.element, sizes, read, external=values.external)


def _places(indices: Array, sizes: tuple[int, ...]) -> tuple[Array, ...]:
    """The places of the values, an array for each axis; IndexError for one that is outside."""
    if indices.ndim == 1:
        if indices.min() < 0 or indices.max() >= prod(sizes):
            raise IndexError
        return indices_of(indices, sizes)
    if (indices < 0).any():
        raise IndexError
    return tuple(indices.T)
