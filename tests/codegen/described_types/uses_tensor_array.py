"""Arrays of tensors: each tensor is checked under its path, formulas count and read them, JSON has lists."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

A = dml.TensorDesc("FLOAT32", (1, 2, 3, 4))
B = dml.TensorDesc("FLOAT32", (1, 2, 5, 4))


def join(*inputs: Any, axis: int = 2, **more: Any) -> Any:
    return dml.desc.Join(inputs=inputs, axis=axis, **more)


def again(desc: Any) -> Any:
    return dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))


def seen(desc: Any, level: Any = None) -> list[tuple[str, str | None, str | None, int | None]]:
    found = dml.check(desc, level)
    return [(one.id.removeprefix("DML-JOIN-"), one.field, one.member, one.index) for one in found]


def test_what_follows_is_filled_in() -> None:
    d = join(A, B, A)
    assert dml.check(d) == [] and d.inputs == (A, B, A)
    assert d.input_count == 3 and d.output == dml.TensorDesc("FLOAT32", (1, 2, 11, 4))
    assert dml.desc.Join(inputs=[A, B, A], axis=2) == d == again(d) and hash(d) == hash(again(d))
    assert [one["Sizes"] for one in d.to_dict()["desc"]["InputTensors"]] == [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 3, 4]]
    assert "TensorDesc('FLOAT32', (1, 2, 5, 4))" in repr(d) and d._repr_html_()
    assert dml.check(join(A, B, A, input_count=3, output=d.output)) == []


def test_the_pieces_of_a_tensor() -> None:
    whole = dml.TensorDesc("FLOAT32", (1, 2, 8, 4))
    d = dml.desc.Split(input=whole, outputs=[A, B], axis=2)
    assert dml.check(d) == [] and d.output_count == 2 and again(d) == d
    (found,) = dml.check(dml.desc.Split(input=whole, outputs=[A, B, A], axis=2))
    assert found.id == "DML-SPLIT-input-sizes" and found.values["expected"] == (1, 2, 11, 4)
    (found,) = dml.check(dml.desc.Split(input=whole, outputs=[A, dml.TensorDesc("INT8", (1, 2, 5, 4))], axis=2))
    assert (found.id, found.field) == ("DML-SPLIT-outputs-same-dtype", "outputs[1]")


def test_each_tensor_is_checked_under_its_path() -> None:
    def other(dtype: Any = "FLOAT32", sizes: Any = (1, 2, 3, 4), **more: Any) -> Any:
        return join(A, B, dml.TensorDesc(dtype, sizes, **more))

    assert seen(other("BOGUS")) == [("inputs-dtype", "inputs[2]", "dtype", None)]
    assert seen(other("INT8")) == [("inputs-same-dtype", "inputs[2]", "dtype", None)]
    assert seen(other(sizes=(1,) * 9)) == [("inputs-rank", "inputs[2]", "sizes", None)]
    assert seen(other(sizes=(1, 2, 0, 4))) == [("inputs-range", "inputs[2]", "sizes", 2)]
    assert seen(other(sizes=(1, 2, "3", 4))) == [("inputs-type", "inputs[2]", "sizes", 2)]
    assert seen(other(strides=(1, 1))) == [("inputs-strides", "inputs[2]", "strides", None)]
    assert seen(other(total_tensor_size_in_bytes=4))[0][:3] == (
        "inputs-total-size", "inputs[2]", "total_tensor_size_in_bytes",
    )  # fmt: skip
    assert seen(other(sizes=(2**16, 2**16, 3, 4)))[0] == ("inputs-elements", "inputs[2]", "sizes", None)
    assert seen(other(sizes=(1, 3, 3, 4))) == [("inputs-fit", "inputs[2]", "sizes", None)]
    (found,) = dml.check(other(sizes=(1, 2, 3)))
    assert (found.id, found.field) == ("DML-JOIN-inputs-same-rank", "inputs[2]")
    message = (
        "inputs[2] has a different number of dimensions from the first: "
        "rank(inputs[2]) = 3 must be rank(inputs[0]) = 4."
    )
    assert found.message == message
    assert other(sizes=(1, 2, 0, 4)).output is None
    (found,) = dml.check(other(sizes=(1, 2, 0, 4)))
    assert found.message == "inputs[2].sizes[2] is 0, and must be from 1 to 4294967295."
    double = join(*[dml.TensorDesc("FLOAT64", (1, 2, 3, 4))] * 2)
    assert [one.field for one in dml.check(double, "3_0")] == ["inputs[0]"]
    assert dml.minimum_feature_level(double).level == "4_1"


@pytest.mark.parametrize("value", [(A, B, None), (A, 0.5), [A, {"DataType": "FLOAT32"}], (A, np.zeros(3)), (A, (A,))])
def test_an_entry_is_a_tensor(value: Any) -> None:
    (found,) = seen(join(*value))
    assert found == ("inputs-required" if value[-1] is None else "inputs-type", f"inputs[{len(value) - 1}]", None, None)


@pytest.mark.parametrize("value", [A, 3, "AB", object(), np.zeros((2, 2)), {"a": A}, b"ab"])
def test_an_array_is_a_sequence(value: Any) -> None:
    d = dml.desc.Join(inputs=value, axis=2)
    assert seen(d) == [("inputs-type", "inputs", None, None)]
    assert dml.check(d)[0].message.startswith("inputs must be a sequence of TensorDescs, not ")
    assert repr(d) and d._repr_html_() and hash(d) == hash(dml.desc.Join(inputs=value, axis=2))


def test_none_and_no_tensors() -> None:
    assert seen(dml.desc.Join(inputs=None, axis=2)) == [("inputs-required", "inputs", None, None)]
    assert seen(join()) == [("inputs-some", "inputs", None, None)]
    assert dml.check(join())[0].values["count(inputs)"] == 0


def test_an_array_in_place_of_a_tensor() -> None:
    (found,) = dml.check(join(A, B, output=(A, B)))
    assert found.id == "DML-JOIN-output-type"
    model = join(A, B).to_dict()
    model["desc"]["OutputTensor"] = [model["desc"]["OutputTensor"]]
    (found,) = dml.check(dml.desc.OperatorDesc.from_dict(model))
    assert found.message.startswith("output must be an object with the members DataType and Sizes, not ")


def test_a_tensor_in_place_of_an_array_in_json() -> None:
    model = join(A, B).to_dict()
    one = model["desc"]["InputTensors"][0]
    for value, slug in ((one, "type"), (None, "required"), ("x", "type"), (3, "type"), ({}, "type")):
        model["desc"]["InputTensors"] = value
        found = dml.check(dml.desc.OperatorDesc.from_dict(model))
        assert [one.id for one in found] == [f"DML-JOIN-inputs-{slug}"], found
        assert slug == "required" or found[0].message.startswith("inputs must be a list of tensor descs, not ")
    model["desc"]["InputTensors"] = [one, None, 3, {"DataType": "FLOAT32"}, {**one, "Bogus": 1}]
    model["desc"]["InputCount"] = 5
    found = seen(dml.desc.OperatorDesc.from_dict(model))
    assert found == [
        ("inputs-required", "inputs[1]", None, None),
        ("inputs-type", "inputs[2]", None, None),
        ("inputs-required", "inputs[3]", "sizes", None),
        ("inputs-unknown", "inputs[4]", None, None),
    ], found


def test_the_count_follows() -> None:
    (found,) = dml.check(join(A, B, input_count=3))
    assert found.id == "DML-JOIN-input_count-length" and found.fix == 2
    assert found.message == "input_count is 3 and must be 2, which is count(inputs)."


def test_many_tensors_take_linear_time_and_a_bounded_report() -> None:
    def seconds(count: int, wrong: bool) -> float:
        tensors = [dml.TensorDesc("FLOAT32", (1, 2 + (wrong and k % 2), 3, 4)) for k in range(count)]
        begin = time.perf_counter()
        d = join(*tensors)
        found = dml.check(d)
        took = time.perf_counter() - begin
        assert len(found) == (10 if wrong else 0) and all(len(one.message) < 500 for one in found)
        if not wrong or count == 200:  # of one that is refused, a page says what would make it valid: 64 checks
            assert len(d._repr_html_()) < 20_000
        return took

    for wrong in (False, True):
        few, many = seconds(200, wrong), seconds(2_000, wrong)
        assert many < 30 * few + 1, (few, many)
    mixed = [A, 3] * 500
    found = dml.check(join(*mixed))
    assert len(found) == 10 and found[-1].field == "inputs[19]"
    assert dml.check(join(*[A] * 999, B))[0:] == []
    (found,) = dml.check(join(*[A] * 999, dml.TensorDesc("FLOAT32", (1, 3, 3, 4))))
    assert found.field == "inputs[999]"
