"""Attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Final, NamedTuple

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.conversions.rotary import rotary_embedding as rotary_embedding
from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue, packed
from dmlcy._graph.values import Value

FILTER: Final = -10000.0
"""The number that ONNX Runtime adds to the scores of masked keys by default."""
LEAST: Final = -(2**31)


class Sizes(NamedTuple):
    """The sizes of a node's queries."""

    batch: int
    queries: int
    hidden: int
    heads: int

    @property
    def head(self) -> int:
        return self.hidden // self.heads


def _sizes(use: Use, hidden: int) -> Sizes:
    """The sizes, where the first input has the axes {batch, sequence, elements}."""
    batch, queries, _ = use.require_rank(3, 3).sizes
    return Sizes(batch, queries, hidden, _count(use, "num_heads", hidden))


def _count(use: Use, name: str, hidden: int) -> int:
    """A number of heads."""
    heads = use.integer(name)
    if heads < 1 or hidden % heads:
        use.refuse("DML-ONNX-attribute-value", name=name, value=heads, known=f"a divisor of {hidden}")
    return heads


def _same(use: Use, *places: int) -> list[Value | None]:
    """Inputs with their own sizes; None for inputs that are left out."""
    return [use.view(place, use[place].sizes or (1,)) if use.has(place) else None for place in places]


def _without(use: Use, places: dict[int, str], **attributes: str) -> None:
    """Refuse inputs and attributes that ONNX Runtime does not give to DirectML."""
    for place, what in places.items():
        if use.has(place):
            use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with {what}")
    for name, what in attributes.items():
        if use.attribute(name):
            use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with {what}")


def _common(use: Use, head: int) -> dict[str, object]:
    """The fields that all these operators have."""
    scale, masked = use.attribute("scale"), use.attribute("mask_filter_value")
    return {
        "scale": 1 / sqrt(max(head, 1)) if scale is None else scale,
        "mask_filter_value": FILTER if masked is None else masked,
    }


# Masks ---------------------------------------------------------------------------------------------------------------


def _mask(use: Use, place: int, sizes: Sizes) -> dict[str, object]:
    """A mask of several forms: numbers of keys, ends and starts of the keys, or truth."""
    if not use.has(place):
        return {}
    one = use[place]
    if one.rank == 1 and one.sizes[0] in (sizes.batch, 2 * sizes.batch):
        groups = one.sizes[0] // sizes.batch
        kind = "KEY_SEQUENCE_LENGTH" if groups == 1 else "KEY_SEQUENCE_END_START"
        return {"mask": use.view(place, (groups, sizes.batch)), "mask_type": kind}
    use.require_rank(2, 4, place)
    own = (*one.sizes[:1], *(1,) * (4 - one.rank), *one.sizes[1:])
    queries = own[2] if own[2] not in (1, sizes.queries) else sizes.queries
    mask = use.spread(place, (sizes.batch, sizes.heads, queries, own[3]), own=own)
    if queries != sizes.queries:
        window = (sizes.batch, sizes.heads, sizes.queries, sizes.queries)
        mask = use.method("SLICE1")(mask, input_window_sizes=window)
    return {"mask": mask, "mask_type": "BOOLEAN"}


def _key_mask(use: Use, place: int, sizes: Sizes) -> dict[str, object]:
    """A mask of numbers of keys, of lengths, starts and ends, or of truth for the keys of each item."""
    if not use.has(place):
        return {}
    one = use.require_rank(1, 2, place)
    if one.rank == 2:
        own = (one.sizes[0], 1, 1, one.sizes[1])
        whole = (sizes.batch, sizes.heads, sizes.queries, one.sizes[1])
        return {"mask": use.spread(place, whole, own=own), "mask_type": "BOOLEAN"}
    if one.sizes[0] == sizes.batch:
        return {"mask": use.view(place, (1, sizes.batch)), "mask_type": "KEY_SEQUENCE_LENGTH"}
    return {"mask": use.view(place, one.sizes), "mask_type": "KEY_QUERY_SEQUENCE_LENGTH_START_END"}


# Operators that multiply by weights first ----------------------------------------------------------------------------


