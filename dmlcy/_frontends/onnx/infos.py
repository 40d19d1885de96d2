"""The facts that a model states of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from dmlcy._frontends.onnx import messages
from dmlcy._frontends.onnx.model import Info, Sizes
from dmlcy._frontends.onnx.tensors import element_of
from dmlcy._frontends.onnx.wire import Span, Wire
from dmlcy._words.values import quote

_KINDS: Final[tuple[Literal["tensor", "sparse", "sequence", "map", "optional", "opaque"], ...]] = (
    "tensor", "sparse", "sequence", "map", "optional", "opaque",
)  # fmt: skip


def info_of(wire: Wire, span: Span) -> Info:
    """The facts of a ValueInfoProto; the inside of a sequence, a map or an optional value is not read."""
    found = wire.message(messages.INFO, [span])
    name = found.get("name", "")
    type_ = wire.message(messages.TYPE, found.get("type", ()))
    for kind in _KINDS:
        if kind not in type_:
            continue
        if kind not in ("tensor", "sparse"):
            return Info(name, None, None, kind)
        tensor = wire.message(messages.TENSOR_TYPE, type_[kind])
        number = tensor.get("elem_type", 0)
        element = element_of(wire, number, span[0], f"The value {quote(name)}").name if number else None
        return Info(name, element, _sizes(wire, tensor["shape"]) if "shape" in tensor else None, kind)
    return Info(name, None, None, "")


def _sizes(wire: Wire, spans: Sequence[Span]) -> Sizes:
    dimensions = wire.message(messages.SHAPE, spans).get("dim", ())
    return tuple(_size(wire, span) for span in dimensions)


def _size(wire: Wire, span: Span) -> int | str | None:
    """A number, a name, or None, also for the negative numbers that some programs write in its place."""
    found = wire.message(messages.DIMENSION, [span])
    number: int | None = found.get("dim_value")
    name: str = found.get("dim_param", "")
    return name or (number if number is not None and number >= 0 else None)
