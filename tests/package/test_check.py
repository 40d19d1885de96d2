"""Every error that follows from a field, every kind of rule, levels, independence, and garbage in any place."""

from __future__ import annotations

import json
import math
import pickle
import time
from dataclasses import replace
from typing import Any

import fake
import numpy as np
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._desc.check import refuse, violations
from dmlcy._errors import CLASSES, DmlError, Violation, raise_violations
from dmlcy._facts.levels import level_index
from dmlcy._facts.rows import MISSING, Operator, Term
from dmlcy._facts.tables import ERRORS, LEVELS
from dmlcy._field_types.tensor_desc import TensorDesc

X = TensorDesc("FLOAT32", (1, 1, 5, 6))
POOL: dict[str, Any] = {"input": X, "window_size": 2}
PAD: dict[str, Any] = {"input": TensorDesc("INT32", (2, 3)), "start_padding": 1, "end_padding": (0, 2)}
UNFOLD: dict[str, Any] = {"input": TensorDesc("UINT8", (1, 2, 3, 3))}
ROI: dict[str, Any] = {"input": X, "roi": TensorDesc("FLOAT32", (1, 1, 3, 5)), "pooled_size": (2, 3)}
OWNED = replace(fake.ROI, fields=tuple(replace(field, owned=field.python != "roi") for field in fake.ROI.fields))
"""The same operator, whose roi must not be owned by DirectML."""
NOTHING: Any = None
ANY_TENSOR: Any = TensorDesc
"""For values that its types refuse."""
ONE_PADDING: dict[str, Any] = {"start_padding": (1, 1, 1, 1), "end_padding": (0, 0, 0, 0)}
HOST = {"input": X, "before": dml.desc.Padding(input=NOTHING, **ONE_PADDING)}
VALID = ((fake.POOL, POOL), (fake.PAD, PAD), (fake.UNFOLD, UNFOLD), (fake.ROI, ROI), (fake.HOST, HOST))


def found(operator: Operator, values: dict[str, Any], level: str = "6_4", call: bool = False) -> list[Violation]:
    return violations(operator, values, level_index(level), call=call)


def ids(operator: Operator, values: dict[str, Any], level: str = "6_4", call: bool = False) -> list[str]:
    return [one.id.removeprefix(f"DML-{operator.name}-") for one in found(operator, values, level, call)]


def test_values_of_json_are_in_the_words_of_json() -> None:
    values = POOL | {"strides": [None, [True, {"a": 1}]], "block_size": {}}
    texts = [one.message for one in Check(fake.POOL, values, level_index("6_4"), call=False, literal=True).violations]
    assert "strides[0] must be an int, not null." in texts
    assert "strides[1] must be an int, not [true, an object]." in texts


