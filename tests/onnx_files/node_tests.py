"""The tests of single nodes that the package ``onnx`` has, and what becomes of them as DirectML graphs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from protos import array_of, model_of

import dmlcy
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Info, Model, Tensor
from dmlcy._frontends.onnx.tables import OperatorRow, operator, shown
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._runtime.four_bits import Packed, values_of

Verdict = Literal["passed", "failed", "refused", "violations", "unconverted"]

STEPS = 16
"""How far a result may be off, in units in the last place of the largest result: the expected ones round often, too."""
FEW_DIGITS = frozenset(
    {"averagepool_2d_ceil_last_window_starts_on_pad", "roialign_aligned_false", "roialign_aligned_true"}
)
"""Tests whose expected values are written out with four digits behind the point."""
REGIONS = "ONNX Runtime reads at least one element of an axis"
DIFFERENCES = {
    "clip_min_greater_than_max": "where Min is above Max, ONNX gives Max and DirectML Min",
    "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True": "what is beyond the padding counts",
    "maxunpool_export_with_output_shape": "the indices count the elements of the output",
    "resize_downsample_scales_linear_align_corners": "ONNX Runtime divides by whole sizes",
    "resize_downsample_scales_linear_antialias": "RESAMPLE3 widens the filter of scales of less than a half only",
    "resize_downsample_sizes_linear_antialias": "RESAMPLE3 widens the filter of scales of less than a half only",
    "resize_downsample_sizes_linear_pytorch_half_pixel": "ONNX Runtime asks for the size of the input, not the output",
    "resize_tf_crop_and_resize": REGIONS,
    "resize_tf_crop_and_resize_axes_2_3": REGIONS,
    "resize_tf_crop_and_resize_axes_3_2": REGIONS,
    "roialign_mode_max": "the maximum is that of the samples, not of elements times their weights",
}
"""Tests that fail on DirectML, with the descs that ONNX Runtime makes."""


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

    def of_version(self, since: int) -> Case:
        """The same node in a model of another opset version."""
        model = type(self.model)()
        model.CopyFrom(self.model)
        for one in model.opset_import:
            if one.domain == model.graph.node[0].domain:
                one.version = since
        return replace(self, model=model)

    @property
    def has_types(self) -> bool:
        """Whether DirectML has the data types of all inputs and outputs."""
        graph = model_of(self.model).graph
        elements = [ELEMENTS.get(one.element or "") for one in (*graph.inputs, *graph.outputs)]
        return all(one is not None and one.directml is not None for one in elements)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test.

    ``why``: for one that is refused the ids; for one with violations the ids of DirectML's rules; for one that failed
    the differences. ``operators``: the operators of DirectML in the graph.
    """

    case: str
    operator: str
    verdict: Verdict
    why: str = ""
    operators: tuple[str, ...] = ()


