"""docs/models.md against the reader: it names every member that is known, and its forms are read."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from helpers import model, padding, parse

from dmlcy._facts.rows import Field
from dmlcy._facts.tables import DTYPES, OPERATORS
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.reader import Reader

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", PAGE)
FORMS = re.findall(r"^\| `(\[.*?\]|\{.*?\})` \|", PAGE, re.MULTILINE)


def known_members(monkeypatch: pytest.MonkeyPatch, content: Any) -> set[str]:
    """The members that the reader knows of the objects in a model."""
    known: set[str] = set()

    def look(reader: Reader, parent: Node, names: Collection[str], hint: object = None) -> None:
        known.update(names)

    monkeypatch.setattr(Reader, "ignore_others", look)
    parse(content)
    return known


def test_the_page_has_every_member(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(FORMS) == 7
    tensor = {"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [3]}}
    bound = {"InputTensor": {"name": "in"}, "OutputTensor": "out"}
    content = model(
        resources={
            f"r{number}": {"initialValuesDataType": "FLOAT32", "initialValues": json.loads(form)}
            for number, form in enumerate(FORMS)
        }
        | {"typed": {"initialValues": [{"type": "FLOAT32", "value": 1}]}},
        dispatchables={"pad": padding(InputTensor=tensor)},
        commands=[
            {"type": "dispatch", "dispatchable": "pad", "bindings": bound},
            {"type": "print", "resource": "r0"},
            {"type": "writeFile", "resource": "r0", "targetPath": "r0.npy"},
        ],
    )
    fields = {field.name for field in OPERATORS["PADDING1"].fields}
    missing = known_members(monkeypatch, content) - fields - {*CODE}
    shown = " ".join(CODE)
    assert not {name for name in missing if f'"{name}"' not in shown}


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_initial_values_are_read(form: str) -> None:
    buffer = {"initialValues": json.loads(form)}
    typed = parse(model(resources={"x": {**buffer, "initialValuesDataType": "FLOAT32"}}))
    bare = parse(model(resources={"x": buffer}))
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{form}`"))
    problems = [found.violation.id for found in bare.problems if found.place.path.startswith("$.resources")]
    assert ("DML-MODEL-missing" in problems) == ("required" in row)
    assert ("x" in typed.resources) == ("without `initialValuesDataType`" not in row)


def test_the_data_types_of_buffers() -> None:
    (listed,) = re.findall(r"A buffer can have ([^.]*)\.", PAGE)
    assert {*re.findall(r"\w*\d+", listed)} == {*DTYPES}


def test_every_type_of_a_field_has_a_form() -> None:
    words = {"tensor": "tensor", "uint": "UINT", "float": "FLOAT", "bool": "BOOL", "enum": "enum",
             "uint_array": "`UINT[n]`", "int": "INT", "int_array": "`INT[n]`", "float_array": "`FLOAT[n]`",
             "size_2d": "SIZE_2D", "scalar_union": "scalar union", "scale_bias": "DML_SCALE_BIAS",
             "tensor_array": "array of tensors", "operator_desc": "DML_OPERATOR_DESC",
             "operator_desc_array": "`DML_OPERATOR_DESC[n]`"}  # fmt: skip
    fields: list[Field] = [field for operator in OPERATORS.values() for field in operator.fields]
    for kind in {field.type.partition(":")[0] for field in fields}:
        assert re.search(rf"^\| {re.escape(words[kind])}[ ,]", PAGE, re.MULTILINE), kind