@pytest.mark.parametrize(("operator", "values"), VALID, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("call", [False, True])
def test_valid(operator: Operator, values: dict[str, Any], call: bool) -> None:
    assert found(operator, values, call=call) == []


BROKEN: list[tuple[Operator, dict[str, Any], str, str, str]] = [
    (fake.POOL, POOL | {"input": [1]}, "6_4", "input-type", "input must be a TensorDesc, not [1]."),
    (fake.POOL, POOL | {"strides": 2.0}, "6_4", "strides-type",
     "strides must be an int or a sequence of ints, not 2.0."),
    (fake.POOL, POOL | {"strides": (1, "1")}, "6_4", "strides-type", 'strides[1] must be an int, not "1".'),
    (fake.POOL, POOL | {"strides": (True, 1)}, "6_4", "strides-type", "strides[0] must be an int, not True."),
    (fake.POOL, POOL | {"dimension_count": 2.0}, "6_4", "dimension_count-type",
     "dimension_count must be an int, not 2.0. Write 2."),
    (fake.POOL, POOL | {"block_size": None}, "6_4", "block_size-type", "block_size must be an int, not None."),
    (fake.POOL, POOL | {"include_padding": 1}, "6_4", "include_padding-type",
     "include_padding must be True or False, not 1."),
    (fake.POOL, POOL | {"scale": "1"}, "6_4", "scale-type", 'scale must be a number, not "1".'),
    (fake.PAD, PAD | {"padding_mode": 1}, "6_4", "padding_mode-type",
     "padding_mode must be a PaddingMode or its name, not 1."),
    (fake.PAD, PAD | {"padding_value": "0"}, "6_4", "padding_value-type", 'padding_value must be an int, not "0".'),
    (fake.ROI, ROI | {"pooled_size": (1, 2, 3)}, "6_4", "pooled_size-type",
     "pooled_size must be (height, width), or an int for both, not (1, 2, 3)."),
    (fake.POOL, {"input": X}, "6_4", "window_size-required", "window_size is missing."),
    (fake.POOL, {"window_size": 1}, "6_4", "input-required", "input is missing."),
    (fake.POOL, POOL | {"input": TensorDesc(NOTHING, (1, 1, 5, 6))}, "6_4", "input-required",
     "input.dtype is missing."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", NOTHING)}, "6_4", "input-required", "input.sizes is missing."),
    (fake.POOL, POOL | {"output": MISSING}, "6_4", "output-required", "output is missing."),
    (fake.POOL, POOL | {"dimension_count": MISSING}, "6_4", "dimension_count-required", "dimension_count is missing."),
    (fake.POOL, POOL | {"blocksize": 1}, "6_4", "operator-unknown",
     'FAKE_POOLING has no member "blocksize". Did you mean "block_size"?'),
    (fake.POOL, POOL | {"windowsize": 1}, "6_4", "operator-unknown", 'FAKE_POOLING has no member "windowsize".'),
    (fake.POOL, POOL | {"input": TensorDesc("INT32", (1, 1, 5, 6))}, "6_4", "input-dtype",
     "input has data type INT32, which is not among FLOAT32, FLOAT16."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT23", (1, 1, 5, 6))}, "6_4", "input-dtype",
     'input has data type "FLOAT23", which is not among FLOAT32, FLOAT16. Did you mean "FLOAT32"?'),
    (fake.PAD, PAD, "2_0", "operator-level",
     "FAKE_PADDING needs feature level 2_1 (DirectML 1.2.0), and the level is 2_0."),
    (fake.PAD, PAD | {"input": TensorDesc("INT64", (2, 3))}, "4_1", "input-level",
     "input of data type INT64 needs feature level 5_0 (DirectML 1.8.0), and the level is 4_1. "
     "That level allows FLOAT32, FLOAT16, INT32, UINT8."),
    (fake.PAD, {"input": TensorDesc("INT32", (1,) * 6), "start_padding": 1, "end_padding": 1}, "3_0", "input-level",
     "input with 6 dimensions needs feature level 4_0 (DirectML 1.6.0), and the level is 3_0. "
     "That level allows 1 to 5 dimensions."),
    (fake.PAD, PAD | {"padding_mode": "dml_padding_mode_wrap"}, "6_4", "padding_mode-member",
     'padding_mode is "dml_padding_mode_wrap", which is not among CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP. '
     'Did you mean "WRAP"?'),
    (fake.PAD, PAD | {"padding_mode": "WRAP"}, "5_0", "padding_mode-level",
     "padding_mode WRAP needs feature level 6_4 (DirectML 1.15.0), and the level is 5_0. "
     "That level allows CONSTANT, EDGE, REFLECTION, SYMMETRIC."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (5, 6))}, "6_4", "input-rank",
     "input has 2 dimensions, and must have 4 or 5."),
    (fake.PAD, PAD | {"input": TensorDesc("INT32", (1,) * 9)}, "6_4", "input-rank",
     "input has 9 dimensions, and must have 1 to 8."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 0, 5, 6))}, "6_4", "input-range",
     "input.sizes[1] is 0, and must be from 1 to 4294967295."),
    (fake.POOL, POOL | {"input": ANY_TENSOR("FLOAT32", (1, "1", 5, 6))}, "6_4", "input-type",
     'input.sizes[1] must be an int, not "1".'),
    (fake.POOL, POOL | {"strides": (1, 0)}, "6_4", "strides-range",
     "strides[1] is 0, and must be from 1 to 4294967295."),
    (fake.POOL, POOL | {"start_padding": 2**32}, "6_4", "start_padding-range",
     "start_padding is 4294967296, and must be from 0 to 4294967295."),
    (fake.POOL, POOL | {"block_size": -(10**400)}, "6_4", "block_size-range",
     "block_size is -2**1328 or more, and must be from 1 to 4294967295."),
    (fake.ROI, ROI | {"pooled_size": (0, 2)}, "6_4", "pooled_size-range",
     "pooled_size.height is 0, and must be from 1 to 2147483647."),
    (fake.POOL, POOL | {"strides": [1, 1, 1]}, "6_4", "strides-length",
     "strides has 3 entries and needs 2, which is spatial. input is (1, 1, 5, 6)."),
    (fake.POOL, POOL | {"dimension_count": 3}, "6_4", "dimension_count-length",
     "dimension_count is 3 and must be 2, which is spatial. input is (1, 1, 5, 6)."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 1, 5, 6), dimension_count=5)}, "6_4", "input-length",
     "input.dimension_count is 5 and must be 4, one for each size."),
    (fake.PAD, PAD | {"padding_mode": "REFLECT"}, "6_4", "padding_mode-member",
     'padding_mode is "REFLECT", which is not among CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP. '
     'Did you mean "REFLECTION"?'),
    (fake.POOL, POOL | {"input": ANY_TENSOR("FLOAT32", (1, 1, 5, 6), flags="OWNED")}, "6_4", "input-member",
     'input.flags is "OWNED", which is not among NONE, OWNED_BY_DML. Did you mean "OWNED_BY_DML"?'),
    (fake.POOL, POOL | {"output": TensorDesc("FLOAT16", (1, 1, 4, 5))}, "6_4", "output-same-dtype",
     "output has data type FLOAT16, and must have the data type of input: FLOAT32."),
    (fake.PAD, PAD | {"padding_value_data_type": "FLOAT32"}, "6_4", "padding_value_data_type-same-dtype",
     "padding_value_data_type is FLOAT32, and must be the data type of output: INT32."),
    (fake.POOL, POOL | {"output": TensorDesc("FLOAT32", (1, 1, 4, 4))}, "6_4", "output-sizes",
     "output has sizes (1, 1, 4, 4), and must have (1, 1, 4, 5): [sizes(input)[0], sizes(input)[1], *pooled]."),
    (OWNED, ROI | {"roi": TensorDesc("FLOAT32", (1, 1, 3, 5), flags="OWNED_BY_DML")}, "6_4", "roi-owned",
     "roi has the flag OWNED_BY_DML, which this tensor must not have. "
     "Leave the flag out: bind the tensor when the operator is executed."),
    (fake.ROI, ROI | {"roi": TensorDesc("FLOAT32", (1, 1, 3, 4))}, "6_4", "roi-sizes",
     "roi has sizes (1, 1, 3, 4), and must have (1, 1, 3, 5): [1, 1, regions, 5]."),
    (fake.PAD, {"input": TensorDesc("UINT8", (2**16, 2**16)), "start_padding": 0, "end_padding": 0}, "6_4",
     "input-elements", "input has 4294967296 elements, and can have at most 4294967295."),
    (fake.PAD, {"input": TensorDesc("UINT8", (2**16, 2)), "start_padding": (0, 2**16), "end_padding": 0}, "6_4",
     "output-elements", "output has 4295098368 elements, and can have at most 4294967295. "
     "The sizes follow from the other fields: padded."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 1, 5, 6), (1, 1))}, "6_4", "input-strides",
     "input.strides has 2 entries and needs 4, one for each size."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 1, 5, 6), (1, 1, 6, -1))}, "6_4", "input-strides",
     "input.strides[3] is -1 and must be from 0 to 4294967295."),
    (fake.POOL, POOL | {"output": TensorDesc("FLOAT32", (1, 1, 4, 5), (0, 0, 1, 1))}, "6_4", "output-overlap",
     "output shares memory with itself. The strides (0, 0, 1, 1) put two elements in one place."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 1, 5, 6), total_tensor_size_in_bytes=116)}, "6_4",
     "input-total-size", "input.total_tensor_size_in_bytes is 116, and must be at least 120."),
    (fake.PAD, {"input": TensorDesc("INT32", (2**31, 1), (2**32 - 1, 1)), "start_padding": 0, "end_padding": 0}, "6_4",
     "input-range",
     "input.total_tensor_size_in_bytes is 36893488121649299464, and must be from 0 to 18446744073709551615."),
    (fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (1, 1, 5, 6), guaranteed_base_offset_alignment=2)}, "6_4",
     "input-alignment",
     "input.guaranteed_base_offset_alignment is 2, and must be 0 or a power of two of at least 4."),
    (fake.POOL, POOL | {"scale": math.nan}, "6_4", "scale-finite", "scale is nan, and must be finite in FLOAT32."),
    (fake.POOL, POOL | {"scale": 1e39}, "6_4", "scale-finite", "scale is 1e+39, and must be finite in FLOAT32."),
    (fake.PAD, PAD | {"padding_value": 9.0}, "6_4", "padding_value-value",
     "padding_value is 9.0, which INT32 cannot hold. Write 9, not 9.0."),
    (fake.PAD, PAD | {"padding_value": 2**31}, "6_4", "padding_value-value",
     "padding_value is 2147483648, which INT32 cannot hold. The data type holds -2147483648 to 2147483647."),
    (fake.PAD, PAD | {"input": TensorDesc("FLOAT16", (2, 3)), "padding_value": 65520}, "6_4", "padding_value-value",
     "padding_value is 65520, which FLOAT16 cannot hold. The largest number is 65504, and inf is allowed."),
    (fake.POOL, POOL | {"window_size": (2, 9)}, "6_4", "window_size-fits",
     "window_size[1] does not fit: extent[1] = 9 must be <= padded[1] = 6. "
     "input is (1, 1, 5, 6). Increase the padding, or reduce window_size. Nearest valid value: 6."),
    (fake.POOL, POOL | {"scale": -1}, "5_2", "scale-positive", "scale is not positive: scale = -1.0 must be > 0."),
    (fake.POOL, POOL | {"scale": 1e-60}, "5_2", "scale-positive", "scale is not positive: scale = 0.0 must be > 0."),
    (fake.POOL, POOL | {"block_size": 2}, "6_2", "block_size-one", "block_size is not one: block_size = 2 must be 1."),
    (fake.HOST, HOST | {"before": 3}, "6_4", "before-type",
     "before must be the desc of an operator, not 3. For example, pass dmlcy.desc.Padding(...)."),
    (fake.HOST, HOST | {"before": {"Type": "PADDINGS"}}, "6_4", "before-member",
     'before is "PADDINGS", which is not among PADDING, PADDING1. Did you mean "PADDING"?'),
    (fake.HOST, HOST | {"before": dml.desc.Padding1(input=NOTHING, **ONE_PADDING)}, "4_1", "before-level",
     "before PADDING1 needs feature level 5_0 (DirectML 1.8.0), and the level is 4_1. That level allows PADDING."),
    (fake.HOST, HOST | {"before": dml.desc.Padding(input=X, **ONE_PADDING)}, "6_4", "before-tensors",
     "before.input is given, and must be left out: before has no tensors of its own."),
    (fake.UNFOLD, UNFOLD | {"output": TensorDesc("UINT8", (1, 1, 1, 2, 9))}, "6_4", "output-rank",
     "output has too many dimensions: rank(output) = 5 must be <= rank(input) = 4. input is (1, 2, 3, 3)."),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "values", "level", "slug", "text"), BROKEN, ids=[row[3] for row in BROKEN])