def attention(use: Use) -> tuple[OnnxValue, ...]:
    """A product with the weights gives queries, keys and values, which lie one behind the other.

    The CPU computes nodes with a causal mask, or with keys of other runs, on a device.
    """
    _without(
        use, {6: "a length of the past"}, do_rotary="rotary positions", past_present_share_buffer="a shared buffer"
    )  # fmt: skip
    last, sizes = _weighted(use)
    past, keeps = _past(use, 4), use.wants(1)
    if last != sizes.hidden and (past or keeps):
        use.refuse("DML-ONNX-unsupported", what=f"keys of other runs beside values of {last} elements")
    bias = use.spread(2, (sizes.batch, sizes.queries, 2 * sizes.hidden + last), rank=3) if use.has(2) else None
    whole = use.method("GEMM")(use.view(0, use[0].sizes), _weights(use, sizes), bias)
    earlier = use[4].sizes[3] if past else 0
    fields = {
        **past,
        **_causal(use, sizes, earlier, _mask(use, 3, sizes)),
        "relative_position_bias": _same(use, 5)[0],
        "output_present_key": keeps,
        "output_present_value": keeps,
        **_common(use, sizes.head),
    }
    if last == sizes.hidden:
        fields["stacked_query_key_value"] = _stacked(use, whole, sizes, 3)
    else:
        both = (sizes.batch, sizes.queries, 2 * sizes.hidden)
        fields["value"] = use.method("SLICE1")(
            whole, input_window_offsets=(0, 0, both[2]), input_window_sizes=(*both[:2], last)
        )
        fields["stacked_query_key"] = _stacked(use, use.method("SLICE1")(whole, input_window_sizes=both), sizes, 2)
    made = use.make(head_count=sizes.heads, **fields)
    value, *present = made if keeps else (made,)
    outputs = use.out(value, (sizes.batch, sizes.queries, last))
    return outputs, *_present(use, present, sizes, earlier)


