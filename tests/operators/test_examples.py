"""Every example of every spec: called, compiled, and as a model file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from checks import assert_same_values, assert_stated
from depth import first_of_each
from each import each_of
from example_descs import arrays_of

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import RUNNABLE
from dmlcy._field_types.tensor_desc import described

CASES = [(operator, example) for operator in RUNNABLE.values() for example in operator.examples]


def parts(operator: Operator, example: Example) -> tuple[list[Any], dict[str, Any], Any]:
    """The inputs, what a call takes besides, and the result: several outputs are a tuple."""
    names = [field.python for field in operator.fields if field.kind == "input"]
    inputs = [arrays_of(example.inputs).get(name) for name in names]
    outputs = tuple(arrays_of(example.outputs).values())
    asked = [field.python for field in operator.fields if field.optional and field.python in example.outputs]
    requests = {name: example.outputs[name][0] for name in asked}
    open_types = [f for f in operator.fields if f.kind == "output" and not f.optional and not operator.has_type(f)]
    requests |= {f"{field.python}_dtype": example.outputs[field.python][0] for field in open_types}
    given = operator.example_arguments(example)
    return inputs, given | requests, outputs if len(outputs) > 1 else outputs[0]


@each_of("operator, example", CASES)
def test_the_call_gives_the_output(operator: Operator, example: Example) -> None:
    inputs, attributes, expected = parts(operator, example)
    function = getattr(dml, operator.python)
    assert_stated(function(*inputs, **attributes), expected, operator)
    several = isinstance(expected, tuple)
    out = tuple(map(np.empty_like, expected)) if several else np.empty_like(expected)
    assert function(*inputs, **attributes, out=out) is out
    assert_stated(out, expected, operator)


@each_of("operator, example", CASES)
def test_the_compiled_desc_gives_the_output(operator: Operator, example: Example) -> None:
    inputs, _, expected = parts(operator, example)
    optional = [field.python for field in operator.fields if field.optional]
    given = operator.example_tensors(example)
    given |= {name: one for name, one in example.outputs.items() if name in optional}
    tensors = described(given)
    desc = getattr(dml.desc, operator.desc)(**tensors, **example.attributes)
    assert dml.check(desc) == []
    for name, tensor in described(example.outputs).items():
        assert getattr(desc, name) == tensor
    assert_stated(dml.compile(desc)(*inputs), expected, operator)
    assert_same_values(dml.compile(desc, path="reference")(*inputs), expected)
    assert type(desc).from_dict(json.loads(json.dumps(desc.to_dict()))) == desc


@pytest.mark.parametrize(("operator", "example"), first_of_each(CASES, lambda operator: operator.name))
def test_the_model_file_prints_the_output(
    operator: Operator, example: Example, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    number = [one.title for one in operator.examples].index(example.title)
    assert main(["example", operator.name, "--number", str(number + 1)]) == 0
    model = tmp_path / "model.json"
    model.write_text(capsys.readouterr().out)
    assert main(["run", str(model)]) == 0
    printed = capsys.readouterr().out
    for tensor in example.outputs.values():
        (array,) = arrays_of({"output": tensor}).values()
        found = [line.rpartition(": ")[2] for line in printed.splitlines() if line.startswith("Resource ")]
        assert any(shows(text, array.ravel().tolist()) for text in found), printed


def shows(text: str, values: list[Any]) -> bool:
    """Whether a line has these values; of floats it has 6 digits, and the last one may be another."""
    found = text.split(", ")
    return len(found) == len(values) and all(
        float(one) == pytest.approx(value, rel=1e-5, nan_ok=True) if type(value) is float else one == f"{value}"
        for one, value in zip(found, values, strict=True)
    )
