"""The tables of devices, of bounds and of faults, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from devices import torch_peers
from devices.arithmetic import FULL, ROUNDED, SERIAL
from devices.cases import Case, devices_of, drawn
from devices.faults import COUNTS, array_of, faults, spoilt
from devices.judging import VERDICTS, Judged
from devices.search import search
from devices.torch_peers import NotExpressible
from devices.uses import KINDS, Arrays, Use, rounds
from dmlcy._arithmetic import Array

HALVINGS: Final = 24
"""The smallest fault that is tried spoils an operand by 2**-24."""
Library = Callable[[Use, Arrays], dict[str, Array]]


def row(*cells: object) -> str:
    """A row of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*names: str) -> str:
    """The first rows of a table."""
    return row(*names) + "\n" + "|" + "---|" * len(names)


def shown(found: list[Judged]) -> str:
    """The largest part of a bound, and the worst verdict."""
    worst = max(found, key=level)
    verdict = "" if worst.verdict == VERDICTS[0] else f" {worst.verdict}"
    return f"{max(one.part for one in found):.2g}{verdict}"


def level(one: Judged) -> int:
    """The number of a verdict."""
    return VERDICTS.index(one.verdict)


def libraries() -> dict[str, Library]:
    """The installed libraries."""
    found: dict[str, Library] = {}
    try:
        import torch  # noqa: F401

        found["PyTorch"] = torch_peers.run
    except ImportError:
        pass
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401

        from devices import onnx_peers

        found["ONNX Runtime"] = onnx_peers.run
    except ImportError:
        pass
    return found


def passing(uses: list[Use], seed: int) -> Iterator[str]:
    """The largest error of each device on drawn inputs, as a part of the bound."""
    peers = libraries()
    yield head("use", *FULL, "rounded to FLOAT16", *peers)
    for use in uses:
        cases = [drawn(use, kind, seed) for kind in KINDS]
        devices = devices_of(use)
        cells = []
        for name in (*FULL, "rounded to FLOAT16"):
            device = devices.get(name, ROUNDED)
            found = [one for case in cases for one in case.judged(device.run(use.desc, case.arrays)).values()]
            cells.append(shown(found) if name in devices else "")
        yield row(use, *cells, *(_of_library(name, run, cases) for name, run in peers.items()))


def _of_library(name: str, run: Library, cases: list[Case]) -> str:
    found: list[Judged] = []
    for case in cases:
        short = name == "PyTorch" and torch_peers.adds_short(case.use)
        try:
            found += case.judged(run(case.use, case.arrays), short).values()
        except NotExpressible:
            return ""
    return shown(found)


def useful(uses: list[Use], seed: int) -> Iterator[str]:
    """The largest part of each bound that a search finds, and the smallest fault that is found on drawn inputs."""
    yield head("use", "part of the bound", "inputs", "operand", "suspect from", "FAILED from")
    for use in uses:
        found = search(use, seed, whole=True)
        inputs = found.case.kind if found.case.only is None else f"{found.case.kind} {found.case.only}"
        yield row(use, shown([found.judged]), inputs, *smallest(drawn(use, KINDS[-1], seed)))


def smallest(case: Case) -> tuple[str, str, str]:
    """The input that is spoilt, and by how much it must be to be suspect, and to fail: the least of all inputs.

    Of the largest input one element may be spoilt, too: many operators do not see it if all elements are.
    """
    inputs = case.use.inputs
    if not inputs:
        return "", "", ""
    largest = max(inputs, key=lambda name: array_of(case.arrays, name).size)
    ways = [(path, False) for path in inputs] + [(largest, True)]
    found = [_smallest(case, path, one) for path, one in ways]
    (path, one), (suspect, failed) = min(zip(ways, found, strict=True), key=lambda way: (-way[1][1], -way[1][0]))
    return f"{path}, an element" if one else path, _percent(suspect), _percent(failed)


def _percent(halvings: int) -> str:
    return "more" if halvings < 0 else f"{100 * 2.0**-halvings:.2g} %"


def _smallest(case: Case, path: str, one: bool) -> tuple[int, int]:
    """The halvings of the smallest fault that is suspect, and of the one that fails; -1: there is none."""
    first = [-1, -1]
    for halvings in range(HALVINGS, -1, -1):
        found = case.judged(SERIAL.run(case.use.desc, spoilt(case.arrays, path, 1 + 2.0**-halvings, one))).values()
        most = max(map(level, found)) - VERDICTS.index("suspect")
        first = [max(before, halvings) if most >= place else before for place, before in enumerate(first)]
        if first[1] >= 0:
            break
    return first[0], first[1]


def failing(uses: list[Use], seed: int) -> Iterator[str]:
    """How many faults of each operator count, how many of these fail, and which count."""
    yield head("operator", "tried", "count", "fail", "those that count")
    names = dict.fromkeys(use.operator.name for use in uses)
    for name in names:
        tried, failed = 0, 0
        counted: Counter[str] = Counter()
        for use in uses:
            if use.operator.name != name:
                continue
            for kind in KINDS:
                case = drawn(use, kind, seed)
                for fault in faults(use, case.arrays):
                    tried += 1
                    if fault.effect(case) >= COUNTS:
                        counted[fault.name] += 1
                        failed += any(one.failed for one in case.judged(fault.run()).values())
        yield row(name, tried, counted.total(), failed, ", ".join(sorted(counted)))


def unjudged(uses: list[Use], seed: int) -> Iterator[str]:
    """How many elements are not judged, where there are any."""
    yield head("use", "draw", "output", "not judged", "ids")
    for use in uses:
        for kind in KINDS:
            for name, one in drawn(use, kind, seed).judged(SERIAL.run(use.desc, drawn(use, kind, seed).arrays)).items():
                if one.found.unjudged:
                    part = f"{one.found.unjudged} of {one.found.elements}"
                    yield row(use, kind, name, part, ", ".join(one.found.not_judged))


TABLES: Final = {
    "pass": ("Errors on drawn inputs, as parts of the bound", passing),
    "useful": ("Errors that a search finds, and the smallest faults that are found", useful),
    "fail": ("Faults", failing),
    "unjudged": ("Elements that are not judged", unjudged),
}
"""By the word of the command that asks for one."""


def of_roundings(uses: list[Use]) -> list[Use]:
    """The uses of operators that round."""
    return [use for use in uses if rounds(use.operator)]
