"""How far the operators are off, at worst, beside the accuracy that their specs state.

``python -m tests.reliability.accuracy --elements 200000 --seed 1`` computes so many results of each operator and data
type over random descs, from random and from adversarial arrays, and holds each against the exact definition in the
spec. The command prints the worst error in units in the last place with the bound of that element, and the largest part
of its bound that any error takes. The status is 1 if one is beyond. ``--state reference`` is for operators without
loops.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("", "operators", "reliability"):
    if str(TESTS / folder) not in sys.path:
        sys.path.insert(0, str(TESTS / folder))

from adversarial import KINDS, adversarial  # noqa: E402
from drawing import draw_all  # noqa: E402
from example_descs import each_part  # noqa: E402
from few import has_input  # noqa: E402
from random_arrays import inputs_of, views_of  # noqa: E402
from random_calls import Caller  # noqa: E402
from random_descs import Walk  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._desc.operator_desc import OperatorDesc  # noqa: E402
from dmlcy._facts.rows import Operator  # noqa: E402
from dmlcy._facts.tables import FAST, OPERATORS, RUNNABLE  # noqa: E402
from dmlcy._families import window_of  # noqa: E402
from dmlcy._field_types.tensor_array import by_path  # noqa: E402
from dmlcy._reference.expected import outputs_of  # noqa: E402
from dmlcy.testing import cases as random_cases  # noqa: E402
from dmlcy.testing import expected  # noqa: E402

Array = np.ndarray[Any, Any]
MOST: Final = 60
"""Elements of a tensor that is drawn."""
CASES: Final = 1200
"""Of which most operators have enough of each data type."""
FEW: Final = 400
"""Cases of which one has each data type, if more of them will."""


@dataclass(slots=True)
class Worst:
    """Of one operator and data type."""

    elements: int = 0
    unjudged: int = 0  # nothing is promised of them
    ulp: float = 0.0
    bound: float = 0.0  # of the element that is off so far
    part: float = 0.0
    kinds: set[str] = field(default_factory=set)

    @property
    def right(self) -> bool:
        return self.part <= 1

    def enough(self, exact: bool, elements: int) -> bool:
        """Whether so many are computed; of results that are not exact some that are off, from arrays of every kind."""
        return self.elements >= elements and (exact or (self.ulp > 0 and self.kinds >= {*KINDS}))

    def add(self, kind: str, errors: Array, bound: float) -> None:
        """The errors of one result."""
        judged = errors[~np.isnan(errors)]
        self.kinds.add(kind)
        self.elements += errors.size
        self.unjudged += errors.size - judged.size
        most = float(judged.max(initial=0.0))
        if most > self.ulp or self.elements == errors.size:
            self.ulp, self.bound = most, bound
        self.part = max(self.part, most / bound if bound else np.inf if most else 0.0)


def is_exact(operator: Operator, dtype: str) -> bool:
    """Whether nothing may be off: the operator states no bound for the data type, or 0."""
    stated = operator.accuracy.get(dtype.upper())
    return stated is None or stated.ulp.text == "0"


def measure(operator: Operator, elements: int, seed: int) -> dict[str, Worst]:
    """So many results of each data type of the first input."""
    first = next((one for one in operator.fields if one.kind == "input"), None)
    types = {name for row in first.dtypes for name in row.dtypes} if first is not None else set()
    of_others = operator.accuracy and not types & operator.accuracy.keys()  # which results have alone
    if not has_input(operator) or of_others:
        return measure_drawn(operator, elements, seed)
    found: dict[str, Worst] = {}
    for number, (kind, desc, arrays) in enumerate(itertools.islice(cases(operator, seed, 2 * elements), CASES)):
        given = next(one for one in arrays.values() if one is not None)
        dtype = str((given[0] if isinstance(given, tuple) else given).dtype)
        worst = found.setdefault(dtype, Worst())
        if not worst.enough(is_exact(operator, dtype), elements):
            exact = expected(desc, arrays, outputs_of(desc)[0])
            result = dml.compile(desc)(*arrays.values())
            worst.add(kind, exact.errors(result[0] if isinstance(result, tuple) else result), exact.ulp)
        if (len(found) == len(types) or number >= FEW) and all(
            one.enough(is_exact(operator, dtype), elements) for dtype, one in found.items()
        ):
            if len(found) == len(types):
                return found
            break
    return measure_drawn(operator, elements, seed)  # rules keep most changes of its data types out


def measure_drawn(operator: Operator, elements: int, seed: int, rounds: int = 40) -> dict[str, Worst]:
    """So many results of each data type of the outputs, from arrays of Hypothesis and from adversarial ones."""
    found: dict[str, Worst] = {}
    for number in range(rounds):
        drawn: list[tuple[OperatorDesc, dict[str, Any]]] = []
        draw_all(random_cases(operator.name, most_elements=MOST), 20, drawn.append, seed + number)
        for place, (desc, arrays) in enumerate(drawn):
            met = judge(found, "any", desc, arrays).kinds
            kind = next((one for one in KINDS if one not in met), KINDS[(place + number) % len(KINDS)])
            judge(found, kind, desc, hardened(desc, arrays, kind, seed + place))
        if all(one.enough(is_exact(operator, dtype), elements) for dtype, one in found.items()):
            break
    return found


def judge(found: dict[str, Worst], kind: str, desc: OperatorDesc, arrays: dict[str, Any]) -> Worst:
    """Adds the errors of all outputs of a case; what was found of the data type of the last one."""
    inputs: list[Any] = [arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"]
    result = dml.compile(desc)(*inputs)
    for name, one in zip(outputs_of(desc), result if isinstance(result, tuple) else (result,), strict=True):
        exact = expected(desc, arrays, name)
        worst = found.setdefault(str(one.dtype), Worst())
        worst.add(kind, exact.errors(one), exact.ulp)
    return worst


def hard(array: Array, seed: int, kind: str) -> Array:
    """Adversarial floats in place of those of an array."""
    return adversarial(seed, array.shape, array.dtype, kind) if array.dtype.kind == "f" else array


def hardened(desc: OperatorDesc, arrays: dict[str, Any], kind: str, seed: int) -> dict[str, Any]:
    """The arrays with adversarial floats, except where a rule is about the elements."""
    ruled = {rule.about for rule in desc.operator.rules if rule.data}
    return {
        name: given if name in ruled
        else tuple(hard(one, seed + place, kind) for place, one in enumerate(given)) if isinstance(given, tuple)
        else hard(given, seed + len(name), kind)
        for name, given in arrays.items()
    }  # fmt: skip


def cases(operator: Operator, seed: int, most: int) -> Iterator[tuple[str, OperatorDesc, dict[str, Array]]]:
    """Descs of tensors of so many elements and of large windows, with arrays of each kind in turn; without end."""
    chance, caller, number = random.Random(seed), Caller(seed, "wide"), 0
    caller.chance = chance
    while True:
        walk = Walk(chance, operator)
        walk.most = min(walk.most, most, 600 if operator.accuracy else 4000)
        for _ in range(6):
            walk.step()
            desc = walk.desc()
            paths = [one for kind in ("input", "output") for one in by_path(operator.fields, kind, desc._values())]
            tensors = [tensor for _, tensor in paths]
            if sum(tensor.element_count for tensor in tensors) > 4000:
                continue
            number += 1
            if is_exact(operator, tensors[0].dtype.name):
                yield "any", desc, views_of(inputs_of(chance, desc))
                continue
            kind = KINDS[number % len(KINDS)]
            drawn = views_of(inputs_of(chance, desc))
            made = partial(hard, seed=seed + number, kind=kind)
            yield kind, desc, {name: each_part(one, made) for name, one in drawn.items()}
            if window_of(operator) is not None and number % 20 == 0:
                yield large_window(operator, chance, seed + number, desc)


def large_window(
    operator: Operator, chance: random.Random, seed: int, like: OperatorDesc
) -> tuple[str, OperatorDesc, dict[str, Array]]:
    """One window over all of an input with many elements."""
    window = window_of(operator)
    assert window is not None
    old = getattr(like, window.input)
    spatial = len(getattr(like, window.window))
    sizes = [chance.choice([1, 2, 7, 16]) for _ in range(spatial)]
    sizes[chance.randrange(spatial)] = chance.choice([50, 500, 5000])
    kind = KINDS[seed % len(KINDS)]
    tensor = dml.TensorDesc(old.dtype, (*old.sizes[:-spatial][:1], 1, *sizes))
    scalars = [one for one in operator.fields if one.kind == "attribute" and one.length is None and one.value is None]
    given = {one.python: getattr(like, one.python) for one in scalars}
    desc = type(like)(**{window.input: tensor, window.window: sizes}, **given)
    return f"{kind}, large window", desc, {window.input: adversarial(seed, tensor.sizes, old.dtype.name.lower(), kind)}


HEAD: Final = """\
| operator | data type | results | without a promise | worst error | its bound | largest part of a bound |
|---|---|---|---|---|---|---|"""


def rows(name: str, found: dict[str, Worst]) -> str:
    """As Markdown: a row for each data type of an operator."""
    lines = []
    for dtype, worst in sorted(found.items()):
        bound = f"{worst.bound:g} ulp" if worst.bound else "exact"
        part = f"{worst.part:.2f}" if worst.bound or worst.part else ""
        figures = [f"{worst.elements:,}", f"{worst.unjudged:,}", f"{worst.ulp:.3g} ulp", bound, part]
        lines.append("| " + " | ".join([name, dtype.upper(), *figures]) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.accuracy", description=__doc__)
    parser.add_argument("--elements", type=int, default=20_000, help="results of each operator and data type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", choices=("fast", "reference"), default="fast", help="of the operators")
    parser.add_argument("--only", help="one operator")
    given = parser.parse_args(arguments)
    begin = time.monotonic()
    found: list[Worst] = []
    names: set[str] = set()
    print(HEAD)
    way = measure if given.state == "fast" else measure_drawn
    for operator in (OPERATORS[name] for name in RUNNABLE if (name in FAST) == (given.state == "fast")):
        if given.only is None or given.only.upper() == operator.name:
            measured = way(operator, given.elements, given.seed)
            print(rows(operator.name, measured), flush=True)
            names.add(operator.name)
            found += measured.values()
    total = sum(worst.elements for worst in found)
    seconds = time.monotonic() - begin
    print(f"\n{total:,} results of {len(names)} operators in {seconds:.0f} s, seed {given.seed}")
    return 0 if found and all(worst.right for worst in found) else 1


if __name__ == "__main__":
    sys.exit(main())