def test_broken(operator: Operator, values: dict[str, Any], level: str, slug: str, text: str) -> None:
    (violation,) = found(operator, values, level)
    assert violation.id == f"DML-{operator.name}-{slug}"
    assert violation.text == text
    assert violation.error in CLASSES
    json.dumps(violation.to_json(), allow_nan=False)
    assert pickle.loads(pickle.dumps(violation)).to_json() == violation.to_json()


CALL = {"byteorder", "readonly"}


def test_many_unknown_members_of_a_tensor() -> None:
    """The nearest name is looked for only for the reported members."""
    members = {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 6], **{f"Size{number}": 1 for number in range(100_000)}}
    begin = time.process_time()
    wrong = found(fake.POOL, POOL | {"input": TensorDesc.from_dict(members)})
    assert time.process_time() - begin < 3
    assert [one.hint for one in wrong] == ['Did you mean "Sizes"?'] * 10


def test_an_axis_that_a_tensor_does_not_have() -> None:
    """Rules that read the axis are skipped, as rules that read a refused field are."""
    beyond = fake.formula("[sizes(input)[7]]", "input.sizes", lambda self: [self.input.sizes[7]])
    fields = tuple(replace(field, sizes=beyond) if field.sizes else field for field in fake.ROI.fields)
    entries = {"index": "d", "domain": lambda self: self.input.sizes[0]}
    holds = lambda self, d: self.input.sizes[7] == d  # noqa: E731
    rule = fake.rule("DML-FAKE_ROI-roi-axis", "roi", "is wrong", "", "{0}", "input.sizes", holds, [], **entries)
    other = replace(rule, domain=lambda self: self.input.sizes[7])
    third = replace(rule, holds=lambda self, d: False, terms=(Term("x", lambda self, d: self.input.sizes[7]),))
    assert found(replace(fake.ROI, fields=fields, rules=(rule, other)), ROI) == []
    (violation,) = found(replace(fake.ROI, fields=fields, rules=(third,)), ROI)
    assert violation.message.startswith("roi[0] is wrong: x = unknown.")


