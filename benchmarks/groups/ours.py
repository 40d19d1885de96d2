"""The calls of dmlcy for a cell: the function, and the operator that is checked once."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dmlcy as dml
from benchmarks.calls import Call
from benchmarks.cells import Array
from benchmarks.groups.model import Cell

OUT, CALLED = "out", "called"


@dataclass(frozen=True, slots=True)
class Expression:
    """A call of a function of dmlcy, as an expression over the inputs.

    Attributes
    ----------
    function
        Its name.
    tensors
        The arguments that read inputs.
    others
        The other arguments.
    values
        The kinds of these arguments are known before the call, and take no time of it.
    """

    function: str
    tensors: tuple[str, ...]
    others: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(call: str, inputs: Collection[str], sizes: tuple[int, ...]) -> Expression:
        """The parts of an expression."""
        tree = ast.parse(call, mode="eval").body
        assert isinstance(tree, ast.Call)
        known, tensors, values = {"desc": dml.desc, "sizes": sizes}, [ast.unparse(one) for one in tree.args], {}
        for one in tree.keywords:
            text = ast.unparse(one.value)
            if reads(text, inputs):
                tensors.append(f"{one.arg}={text}")
            else:
                values[f"{one.arg}_"] = eval(text, {**known})
        others = tuple(f"{name[:-1]}={name}" for name in values)
        return Expression(ast.unparse(tree.func), tuple(tensors), others, values)

    def direct(self, inputs: Mapping[str, Any], out: Any = None) -> Call:
        """The function, called as people write it."""
        names = {**inputs, **self.values, CALLED: getattr(dml, self.function), OUT: out}
        return Call(text_of(CALLED, *self.tensors, *self.others, *([] if out is None else ["out=out"])), names)

    def graph(self, inputs: Mapping[str, Array], constants: Collection[str] = ()) -> Any:
        """The call as a graph of one node, which is checked and not run."""
        builder = dml.Graph()
        values: dict[str, Any] = {
            name: builder.constant(x, name=name)
            if name in constants
            else builder.input(dml.TensorDesc.from_array(x), name=name)
            for name, x in inputs.items()
            if self.reads(name)
        }
        names = {**values, **self.values, CALLED: getattr(builder, self.function)}
        made = eval(text_of(CALLED, *self.tensors, *self.others), names)
        return builder.build(*(made if isinstance(made, tuple) else (made,)))

    def compiled(self, inputs: Mapping[str, Array], out: Any, constants: Collection[str]) -> Call:
        """The operator, checked once and given its constants."""
        desc = self.graph(inputs, constants).nodes[-1].desc
        op = dml.compile(desc)
        called = op.called
        known, given = {}, []
        for place, text in enumerate(self.tensors):
            name, _, value = text.rpartition("=")
            if reads(value, constants):
                known[name or called[place]] = eval(value, {"np": np, **inputs})
            else:
                given.append(text)
        op.initialize(**known)
        return Call(text_of("op", *given, "out=out"), {**inputs, "op": op, OUT: out})

    def reads(self, name: str) -> bool:
        """Whether an argument reads an input."""
        return any(reads(text.partition("=")[2] or text, {name}) for text in self.tensors)


def text_of(function: str, *arguments: str) -> str:
    """A call of a function with these arguments."""
    return f"{function}({', '.join(arguments)})"


def reads(text: str, inputs: Collection[str]) -> bool:
    """Whether an expression reads one of the inputs."""
    return any(isinstance(node, ast.Name) and node.id in inputs for node in ast.walk(ast.parse(text, mode="eval")))


def expression_of(cell: Cell) -> Expression:
    """Our call of a cell."""
    return Expression.of(cell.call, cell.inputs, cell.sizes)
