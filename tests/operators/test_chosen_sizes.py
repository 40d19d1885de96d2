"""Sizes of an output that the caller chooses: how they are given, what is refused, and where a desc has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits

import dmlcy as dml
from dmlcy._facts.tables import OPERATORS

X = np.ones((1, 9, 4), np.float32)


def test_ways_to_give_the_sizes() -> None:
    whole = dml.fold(X, output_sizes=(4, 4), window_sizes=3)
    for sizes in ([4, 4], np.array([4, 4]), (np.int64(4), 4)):
        assert_same_bits(dml.fold(X, output_sizes=sizes, window_sizes=3), whole)
    line = np.ones((1, 3, 2), np.float32)
    assert_same_bits(dml.fold(line, output_sizes=4, window_sizes=3), dml.fold(line, output_sizes=(4,), window_sizes=3))


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"output_sizes": (4, 5)}, "input-sizes", "fix 6"),
    ({"output_sizes": (4, 4), "window_sizes": 2}, "input-sizes", "fix (1, 8, 9)"),
    ({"output_sizes": (4, 4), "input": np.ones((1, 10, 4), np.float32)}, "input-sizes", "fix 9"),
    ({"output_sizes": (4, 4), "input": np.ones((1, 3, 4), np.float32)}, "input-sizes", "fix 9"),
    ({"output_sizes": (4, 4), "input": X[None]}, "input-sizes", "fix (1, 9, 4)"),
    ({"output_sizes": (2, 4)}, "window_sizes-fits", "fix 2"),
    ({"output_sizes": (4, 0)}, "output_sizes-range", "fix 1"),
    ({"output_sizes": (4, -1)}, "output_sizes-range", "fix 1"),
    ({"output_sizes": (4, 2**32)}, "output_sizes-range", f"fix {2**32 - 1}"),
    ({"output_sizes": (4, 2.0)}, "output_sizes-type", "fix None"),
    ({"output_sizes": "44"}, "output_sizes-type", "fix None"),
    ({"output_sizes": None}, "output_sizes-required", "fix None"),
    ({"output_sizes": ()}, "output-rank", "fix None"),
    ({"output_sizes": (1,) * 7, "window_sizes": 1}, "output-rank", "fix None"),
    ({"output_sizes": (1,) * 20, "window_sizes": 1}, "output-rank", "fix None"),
    ({"output_sizes": 4, "window_sizes": (3, 3)}, "window_sizes-length", "fix None"),
    ({"output_sizes": (2**16, 2**16), "window_sizes": 1}, "input-sizes", "fix None"),
]


@pytest.mark.parametrize(
    ("changes", "slug", "fix"), REFUSED, ids=[f"{slug} {n}" for n, (_, slug, _) in enumerate(REFUSED)]
)
def test_a_refused_call(changes: dict[str, Any], slug: str, fix: str) -> None:
    given: dict[str, Any] = {"input": X, "window_sizes": 3, **changes}
    with pytest.raises(dml.DmlError) as raised:
        dml.fold(**given)
    first = raised.value.violations[0]
    assert first.id == f"DML-FOLD-{slug}", raised.value
    found = tuple(first.fix) if isinstance(first.fix, list) else first.fix
    assert f"fix {found}" == fix


def test_the_message_says_what_the_sizes_must_be() -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.fold(X, output_sizes=(4, 5), window_sizes=3)
    assert str(raised.value).startswith(
        "fold(): input has sizes (1, 9, 4), and must have (1, 9, 6): "
        "[N, C * elements of a window, prod(positions of the window)], "
        "where C = 1, elements of a window = 9, positions of the window = [2, 3], output_sizes = (4, 5)."
    )
    assert "one column per position of the window" in str(raised.value)
    with pytest.raises(dml.InvalidDescError, match="rows is a multiple of volume, the product of window_sizes"):
        dml.fold(X, output_sizes=(3, 3), window_sizes=2)
    with pytest.raises(dml.InvalidDescError, match=r"input has 2 dimensions, and must have 3\."):
        dml.fold(X[0], output_sizes=(4, 4), window_sizes=3)
    with pytest.raises(TypeError, match="output_sizes"):
        dml.fold(X, window_sizes=3)  # type: ignore[call-overload]


@pytest.mark.parametrize(("sizes", "window", "message"), [
    ((1, 1, 4, 4), (3, 3), "needs 4, one for each spatial axis of output. output_sizes is (1, 1, 4, 4)."),
    (4, (3, 3), "needs 1, one for each spatial axis of output. output_sizes is (4,)."),
    ((), 3, "output has 2 dimensions, and must have 3 to 8. output_sizes gives 0 of these dimensions."),
    ((2,) * 7, 3, "output has 9 dimensions, and must have 3 to 8. output_sizes gives 7 of these dimensions."),
])  # fmt: skip
def test_the_message_says_what_the_number_of_sizes_decides(sizes: Any, window: Any, message: str) -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.fold(X, output_sizes=sizes, window_sizes=window)
    assert message in str(raised.value)


def test_no_message_about_a_desc_names_what_only_a_call_has() -> None:
    x, image = dml.TensorDesc("FLOAT32", (1, 9, 4)), dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    (violation,) = dml.check(dml.desc.Fold(input=x, output=image, window_sizes=(3, 3, 3)))
    assert (violation.id, violation.hint) == ("DML-FOLD-window_sizes-length", "")
    wide = dml.TensorDesc("FLOAT32", (1, 1, 4, 5))
    (violation,) = dml.check(dml.desc.Fold(input=x, output=wide, window_sizes=3))
    assert violation.id == "DML-FOLD-input-sizes"
    assert violation.values["blocks"] == (2, 3)
    assert "output_sizes" not in violation.text


def test_a_desc_has_the_sizes_in_its_output() -> None:
    x, image = dml.TensorDesc("FLOAT32", (1, 9, 4)), dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    desc = dml.desc.Fold(input=x, output=image, window_sizes=(3, 3))
    assert dml.check(desc) == [] and desc.dimension_count == 2
    assert "output_sizes" not in desc.to_dict()["desc"]
    assert_same_bits(dml.compile(desc)(X), dml.fold(X, output_sizes=(4, 4), window_sizes=3))
    missing = dml.desc.Fold(input=x, output=None, window_sizes=(3, 3))  # type: ignore[arg-type]
    (violation,) = dml.check(missing)
    assert violation.id == "DML-FOLD-output-required"
    assert violation.hint == "The sizes of this tensor hold what a call takes as output_sizes."
    with pytest.raises(TypeError, match="output_sizes"):
        dml.desc.Fold(input=x, output=image, output_sizes=(4, 4), window_sizes=3)  # type: ignore[call-arg]
    other = dml.desc.Fold(input=x, output=dml.TensorDesc("FLOAT32", (1, 2, 4, 4)), window_sizes=(3, 3))
    assert [(one.id, one.index, one.fix) for one in dml.check(other)] == [("DML-FOLD-output-sizes", 1, 1)]


def test_a_desc_may_put_ones_in_front_of_the_input() -> None:
    image = dml.TensorDesc("FLOAT32", (2, 1, 4, 4))
    x = np.arange(72, dtype=np.float32).reshape(2, 9, 4)
    desc = dml.desc.Fold(input=dml.TensorDesc("FLOAT32", (1, 2, 9, 4)), output=image, window_sizes=(3, 3))
    assert dml.check(desc) == []
    assert_same_bits(dml.compile(desc)(x[None]), dml.fold(x, output_sizes=(4, 4), window_sizes=3))
    two = dml.desc.Fold(input=dml.TensorDesc("FLOAT32", (1, 1, 2, 9, 4)), output=image, window_sizes=(3, 3))
    assert [one.id for one in dml.check(two)] == ["DML-FOLD-input-dimensions"]
    with pytest.raises(dml.InvalidDescError, match="input-sizes"):
        dml.fold(x[None], output_sizes=(4, 4), window_sizes=3)


def test_the_spec_says_what_is_chosen() -> None:
    (row,) = dml.specs.operator("FOLD")["chosen"]
    assert row["name"] == "output_sizes"
    (field,) = OPERATORS["FOLD"].chosen
    assert field.part is not None and field.part.of((7, 8, 9, 10)) == (9, 10)


def test_a_recorded_call_is_a_desc() -> None:
    with dml.record() as recording:
        result = dml.fold(X, output_sizes=(4, 4), window_sizes=3)
    (call,) = recording.calls
    assert dml.check(call.desc) == []
    assert_same_bits(dml.compile(call.desc)(call.inputs["input"]), result)


COUNTED = [name for name, operator in OPERATORS.items() if any(one.length is not None for one in operator.chosen)]


@pytest.mark.parametrize("name", COUNTED)
def test_a_desc_has_as_many_chosen_sizes_as_the_length_says(name: str) -> None:
    """Rules and lets read that many: another number is refused, and what reads the sizes is skipped."""
    operator = OPERATORS[name]
    example = operator.examples[0]
    tensors = {
        field.python: dml.TensorDesc(*(example.inputs | example.outputs)[field.python][:2])
        for field in operator.fields
        if field.python in example.inputs or field.python in example.outputs
    }
    for part in [one.part for one in operator.chosen if one.length is not None and one.part is not None]:
        output = tensors[part.tensor]
        for sizes in ((1, *output.sizes), output.sizes[1:]):
            changed = {**tensors, part.tensor: dml.TensorDesc(output.dtype, sizes)}
            found = dml.check(getattr(dml.desc, operator.desc)(**changed, **example.attributes))
            assert [one.id for one in found] == [f"DML-{name}-{part.tensor}-rank"], sizes
