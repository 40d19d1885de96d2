"""Recurrent layers. ONNX has their tensors without the first axis of size 1, and the initial states last."""

from __future__ import annotations

from typing import Final

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._frontends.onnx.activations import activation
from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._graph.values import Value

DIRECTIONS: Final = {
    "forward": ("FORWARD", 1),
    "foward": ("FORWARD", 1),  # the default of version 1 of GRU
    "reverse": ("BACKWARD", 1),
    "bidirectional": ("BIDIRECTIONAL", 2),
}
"""The directions, and how many there are of weights."""
LENGTHS: Final = 4
OUTPUTS: Final = ("output_sequence", "output_single", "output_cell_single")


def rnn(use: Use) -> tuple[OnnxValue | None, ...]:
    _without_clip(use)
    return _recurrent(use, ("Tanh",), (0, 1, 2, 3, 5, 4))


def gru(use: Use) -> tuple[OnnxValue | None, ...]:
    _without_clip(use)
    linear = bool(use.attribute("linear_before_reset"))
    return _recurrent(use, ("Sigmoid", "Tanh"), (0, 1, 2, 3, 5, 4), linear_before_reset=linear)


def _without_clip(use: Use) -> None:
    if use.attribute("clip") is not None:
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with a threshold to clip at")


def lstm(use: Use) -> tuple[OnnxValue | None, ...]:
    clip = use.attribute("clip")
    fields = {"use_clip_threshold": True, "clip_threshold": clip} if clip is not None else {}
    fields["couple_input_forget"] = bool(use.attribute("input_forget"))
    return _recurrent(use, ("Sigmoid", "Tanh", "Tanh"), (0, 1, 2, 3, 5, 6, 4, 7), **fields)


def _recurrent(
    use: Use, functions: tuple[str, ...], inputs: tuple[int, ...], **fields: object
) -> tuple[OnnxValue | None, ...]:
    """``functions``: the default activations of a direction; ``inputs``: the places of the inputs in ONNX."""
    if use.attribute("layout"):
        use.refuse("DML-ONNX-unsupported", what="a batch that comes before the sequence")
    hidden, given = use.require_rank(3, 3, 2).sizes[2], use.attribute("hidden_size")
    if given not in (None, hidden):
        use.refuse("DML-ONNX-attribute-value", name="hidden_size", value=given, known=f"{hidden}, as the weights say")
    direction = use.attribute("direction")
    if direction not in DIRECTIONS:
        known = "forward, reverse or bidirectional"
        use.refuse("DML-ONNX-attribute-value", name="direction", value=direction, known=known)
    direction, count = DIRECTIONS[direction]
    wanted = [place for place in range(len(use.version.outputs)) if use.wants(place)] or [0]
    sizes = [_sizes(use, place, count) for place in wanted]
    values = use.make(
        *(_read(use, place) for place in inputs),
        activation_descs=_activations(use, functions * count),
        direction=direction,
        **{OUTPUTS[place]: True for place in wanted},
        **fields,
    )
    several = values if isinstance(values, tuple) else (values,)
    made = {place: use.out(value, one, place) for place, value, one in zip(wanted, several, sizes, strict=True)}
    return tuple(made.get(place) for place in range(len(use.version.outputs)))


def _read(use: Use, place: int) -> Value | None:
    if not use.has(place):
        return None
    return use.right(place, dtype="UINT32" if place == LENGTHS else "")


def _sizes(use: Use, place: int, directions: int) -> tuple[int, ...]:
    """The sizes of an output; only the first one has all steps."""
    steps, batch, _ = use.require_rank(3, 3).sizes
    whole = (directions, batch, use.require_rank(3, 3, 2).sizes[2])
    return whole if place else (steps, *whole)


def _activations(use: Use, functions: tuple[str, ...]) -> list[OperatorDesc]:
    """The descs of the activations; each takes as many of the numbers as it has, in order."""
    names = tuple(use.attribute("activations") or functions)[: len(functions)]
    if len(names) < len(functions):
        use.refuse(
            "DML-ONNX-attribute-value", name="activations", value=[*names], known=f"a list of length {len(functions)}"
        )
    rest = {name: iter(use.attribute(f"activation_{name}") or ()) for name in ("alpha", "beta")}
    return [
        activation(use, "activation_descs", one, lambda number: next(rest.get(number, iter(())), None)) for one in names
    ]
