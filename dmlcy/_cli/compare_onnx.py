"""``dmlcy compare MODEL.onnx VALUES``: the values that a device has of an ONNX model."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from dmlcy._cli import compare_dumps
from dmlcy._cli.options import of_device
from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, printable
from dmlcy._frontends.onnx.inputs import arrays_for, named
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import read
from dmlcy._judge.dumps.compare import Report
from dmlcy._judge.models.compare import compared
from dmlcy._judge.models.summary import Summary
from dmlcy._judge.models.values import read_values
from dmlcy._types import Array
from dmlcy._words.values import quote


def execute(options: argparse.Namespace) -> int:
    """Print the report; its status."""
    try:
        model = CompiledModel(read(str(options.expected)), dict(options.shape), at_once=False)
        values = read_values(options.actual)
        given = values | (read_values(options.inputs) if options.inputs is not None else {})
        files = named(model, options.input)
        arrays = arrays_for(model, files, options.seed, given)
        report, found = compared(model, arrays, values, options.actual, of_device(options))
    except DmlError as error:
        print(error, file=sys.stderr)
        return 2 if any(violation.id in (*UNREADABLE, "DML-MODEL-actual") for violation in error.violations) else 1
    made = [name for name in arrays if name not in files and name not in given]
    for warning in (*_replaced(arrays, values, str(options.actual)), *_made(made, options), *report.warnings):
        print(warning, file=sys.stderr)
    for line in _json(report, found) if options.format == "json" else _text(report, found, options):
        sys.stdout.write(f"{line}\n")
    strange = options.validate and any(one.strange for one in found.values())
    return max(report.status, int(strange), int(options.strict and report.is_doubtful))


def _replaced(arrays: Mapping[str, Array], values: Mapping[str, Array], actual: str) -> Iterator[str]:
    """Warnings of inputs that differ from the inputs of the device."""
    for name, array in arrays.items():
        own = values.get(name)
        if own is not None and not np.array_equal(own, array, equal_nan=own.dtype.kind == "f"):
            yield f"warning: the given input {quote(name)} differs from the input in {quote(actual)}"


def _made(names: Iterable[str], options: argparse.Namespace) -> Iterator[str]:
    """Warnings of inputs that nobody gave."""
    for name in names:
        add = f"Add the input to the file, or give --input {printable(name)}=FILE.npy."
        yield f"warning: {quote(str(options.actual))} has no input {quote(name)}: small integers take its place. {add}"


def _text(report: Report, found: Mapping[str, Summary], options: argparse.Namespace) -> Iterator[str]:
    yield from compare_dumps.text(report)
    if options.summary:
        yield ""
        yield "against a run here: largest difference, mean difference, cosine, the first index that differs"
        for name, one in found.items():
            first = "equal" if one.first is None else str([*one.first])
            yield f"  {quote(name)}: {one.largest:g}, {one.mean:g}, {one.cosine:.9g}, {first}"
    if options.validate:
        yield ""
        strange = {name: one for name, one in found.items() if one.nans or one.infinities}
        for name, one in strange.items():
            also = "" if one.strange else ", as the run here has"
            yield f"{quote(name)}: {one.nans} NaN, {one.infinities} infinite{also}"
        worst = next((name for name, one in strange.items() if one.strange), None)
        yield "every value is finite where the run here is" if worst is None else f"the first is {quote(worst)}"


def _json(report: Report, found: Mapping[str, Summary]) -> Iterator[str]:
    document = json.loads("".join(compare_dumps.as_json(report)))
    document["format"] = "dmlcy-onnx-comparison"
    for output in document["outputs"]:
        one = found.get(output["value"])
        output["summary"] = None if one is None else _numbers(one)
    yield json.dumps(document, indent=2, allow_nan=False)


def _numbers(one: Summary) -> dict[str, object]:
    return {
        "largest": one.largest, "mean": one.mean, "cosine": None if math.isnan(one.cosine) else one.cosine,
        "first": None if one.first is None else [*one.first], "nans": one.nans, "infinities": one.infinities,
        "strange": one.strange,
    }  # fmt: skip