def test_every_slug_is_triggered() -> None:
    implicit = {slug for slug in ERRORS if not slug.startswith("DML-")}
    seen = {slug for _, _, _, slug, _ in BROKEN}
    assert implicit - CALL == {slug for slug in implicit if any(name.endswith(f"-{slug}") for name in seen)}


def test_levels_of_rules() -> None:
    assert ids(fake.POOL, POOL | {"scale": -1}, "6_0") == []
    assert ids(fake.POOL, POOL | {"block_size": 2}, "6_1") == []
    (violation,) = found(fake.POOL, POOL | {"scale": -1}, "5_2")
    assert violation.level == "6_0"


def test_level_is_the_lowest_that_accepts() -> None:
    for level in LEVELS:
        slugs = ids(fake.PAD, PAD | {"input": TensorDesc("FLOAT64", (2, 3))}, level.name)
        assert slugs == ["operator-level"] * (level.value < 0x2100) + ["input-level"] * (level.value < 0x5000)
    (violation,) = found(fake.PAD, PAD | {"input": TensorDesc("FLOAT64", (2, 3))}, "3_0")
    assert (violation.level, violation.error) == ("5_0", "FeatureLevelError")


def test_ten_independent_mistakes() -> None:
    values = {
        "input": ANY_TENSOR("INT8", (1, 1, 5, 6), (1, 1, 6, -1), flags="X", guaranteed_base_offset_alignment=3),
        "output": TensorDesc("FLOAT32", (1, 1)),
        "dimension_count": 4,
        "strides": (1, 0),
        "window_size": (1, 2, 3),
        "include_padding": "yes",
        "scale": math.inf,
        "blocksize": 1,
    }
    assert ids(fake.POOL, values) == [
        "operator-unknown", "input-dtype", "input-member", "input-strides", "input-alignment", "dimension_count-length",
        "strides-range", "window_size-length", "include_padding-type", "scale-finite", "output-rank",
    ]  # fmt: skip


