"""Rotary positions."""

from __future__ import annotations

from typing import NamedTuple

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue, packed
from dmlcy._graph.values import Value


class Rotation(NamedTuple):
    """The sizes of a rotation: of ``head`` elements of a head, the first ``part`` ones are rotated, in pairs."""

    batch: int
    sequence: int
    heads: int
    head: int
    part: int
    is_headed: bool  # the heads come before the sequence
    is_interleaved: bool  # the elements of a pair lie side by side

    @property
    def axis(self) -> int:
        """The axis of the two elements of a pair."""
        return 4 if self.is_interleaved else 3

    def sizes(self, last: int) -> tuple[int, ...]:
        """Four axes in the order of the input."""
        middle = (self.heads, self.sequence) if self.is_headed else (self.sequence, self.heads)
        return (self.batch, *middle, last)

    def pairs(self, count: int = 2) -> tuple[int, ...]:
        """Five axes, with the one of the pairs."""
        last = (self.part // 2, count) if self.is_interleaved else (count, self.part // 2)
        return (self.batch, self.sequence, self.heads, *last)

    def strides(self, batch: int, sequence: int, pair: int, element: int) -> tuple[int, ...]:
        """Strides of the five axes of what all heads share."""
        return (batch, sequence, 0, *((element, pair) if self.is_interleaved else (pair, element)))


def rotary_embedding(use: Use) -> OnnxValue:
    """Each pair of elements times the cosine, and the swapped pair with one sign changed times the sine."""
    known = _rotation(use)
    g, dtype = use.g, use.dtype()
    split, join, multiply, add = map(use.method, ("SPLIT", "JOIN", "ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_ADD"))
    first, rest = use.view(0, known.sizes(known.head)), None
    if known.part != known.head:
        parts = [known.sizes(known.part), known.sizes(known.head - known.part)]
        first, rest = split(first, axis=3, output_sizes=parts)
    turned = TensorDesc(dtype, (known.batch, known.sequence, known.heads, known.part), _turned(known))
    plain = TensorDesc(dtype, turned.sizes)
    copied = use.method("ELEMENT_WISE_IDENTITY")(g.reinterpret(first, turned), scale_bias=(1, 0))
    pairs = g.reinterpret(copied, TensorDesc(dtype, known.pairs()))
    lower, upper = split(pairs, axis=known.axis, output_sizes=[known.pairs(1)] * 2)
    swapped = join([upper, lower], axis=known.axis)
    places = _places(use, known)
    cosines, sines = (_cached(use, known, place, places) for place in (2, 3))
    signs = use.method("FILL_VALUE_SEQUENCE")(output_sizes=(2,), value_start=-1, value_delta=2, output_dtype=dtype)
    signs = g.reinterpret(signs, TensorDesc(dtype, known.pairs(), known.strides(0, 0, 1, 0)))
    summands = multiply(pairs, cosines), multiply(multiply(swapped, sines), signs)
    made = add(*(g.reinterpret(one, plain) for one in summands), outputs=turned)
    if rest is not None:
        made = join([g.reinterpret(made, TensorDesc(dtype, known.sizes(known.part))), rest], axis=3)
    return use.out(g.reinterpret(made, TensorDesc(dtype, known.sizes(known.head))), use[0].sizes)


def _rotation(use: Use) -> Rotation:
    x, cache = use[0], use[2]
    use.require_rank(3, 4)
    use.require_rank(2, 2, 2)
    is_headed = x.rank == 4
    hidden = x.sizes[1] * x.sizes[3] if is_headed else x.sizes[2]
    heads, part = use.attribute("num_heads") or 0, use.attribute("rotary_embedding_dim") or 0
    head = hidden // heads if heads else 2 * cache.sizes[1]
    part = part or head
    if not 1 < part <= head or part % 2 or hidden % head or (is_headed and head != x.sizes[3]):
        known = f"an even number of at most {head} of {hidden} elements"
        use.refuse("DML-ONNX-attribute-value", name="rotary_embedding_dim", value=part, known=known)
    if use.attribute("scale") not in (None, 1.0):
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with a scale")
    sequence = x.sizes[2] if is_headed else x.sizes[1]
    if sequence > cache.sizes[0] and not use.attribute("is_packed_batching"):
        use.refuse("DML-ONNX-broadcast", sizes=[*cache.sizes], wanted=[sequence, part // 2])
    is_interleaved = bool(use.attribute("interleaved"))
    return Rotation(x.sizes[0], sequence, hidden // head, head, part, is_headed, is_interleaved)


def _turned(known: Rotation) -> tuple[int, ...] | None:
    """The strides of {batch, sequence, heads, elements} where the heads come first."""
    if not known.is_headed:
        return None
    steps = packed(known.sizes(known.part))
    return (steps[0], steps[2], steps[1], steps[3])


def _places(use: Use, known: Rotation) -> Value:
    """The place of each element of the sequence; a single number is that of the first one."""
    if use[1].rank != 1:
        return use.right(1)
    whole = (1, 1, known.batch, known.sequence)
    counted = use.method("FILL_VALUE_SEQUENCE")(
        output_sizes=(1, 1, 1, known.sequence), value_start=0, value_delta=1, output_dtype="INT64"
    )
    added: Value = use.method("ELEMENT_WISE_ADD")(
        use.g.reinterpret(counted, TensorDesc("INT64", whole, (0, 0, 0, 1))), use.spread(1, whole)
    )
    return added


def _cached(use: Use, known: Rotation, place: int, places: Value) -> Value:
    """The factors of the places, the same ones for each head and for both elements of a pair."""
    half = known.part // 2
    found = use.method("GATHER")(use.right(place), places, axis=2, index_dimensions=2)
    strides = known.strides(known.sequence * half, half, 0, 1)
    return use.g.reinterpret(found, TensorDesc(use.dtype(), known.pairs(), strides))
