"""Conditions of ONNX Runtime before its DirectML provider takes a node: the queries of ``specs/onnx``.

Each function says what keeps the node on the CPU, as a phrase, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dmlcy._frontends.onnx.equations import parse
from dmlcy._frontends.onnx.visits import Visit


def of(visit: Visit) -> str | None:
    """The reason that keeps a node on the CPU; None where there is none, or no query."""
    query = _QUERIES.get(visit.row.query) if visit.row is not None else None
    return query(visit) if query is not None else None


def _value(visit: Visit, name: str) -> Any:
    """The value of an attribute, or its default."""
    given = visit.node.attributes.get(name)
    if given is not None:
        return given.value
    declared = visit.version.attributes.get(name) if visit.version is not None else None
    return None if declared is None else declared.default


def _set(visit: Visit, *names: str) -> str | None:
    """The first of these attributes that is not zero, with its value."""
    return next((f"{name} = {_value(visit, name)}" for name in names if _value(visit, name)), None)


def _given(visit: Visit, place: int) -> bool:
    return place < len(visit.node.inputs) and visit.node.inputs[place] != ""


def _wanted(visit: Visit, place: int) -> bool:
    return place < len(visit.node.outputs) and visit.node.outputs[place] != ""


def _element(visit: Visit, place: int) -> str | None:
    known = visit.inputs[place] if place < len(visit.inputs) else None
    return None if known is None else known.element


def _max_pool(visit: Visit) -> str | None:
    return _set(visit, "storage_order")


def _batch_normalization(visit: Visit) -> str | None:
    elements = {one for place in range(5) if (one := _element(visit, place)) is not None}
    if len(elements) > 1:
        return f"inputs of the data types {' and '.join(sorted(elements))}"
    return _set(visit, "training_mode")


def _layer_normalization(visit: Visit) -> str | None:
    return "more than one output" if any(_wanted(visit, place) for place in (1, 2)) else None


def _skip_layer_normalization(visit: Visit) -> str | None:
    return "the output mean or inv_std_var" if any(_wanted(visit, place) for place in (1, 2)) else None


def _recurrent(visit: Visit) -> str | None:
    return _set(visit, "layout")


def _slice(visit: Visit) -> str | None:
    return "more than 5 inputs" if len(visit.node.inputs) > 5 else None


def _scatter(visit: Visit) -> str | None:
    reduction = _value(visit, "reduction")
    return f'reduction = "{reduction}"' if reduction not in (None, "none") else None


def _resize(visit: Visit) -> str | None:
    if _value(visit, "mode") == "cubic":
        return 'mode = "cubic"'
    return _set(visit, "exclude_outside", "extrapolation_value")


def _einsum(visit: Visit) -> str | None:
    text = str(_value(visit, "equation") or "")
    equation = parse(text)
    return None if equation is not None and equation.is_recognised else f'equation = "{text}"'


def _attention(visit: Visit) -> str | None:
    if _given(visit, 4):
        return "the input past"
    if _given(visit, 6):
        return "the input past_sequence_length"
    if _wanted(visit, 1):
        return "the output present"
    return _set(visit, "unidirectional", "do_rotary", "past_present_share_buffer")


def _qattention(visit: Visit) -> str | None:
    if _value(visit, "unidirectional") and _given(visit, 5):
        return "unidirectional = 1 and a mask"
    return _set(visit, "do_rotary", "past_present_share_buffer")


def _qlinear_sigmoid(visit: Visit) -> str | None:
    return "no zero point" if len(visit.node.inputs) < 5 else None


def _matmul_n_bits(visit: Visit) -> str | None:
    bits, block, columns = (_value(visit, name) for name in ("bits", "block_size", "K"))
    if bits not in (None, 4, 8):
        return f"bits = {bits}"
    if block and columns and columns % block:
        return f"K = {columns}, which is no multiple of block_size = {block}"
    return None


_QUERIES: Final[dict[str, Callable[[Visit], str | None]]] = {
    "batch_normalization": _batch_normalization,
    "einsum": _einsum,
    "layer_normalization": _layer_normalization,
    "matmul_n_bits": _matmul_n_bits,
    "max_pool": _max_pool,
    "q_attention": _qattention,
    "q_linear_sigmoid": _qlinear_sigmoid,
    "recurrent_layout": _recurrent,
    "resize": _resize,
    "scatter": _scatter,
    "self_attention": _attention,
    "skip_layer_normalization": _skip_layer_normalization,
    "slice": _slice,
}
