"""Uses of a package whose only operator has an array of signed integers. test_int_array.py runs it."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import find, given, settings

import dmlcy as dml
from dmlcy import testing
from dmlcy._show.explain.find import find as find_facts
from dmlcy._show.explain.text import lay_out
from dmlcy._testing.broken import ways_of

LOW, HIGH = -(2**31), 2**31 - 1
X = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
TENSOR = dml.TensorDesc.from_array(X)


def called(strides: object) -> list[str]:
    """The ids with which a call is refused; none where it copies its input."""
    try:
        y = dml.slice1(X, input_window_sizes=1, input_window_strides=strides)
    except dml.DmlError as error:
        return [one.id.removeprefix("DML-SLICE1-input_window_strides-") for one in error.violations]
    assert (y == X).all()
    return []


def described(strides: object) -> list[str]:
    """The ids that a desc has, after a check that JSON says the same of it."""
    desc = dml.desc.Slice1(input=TENSOR, input_window_sizes=1, input_window_strides=strides)
    found = dml.check(desc)
    if not any(one.id.endswith("type") for one in found):
        again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))
        assert [one.id for one in dml.check(again)] == [one.id for one in found]
        assert again == desc
    return [one.id.removeprefix("DML-SLICE1-input_window_strides-") for one in found]


# Calls and descs agree.
short = ["short"]
for strides, ids in (
    (1, []), (-1, []), ((1, -2, 3, -4), []), ([10**9, -(10**9), 1, 1], []), (np.array([1, -2, 3, 4]), []),
    (0, ["steps"] * 4), ((1, 0, -1, 1), ["steps"]), (LOW, short * 4), ((HIGH, 1, 1, 1), short),
    (LOW - 1, ["range"]), ((1, HIGH + 1, 1, LOW - 1), ["range"] * 2), (10**30, ["range"]), ((1, 2), ["length"]),
    (0.5, ["type"]), ((1, True, 1, 1), ["type"]), ("1", ["type"]),
):  # fmt: skip
    assert called(strides) == ids, (strides, called(strides))
    held = ids * 4 if isinstance(strides, int) and "range" in ids else ids  # an int fills the array that a desc holds
    assert described(strides) == held, (strides, described(strides))

desc = dml.desc.Slice1(input=TENSOR, input_window_sizes=1, input_window_strides=-2)
assert desc.input_window_strides == (-2, -2, -2, -2) and desc.dimension_count == 4
assert dml.desc.Slice1(input=TENSOR, input_window_sizes=1).input_window_strides == (-1, -1, -1, -1)
assert desc.to_dict()["desc"]["InputWindowStrides"] == [-2, -2, -2, -2]
assert (dml.compile(desc)(X) == X).all()
(violation,) = dml.check(dml.desc.Slice1(input=TENSOR, input_window_sizes=1, input_window_strides=(1, 1, LOW - 1, 1)))
assert (violation.index, violation.fix) == (2, LOW)
assert violation.message == f"input_window_strides[2] is {LOW - 1}, and must be from {LOW} to {HIGH}."
with dml.record() as recording:
    dml.slice1(X, input_window_sizes=1, input_window_strides=-3)
assert recording.calls[0].desc.input_window_strides == (-3, -3, -3, -3)
assert "-2, -2, -2, -2" in desc._repr_html_()

# Random and broken values.
for sign in (-1, 1):
    find(testing.descs("SLICE1"), lambda found, sign=sign: found.input_window_strides[0] * sign > 1)
begin = "DML-SLICE1-input_window_strides-"
ways = {name.removeprefix(begin) for name in ways_of("SLICE1", 14) if name.startswith(begin)}
assert ways == {"required", "type", "range", "length", "steps", "short"}, ways


@settings(max_examples=60, deadline=None)
@given(testing.broken_descs("SLICE1"))
def broken(case: tuple[dml.desc.OperatorDesc, dml.Violation]) -> None:
    found = dml.check(case[0])
    assert [one.id for one in found] == [case[1].id]


broken()

# Explanations.
text = " ".join(lay_out(find_facts("InputWindowStrides"), 100).split())
assert "INT[rank(input)], -2^31 to 2^31 - 1, default -1." in text, text
text = " ".join(lay_out(find_facts("DML-SLICE1-input_window_strides-range"), 100).split())
assert "must be from -2147483648 to 2147483647" in text, text
