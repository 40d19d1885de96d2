"""TensorDesc, OperatorDesc, levels and the conversions of values."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import math
import pickle
import threading
from typing import Any

import fake
import numpy as np
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcy import _compile
from dmlcy._desc.check import check, refuse_call, refuse_desc
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, ModelError
from dmlcy._facts.levels import LEVEL, current_level, feature_level, level_index
from dmlcy._facts.tables import DTYPES, ENUMS, FeatureLevel, TensorDataType, TensorFlags
from dmlcy._field_types.scalar_union import UNION, as_scalar, from_union
from dmlcy._field_types.size_2d import Size2D
from dmlcy._field_types.tensor_desc import TensorDesc, overlaps_itself
from dmlcy._field_types.values import Refused, as_dtype
from dmlcy._words.values import show

X = TensorDesc("FLOAT32", (1, 1, 5, 6))
PaddingMode: Any = ENUMS["DML_PADDING_MODE"].cls


def pool(**values: Any) -> Any:
    return fake.FakePooling(**{"input": X, "window_size": 2, **values})  # type: ignore[attr-defined]


def pad(**values: Any) -> Any:
    given_ = {"input": TensorDesc("INT64", (2, 3)), "start_padding": 0, "end_padding": 1, **values}
    return fake.FakePadding(**given_)  # type: ignore[attr-defined]


def roi(**values: Any) -> Any:
    given_ = {"input": X, "roi": TensorDesc("FLOAT32", (1, 1, 3, 5)), "pooled_size": (2, 3), **values}
    return fake.FakeRoi(**given_)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "dtype", ["FLOAT32", "DML_TENSOR_DATA_TYPE_FLOAT32", TensorDataType.FLOAT32, np.float32, np.dtype("f4"), "float32"]
)
def test_tensor_desc_spellings(dtype: Any) -> None:
    desc = TensorDesc(dtype, np.array([1, 1, 5, 6]))
    assert desc == X
    assert hash(desc) == hash(X)
    assert desc.dtype is TensorDataType.FLOAT32
    assert (desc.rank, desc.element_count, desc.total_tensor_size_in_bytes) == (4, 30, 120)
    assert repr(desc) == "TensorDesc('FLOAT32', (1, 1, 5, 6))"


def test_total_size_is_that_of_the_last_element_rounded_up() -> None:
    assert TensorDesc("UINT8", (3,)).total_tensor_size_in_bytes == 4
    assert TensorDesc("FLOAT16", (2, 3), (8, 1)).total_tensor_size_in_bytes == 24
    assert TensorDesc("FLOAT32", (5, 7), (0, 0)).total_tensor_size_in_bytes == 4
    assert TensorDesc("UINT4", (9,)).total_tensor_size_in_bytes == 8
    assert TensorDesc("FLOAT32", (2, 0)).total_tensor_size_in_bytes is None


def test_tensor_desc_is_immutable_and_copies() -> None:
    with pytest.raises(AttributeError):
        X.dtype = None  # type: ignore[assignment, misc]
    full = TensorDesc("INT8", (2, 3), (4, 1), "OWNED_BY_DML", 32, 16, dimension_count=3)
    assert pickle.loads(pickle.dumps(full)) == copy.deepcopy(full) == full
    assert repr(full) == (
        "TensorDesc('INT8', (2, 3), strides=(4, 1), flags='OWNED_BY_DML', total_tensor_size_in_bytes=32, "
        "guaranteed_base_offset_alignment=16, dimension_count=3)"
    )
    assert eval(repr(full)) == full
    assert full.flags is TensorFlags.OWNED_BY_DML


def test_tensor_desc_json() -> None:
    full = TensorDesc("INT8", (2, 3), (4, 1), "OWNED_BY_DML", 32, 16)
    text = json.dumps(full.to_dict())
    assert TensorDesc.from_dict(json.loads(text)) == full
    assert TensorDesc.from_dict({"Type": "BUFFER", "Desc": json.loads(text)}) == full
    short = TensorDesc.from_dict({"DataType": "FLOAT32", "Sizes": [1, 1, 5, 6]})
    assert short == X
    kept: Any = TensorDesc.from_dict({"DataType": "float32", "Sizes": [1]}).dtype  # not the name of a member
    assert kept == "float32"


@pytest.mark.parametrize("form", ["short", "long"])
@pytest.mark.parametrize(
    ("flags", "name"), [([], "NONE"), (["NONE"], "NONE"), (["DML_TENSOR_FLAG_OWNED_BY_DML"], "OWNED_BY_DML")]
)
def test_flags_as_a_list(flags: list[str], name: Any, form: str) -> None:
    """As in model files: a list of one or none; more are no flags."""
    given = {"DataType": "FLOAT32", "Sizes": [2], "Flags": flags}
    wrapped = given if form == "short" else {"Type": "BUFFER", "Desc": given}
    for ignore in (False, True):
        assert TensorDesc.from_dict(wrapped, ignore_unknown=ignore) == TensorDesc("FLOAT32", (2,), flags=name)
    desc = {"InputTensor": wrapped, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}
    found = check(OperatorDesc.from_dict({"type": "ACTIVATION_RELU", "desc": desc}))
    assert "must be the name of a member of DML_TENSOR_FLAGS" not in str(found)
    assert given["Flags"] is flags
    two = TensorDesc.from_dict(given | {"Flags": ["NONE", "NONE"]})
    kept: Any = two.flags
    assert kept == ["NONE", "NONE"]


def test_tensor_desc_json_mistakes() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 5, 6], "Stride": [1], "Type": "INVALID"}
    found = check(pool(input=TensorDesc.from_dict(tensor)))
    assert [one.text for one in found] == [
        'input has no member "Stride". Did you mean "Strides"?',
        'input.type is "INVALID", which is not among BUFFER.',
    ]
    assert len(check(pool(input=TensorDesc.from_dict(tensor, ignore_unknown=True)))) == 1


def test_from_array() -> None:
    x = np.zeros((4, 6), np.int16)
    assert TensorDesc.from_array(x) == TensorDesc("INT16", (4, 6))
    assert TensorDesc.from_array(x.T).strides == (1, 6)
    assert TensorDesc.from_array(x[:, ::2]).strides == (6, 2)
    assert TensorDesc.from_array(bytearray(3)) == TensorDesc("UINT8", (3,))
    with pytest.raises(TypeError, match="expected an array"):
        TensorDesc.from_array([1])  # type: ignore[arg-type]  # no array
    with pytest.raises(ValueError, match="element size"):
        TensorDesc.from_array(np.zeros(3, "i1,i4")["f1"])


SMALL = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 12)), max_size=4)


@settings(max_examples=examples(300), deadline=None)
@given(SMALL)
def test_overlap_agrees_with_counting(axes: list[tuple[int, int]]) -> None:
    sizes, strides = tuple(size for size, _ in axes), tuple(stride for _, stride in axes)
    places = [
        sum(i * stride for i, stride in zip(at, strides, strict=True))
        for at in itertools.product(*(range(size) for size in sizes))
    ]
    assert overlaps_itself(sizes, strides) == (len(set(places)) < len(places))


def test_overlap_of_huge_tensors_is_quick() -> None:
    assert not overlaps_itself((2**31, 2), (2, 1))
    assert overlaps_itself((2**31, 2**31), (3, 2))
    assert overlaps_itself((2**16,) * 8, tuple(2**31 - step for step in range(8)))


def test_desc_is_normalised_and_completed() -> None:
    d = pool(window_size=[2, 3], strides=np.int64(2), scale=1)
    assert (d.window_size, d.strides, d.dimension_count, d.scale) == ((2, 3), (2, 2), 2, 1.0)
    assert d.output == TensorDesc("FLOAT32", (1, 1, 2, 2))
    p = pad(padding_mode="DML_PADDING_MODE_EDGE")
    assert (p.padding_mode, p.padding_value_data_type) == (PaddingMode.EDGE, TensorDataType.INT64)
    assert roi().pooled_size == Size2D(2, 3)
    assert check(d) == check(p) == check(roi()) == []


def test_desc_keeps_what_it_does_not_understand() -> None:
    d = pool(window_size="two", input=7)
    assert (d.window_size, d.input, d.output) == ("two", 7, None)
    assert [one.id for one in check(d)] == ["DML-FAKE_POOLING-input-type", "DML-FAKE_POOLING-window_size-type"]


def test_desc_equality() -> None:
    assert pool() == pool(window_size=(2, 2), strides=1)
    assert hash(pool()) == hash(pool(window_size=(2, 2)))
    assert pool() != pool(window_size=(2, 1))
    assert pool(include_padding=True) != pool(include_padding=1)
    assert pool(scale=math.nan) == pool(scale=float("nan"))
    assert pool() != roi()
    assert pool() != 5
    assert pickle.loads(pickle.dumps(pool())) == copy.copy(pool()) == pool()
    with pytest.raises(AttributeError):
        pool().strides = (1, 1)


def test_desc_repr_is_its_constructor() -> None:
    names = {"FakePooling": pool, "FakePadding": pad, "FakeRoi": roi, "TensorDesc": TensorDesc}
    for d in (pool(), pad(padding_value=5), roi()):
        assert eval(repr(d), names) == d


@pytest.mark.parametrize(
    "d",
    [pool(), pool(scale=math.inf), pad(padding_value=2**63 - 1, padding_mode="WRAP"), roi(scale=X),
     pad(input=TensorDesc("FLOAT32", (2,)), padding_value=-math.inf), roi(),
     pad(input=TensorDesc("FLOAT16", (2,)), padding_value=math.nan)],
)  # fmt: skip
def test_json_round_trip(d: Any) -> None:
    data = json.loads(json.dumps(d.to_dict(), allow_nan=False))
    again = OperatorDesc.from_dict(data)
    assert type(again) is type(d)
    assert again == d
    assert again.to_dict() == data
    assert type(d).from_dict(data) == d
    assert [one.id for one in check(again)] == [one.id for one in check(d)]
    assert list(data["desc"]) == [field.name for field in d.operator.fields]


def test_json_has_no_short_forms() -> None:
    data = pool().to_dict()
    data["desc"]["Strides"] = 1
    data["desc"]["WindowSize"] = None
    del data["desc"]["DimensionCount"]
    data["desc"]["input"] = 5
    data["desc"]["Dimensions"] = 1
    found = check(OperatorDesc.from_dict(data))
    assert [one.text for one in found] == [
        'FAKE_POOLING has no member "input".',  # "InputTensor" is there
        'FAKE_POOLING has no member "Dimensions". Did you mean "DimensionCount"?',
        "dimension_count is missing.",
        "strides must be a list of ints, not 1.",
        "window_size is missing.",
    ]
    assert len(check(OperatorDesc.from_dict(data, ignore_unknown=True))) == 3
    data = roi().to_dict()
    assert data["desc"]["PooledSize"] == {"Width": 3, "Height": 2}
    data["desc"]["PooledSize"] = [2, 3]
    (violation,) = check(OperatorDesc.from_dict(data))
    assert '"Width" and "Height"' in violation.text
    data["desc"]["PooledSize"] = {"Width": 3, "Height": 2, "Extra": 0}
    assert check(OperatorDesc.from_dict(data, ignore_unknown=True)) == check(roi())
    assert [one.id.rpartition("-")[2] for one in check(OperatorDesc.from_dict(data))] == ["type"]


@pytest.mark.parametrize(
    ("dtype", "value", "number"),
    [
        ("FLOAT16", {"UInt16": 0x3C00}, 1.0),
        ("FLOAT16", {"UInt16": 0x7C00}, math.inf),
        ("FLOAT32", {"Float32": 1.5}, 1.5),
        ("FLOAT64", {"Float64": "-inf"}, -math.inf),
        ("INT64", {"Int64": -(2**63)}, -(2**63)),
        ("UINT64", {"UInt64": 2**64 - 1}, 2**64 - 1),
    ],
)
def test_json_of_a_scalar_union(dtype: str, value: dict[str, object], number: float) -> None:
    data = pad(input=TensorDesc(dtype, (2, 3))).to_dict()
    data["desc"]["PaddingValue"] = value
    read = OperatorDesc.from_dict(data)
    assert not check(read)
    assert read._values()["padding_value"] == number
    written = read.to_dict()["desc"]["PaddingValue"]
    assert written == (repr(number) if math.isinf(number) else number)
    assert OperatorDesc.from_dict(read.to_dict()) == read
    (violation,) = check(pad(input=TensorDesc(dtype, (2, 3)), padding_value=value))
    assert violation.id == "DML-FAKE_PADDING-padding_value-type"


@pytest.mark.parametrize(
    ("dtype", "value", "slug", "member", "words"),
    [
        ("INT64", {"Float32": 7.0}, "type", "Float32", 'an object of "Int64" alone, as the data type is INT64'),
        ("INT64", {"Int64": 7, "Int8": 7}, "type", "Int8", 'not an object of "Int64", "Int8"'),
        ("INT64", {}, "type", None, "an empty object"),
        (
            "INT64",
            {"Int64": 2**63},
            "value",
            "Int64",
            "padding_value.Int64 is 9223372036854775808, which INT64 cannot hold",
        ),
        ("INT64", {"Int64": {"Int64": 1}}, "type", "Int64", "padding_value.Int64 must be an int, not an object of"),
        ("FLOAT16", {"UInt16": 1.5}, "value", "UInt16", "which UINT16 cannot hold"),
        ("FLOAT16", {"Float32": 1.5}, "type", "Float32", '"UInt16" holds the bits.'),
        ("FLOAT32", {"\x1b[31m": 1.5}, "type", "\\x1b[31m", 'an object of "Float32" alone'),
    ],
)
def test_json_of_a_scalar_union_that_does_not_fit(
    dtype: str, value: dict[str, object], slug: str, member: str | None, words: str
) -> None:
    data = pad(input=TensorDesc(dtype, (2, 3))).to_dict()
    data["desc"]["PaddingValue"] = value
    (violation,) = check(OperatorDesc.from_dict(data))
    assert violation.id == f"DML-FAKE_PADDING-padding_value-{slug}"
    assert violation.member == member
    assert words in violation.text
    assert violation.text.isprintable()
    data["desc"]["PaddingValueDataType"] = "x"
    assert [one.field for one in check(OperatorDesc.from_dict(data))] == ["padding_value_data_type"]


def test_members_of_a_scalar_union() -> None:
    for dtype, member in UNION.items():
        assert from_union({member: 7}, dtype) == (7 if dtype != "FLOAT16" else 7 * 2.0**-24)
    assert {dtype.name for dtype in DTYPES.values() if dtype.numpy} == set(UNION)
    for value, dtype in (({"UInt8": 7}, "UINT4"), ({"Int8": 7}, "UINT8")):
        with pytest.raises(Refused) as caught:
            from_union({**value}, dtype)
        assert caught.value.slug == "type"


def test_suggestions_are_those_that_the_field_takes() -> None:
    (violation,) = check(pool(input=TensorDesc("FLOAT8", (1, 1, 5, 6))))
    assert violation.text == 'input has data type "FLOAT8", which is not among FLOAT32, FLOAT16.'


@pytest.mark.parametrize(
    ("data", "identifier", "words"),
    [
        ({"type": "GEM", "desc": {}}, "DML-MODEL-operator-unknown", 'Did you mean "GEMM"?'),
        ({"type": "DML_OPERTOR_GEMM", "desc": {}}, "DML-MODEL-operator-unknown", 'Did you mean "GEMM"?'),
        ({"type": "DML_OPERTOR_PADING1", "desc": {}}, "DML-MODEL-operator-unknown", 'Did you mean "PADDING1"?'),
        ({"type": "\x1b[31m" * 99, "desc": {}}, "DML-MODEL-operator-unknown", "\\x1b[31m"),
        (5, "DML-MODEL-operator-form", "not 5"),
        ({"type": 5}, "DML-MODEL-operator-form", "type 5"),
        ({"type": "FAKE_POOLING"}, "DML-MODEL-operator-form", "not None"),
    ],
)
def test_json_of_no_operator(data: Any, identifier: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        OperatorDesc.from_dict(data)
    assert caught.value.id == identifier
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_json_of_another_operator() -> None:
    with pytest.raises(ModelError, match="must be one of FAKE_ROI, not one of FAKE_POOLING"):
        fake.FakeRoi.from_dict(pool().to_dict())  # type: ignore[attr-defined]


def test_check_follows_the_level_in_force() -> None:
    d = pad()
    assert check(d) == []
    with feature_level("3_0") as name:
        assert name == current_level() == "3_0"
        assert [one.level for one in check(d)] == ["5_0"]
        with feature_level(FeatureLevel.LEVEL_5_0):
            assert check(d) == []
        assert check(d, "6_0") == []
    assert current_level() == "6_4"


def test_level_spellings() -> None:
    assert level_index("DML_FEATURE_LEVEL_1_0") == 0
    assert level_index(FeatureLevel.LEVEL_6_4) == 14
    cases: tuple[tuple[Any, str], ...] = (
        ("5.0", 'Did you mean "5_0"?'),
        ("7_0", "The newest is 6_4."),
        (5, "not 5"),
        ("banana", "The levels are 1_0"),
        (None, "None"),
    )
    for wrong, words in cases:
        with pytest.raises(ValueError, match="feature level") as caught:
            feature_level(wrong)
        assert words in str(caught.value)


def test_levels_are_apart_in_threads_and_tasks() -> None:
    seen: list[str] = []
    with feature_level("2_0"):
        thread = threading.Thread(target=lambda: seen.append(current_level()))
        thread.start()
        thread.join()

    async def task(name: Any) -> str:
        with feature_level(name):
            await asyncio.sleep(0)
            return current_level()

    async def both() -> list[str]:
        return [*await asyncio.gather(task("3_0"), task("4_0"))]

    assert seen == ["6_4"]
    assert asyncio.run(both()) == ["3_0", "4_0"]
    assert LEVEL.get() == 14


class Compiled:
    """Stands in for a compiled operator."""

    def __init__(self, desc: Any, level: int, *, reference: bool) -> None:
        self.given = (desc, level, reference)


def test_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compile, "TableOperator", Compiled)
    assert _compile.compile(pool(), "5_0").given == (pool(), 7, False)
    with pytest.raises(DmlError, match=r"^compile\(\): window_size\[0\] does not fit"):
        _compile.compile(pool(window_size=9))
    with pytest.raises(DmlError, match="compile"):
        refuse_desc(pool(window_size=9), 14)
    with pytest.raises(RuntimeError, match="internal"):
        refuse_desc(pool(), 14)


def test_refusal_of_a_compiled_operator() -> None:
    x, out = np.zeros((1, 1, 5, 6), np.float32), np.zeros((1, 1, 4, 5), np.float32)

    def ids(desc: Any, **arguments: Any) -> list[str]:
        with pytest.raises(DmlError) as caught:
            refuse_call(desc, arguments)
        return [one.id.split("-", 2)[2] for one in caught.value.violations]

    assert ids(pool(), input=x[..., :5], out=out.astype(np.float16)) == ["input-sizes", "output-same-dtype"]
    assert ids(pool(), input=x.astype(complex), out=[1]) == ["input-dtype", "output-type"]
    assert ids(pool(), input=None, out=out[..., :4]) == ["input-required", "output-sizes"]
    assert ids(pool(), input=x, out=x[..., :4, :5]) == ["output-overlap"]
    bad = np.full((1, 1, 3, 5), 9, np.float32)
    assert ids(roi(), input=x, roi=bad, out=None) == ["roi-batch"] * 3
    with pytest.raises(RuntimeError, match="internal"):
        refuse_call(pool(), {"input": x, "out": None})


def test_scalars_are_exact() -> None:
    assert as_scalar(2**64 - 1, "UINT64") == 2**64 - 1
    assert as_scalar(np.int64(-(2**63)), "INT64") == -(2**63)
    assert as_scalar(65519.9, "FLOAT16") == 65519.9
    assert as_scalar(math.inf, "FLOAT16") == math.inf
    cases = ((2**64, "UINT64"), (-1, "UINT8"), (65520.0, "FLOAT16"), (1e39, "FLOAT32"), (10**400, "FLOAT64"))
    for value, dtype in cases:
        with pytest.raises(Refused) as caught:
            as_scalar(value, dtype)
        assert caught.value.slug == "value"


def test_dtypes_that_are_none() -> None:
    for value in (None, 1, "float31", ">f4", "f4,f4", "O", object(), complex, "x" * 10**6, [1]):
        assert as_dtype(value) is None


def test_show_is_short_and_harmless() -> None:
    assert show("a\x1b[0m\n\u202e\ud800") == '"a\\x1b[0m\\n\\u202e\\ud800"'
    assert len(show("x" * 10**6)) < 70
    assert show(10**5000).startswith("2**")
    assert show([1] * 100) == "[1, 1, 1, 1, 1, 1, 1, 1, ... 100 in all]"
    assert show((1,)) == "(1,)"
    assert show(np.float32(0.5)) == "0.5"
    assert show(np.zeros((2, 3))) == "an array of float64 with shape (2, 3)"
    assert show(int) == "the type int"
    assert show({}) == "a dict"


@pytest.mark.parametrize(
    ("dtype", "alignment", "nearest"),
    [
        ("FLOAT32", 5, 4),
        ("FLOAT32", 7, 8),
        ("FLOAT32", 1, 0),
        ("FLOAT32", 3, 4),
        ("FLOAT64", 5, 8),
        ("UINT8", -3, 0),
        ("UINT8", 3, 2),
        ("FLOAT32", 2**40, 2**31),
    ],
)
def test_the_nearest_alignment(dtype: str, alignment: int, nearest: int) -> None:
    image: Any = TensorDesc(dtype, (1, 1, 5, 6), guaranteed_base_offset_alignment=alignment)
    (found,) = [one for one in check(pool(input=image)) if one.id.endswith("-alignment")]
    assert found.fix == nearest
