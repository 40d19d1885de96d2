"""Every example of every spec: called, compiled, and as a model file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy.__main__ import main
from dmlcy._generated.operators import OPERATORS
from dmlcy._spec import Example, Operator

CASES = [
    pytest.param(operator, example, id=f"{operator.python}-{number}-{example.title}")
    for operator in OPERATORS.values()
    for number, example in enumerate(operator.examples)
]


def array(tensor: tuple[str, tuple[int, ...], Any]) -> np.ndarray[Any, Any]:
    dtype, sizes, data = tensor
    result = np.array(data, dtype=dtype.lower())
    assert result.shape == sizes
    return result


def parts(operator: Operator, example: Example) -> tuple[list[Any], dict[str, Any], np.ndarray[Any, Any]]:
    inputs = [array(example.inputs[field.python]) for field in operator.fields if field.kind == "input"]
    (output,) = (array(tensor) for tensor in example.outputs.values())
    return inputs, example.attributes, output


@pytest.mark.parametrize(("operator", "example"), CASES)
def test_the_call_gives_the_output_bit_for_bit(operator: Operator, example: Example) -> None:
    inputs, attributes, expected = parts(operator, example)
    function = getattr(dml, operator.python)
    result = function(*inputs, **attributes)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    out = np.empty_like(expected)
    assert function(*inputs, **attributes, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("operator", "example"), CASES)
def test_the_compiled_desc_gives_the_output(operator: Operator, example: Example) -> None:
    inputs, attributes, expected = parts(operator, example)
    fields = [field.python for field in operator.fields if field.kind == "input"]
    tensors = {name: dml.TensorDesc.from_array(x) for name, x in zip(fields, inputs, strict=True)}
    desc = getattr(dml.desc, operator.desc)(**tensors, **attributes)
    assert dml.check(desc) == []
    assert desc.output == dml.TensorDesc.from_array(expected)
    np.testing.assert_array_equal(dml.compile(desc)(*inputs), expected)
    assert type(desc).from_dict(json.loads(json.dumps(desc.to_dict()))) == desc


@pytest.mark.parametrize(("operator", "example"), CASES)
def test_the_model_file_prints_the_output(
    operator: Operator, example: Example, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    number = operator.examples.index(example)
    assert main(["example", operator.name, "--number", str(number + 1)]) == 0
    model = tmp_path / "model.json"
    model.write_text(capsys.readouterr().out)
    assert main(["run", str(model)]) == 0
    printed = capsys.readouterr().out
    values = ", ".join(f"{value:g}" for value in parts(operator, example)[2].ravel().tolist())
    assert f": {values}\n" in printed