def test_consequences_are_not_reported() -> None:
    assert ids(fake.POOL, POOL | {"input": TensorDesc("FLOAT32", (5, 6)), "window_size": 99}) == ["input-rank"]
    both = {"input": TensorDesc("INT8", (1, 1, 5, 6)), "output": TensorDesc("INT8", (1, 1, 4, 5))}
    assert ids(fake.POOL, POOL | both) == ["input-dtype"]
    assert ids(fake.POOL, POOL | {"window_size": 99, "output": TensorDesc("FLOAT32", (1, 1, 9, 9))}) == [
        "window_size-fits", "window_size-fits",
    ]  # fmt: skip
    both = {"input": TensorDesc("UINT8", (1, 2, 3)), "output": TensorDesc("UINT8", (1, 1, 2, 3))}
    assert ids(fake.UNFOLD, both) == ["output-rank"]


def test_leading_ones() -> None:
    added = UNFOLD | {"output": TensorDesc("UINT8", (1, 1, 2, 9))}
    assert ids(fake.UNFOLD, added) == []
    assert ids(fake.UNFOLD, added, call=True) == ["output-sizes"]
    left_out = ROI | {"roi": TensorDesc("FLOAT32", (3, 5))}
    assert ids(fake.ROI, left_out) == ["roi-rank"]
    assert ids(fake.ROI, left_out, call=True) == []
    assert ids(fake.ROI, ROI | {"roi": TensorDesc("FLOAT32", (3, 4))}, call=True) == ["roi-sizes"]
    assert ids(fake.ROI, ROI | {"roi": TensorDesc("FLOAT32", ())}, call=True) == ["roi-rank"]


