"""Arrays that are as long as they are given."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.classes import desc_class
from dmlcy._facts.tables import OPERATORS
from dmlcy._show.explain.rules import broken

X = dml.TensorDesc("FLOAT32", (2, 3, 4))


def desc_of(axes: Any, sizes: tuple[int, ...] = (1, 1, 1), **more: Any) -> Any:
    return desc_class("ARGMAX")(input=X, output=dml.TensorDesc("UINT32", sizes), axes=axes, **more)


def ids(desc: Any) -> list[str]:
    found = [one.id.removeprefix("DML-ARGMAX-") for one in dml.check(desc)]
    again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))
    assert found or (dml.check(again) == [] and again == desc)
    return found


def test_any_number_of_entries_up_to_the_most() -> None:
    assert ids(desc_of((), (2, 3, 4))) == ids(desc_of(1, (2, 1, 4))) == ids(desc_of([2, 0], (1, 3, 1))) == []
    assert ids(desc_of((0, 1, 2))) == ids(desc_of(np.array([0, 1, 2]))) == []
    assert (desc_of(1).axis_count, desc_of((0, 1)).axis_count, desc_of(1).axes) == (1, 2, (1,))
    assert desc_of((0, 1)).to_dict()["desc"]["AxisCount"] == 2
    (violation,) = dml.check(desc_of((0, 1, 2, 0)))
    assert violation.id == "DML-ARGMAX-axes-length"
    assert violation.message.startswith("axes has 4 entries and needs at most 3, which is rank(input).")


def test_the_count_agrees() -> None:
    assert ids(desc_of((0, 1), (1, 1, 4), axis_count=2)) == []
    (violation,) = dml.check(desc_of((0, 1), (1, 1, 4), axis_count=3))
    assert (violation.id, violation.fix) == ("DML-ARGMAX-axis_count-length", 2)


def test_formulas_read_its_entries() -> None:
    assert ids(desc_of((0, 2), (1, 3, 4))) == ["output-sizes"]
    found = dml.check(desc_of((0, 3), (1, 3, 4)))
    assert [(one.id, one.index, one.fix) for one in found] == [("DML-ARGMAX-axes-exist", 1, 2)]
    assert ids(desc_of((1, 0, 1), (1, 1, 4))) == ["axes-unique"]
    assert ids(desc_of((1, "x"), (1, 1, 4))) == ["axes-type"]
    assert ids(desc_of((1, -1), (1, 1, 4))) == ["axes-range"]


def test_a_hundred_thousand_entries_take_linear_time() -> None:
    begin = time.perf_counter()
    assert ids(desc_of((0,) * 1000)) == ["axes-length"]
    assert len(dml.check(desc_of((0,) * 100_000))) == 1
    bad = desc_class("ARGMAX")(input=dml.TensorDesc("FLOAT32", ()), output=X, axes=(0,) * 1000)
    assert "DML-ARGMAX-input-rank" in [one.id for one in dml.check(bad)]
    assert time.perf_counter() - begin < 5


def test_random_descs_have_arrays_of_all_lengths() -> None:
    lengths: set[int] = set()

    @given(testing.descs("ARGMAX"))
    @settings(max_examples=100, deadline=None, database=None, derandomize=True)
    def look(desc: Any) -> None:
        assert dml.check(desc) == []
        lengths.add(len(desc.axes))

    look()
    assert {0, 1, 2, 3} <= lengths


def test_broken_descs_have_one_thing_wrong() -> None:
    for slug in ("axes-length", "axes-range", "axes-exist", "axes-unique", "axis_count-length"):

        @given(testing.broken_descs("ARGMAX", id=f"DML-ARGMAX-{slug}"))
        @settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def look(case: tuple[Any, Any]) -> None:
            assert len(dml.check(case[0])) == 1

        look()


def test_what_is_said_of_it(checkout: Any) -> None:
    for rule in OPERATORS["ARGMAX"].rules:
        assert broken(OPERATORS["ARGMAX"], rule) is not None, rule.id
    root = checkout[0]
    assert "`UINT[up to rank(input)]`" in (root / "docs/reference/argmax.md").read_text()
    assert "axes: _Int | _Ints" in (root / "dmlcy/_generated/descs/argmax.pyi").read_text()
