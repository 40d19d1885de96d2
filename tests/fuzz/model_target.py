"""Any bytes as a model file: read, linted, reported, and run where that is small. Only a ModelError may come of it.

The reader's verdict is compared with that of Python's own, and the places that it gives with the text.
"""

from __future__ import annotations

import io
import json
import math
import time
from pathlib import Path
from typing import Any

from dmlcy._cli.lint import FORMATS
from dmlcy._errors import DmlError
from dmlcy._facts.tables import DTYPES, ENUMS, LEVELS, OPERATORS
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.json import MAX_DIGITS, Document, decode
from dmlcy._frontends.dxdispatch.lint import FileReport, Report, findings, lint
from dmlcy._frontends.dxdispatch.model import Model, WriteFile, read
from dmlcy._frontends.dxdispatch.problems import Refusal
from dmlcy._frontends.dxdispatch.resources import SourceFile, size_of
from dmlcy._frontends.dxdispatch.run import Options, run
from dmlcy._show.explain.find import find
from dmlcy._show.explain.text import lay_out

LONGEST = 2400
SECONDS = 5
"""Of the processor, for one input."""
MOST = 1 << 12
"""Bytes of a buffer, and elements of a tensor, of a model that is run."""
SEEDS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("**/*.json"))
NOT_JSON = frozenset({"DML-MODEL-comment", "DML-MODEL-trailing-comma", "DML-MODEL-after-root"})
WORDS = [
    *("resources", "dispatchables", "commands", "type", "desc", "Desc", "bindings", "dispatch", "dispatchable"),
    *("print", "writeFile", "resource", "targetPath", "dimensions", "verbose", "name", "sourcePath", "deferred"),
    *("initialValues", "initialValuesDataType", "initialValuesOffsetInBytes", "sizeInBytes", "elementOffset"),
    *("elementSizeInBytes", "valueCount", "value", "valueStart", "valueDelta", "DataType", "Sizes", "Strides", "Flags"),
    *("TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment", "DimensionCount", "Type", "Width", "Height"),
    *(
        "DML_TENSOR_DATA_TYPE_UNKNOWN",
        "dmlCompileType",
        "executionFlags",
        "nan",
        "-inf",
        "x.npy",
        "../x.bin",
        "$schema",
    ),
]


def dictionary() -> str:
    """The words of a model file, in libFuzzer's form."""
    words = {*WORDS, *DTYPES, *(f"DML_OPERATOR_{name}" for name in OPERATORS)}
    words |= {field.name for operator in OPERATORS.values() for field in operator.fields}
    words |= {name for info in ENUMS.values() for name in info.members}
    pieces = [
        "/*",
        "*/",
        "//",
        "\\\\ud83d",
        "\\\\u0041",
        "18446744073709551616",
        "4294967295",
        "1e999",
        "-0",
        ",]",
        ",}",
    ]
    pieces += ["\\xef\\xbb\\xbf", "\\xff", "\\x00", "true", "false", "null", "[[[[[[[[", '{\\"a\\":']
    return "".join(f'"\\"{word}\\""\n' for word in sorted(words)) + "".join(f'"{piece}"\n' for piece in pieces)


def one(data: bytes) -> None:
    """Do with these bytes whatever can be done with a model file."""
    start = time.process_time()
    level = LEVELS[len(data) % len(LEVELS)].name
    report = Report(level, (linted(data, level),))
    form = list(FORMATS)[sum(data) % len(FORMATS)]
    for line in FORMATS[form](report):
        assert form != "text" or line.isprintable(), line
    for found in report.findings[:1]:
        assert lay_out(find(found.violation.id), 80)
    assert time.process_time() - start < SECONDS, "it took too long"


def linted(data: bytes, level: Any) -> FileReport:
    """The report on a file, after what it says has been checked in another way."""
    try:
        document = decode("m.json", data)
    except Refusal as error:
        assert not plain_json(data), "it is JSON"
        (problem,) = error.problems
        assert problem.violation.id == "DML-MODEL-json"
        return FileReport("m.json", findings(error.problems, data.decode("utf-8-sig", "replace")))
    compare(document)
    report = lint(document, level)
    for found in report.findings:
        place, line = found.place, found.line
        assert document.position(place.at) == (place.line, place.column) == counted(document.text, place.at)
        assert line is None or document.text.startswith(
            line.before + line.marked + line.after, place.at - len(line.before)
        )
    model = read(document, Path("nowhere"))
    if small(model):
        execute(model, level, report)
    return report


def counted(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset, counted."""
    before = text[:at]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def refuse_constant(name: str) -> Any:
    raise ValueError(name)


def plain_json(data: bytes) -> bool:
    """Whether Python's own reader takes it, and nothing in it is beyond what ours promises."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=refuse_constant)
        return not beyond(value, 0) and longest_number(text) <= MAX_DIGITS
    except (ValueError, RecursionError):
        return False


def longest_number(text: str) -> int:
    """The longest run of characters of numbers."""
    longest = length = 0
    for character in text:
        length = length + 1 if character in "0123456789+-.eE" else 0
        longest = max(longest, length)
    return longest


def beyond(value: Any, depth: int) -> bool:
    """Whether there is half a surrogate pair in it, an infinity, or too much depth."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return depth >= 200 or any(beyond(name, depth) or beyond(item, depth + 1) for name, item in value.items())
    if isinstance(value, list):
        return depth >= 200 or any(beyond(item, depth + 1) for item in value)
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


def compare(document: Document) -> None:
    """Python's parser accepts each document that we accept without a warning, and gives the same value."""
    if NOT_JSON.isdisjoint(warning.violation.id for warning in document.warnings):
        expected = json.loads(document.text, parse_constant=refuse_constant)
        assert repr(document.root.plain()) == repr(expected)


def small(model: Model) -> bool:
    """Whether running it takes little, and no file."""
    buffers = model.resources.values()
    if any(isinstance(buffer.initial, SourceFile) or (size_of(buffer) or 0) > MOST for buffer in buffers):
        return False
    tensors = [value for one in model.dispatchables.values() for value in one.desc.value._values().values()]
    if any(isinstance(tensor, TensorDesc) and elements(tensor) > MOST for tensor in tensors):
        return False
    return len(model.commands) <= 8 and not any(isinstance(command, WriteFile) for command in model.commands)


def elements(tensor: TensorDesc) -> int:
    """Of a tensor whose sizes are numbers; 0 of others, which are refused."""
    sizes: Any = tensor.sizes
    return math.prod(sizes) if type(sizes) is tuple and all(type(size) is int for size in sizes) else 0


def execute(model: Model, level: Any, report: FileReport) -> None:
    """Run the model: it runs if lint finds nothing, except with wrong values that only the run sees. Else it does not
    run.
    """
    clean = report.status == 0
    try:
        run(model, io.StringIO(), Options(level))
    except DmlError as error:
        late = {"InvalidDataError"}
        assert not clean or all(violation.error in late for violation in error.violations), error
    else:
        assert clean, [found.violation.id for found in report.findings]