def test_optional_tensor() -> None:
    assert ids(fake.ROI, ROI | {"scale": X}) == []
    assert ids(fake.ROI, ROI | {"scale": TensorDesc("FLOAT32", (1,))}) == ["scale-rank"]


class Refusal:
    """The error that refuse() raised."""

    def __init__(self, name: str, arguments: dict[str, Any], level: int = 14) -> None:
        with pytest.raises(DmlError) as caught:
            refuse(name, arguments, level)
        self.error = caught.value
        self.ids = [one.id.removeprefix(f"DML-{name}-") for one in caught.value.violations]


ARRAY = np.zeros((1, 1, 5, 6), np.float32)
OUT = np.zeros((1, 1, 4, 5), np.float32)


def call(**arguments: Any) -> Refusal:
    return Refusal("FAKE_POOLING", {"input": ARRAY, "window_size": 2, "out": None, **arguments})


def test_refusal_names_the_function() -> None:
    error = call(window_size=9).error
    assert isinstance(error, ValueError)
    assert str(error).splitlines()[0] == (
        "fake_pooling(): window_size[0] does not fit: extent[0] = 9 must be <= padded[0] = 5. "
        "input is (1, 1, 5, 6). Increase the padding, or reduce window_size. "
        "Nearest valid value: 5. [DML-FAKE_POOLING-window_size-fits]"
    )
    assert (error.id, error.operator, error.field, error.index) == (
        "DML-FAKE_POOLING-window_size-fits", "FAKE_POOLING", "window_size", 0,
    )  # fmt: skip
    assert error.values == {"extent[0]": 9, "padded[0]": 5}
    assert error.hint.startswith("Increase")
    assert error.violations[0].rule == "extent[d] <= padded[d]"
    assert error.violations[0].fix == 5
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.violations, again.function) == (str(error), error.violations, "fake_pooling")
    json.dumps(error.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("value", "slug", "words"),
    [
        ([[1.0]], "input-type", "Pass numpy.asarray(input, dtype=...)."),
        (np.ma.zeros((1, 1, 5, 6), np.float32), "input-type", "mask"),
        (1.5, "input-type", "A single number is not a tensor."),
        (None, "input-required", "input is missing"),
        (X, "input-type", "must be an array"),
        (ARRAY.astype(">f4"), "input-byteorder", 'Pass input.astype("float32").'),
        (ARRAY.astype(complex), "input-dtype", "complex128"),
        (ARRAY.astype(bool), "input-dtype", "UINT8"),
        (ARRAY.astype(object), "input-dtype", "object"),
        (np.zeros((1, 1, 5, 6), "f4,f4"), "input-dtype", "a structured type"),
        (ARRAY[:, :0], "input-range", "input.sizes[1] is 0"),
    ],
)
def test_input_of_a_call(value: Any, slug: str, words: str) -> None:
    refusal = call(input=value)
    assert refusal.ids == [slug]
    assert words in str(refusal.error)


