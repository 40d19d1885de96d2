"""Compares the verdicts of the compiled checks with those in Python, and counts them.

``python -m tests.reliability.verdicts --draws 20 --seed 1`` looks at valid descs, calls and compiled operators, at each
level about their first one. The other cases have one mistake, or up to three other arguments, or are broken by
tests/operators/breaking.py. Class, ids, their order and texts must be the same. Differences are shown, and the exit
status is 1.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("", "operators", "reliability"):
    sys.path.insert(0, str(TESTS / folder))

from agreement import Verdict, are_tensors, of_call, of_compiled, of_desc, tensors_of  # noqa: E402
from breaking import cases_of  # noqa: E402
from broken_case import Case  # noqa: E402
from example_descs import attributes, each_part  # noqa: E402
from garbage import GARBAGE  # noqa: E402
from random_cases import broken_cases, broken_descs, cases  # noqa: E402
from random_descs import level_of  # noqa: E402
from uses import LEVELS, NUMPY, PLAN  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._desc.operator_desc import OperatorDesc  # noqa: E402
from dmlcy._facts.rows import Operator  # noqa: E402
from dmlcy._facts.tables import OPERATORS, RUNNABLE  # noqa: E402

WAYS: Final = ("descs", "calls", "compiled operators")
CHANGES: Final = 3
"""Calls and descs with other arguments, of each that is valid."""
NUMBERS: Final = (0, 1, 2, 3, 5, 8, 9, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -1, -(2**63))
REALS: Final = (0.0, -0.0, 0.5, 1.0, -1.0, 1e-46, 65520.0, 3.5e38, float("inf"), float("nan"), 2, 10**400, True)
DTYPES: Final = (*map(np.dtype, (">f4", "?", "c8", "O", "i2, f4")), *NUMPY.values())
LASTING: Final = [value for value in GARBAGE if type(value) is not type(iter([]))]
"""Garbage that is the same when it is looked at again."""


class Verdicts:
    """The compared objects, and the outcomes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.valid: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.ids: dict[str, set[str]] = {way: set() for way in WAYS}
        self.disagreements: list[str] = []

    def look(self, operator: Operator, draws: int) -> None:
        """Compares all that is broken by hand, and so many draws."""
        self.chance = random.Random(f"{self.seed} {operator.name}")
        for case in cases_of(operator.name):
            self.case(case)
        for _ in range(draws):
            level = level_of(self.chance, operator)
            with dml.feature_level(LEVELS[level]):
                for valid, arrays in cases(self.chance, operator, level, 1):
                    self.drawn(valid, inputs_of(valid, arrays))
                for broken, _ in broken_descs(self.chance, operator, level, 1):
                    self.desc(broken, LEVELS[level])
                    self.call_of(broken)
                for desc, arrays, _ in broken_cases(self.chance, operator, level, 1):
                    self.call(operator.name, inputs_of(desc, arrays) | attributes(desc))
                    self.compiled(desc, inputs_of(desc, arrays))

    def case(self, case: Case) -> None:
        """One thing that is broken by hand."""
        use = case.use
        if case.way == "call":
            with dml.feature_level(case.level):
                self.call(use.operator.name, use.arguments(case.changes, use.attributes, compiled=False))
        elif case.way == "compiled":
            self.compiled(use.desc, use.arguments(case.changes, {}, compiled=True))
        else:
            self.desc(case.desc(), case.level)

    def drawn(self, desc: OperatorDesc, given: dict[str, Any]) -> None:
        """A valid desc and its calls, at the levels about its first one, and with other arguments."""
        name, whole = desc.operator.name, given | attributes(desc)
        first = LEVELS.index(dml.minimum_feature_level(desc).level)
        for level in LEVELS[max(first - 1, 0) : first + 2]:
            self.desc(desc, level)
            with dml.feature_level(level):
                self.call(name, whole)
        self.compiled(desc, given)
        own = {field.python: getattr(desc, field.python) for field in desc.operator.fields if field.value is None}
        for _ in range(CHANGES):
            self.call(name, self.changed({"out": None} | whole))
            self.compiled(desc, self.changed({"out": None} | given))
            self.desc(type(desc)(**self.changed(own)), dml.current_level())

    def call_of(self, desc: OperatorDesc) -> None:
        """The call that says what a broken desc says, where arrays can."""
        if all(map(in_numpy, tensors_of(desc))):
            names = [field.python for field in desc.operator.fields if field.kind == "input"]
            inputs = {name: each_part(getattr(desc, name), zeros) for name in names}
            self.call(desc.operator.name, inputs | attributes(desc))

    # Comparisons

    def desc(self, desc: OperatorDesc, level: str) -> None:
        self.note("descs", desc.operator.name, of_desc(desc, level), desc)

    def call(self, name: str, arguments: dict[str, Any]) -> None:
        self.note("calls", name, of_call(name, arguments), arguments)

    def compiled(self, desc: OperatorDesc, arguments: dict[str, Any]) -> None:
        """A call of the compiled operator; not where an input is given that the desc leaves out, a TypeError."""
        inputs = [name for name in arguments if name != "out"]
        if all((arguments[name] is None) or getattr(desc, name) is not None for name in inputs):
            self.note("compiled operators", desc.operator.name, of_compiled(dml.compile(desc), arguments), arguments)

    def note(self, way: str, name: str, verdicts: tuple[Verdict, Verdict], about: Any) -> None:
        compiled, python = verdicts
        if compiled != python:
            shown = repr({key: summary(value) for key, value in about.items()} if isinstance(about, dict) else about)
            self.disagreements.append(
                f"{name}, {way} at {dml.current_level()}: {shown}\n  compiled: {compiled}\n  Python:   {python}"
            )
        elif python is None:
            self.valid[way] += 1
        else:
            self.broken[way] += 1
            self.ids[way].update(python[1])

    # Other arguments

    def changed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Up to three other values."""
        names = self.chance.sample([*given], min(self.chance.randint(1, 3), len(given)))
        return given | {name: self.other(given[name], given) for name in names}

    def other(self, value: Any, given: dict[str, Any]) -> Any:
        """Another value: one near it, one of an odd kind, or garbage."""
        chance = self.chance
        if value is None or chance.random() < 0.15:
            return chance.choice([*given.values(), *LASTING])
        if isinstance(value, np.ndarray):
            return self.other_array(value)
        if isinstance(value, dml.TensorDesc):
            array = self.other_array(zeros(value)) if in_numpy(value) else np.zeros(1)
            return dml.TensorDesc(array.dtype, array.shape)
        if isinstance(value, tuple) and value:
            at = chance.randrange(len(value))
            changed = (*value[:at], self.other(value[at], given), *value[at + 1 :])
            return chance.choice([changed, [*changed], (*value, value[at]), value[1:], value[at]])
        if isinstance(value, Enum):
            return chance.choice([*type(value), value.name, "BOGUS", value.value])
        if isinstance(value, bool):
            return chance.choice([True, False, np.True_, 1, 0])
        if isinstance(value, int):
            return chance.choice([value - 1, value + 1, np.int64(value % 2**63), 0.5, chance.choice(NUMBERS)])
        if isinstance(value, float):
            return chance.choice(REALS)
        return chance.choice([*NUMPY, *DTYPES, *LASTING])

    def other_array(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An array of another data type, of other sizes, or of another number of dimensions."""
        chance = self.chance
        axis = chance.randrange(max(array.ndim, 1))
        with np.errstate(all="ignore"):
            ways = [array.astype(chance.choice(DTYPES)), array[None], array[..., None], array[(0,) * array.ndim]]
        if array.ndim:
            ways += [np.concatenate([array, array.take([0], axis)], axis), array.take([], axis), array[0]]
        return np.asarray(chance.choice(ways))