def _weighted(use: Use) -> tuple[int, Sizes]:
    """The elements of all values, and the sizes."""
    weights = use.require_rank(2, 2, 1)
    given = use.integers("qkv_hidden_sizes") or ()
    if given and (len(given) != 3 or given[0] != given[1] or sum(given) != weights.sizes[1] or min(given) < 1):
        known = f"three numbers whose sum is {weights.sizes[1]}"
        use.refuse("DML-ONNX-attribute-value", name="qkv_hidden_sizes", value=[*given], known=known)
    if not given and weights.sizes[1] % 3:
        use.refuse("DML-ONNX-reshape", sizes=[*weights.sizes], wanted=[weights.sizes[0], 3, weights.sizes[1] // 3])
    hidden, last = (given[0], given[2]) if given else (weights.sizes[1] // 3, weights.sizes[1] // 3)
    return last, _sizes(use, hidden)


def _weights(use: Use, sizes: Sizes) -> Value:
    """The weights, repeated for each item by strides of 0."""
    return use.spread(1, (sizes.batch, *use[1].sizes), rank=3)


def _stacked(use: Use, value: Value, sizes: Sizes, count: int) -> Value:
    """A copy with the axes {batch, sequence, heads, count, head} of {batch, sequence, count, heads, head}."""
    shape = (sizes.batch, sizes.queries, sizes.heads, count, sizes.head)
    steps = packed((sizes.batch, sizes.queries, count, sizes.heads, sizes.head))
    strides = (*steps[:2], steps[3], steps[2], steps[4])
    turned = use.g.reinterpret(value, TensorDesc(use.dtype(), shape, strides))
    copied: Value = use.method("ELEMENT_WISE_IDENTITY")(turned)
    return copied


def q_attention(use: Use) -> tuple[OnnxValue, ...]:
    _without(use, {}, do_rotary="rotary positions", past_present_share_buffer="a shared buffer")
    if use.has(5):  # DirectML is not asked for it, and the CPU has no kernel here
        _without(use, {}, unidirectional="a causal mask and another one")
    last, sizes = _weighted(use)
    bias = use.spread(2, (sizes.batch, sizes.queries, 3 * last), rank=3) if use.has(2) else None
    left, right = _same(use, 3, 6), _same(use, 4, 7)
    multiply = use.method("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
    whole = multiply(use.view(0, use[0].sizes), *left, _weights(use, sizes), *right, bias)
    past, keeps = _past(use, 8), use.wants(1)
    earlier = use[8].sizes[3] if past else 0
    made = use.make(
        stacked_query_key_value=_stacked(use, whole, sizes, 3),
        head_count=sizes.heads,
        output_present_key=keeps,
        output_present_value=keeps,
        **past,
        **_causal(use, sizes, earlier, _mask(use, 5, sizes)),
        **_common(use, sizes.head),
    )
    value, *present = made if keeps else (made,)
    output = use.out(value, (sizes.batch, sizes.queries, sizes.hidden))
    return output, *_present(use, present, sizes, earlier)


def _present(use: Use, present: Sequence[Value], sizes: Sizes, earlier: int) -> Iterator[OnnxValue]:
    """The keys and values of all runs in one tensor, if there are any."""
    if present:
        whole = (2, sizes.batch, sizes.heads, earlier + sizes.queries, sizes.head)
        yield use.out(use.method("JOIN")(present, axis=0), whole, 1)


def _past(use: Use, place: int) -> dict[str, object]:
    """The keys and values of earlier runs, which are in one tensor."""
    if not use.has(place):
        return {}
    past = use.require_rank(5, 5, place)
    if 0 in past.sizes:
        return {}
    whole, window = use.view(place, past.sizes), (1, *past.sizes[1:])
    cut = use.method("SLICE1")
    return {
        "past_key": cut(whole, input_window_sizes=window),
        "past_value": cut(whole, input_window_offsets=(1, 0, 0, 0, 0), input_window_sizes=window),
    }


def _causal(use: Use, sizes: Sizes, earlier: int, given: dict[str, object]) -> dict[str, object]:
    """A mask of the keys up to the place of each query, and of the keys that another mask of truth allows."""
    if not use.attribute("unidirectional"):
        return given
    if given and given["mask_type"] != "BOOLEAN":
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with a causal mask and one of numbers")
    mask = use.method("DIAGONAL_MATRIX1")(
        output_sizes=(sizes.queries, earlier + sizes.queries),
        diagonal_fill_begin=LEAST,
        diagonal_fill_end=earlier + 1,
        value=1,
        output_dtype="INT32",
    )
    if given:
        whole = (sizes.batch, sizes.heads, sizes.queries, earlier + sizes.queries)
        causal = use.g.broadcast(use.g.reinterpret(mask, TensorDesc("INT32", (1, 1, *whole[2:]))), whole)
        mask = use.method("ELEMENT_WISE_MULTIPLY")(given["mask"], causal)
    return {"mask": mask, "mask_type": "BOOLEAN"}


# Operators that are given queries, keys and values -------------------------------------------------------------------


def multi_head_attention(use: Use) -> tuple[OnnxValue | None, ...]:
    """A key of four axes is that of an earlier run, one of five has the values too, a query of five has all three."""
    _without(use, {8: "a length of the past", 9: "a cache indirection"}, unidirectional="a causal mask")
    if use.wants(3):
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with an output of scores")
    query = use[0]
    if query.rank == 5:
        hidden = query.sizes[2] * query.sizes[4]
        sizes = Sizes(query.sizes[0], query.sizes[1], hidden, _count(use, "num_heads", hidden))
        given: dict[str, object] = {"stacked_query_key_value": use.view(0, query.sizes)}
    else:
        sizes = _sizes(use, use.require_rank(3, 5).sizes[-1])
        given = {"query": use.view(0, query.sizes), **_keys(use)}
    bias, position = _same(use, 3, 5)
    is_first = use.has(6) and 0 in use[6].sizes
    past_key, past_value = (None, None) if is_first else _same(use, 6, 7)
    fields: dict[str, object] = {
        "bias": bias,
        "relative_position_bias": position,
        "past_key": past_key,
        "past_value": past_value,
    }
    wanted = [use.wants(place) for place in (1, 2)]
    made = use.make(
        **{**fields, **given},
        **_key_mask(use, 4, sizes),
        **_common(use, sizes.head),
        head_count=sizes.heads,
        output_present_key=wanted[0],
        output_present_value=wanted[1],
    )
    several = iter(made if isinstance(made, tuple) else (made,))
    last = use[2].sizes[2] if "value" in given else sizes.hidden
    keys = _key_count(use, given, sizes)
    outputs: list[OnnxValue | None] = [use.out(next(several), (sizes.batch, sizes.queries, last)), None, None]
    for place, hidden in ((1, sizes.hidden), (2, last)):
        if wanted[place - 1]:
            whole = (sizes.batch, sizes.heads, keys, hidden // sizes.heads)
            outputs[place] = use.out(next(several), whole, place)
    return tuple(outputs)


def _key_count(use: Use, given: dict[str, object], sizes: Sizes) -> int:
    """The number of keys of earlier runs and of this one."""
    if "past_key" in given:
        return use[1].sizes[2]
    earlier = use.require_rank(4, 4, 6).sizes[2] if use.has(6) else 0
    return earlier + (use[1].sizes[1] if "query" in given and use.has(1) else sizes.queries)


def _keys(use: Use) -> dict[str, object]:
    """The keys and values, by the fields that take them."""
    if not use.has(1):
        return {}
    key = use.require_rank(3, 5, 1)
    if key.rank == 5:
        return {"stacked_key_value": use.view(1, key.sizes)}
    use.require_rank(key.rank, key.rank, 2)
    names = ("key", "value") if key.rank == 3 else ("past_key", "past_value")
    return {name: use.view(place, use[place].sizes) for name, place in zip(names, (1, 2), strict=True)}


def group_query_attention(use: Use) -> tuple[OnnxValue, ...]:
    """The keys of earlier runs count for a run of one query only: a run of more of them is the first one.

    ONNX Runtime gives DirectML no earlier keys: they are in the memory of the outputs. Here they are inputs.
    """
    _without(
        use, {10: "a bias", 11: "head sinks", 12: "a scale of keys", 13: "a scale of values", 14: "a norm of queries",
              15: "a norm of keys", 16: "numbers of queries"},
        do_rotary="rotary positions", softcap="a cap of scores", qk_output="an output of scores",
        kv_cache_bit_width="a quantized cache", sliding_window_cache="a cache of a window",
    )  # fmt: skip
    known = {
        "causal": (1,), "local_window_size": (-1,), "smooth_softmax": (-1, 0), "k_quant_type": ("NONE",),
        "v_quant_type": ("NONE",),
    }  # fmt: skip
    for name, allowed in known.items():
        if (given := use.attribute(name)) not in allowed:
            use.refuse("DML-ONNX-attribute-value", name=name, value=given, known=[*allowed])
    if use.wants(3):
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with an output of scores")
    query, key, _ = (use.require_rank(3, 3, place) for place in range(3))
    sizes = _sizes(use, query.sizes[-1])
    cache = _cache(use, sizes, _count(use, "kv_num_heads", key.sizes[2]))
    cast = use.method("CAST") if query.element == "FLOAT16" else None
    given = {
        **{name: use.view(place, use[place].sizes) for place, name in enumerate(("query", "key", "value"))},
        **_earlier(use, cache),
    }
    if cast is not None:
        given = {name: cast(one, output_dtype="FLOAT32") for name, one in given.items()}
    made = use.method("MULTIHEAD_ATTENTION1")(
        **given,
        past_sequence_lengths=_past_lengths(use, sizes),
        query_head_count=sizes.heads,
        key_value_head_count=cache.heads,
        output_present_key=True,
        output_present_value=True,
        output_present_key_sizes=cache.sizes(cache.room),
        output_present_value_sizes=cache.sizes(cache.room),
        **_common(use, sizes.head),
    )
    if cast is not None:
        made = [cast(one, output_dtype="FLOAT16") for one in made]
    shapes = (query.sizes, cache.sizes(cache.room), cache.sizes(cache.room))
    return tuple(use.out(one, shape, place) for place, (one, shape) in enumerate(zip(made, shapes, strict=True)))


class Cache(NamedTuple):
    """The sizes of the keys and values of all runs."""

    batch: int
    heads: int
    head: int
    given: int  # keys that the inputs have room for
    earlier: int  # of these, how many may count
    room: int  # keys that the outputs have room for

    def sizes(self, keys: int) -> tuple[int, int, int, int]:
        return (self.batch, self.heads, keys, self.head)


def _cache(use: Use, sizes: Sizes, heads: int) -> Cache:
    """The sizes of the cache, whose inputs may have room for keys of later runs, too."""
    total, head = use.single(6, "iu"), use[1].sizes[2] // heads
    if total < sizes.queries:
        use.refuse("DML-ONNX-count", name="total_sequence_length", count=total, wanted=f"{sizes.queries} at least")
    given = use.require_rank(4, 4, 3).sizes[2] if use.has(3) else 0
    earlier = min(given, total - 1) if sizes.queries == 1 else 0
    return Cache(sizes.batch, heads, head, given, earlier, max(total, given))


def _earlier(use: Use, cache: Cache) -> dict[str, Value]:
    """The keys and values of earlier runs."""
    found: dict[str, Value] = {}
    if not cache.earlier:
        return found
    for place, name in ((3, "past_key"), (4, "past_value")):
        if use[place].sizes != cache.sizes(cache.given):
            use.refuse(
                "DML-ONNX-sizes", name=use[place].name, sizes=use[place].sizes, wanted=cache.sizes(cache.given)
            )  # fmt: skip
        whole = use.view(place, cache.sizes(cache.given))
        part = cache.earlier < cache.given
        found[name] = use.method("SLICE1")(whole, input_window_sizes=cache.sizes(cache.earlier)) if part else whole
    return found


def _past_lengths(use: Use, sizes: Sizes) -> Value:
    """The number of earlier keys of each item."""
    if sizes.queries == 1:
        return use.view(5, (sizes.batch,))
    zeros: Value = use.method("FILL_VALUE_CONSTANT")(output_sizes=(sizes.batch,), value=0, output_dtype="INT32")
    return zeros