def test_out_of_a_call() -> None:
    assert call(out=[1]).ids == ["output-type"]
    assert "out must be an array, not [1]" in str(call(out=[1]).error)
    assert call(out=OUT.astype(np.float64)).ids == ["output-dtype"]
    assert call(out=OUT.astype(np.float16)).ids == ["output-same-dtype"]
    assert call(out=OUT.astype(">f4")).ids == ["output-byteorder"]
    assert "out has sizes (1, 1, 4, 4)" in str(call(out=OUT[..., :4]).error)
    fixed = OUT.copy()
    fixed.flags.writeable = False
    refusal = call(out=fixed)
    assert refusal.ids == ["output-readonly"]
    assert "out is read-only." in str(refusal.error)


def test_overlap_of_out() -> None:
    memory = np.zeros(60, np.float32)
    x, out = memory[:30].reshape(1, 1, 5, 6), memory[20:40].reshape(1, 1, 4, 5)
    refusal = call(input=x, out=out)
    assert refusal.ids == ["output-overlap"]
    assert "out shares memory with input." in str(refusal.error)
    stepless = np.lib.stride_tricks.as_strided(memory, (1, 1, 4, 5), (0, 0, 4, 4))
    assert "out shares memory with itself." in str(call(out=stepless).error)


def test_nothing_wrong_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="internal"):
        refuse("FAKE_POOLING", {"input": ARRAY, "window_size": 2, "out": None}, 14)


