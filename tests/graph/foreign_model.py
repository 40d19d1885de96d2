"""A model of another format, and a front end that builds a graph from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from graphs import tensor

import dmlcy as dml

FILE = "model.onnx"
SIZES = (1, 2, 8, 8)


class Item(NamedTuple):
    """A node of the model. ``arguments``: those of the method; ``sizes``: what shape inference says of the output."""

    name: str
    operator: str
    method: str
    arguments: dict[str, Any]
    sizes: tuple[int, ...] = SIZES


POOLED = {"window_size": (3, 3), "start_padding": 1, "end_padding": 1}
WRONG: dict[int, tuple[str, dict[str, Any], str]] = {
    300: ("activation_softmax1", {"axes": (1, 9)}, "DML-ACTIVATION_SOFTMAX1-axes-range"),
    301: ("element_wise_add", {"other": (1, 2, 8, 7)}, "DML-ELEMENT_WISE_ADD-b-sizes"),
    900: ("activation_elu", {"alpha": "one"}, "DML-ACTIVATION_ELU-alpha-type"),
}
"""The nodes that no desc can be made of, and the id of what is wrong with each."""


def items(count: int, wrong: dict[int, tuple[str, dict[str, Any], str]]) -> Iterator[Item]:
    """So many nodes in a row, most of them right."""
    for number in range(count):
        method, arguments = ("activation_relu", {}) if number % 2 else ("average_pooling", POOLED)
        if number in wrong:
            method, arguments, _ = wrong[number]
        yield Item(f"/layer/{number}", method.title(), method, arguments)


def built(count: int, wrong: dict[int, tuple[str, dict[str, Any], str]] = WRONG) -> dml.graph.GraphDesc:
    """The graph of such a model; nothing of it raises."""
    g = dml.Graph(collect=True, unique_names=True)
    value = g.input(tensor(*SIZES), name="x")
    for item in items(count, wrong):
        arguments = dict(item.arguments)
        other = arguments.pop("other", None)
        with g.origin(FILE, item.name, item.operator):
            values = [value] if other is None else [value, g.input(tensor(*other))]
            value = getattr(g, item.method)(*values, **arguments, outputs=tensor(*item.sizes), name=item.name)
    return g.build(y=value)
