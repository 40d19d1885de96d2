"""Outputs of which not everything follows from other fields, and operators without inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.classes import desc_class
from dmlcy._facts.tables import OPERATORS, FeatureLevelName

X = dml.TensorDesc("FLOAT32", (2, 3))


def found(name: str, level: FeatureLevelName | None = None, **values: Any) -> list[str]:
    desc = desc_class(name)(**values)
    again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))
    ids = [one.id.removeprefix(f"DML-{name}-") for one in dml.check(desc, level)]
    assert ids or dml.check(again, level) == []
    return ids


def test_a_desc_gives_an_output_whose_data_type_follows_from_nothing() -> None:
    assert found("CAST", input=X, output=dml.TensorDesc("UINT8", (2, 3))) == []
    assert found("CAST", input=X, output=None) == ["output-required"]
    assert found("CAST", input=X, output=dml.TensorDesc("UINT8", (3, 2))) == ["output-sizes"]
    assert found("CAST", "2_1", input=X, output=dml.TensorDesc("INT64", (2, 3))) == ["output-level"]
    (violation,) = dml.check(desc_class("CAST")(input=X, output=None))
    assert violation.hint == "The data type of this tensor follows from no other field."


def test_one_data_type_follows() -> None:
    coordinates = dml.TensorDesc("UINT32", (6, 2))
    desc: Any = desc_class("NONZERO_COORDINATES")(input=X, output_coordinates=coordinates)
    assert dml.check(desc) != [] or desc.output_count == dml.TensorDesc("UINT32", (1,))


def test_sizes_that_no_formula_gives() -> None:
    def rows(sizes: tuple[int, ...]) -> list[str]:
        return found("NONZERO_COORDINATES", input=X, output_coordinates=dml.TensorDesc("UINT32", sizes))

    assert rows((6, 2)) == rows((1, 2)) == []
    assert rows((7, 2)) == ["output_coordinates-room"]
    assert rows((6, 3)) == ["output_coordinates-axes"]
    assert rows((6,)) == ["output_coordinates-rank"]
    assert found("NONZERO_COORDINATES", input=X, output_coordinates=None) == ["output_coordinates-required"]
    (violation,) = dml.check(desc_class("NONZERO_COORDINATES")(input=X, output_coordinates=None))
    assert violation.hint == "The sizes of this tensor follow from no other field."


def test_an_operator_without_inputs() -> None:
    output = dml.TensorDesc("INT8", (2, 3))
    desc: Any = desc_class("FILL_VALUE_CONSTANT")(output=output, value=7)
    assert (dml.check(desc), desc.value_data_type) == ([], dml.TensorDataType.INT8)
    assert found("FILL_VALUE_CONSTANT", output=output, value=7) == []
    assert found("FILL_VALUE_CONSTANT", output=output, value=300) == ["value-value"]
    assert found("FILL_VALUE_CONSTANT", output=None, value=7) == ["output-required"]
    assert found("FILL_VALUE_CONSTANT", output=output, value=7, value_data_type="FLOAT32") == [
        "value_data_type-same-dtype"
    ]
    assert found("FILL_VALUE_CONSTANT", "4_0", output=dml.TensorDesc("FLOAT64", (2,)), value=7) == ["output-level"]


def test_the_data_type_of_an_output_beside_an_input_that_may_be_left_out() -> None:
    output, other = dml.TensorDesc("INT8", (2, 3)), dml.TensorDesc("FLOAT32", (2, 3))
    assert found("DIAGONAL_MATRIX1", output=output) == found("DIAGONAL_MATRIX1", output=output, input=output) == []
    assert found("DIAGONAL_MATRIX1", output=output, input=other) == ["output-same-dtype"]
    assert found("DIAGONAL_MATRIX1", input=output, output=None) == ["output-required"]


NAMES = ["CAST", "NONZERO_COORDINATES", "FILL_VALUE_CONSTANT", "DIAGONAL_MATRIX1"]


@pytest.mark.parametrize("name", NAMES)
def test_random_descs_have_every_data_type_and_several_sizes(name: str) -> None:
    seen: dict[str, set[str]] = {}
    sizes: dict[str, set[tuple[int, ...]]] = {}

    @given(testing.descs(name))
    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    def look(desc: Any) -> None:
        assert dml.check(desc) == []
        for field in OPERATORS[name].fields:
            tensor = getattr(desc, field.python)
            if field.kind != "attribute" and tensor is not None:
                seen.setdefault(field.python, set()).add(tensor.dtype.name)
                sizes.setdefault(field.python, set()).add(tensor.sizes)

    look()
    for field in OPERATORS[name].fields:
        if field.kind != "attribute":
            assert seen[field.python] == {dtype for row in field.dtypes for dtype in row.dtypes}
            assert len(sizes[field.python]) > 1 or field.python == "output_count"


BROKEN = (
    "DML-CAST-output-dtype", "DML-CAST-output-required", "DML-FILL_VALUE_CONSTANT-output-rank",
    "DML-FILL_VALUE_CONSTANT-value-value", "DML-NONZERO_COORDINATES-output_coordinates-axes",
    "DML-DIAGONAL_MATRIX1-output-same-dtype",
)  # fmt: skip


@pytest.mark.parametrize("id_", BROKEN)
def test_broken_descs_have_one_thing_wrong(id_: str) -> None:
    @given(testing.broken_descs(id_.split("-")[1], id=id_))
    @settings(max_examples=2, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def look(case: tuple[Any, Any]) -> None:
        assert [one.id for one in dml.check(case[0])] == [id_]

    look()


def test_the_page_says_what_a_desc_must_give(checkout: Any) -> None:
    folder = checkout[0] / "docs" / "reference"
    pages = {name: " ".join((folder / f"{name.lower()}.md").read_text().split()) for name in NAMES}
    assert (
        "The data type of `output` does not follow from a required tensor, so a desc must have this output."
        in pages["CAST"]
    )
    page = " ".join((Path(__file__).parents[2] / "docs" / "reference" / "one_hot.md").read_text().split())
    sizes = "The sizes of `output` do not follow from other fields. So a desc must have this output"
    assert f"{sizes}, and a call must have `output_sizes` or `out`." in page