def inputs_of(desc: OperatorDesc, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The argument for each input: ``None`` where it is left out."""
    return {field.python: arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"}


def in_numpy(tensor: Any) -> bool:
    """Whether an array can be what a tensor desc says."""
    return (
        are_tensors(tensor)
        and tensor.dtype.name in NUMPY
        and len(tensor.sizes) <= 32
        and math.prod(max(size, 1) for size in tensor.sizes) < 2**59
    )


def zeros(tensor: dml.TensorDesc) -> np.ndarray[Any, Any]:
    """An array that hardly takes memory."""
    return np.broadcast_to(np.zeros((), NUMPY[tensor.dtype.name]), tensor.sizes)


def summary(value: Any) -> str:
    """The shown summary of an argument."""
    try:
        return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)[:200]
    except Exception:
        return f"an object of {type.__repr__(type(value))}"


def run(names: Sequence[str], draws: int, seed: int) -> int:
    """Compares, and prints what came of it; the exit status."""
    begin, verdicts = time.process_time(), Verdicts(seed)
    for name in names:
        verdicts.look(OPERATORS[name], draws)
    known = {id_ for id_, _ in PLAN.ids if id_.split("-")[1] in names}
    every = set().union(*verdicts.ids.values())
    seconds = time.process_time() - begin
    print(f"{len(names)} operators, {draws} draws of seed {seed}, {seconds:.0f} s")
    for way in WAYS:
        counts = f"{verdicts.valid[way]:8,} valid {verdicts.broken[way]:8,} broken"
        print(f"{way:20}{counts} {len(verdicts.ids[way]):8,} ids")
    print(f"{len(every & known):,} of {len(known):,} ids")
    print(*verdicts.disagreements, f"{len(verdicts.disagreements)} disagreements", sep="\n")
    return int(bool(verdicts.disagreements))


def main() -> None:
    """Compare the verdicts on some operators, or on all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operator", action="append", choices=[*RUNNABLE], metavar="NAME", help="only these")
    options = parser.parse_args()
    raise SystemExit(run(options.operator or [*RUNNABLE], options.draws, options.seed))


if __name__ == "__main__":
    main()
