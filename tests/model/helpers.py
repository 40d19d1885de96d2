"""Small models, and ways to read and run them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from dmlcy._errors import ModelError, Violation
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.model import Model, read
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.resources import Storage, fill
from dmlcy._frontends.dxdispatch.run import Options, run

FLOATS = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]}


def padding(**changes: Any) -> dict[str, Any]:
    """A dispatchable that pads three FLOAT32 to five."""
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [5]},
        "PaddingMode": "CONSTANT",
        "PaddingValueDataType": "FLOAT32",
        "PaddingValue": 9,
        "DimensionCount": 1,
        "StartPadding": [1],
        "EndPadding": [1],
    }
    return {"type": "DML_OPERATOR_PADDING1", "desc": {**desc, **changes}}


def model(**parts: Any) -> dict[str, Any]:
    """A model that pads ``in`` into ``out`` and prints it; ``parts`` replace its members."""
    dispatch = {"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "in", "OutputTensor": "out"}}
    whole = {
        "resources": {
            "in": FLOATS,
            "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 5, "value": 0}},
        },
        "dispatchables": {"pad": padding()},
        "commands": [dispatch, {"type": "print", "resource": "out"}],
    }
    return {**whole, **parts}


def parse(content: Any, folder: Path = Path()) -> Model:
    """The model in a text, in bytes, or in an object to be written as JSON."""
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    return read(decode("m.json", content), folder)


def storage(resource: dict[str, Any] | str, folder: Path = Path()) -> Storage:
    """The bytes of a resource; ModelError with what is wrong with it."""
    text = resource if isinstance(resource, str) else json.dumps(resource)
    found = parse(f'{{"resources": {{"x": {text}}}, "dispatchables": {{}}, "commands": []}}', folder)
    reader = Reader(found.document)
    reader.problems += found.problems
    reader.finish()
    filled = fill(reader, found.resources["x"], folder)
    reader.finish()
    assert filled is not None
    return filled


def execute(content: Any, folder: Path = Path(), **options: Any) -> str:
    """The output of a model, without dispatch lines."""
    out = io.StringIO()
    run(parse(content, folder), out, Options(**options))
    return "".join(line for line in out.getvalue().splitlines(True) if not line.startswith("Dispatch "))


def refused(identifier: str, path: str, function: Any, *arguments: Any, **options: Any) -> Violation:
    """The violation with this id, which the call must raise at this JSON path."""
    with pytest.raises(ModelError) as caught:
        function(*arguments, **options)
    found = [v for v in caught.value.violations if v.id == identifier]
    assert found, str(caught.value)
    assert any(f" {path}: " in violation.message for violation in found), str(caught.value)
    assert str(caught.value).isprintable() or "\n" in str(caught.value)
    return found[0]
