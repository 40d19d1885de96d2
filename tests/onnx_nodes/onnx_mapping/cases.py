"""The node tests of the ``onnx`` package that are of one node, and what becomes of them here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

import dmlcy
from dmlcy._facts.tables import DTYPES
from onnx_mapping.node import CONVERSIONS, REASONS, Array, Node, NotExpressible, calls

Verdict = Literal["passed", "failed", "not expressible", "not run"]

STEPS = 16
"""How far a result may be off, in units in the last place of the largest result: the expected ones round often, too."""
TYPES = {np.dtype(row.numpy) for row in DTYPES.values() if row.numpy} | {np.dtype(bool)}
"""Data types that DirectML has; truth is UINT8."""
FEW_DIGITS = frozenset(
    {"averagepool_2d_ceil_last_window_starts_on_pad", "roialign_aligned_false", "roialign_aligned_true"}
)
"""Tests whose expected values are written out with four digits behind the point."""


@dataclass(frozen=True)
class Case:
    """A test: a node with its tensors, and the outputs that are expected."""

    name: str
    node: Node
    expected: tuple[Array, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a test. ``why`` is empty where it passed; ``operators`` are those that were called."""

    case: str
    kind: str
    verdict: Verdict
    why: str = ""
    operators: tuple[str, ...] = ()


@cache
def collected() -> tuple[Any, ...]:
    """All node tests. To make them takes some seconds: onnx computes the expected values."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        return tuple(collect_testcases(None))


@cache
def cases() -> tuple[Case, ...]:
    """The tests of one node."""
    return tuple(_read(case) for case in collected() if len(case.model.graph.node) == 1 and not _is_expanded(case))


def _is_expanded(case: Any) -> bool:
    """Whether a test is of another operator, whose definition is this node."""
    return "_expanded" in case.name


def _read(case: Any) -> Case:
    from onnx import helper

    graph = case.model.graph
    (node,) = graph.node
    tensors, expected = ([_array(one) for one in several] for several in case.data_sets[0])
    by_name = dict(zip((value.name for value in graph.input), tensors, strict=True))
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if node.op_type in ("Cast", "BitCast", "CastLike"):
        output = graph.output[0].type.tensor_type.elem_type
        attributes["numpy_to"] = _numpy_type(output)
    attributes["skips_first_output"] = bool(node.output) and not node.output[0]
    inputs = tuple(by_name.get(name) if name else None for name in node.input)
    inputs = inputs[:1] if node.op_type == "CastLike" else inputs  # of the other one only the data type counts
    versions = {one.domain: one.version for one in case.model.opset_import}
    kind = node.op_type if node.domain == "" else f"{node.domain}.{node.op_type}"
    read = Node(kind, attributes, inputs, sum(map(bool, node.output)), versions[node.domain])
    return Case(case.name.removeprefix("test_"), read, tuple(expected))


def _array(tensor: Any) -> Any:
    """A tensor as an array, whether onnx has it as one or as a message."""
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(tensor) if isinstance(tensor, TensorProto) else tensor


def _numpy_type(element: int) -> Any:
    """The data type of NumPy for one of ONNX; None where DirectML has none."""
    from onnx import helper

    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(element))
    return dtype if dtype in TYPES else None


def judge(case: Case) -> Outcome:
    """Run a test."""
    kind = case.node.kind
    with calls() as operators:
        try:
            if kind not in CONVERSIONS:
                raise NotExpressible(REASONS.get(kind, "another version of onnx has it: nothing converts it"))
            for tensor in (*case.node.inputs, *case.expected):
                _check_type(tensor)
            found = CONVERSIONS[kind](case.node)
        except NotExpressible as error:
            return Outcome(case.name, kind, "not expressible", str(error))
        except dmlcy.OperatorNotRunnableError:
            return Outcome(case.name, kind, "not run", f"{operators[-1]} does not run yet")
        except dmlcy.DmlError as error:
            if error.violations and all(one.id.endswith(("-dtype", "-rank")) for one in error.violations):
                return Outcome(case.name, kind, "not expressible", _limit(operators[-1], error))
            return Outcome(case.name, kind, "failed", str(error), tuple(operators))
    results = found if isinstance(found, tuple | list) else (found,)
    why = "; ".join(_differences(results, case.expected, case.name in FEW_DIGITS))
    return Outcome(case.name, kind, "failed" if why else "passed", why, tuple(dict.fromkeys(operators)))


def _check_type(tensor: Any) -> None:
    if tensor is None:
        return
    if not isinstance(tensor, np.ndarray | np.generic):
        raise NotExpressible("a sequence or an optional is no tensor")
    if tensor.dtype not in TYPES:
        raise NotExpressible("DirectML has no such data type")
    if 0 in tensor.shape:
        raise NotExpressible("a size is 0, and those of DirectML are at least 1")


def _limit(operator: str, error: Any) -> str:
    """Why an operator does not take the tensors that ONNX allows."""
    what = {one.id.rpartition("-")[2] for one in error.violations}
    return f"{operator} does not take this {'data type' if what == {'dtype'} else 'number of dimensions'}"


def _differences(results: Any, expected: tuple[Array, ...], few_digits: bool) -> Iterator[str]:
    if len(results) != len(expected):
        yield f"{len(results)} outputs, and {len(expected)} are expected"
    for place, (result, wanted) in enumerate(zip(results, expected, strict=False)):
        result, wanted = np.asarray(result), np.asarray(wanted)
        result = result.reshape(()) if wanted.ndim == 0 and result.size == 1 else result
        if result.shape != wanted.shape or result.dtype != wanted.dtype:
            yield f"output {place}: {result.dtype} {result.shape} in place of {wanted.dtype} {wanted.shape}"
        elif not _equal(result, wanted, few_digits):
            yield f"output {place}: {result.reshape(-1)[:8]} in place of {wanted.reshape(-1)[:8]}"


def _equal(result: Array, wanted: Array, few_digits: bool) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(result, wanted))
    finite = np.isfinite(wanted)
    if not np.array_equal(result[~finite], wanted[~finite], equal_nan=True):
        return False
    given, size = result[finite].astype(np.float64), np.abs(wanted[finite].astype(np.float64))
    error = np.abs(given - wanted[finite])
    allowed = 1e-4 if few_digits else STEPS * float(np.finfo(wanted.dtype).eps) * size.max(initial=0)
    return bool((error <= allowed).all())
