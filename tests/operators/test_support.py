"""minimum_feature_level, supports and support_table: against the rows of the specs, and against what check says."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest
from depth import deep
from each import each_of
from uses import FACTS, LEVELS, NUMPY, RUNNABLE, USES, rows_of_rank, rows_of_type

import dmlcy as dml
from dmlcy import desc

T = dml.TensorDesc


def test_the_table_is_that_of_the_specs() -> None:
    table = [row for row in dml.support_table() if row.operator in RUNNABLE]
    found = {(row.operator, row.tensor, row.dtype, row.rank): LEVELS.index(row.since) for row in table}
    assert len(found) == len(table)
    for operator in RUNNABLE.values():
        since = FACTS.level_index(operator.since)
        for field in operator.tensors:
            known = [rows_of_type(operator, field, level) for level in range(len(LEVELS))]
            fits = [rows_of_rank(operator, field, level) for level in range(len(LEVELS))]
            for dtype in (known.name for known in FACTS.dtypes):
                for rank in range(1, 10):
                    holds = [n for n in range(since, len(LEVELS)) if dtype in known[n] and rank in fits[n]]
                    assert found.pop((operator.name, field.python, dtype, rank), None) == (holds[0] if holds else None)
    assert not found


@functools.cache
def tables() -> dict[str, dict[tuple[str, str, int], int]]:
    """The rows of each operator: the level from which a tensor can have a data type and a number of dimensions."""
    found: dict[str, dict[tuple[str, str, int], int]] = {name: {} for name in RUNNABLE}
    for row in dml.support_table():
        if row.operator in found:
            found[row.operator][row.tensor, row.dtype, row.rank] = LEVELS.index(row.since)
    return found


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=deep)])
@each_of("name", RUNNABLE)
def test_supports_agrees_with_the_table(name: str, step: int) -> None:
    """In every second cell of the table, in others of the next operator; with ``-m deep`` in all."""
    operator, turn = RUNNABLE[name], list(RUNNABLE).index(name)
    table = tables()[name]
    for index, level in enumerate(LEVELS):
        assert dml.supports(name, level=level) == (index >= FACTS.level_index(operator.since))
        with dml.feature_level(level):
            assert dml.supports(operator.python) == dml.supports(name, level=level)
        for field in operator.tensors:
            for dtype, numpy in NUMPY.items():
                for rank in range((index + turn) % step, 10, step):
                    expected = table.get((field.python, dtype, rank), 99) <= index
                    found = dml.supports(name, dtype=numpy, rank=rank, level=level, tensor=field.name)
                    assert found == expected, (field.python, dtype, rank, level)
    output = operator.outputs[0]
    for dtype in rows_of_type(operator, output, len(LEVELS) - 1):
        assert dml.supports(f"DML_OPERATOR_{name}", dtype=f"DML_TENSOR_DATA_TYPE_{dtype}", tensor=output.python)
    takes = "UINT4" in rows_of_type(operator, operator.tensors[0], len(LEVELS) - 1)
    assert dml.supports(name, dtype="UINT4") == takes
    assert not dml.supports(name, rank=-1)


@each_of(
    "arguments, error, words",
    [
        ({"operator": "UNFLOD"}, dml.ModelError, 'Did you mean "UNFOLD"?'),
        ({"operator": 5}, dml.ModelError, "5 is not an operator"),
        ({"dtype": "FLOAT23"}, ValueError, 'Did you mean "FLOAT32"?'),
        ({"dtype": np.dtype(bool)}, ValueError, "unknown data type bool"),
        ({"dtype": object()}, ValueError, "unknown data type an object"),
        ({"rank": 4.0}, TypeError, "a rank must be an int, not 4.0"),
        ({"rank": True}, TypeError, "a rank must be an int"),
        ({"level": "7_0"}, ValueError, "unknown feature level"),
        ({"tensor": "strides"}, ValueError, "has no tensor"),
        ({"tensor": "\x1b[31m"}, ValueError, "has no tensor"),
    ],
)
def test_supports_refuses(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        dml.supports(**({"operator": next(iter(RUNNABLE))} | arguments))
    assert words in str(raised.value) and str(raised.value).isprintable()


@each_of("name", RUNNABLE)
def test_the_minimum_is_the_first_level_that_accepts(name: str) -> None:
    """For every data type of the first tensor and every member of every enum."""
    operator, use = RUNNABLE[name], USES[name]
    variants = [use.desc]
    for field in operator.attributes:
        if field.enum is not None and field.value is None:
            variants += [
                use.make({**use.values(), field.python: member.name}) for member in FACTS.enums[field.enum].members
            ]
    first = operator.tensors[0]
    for dtype in rows_of_type(operator, first, len(LEVELS) - 1):
        alike = [field.python for field in operator.tensors if field.types == first.types and not field.optional]
        paths = [path for path in use.arrays if path.partition("[")[0] in alike]
        variants.append(use.make({**use.values(), **{path: use.tensor(path, dtype=dtype) for path in paths}}))
    valid = [variant for variant in variants if not dml.check(variant)]
    assert use.desc in valid
    for d in valid:
        found = dml.minimum_feature_level(d)
        index = LEVELS.index(found.level)
        assert dml.check(d, found.level) == []
        assert all(dml.check(d, level) for level in LEVELS[:index])
        assert found.directml == FACTS.levels[index].directml
        assert bool(found.forced_by) == (index > 0)
        before = dml.check(d, LEVELS[index - 1]) if index else []
        assert [reason.field for reason in found.forced_by] == [violation.field for violation in before]
        assert all(
            reason.subject.partition(", where")[0] in violation.message
            for reason, violation in zip(found.forced_by, before, strict=True)
        )
        assert pickle.loads(pickle.dumps(found)) == found
        assert str(found).startswith(f"{found.level} (DirectML {found.directml})")


def test_the_reason_is_the_field() -> None:
    def pad(mode: Any = "EDGE", dtype: str = "FLOAT32", rank: int = 4) -> desc.Padding1:
        return desc.Padding1(input=T(dtype, (3,) * rank), start_padding=1, end_padding=1, padding_mode=mode)

    assert str(dml.minimum_feature_level(pad())) == "5_0 (DirectML 1.8.0), for PADDING1"
    found = dml.minimum_feature_level(pad("WRAP"))
    assert found == dml.MinimumLevel("6_4", "1.15.0", (dml.LevelReason("padding_mode", "padding_mode WRAP"),))


def test_a_desc_that_no_level_accepts() -> None:
    fraction: Any = 2.5
    d = desc.AveragePooling(input=T("INT8", (1, 1, 4)), window_size=(0, 9), strides=fraction)
    with pytest.raises(dml.DmlError) as raised:
        dml.minimum_feature_level(d)
    assert list(raised.value.violations) == dml.check(d)
    assert str(raised.value).startswith("minimum_feature_level(): input has 3 dimensions")


@each_of("value", [None, 5, {}, "PADDING1", desc.Padding1])
def test_what_is_no_desc(value: Any) -> None:
    with pytest.raises(TypeError, match=r"minimum_feature_level\(\) takes an object of a class of dmlcy.desc"):
        dml.minimum_feature_level(value)
