"""Records: dataclasses that are made in less time, and do the same."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from dmlcy._words.records import record


@record(frozen=True, slots=True, eq=False)
class Made:
    """A record."""

    first: int
    second: Any = "b"
    third: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """The same as a dataclass."""

    first: int
    second: Any = "b"
    third: tuple[int, ...] = ()


@pytest.mark.parametrize(
    ("arguments", "named"), [((1,), {}), ((1, 2), {"third": (3,)}), ((), {"second": 2, "first": 1}), ((1, 2, (3,)), {})]
)
def test_fields(arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    made, usual = Made(*arguments, **named), Usual(*arguments, **named)
    assert dataclasses.asdict(made) == dataclasses.asdict(usual)
    assert repr(made) == repr(usual).replace("Usual", "Made")
    changed = dataclasses.replace(made, first=7)
    assert (changed.first, changed.second) == (7, made.second)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert dataclasses.asdict(again) == dataclasses.asdict(made) and again != made
    assert {made: 1}[made] == 1 and not hasattr(made, "__dict__")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((), {}), ((1, 2, 3, 4), {}), ((1,), {"first": 1}), ((1,), {"fourth": 1}), ((), {"second": 1})],
)
def test_what_is_no_field(arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    for kind in (Made, Usual):
        with pytest.raises(TypeError, match=kind.__name__):
            kind(*arguments, **named)


def test_frozen() -> None:
    made: Any = Made(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="'first'"):
        made.first = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="'first'"):
        del made.first
    assert made.first == 1