@cache
def models() -> tuple[Any, ...]:
    """All tests. To make them takes 5 seconds: onnx computes the expected values."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        return tuple(collect_testcases(None))


@cache
def cases() -> tuple[Case, ...]:
    """All tests of one node."""
    return tuple(_read(one) for one in models() if len(one.model.graph.node) == 1 and "_expanded" not in one.name)


def cases_of(*groups: str) -> list[Case]:
    """The tests of the operators of these files of specs/onnx."""
    return [one for one in cases() if one.row is not None and one.row.group in groups]


def _read(case: Any) -> Case:
    node = case.model.graph.node[0]
    inputs, expected = case.data_sets[0]
    name = shown(node.domain or ONNX, node.op_type)
    return Case(case.name.removeprefix("test_"), name, case.model, tuple(inputs), tuple(expected))


def judge(case: Case, known: Sequence[int] | None = None) -> Outcome:
    """Convert the node, run the graph, and compare the outputs with the expected ones.

    ``known``: the inputs that are constants of the model; else the inputs that ONNX Runtime reads on the CPU.
    """
    if not all(info.type.HasField("tensor_type") for info in case.model.graph.input):
        return Outcome(case.name, case.operator, "unconverted", "no tensor")
    constants = _constants(case.row) if known is None else known
    arrays = dict(zip((one.name for one in case.model.graph.input), map(array_of, case.inputs), strict=True))
    walk = Walk(_with_constants(model_of(case.model), constants, arrays))
    if problems := [problem for visit in walk.all() for problem in visit.problems]:
        return Outcome(case.name, case.operator, "refused", " ".join(one.identifier for one in problems))
    if any(visit.fate == "unknown" for visit in walk.all()):
        return Outcome(case.name, case.operator, "unconverted")
    outputs = {one.name: walk.scope[one.name].value for one in walk.model.graph.outputs}
    values = [one.value for one in outputs.values() if one is not None and one.value is not None]
    operators = tuple(dict.fromkeys(kind for visit in walk.all() for kind in visit.kinds))
    if violations := walk.builder.violations:
        return Outcome(case.name, case.operator, "violations", " ".join(one.id for one in violations), operators)
    given = [_plain(arrays[one.name] if one.read is None else one.read(), one) for one in walk.inputs]
    results = dmlcy.compile(walk.builder.build(*values))(*given) if values else ()
    several = iter(results if isinstance(results, tuple) else (results,))
    found = {name: _result(one, several) for name, one in outputs.items()}
    why = "; ".join(_differences(found, [array_of(one) for one in case.expected], case.name in FEW_DIGITS))
    return Outcome(case.name, case.operator, "failed" if why else "passed", why, operators)


def ran(case: Any) -> tuple[str, str]:
    """Run a test of ``models`` with all of its inputs given at run time: "passed", or "failed" or "refused" and why."""
    graph, (given, expected) = case.model.graph, case.data_sets[0]
    if not all(info.type.HasField("tensor_type") for info in (*graph.input, *graph.output)):
        return "refused", "no tensor"
    arrays = {info.name: array_of(one) for info, one in zip(graph.input, given, strict=True)}
    try:
        results = CompiledModel(model_of(case.model), {}).run(arrays)
    except dmlcy.DmlError as error:
        return "refused", error.violations[0].id
    few_digits = case.name.removeprefix("test_") in FEW_DIGITS
    why = "; ".join(_differences(results, [array_of(one) for one in expected], few_digits))
    return "failed" if why else "passed", why


def _constants(row: OperatorRow | None) -> Sequence[int]:
    """The inputs that are read on the CPU; those of nodes in the place of another may be any but the first."""
    return () if row is None else range(1, 9) if row.inlined else row.constants


def _with_constants(model: Model, places: Sequence[int], arrays: Mapping[str, Any]) -> Model:
    """The model with some inputs of its node as initializers."""
    node = model.graph.nodes[0]
    names = {node.inputs[place] for place in places if place < len(node.inputs) and node.inputs[place]}
    infos = {one.name: one for one in model.graph.inputs}
    constants = {name: _tensor(infos[name], _plain_elements(arrays[name])) for name in names}
    inputs = tuple(one for one in model.graph.inputs if one.name not in names)
    return replace(model, graph=replace(model.graph, initializers=constants, inputs=inputs))


def _tensor(info: Info, array: Any) -> Tensor:
    assert info.element is not None
    return Tensor(info.name, info.element, array.shape, lambda: array)


def _plain(array: Any, one: OnnxValue) -> Any:
    """An array that a compiled graph takes."""
    found = np.asarray(array)
    assert one.value is not None
    return (found.view(np.uint8) if found.dtype == bool else found).reshape(one.value.desc.sizes)


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


def _differences(results: Mapping[str, Any], expected: Sequence[Any], few_digits: bool) -> Iterator[str]:
    if len(results) != len(expected):
        yield f"{len(results)} outputs, and {len(expected)} are expected"
    for (name, result), given in zip(results.items(), expected, strict=False):
        wanted = _plain_elements(given)
        if result is None:
            yield f"{name}: no value"
        elif result.shape != wanted.shape or result.dtype != wanted.dtype:
            yield f"{name}: {result.dtype} {result.shape} in place of {wanted.dtype} {wanted.shape}"
        elif not _is_close(result, wanted, few_digits):
            yield f"{name}: {result.reshape(-1)[:8]} in place of {wanted.reshape(-1)[:8]}"


def _plain_elements(array: Any) -> Any:
    """The elements as ``model.ELEMENTS`` has them: integers of 2 and 4 bits in a byte, small floats as bits."""
    found = values_of(np.asarray(array))
    if found.dtype.name.endswith("int2"):
        return found.astype(found.dtype.name.replace("2", "8"))
    return found.view(f"u{found.itemsize}") if found.dtype.type.__module__ == "ml_dtypes" else found


def _is_close(result: Any, wanted: Any, few_digits: bool) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(result, wanted))
    finite = np.isfinite(wanted)
    if not np.array_equal(result[~finite], wanted[~finite], equal_nan=True):
        return False
    size = np.abs(wanted[finite].astype(np.float64))
    error = np.abs(result[finite].astype(np.float64) - wanted[finite])
    allowed = 1e-4 if few_digits else STEPS * float(np.finfo(wanted.dtype).eps) * size.max(initial=0)
    return bool((error <= allowed).all())