def rois(*rows: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array([[0, 1, 2, 3, 4], *rows], dtype)


def test_data_rules() -> None:
    x = ARRAY
    refusal = Refusal("FAKE_ROI", {"input": x, "roi": rois((np.nan, 0, 0, 0, 0), (7, 0, 0, 0, 0)), "pooled_size": 1})
    assert refusal.ids == ["roi-finite", "roi-batch"]
    first, second = refusal.error.violations
    assert (first.index, second.index) == (1, 2)
    assert second.message == "roi[2] is not the index of an item of the batch: roi[0, 0, 2, 0] = 7.0 must be < N = 1."
    assert type(refusal.error).__name__ == "InvalidDataError"
    json.dumps(refusal.error.to_json(), allow_nan=False)
    many = rois(*[(np.inf, 0, 0, 0, 0)] * 50)
    refusal = Refusal("FAKE_ROI", {"input": x, "roi": many, "pooled_size": 1})
    assert refusal.ids == ["roi-finite"] * 10
    half = rois((3, 0, 0, 0, 0), dtype=np.float16)[None, ::1]
    refusal = Refusal("FAKE_ROI", {"input": x.astype(np.float16), "roi": half, "pooled_size": 1})
    assert refusal.ids == ["roi-batch"]


def test_data_rules_wait_for_valid_tensors() -> None:
    bad = rois((np.nan, 0, 0, 0, 0))
    assert Refusal("FAKE_ROI", {"input": ARRAY, "roi": bad[:, :4], "pooled_size": 1}).ids == ["roi-sizes"]
    assert Refusal("FAKE_ROI", {"input": ARRAY, "roi": bad, "pooled_size": 0}).ids == [
        "pooled_size-range", "pooled_size-range", "roi-finite",
    ]  # fmt: skip


def test_first_violation_sets_the_class() -> None:
    found_ = found(fake.POOL, POOL | {"input": TensorDesc("INT8", (1, 1, 5, 6)), "scale": math.inf})
    with pytest.raises(TypeError) as caught:
        raise_violations(found_, "compile")
    assert len(caught.value.violations) == 2  # type: ignore[attr-defined]
    assert all(line.startswith("compile(): ") for line in str(caught.value).splitlines())


class Hostile:
    """Raises whenever it is touched."""

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError("touched")

    __repr__ = __str__ = __index__ = __float__ = __int__ = __len__ = __iter__ = __getitem__ = _raise
    __bool__ = __hash__ = __eq__ = __array__ = __format__ = __get__ = _raise
    __class__ = property(_raise)

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("touched")


class HostileText(str):
    __slots__ = ()

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError("touched")

    __repr__ = __str__ = __len__ = __iter__ = __getitem__ = __eq__ = __hash__ = __format__ = _raise


class HostileList(list[int]):
    def _raise(self, *_: Any) -> Any:
        raise RuntimeError("touched")

    __repr__ = __len__ = __iter__ = __getitem__ = __eq__ = _raise


HOSTILE: list[Any] = [Hostile(), HostileText("EDGE"), HostileList([1, 2]), Hostile, type("\x1b[2J" * 1000, (), {})()]
HOSTILES = st.integers(0, len(HOSTILE) - 1).map(HOSTILE.__getitem__)
GARBAGE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(10**400), 10**400), st.floats(), st.complex_numbers(),
    st.text(), st.binary(), st.lists(st.one_of(st.integers(), st.text(), st.none(), st.floats()), max_size=9),
    st.dictionaries(st.text(), st.integers(), max_size=3), HOSTILES, HOSTILES.map(lambda one: [one]), st.just(MISSING),
    st.just(range(10**12)), st.just(np.zeros((2, 2))), st.just(np.datetime64("nat", "D")), st.just("x" * 10**6),
    st.just([1] * 10**5), st.just(ARRAY), st.just(np.float32(3)), st.just(np.ma.masked), st.just(X),
)  # fmt: skip
TENSORS = st.builds(
    TensorDesc, GARBAGE | st.just("FLOAT32"), GARBAGE | st.just((1, 1, 5, 6)), GARBAGE, GARBAGE, GARBAGE, GARBAGE,
    dimension_count=GARBAGE,
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(data=st.data(), case=st.sampled_from(VALID), level=st.integers(0, 14), call_=st.booleans())
def test_garbage_never_raises(data: Any, case: Any, level: int, call_: bool) -> None:
    operator, values = case
    values = dict(values)
    for field in data.draw(st.lists(st.sampled_from(operator.fields), max_size=4)):
        values[field.python] = data.draw(GARBAGE if field.kind == "attribute" else GARBAGE | TENSORS)
    found_ = violations(operator, values, level, call=call_)
    for violation in found_:
        assert violation.text.isprintable()
        assert len(violation.text) < 2000
        json.dumps(violation.to_json(), allow_nan=False)
        assert violation.id.startswith(f"DML-{operator.name}-")
    if found_:
        assert pickle.loads(pickle.dumps(found_)) is not None
        assert str(CLASSES[found_[0].error](found_, "f"))
    desc = fake.descs()[operator.name](**{name: value for name, value in values.items() if value is not MISSING})
    assert repr(desc)
    assert desc == desc
    assert (desc != desc) is False


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_garbage_calls_raise_dml_errors(data: Any) -> None:
    arguments: dict[str, Any] = {"input": ARRAY, "window_size": 2, "out": None}
    for name in data.draw(st.lists(st.sampled_from(["input", "window_size", "strides", "scale", "out"]), max_size=3)):
        arguments[name] = data.draw(GARBAGE)
    try:
        refuse("FAKE_POOLING", arguments, 14)
    except (DmlError, RuntimeError) as error:
        assert isinstance(error, DmlError) or "internal" in str(error)
