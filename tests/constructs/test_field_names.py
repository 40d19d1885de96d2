"""Fields whose names are those of functions of the language, or of what Python objects usually have."""

from __future__ import annotations

from typing import Any

import dmlcy as dml
from codegen.plan import Plan
from dmlcy._desc.classes import desc_class


def ids(desc: Any) -> list[str]:
    return [violation.id.partition("-")[2].partition("-")[2] for violation in dml.check(desc)]


def test_fields_beside_functions_of_the_same_name() -> None:
    x = dml.TensorDesc("FLOAT32", (2, 3))
    clip = desc_class("ELEMENT_WISE_CLIP_GRAD")
    desc: Any = clip(input=x, input_gradient=x, min=-1.5, max=2.0)
    assert (desc.min, desc.max, dml.check(desc)) == (-1.5, 2.0, [])
    (violation,) = dml.check(clip(input=x, input_gradient=x, min=3.0))
    assert (violation.id, violation.field, violation.fix) == ("DML-ELEMENT_WISE_CLIP_GRAD-max-order", "max", 3.0)
    assert "min is 3.0" in violation.message or "min = 3.0" in violation.message, violation.message
    assert dml.desc.OperatorDesc.from_dict(desc.to_dict()) == desc


def test_a_vector_with_the_name_of_a_function_of_tensors() -> None:
    slice_ = desc_class("SLICE")
    desc: Any = slice_(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 6)), offsets=(0, 0, 1, 2), sizes=(1, 1, 2, 2))
    assert (dml.check(desc), desc.sizes, desc.output.sizes) == ([], (1, 1, 2, 2), (1, 1, 2, 2))
    assert ids(slice_(input=desc.input, sizes=(1, 1, 5, 7))) == ["sizes-fit", "sizes-fit"]


def test_a_tensor_that_is_called_values() -> None:
    x = dml.TensorDesc("FLOAT32", (1, 1, 1, 2))
    desc: Any = desc_class("ONE_HOT")(indices=dml.TensorDesc("UINT32", (1, 1, 1, 1)), values=x, output=x, axis=3)
    assert (desc.values.sizes, dml.check(desc), desc == desc, len({desc})) == ((1, 1, 1, 2), [], True, 1)
    assert str(dml.minimum_feature_level(desc)).startswith("2_0")


def test_the_formulas_of_pages_tell_fields_from_functions(operators: Plan) -> None:
    texts = {rule.text: rule.shown for op in operators.operators for rule in op.rules}
    assert texts["max(min, max) == max"] == "{0} must be {1}, where {2}, {1}"
