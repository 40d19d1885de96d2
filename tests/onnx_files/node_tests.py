"""The tests of single nodes that the package ``onnx`` has, and what becomes of them as DirectML graphs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from protos import BY_NUMBER, array_of, node_of

import dmlcy
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX
from dmlcy._frontends.onnx.tables import OperatorRow, operator, shown
from dmlcy._frontends.onnx.use import Unconverted, Use
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._runtime.four_bits import Packed, values_of

Verdict = Literal["passed", "failed", "refused", "violations"]

STEPS = 16
"""How far a result may be off, in units in the last place of the largest result: the expected ones round often, too."""


@dataclass(frozen=True)
class Case:
    """A test: a model of one node, its inputs, and the outputs that are expected."""

    name: str
    operator: str  # with its domain where that is not ONNX's own
    model: Any
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]

    @property
    def row(self) -> OperatorRow | None:
        node = self.model.graph.node[0]
        return operator(node.domain or ONNX, node.op_type)


@dataclass(frozen=True)
class Outcome:
    """What became of a test.

    ``why``: for one that is refused the id; for one with violations the ids of DirectML's rules, with spaces between
    them; for one that failed the differences. ``operators``: the operators of DirectML in the graph.
    """

    case: str
    operator: str
    verdict: Verdict
    why: str = ""
    operators: tuple[str, ...] = ()


@cache
def cases() -> tuple[Case, ...]:
    """All tests of one node. To make them takes 5 seconds: onnx computes the expected values."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        found = collect_testcases(None)
    return tuple(_read(one) for one in found if len(one.model.graph.node) == 1 and "_expanded" not in one.name)


def cases_of(*groups: str) -> list[Case]:
    """The tests of the operators of these files of specs/onnx that have a conversion."""
    return [one for one in cases() if one.row is not None and one.row.group in groups and one.row.conversion]


def _read(case: Any) -> Case:
    node = case.model.graph.node[0]
    inputs, expected = case.data_sets[0]
    name = shown(node.domain or ONNX, node.op_type)
    return Case(case.name.removeprefix("test_"), name, case.model, tuple(inputs), tuple(expected))


def judge(case: Case, known: Sequence[int] | None = None) -> Outcome:
    """Convert the node, run the graph, and compare the outputs with the expected ones.

    ``known``: the inputs that are constants of the model; else those that ONNX Runtime reads on the CPU.
    """
    try:
        use, inputs = _use(case, known)
        assert use.row.conversion, f"{case.operator} has no conversion"
        module = import_module(f"dmlcy._frontends.onnx.conversions.{use.row.group}")
        made = getattr(module, use.row.conversion)(use)
    except Unconverted as error:
        return Outcome(case.name, case.operator, "refused", error.identifier)
    found = made if isinstance(made, tuple) else (made,)
    names = [name for name in use.node.outputs if name]
    wanted = [one for place, one in enumerate(found) if place < len(use.node.outputs) and use.node.outputs[place]]
    values = [one.value for one in wanted if one is not None and one.value is not None]
    graph = use.g.build(*values) if values else None  # all outputs are empty
    operators = tuple(dict.fromkeys(node.kind for node in graph.nodes if node.kind)) if graph else ()
    violations = use.g.violations
    if violations:
        return Outcome(case.name, case.operator, "violations", " ".join(one.id for one in violations), operators)
    arrays = [*inputs, *(_plain(one.read()) for one in use.constants if one.read is not None)]
    results = dmlcy.compile(graph)(*arrays) if graph else ()
    several = iter(results if isinstance(results, tuple) else (results,))
    shaped = [_result(one, several) for one in wanted]
    why = "; ".join(_differences(names, shaped, [array_of(one) for one in case.expected]))
    return Outcome(case.name, case.operator, "failed" if why else "passed", why, operators)


def _use(case: Case, known: Sequence[int] | None) -> tuple[Use, list[Any]]:
    """The node with its values, and the arrays of those that are inputs of the graph."""
    proto = case.model.graph
    node = node_of(0, proto.node[0])
    row = case.row
    assert row is not None
    opsets = {one.domain or ONNX: one.version for one in case.model.opset_import}
    version = row.version(opsets[node.domain])
    assert version is not None, f"{case.operator} is newer than opset {opsets[node.domain]}"
    constants = row.constants if known is None else known
    g = dmlcy.Graph(collect=True, unique_names=True)
    by_name: dict[str, OnnxValue] = {}
    arrays: list[Any] = []
    for info, given in zip(proto.input, case.inputs, strict=True):
        kind = info.type.tensor_type
        if not info.type.HasField("tensor_type") or BY_NUMBER[kind.elem_type] == "STRING":
            raise Unconverted("DML-ONNX-type", element=info.type.WhichOneof("value"), name=info.name)
        array, element = array_of(given), BY_NUMBER[kind.elem_type]
        places = [place for place, name in enumerate(node.inputs) if name == info.name]
        one = OnnxValue(element, array.shape, name=info.name)
        if any(place in constants for place in places):
            one.read = lambda array=array: values_of(array)
        elif one.dtype is not None and 0 not in array.shape:
            one.value = g.input(TensorDesc(one.dtype, array.shape or (1,)), name=info.name)
            arrays.append(_plain(array))
        by_name[info.name] = one
    elements = [BY_NUMBER[info.type.tensor_type.elem_type] for info in proto.output]
    outputs = iter(elements)
    per_output = [next(outputs) if name else "FLOAT" for name in node.outputs]
    values = [by_name.get(name) if name else None for name in node.inputs]
    return Use(node, row, version, g, values, per_output), arrays


def _plain(array: Any) -> Any:
    """An array that a compiled graph takes."""
    found = np.asarray(array)
    found = found.view(np.uint8) if found.dtype == bool else found
    return found.reshape(1) if found.ndim == 0 else found


def _result(one: OnnxValue | None, results: Iterator[Any]) -> Any:
    """The elements of an output; None where the conversion gives none."""
    if one is None or one.value is None:
        return None if one is None or one.read is None else one.read()
    return _shaped(next(results), one)


def _shaped(result: Any, one: OnnxValue) -> Any:
    """A result under the sizes and the data type that it has in ONNX."""
    array = result.values() if isinstance(result, Packed) else values_of(np.asarray(result))
    wanted = np.dtype(ELEMENTS[one.element].numpy)
    if array.dtype.itemsize != wanted.itemsize or array.size != np.prod(one.sizes, dtype=int):
        return array
    return array.view(wanted).reshape(one.sizes)


def _differences(names: Sequence[str], results: Sequence[Any], expected: Sequence[Any]) -> Iterator[str]:
    if len(results) != len(expected):
        yield f"{len(results)} outputs, and {len(expected)} are expected"
    for name, result, given in zip(names, results, expected, strict=False):
        wanted = values_of(np.asarray(given))
        if result is None:
            yield f"{name}: no value"
        elif result.shape != wanted.shape or result.dtype != wanted.dtype:
            yield f"{name}: {result.dtype} {result.shape} in place of {wanted.dtype} {wanted.shape}"
        elif not _is_close(result, wanted):
            yield f"{name}: {result.reshape(-1)[:8]} in place of {wanted.reshape(-1)[:8]}"


def _is_close(result: Any, wanted: Any) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(result, wanted))
    finite = np.isfinite(wanted)
    if not np.array_equal(result[~finite], wanted[~finite], equal_nan=True):
        return False
    size = np.abs(wanted[finite].astype(np.float64))
    error = np.abs(result[finite].astype(np.float64) - wanted[finite])
    return bool((error <= STEPS * float(np.finfo(wanted.dtype).eps) * size.max(initial=0)).all())
