"""How long each step of a compiled graph takes: what a profile has, as text, as JSON, and as a trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dmlcy._words.notebook import Shown
from dmlcy._words.values import quote

VERSION: Final = 1
"""Of the JSON of a profile."""
HEAD: Final = ("share %", "ms", "GFLOP/s", "MB")
WIDTHS: Final = (7, 10, 8, 10)
"""Letters of these columns, at least: they are the same in most tables."""


@dataclass(frozen=True, slots=True)
class StepProfile:
    """A step of a run: the nodes that it computes, of which there is more than one where they run together.

    Attributes
    ----------
    nodes, names, operators
        The numbers, the names and the operators of its nodes, in their order.
    seconds
        The median of the times that it took.
    share
        Of the seconds of all steps.
    bytes
        Of the tensors that it reads and writes, each counted once.
    operations
        Arithmetic operations, as docs/profiling.md counts them; None: their number depends on the elements.
    start, end
        Seconds from the start of the run of median time to the start and the end of the step in it.
    origins
        For which nodes of a foreign file its nodes were made, in words.
    """

    nodes: tuple[int, ...]
    names: tuple[str, ...]
    operators: tuple[str, ...]
    seconds: float
    share: float
    bytes: int
    operations: int | None
    start: float
    end: float
    origins: tuple[str, ...] = ()

    @property
    def rate(self) -> float | None:
        """Operations a second; None where they are not known, or took no time that the clock sees."""
        return rate_of(self.operations, self.seconds)

    @property
    def label(self) -> str:
        """The nodes in words: 3 "conv" + 4 "relu"."""
        return " + ".join(
            f"{number} {quote(name)}" if name else str(number)
            for number, name in zip(self.nodes, self.names, strict=True)
        )

    @property
    def operator(self) -> str:
        """The operators in one word."""
        return " + ".join(self.operators)


@dataclass(frozen=True, slots=True)
class OperatorProfile:
    """All steps of an operator, or of several that run together.

    Attributes
    ----------
    operator
        Its name, or the names of all, with + between them.
    steps
        How many steps there are.
    seconds, share, bytes
        The sums over these steps.
    operations
        Their sum; None where that of a step is not known.
    """

    operator: str
    steps: int
    seconds: float
    share: float
    bytes: int
    operations: int | None

    @property
    def rate(self) -> float | None:
        """Operations a second; None where they are not known, or took no time that the clock sees."""
        return rate_of(self.operations, self.seconds)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A node that takes no time in a run.

    Attributes
    ----------
    node, name, operator
        Its number, its name, and its operator.
    why
        "folded": it is computed when the graph is compiled. "adjacent": its values lie where others are computed.
        "view": its outputs are elements of its input.
    """

    node: int
    name: str
    operator: str
    why: str


@dataclass(frozen=True, slots=True)
class Profile(Shown):
    """The time of each step of a graph that was run several times; ``print`` shows the longest steps first.

    Attributes
    ----------
    steps
        The steps in the order in which they run.
    left_out
        The nodes that no step computes.
    runs, threads
        How many runs were measured, and how many threads a call might use.
    seconds
        The median of the times of whole runs: the steps, and what a call does before and after them.
    """

    steps: tuple[StepProfile, ...]
    left_out: tuple[LeftOut, ...]
    runs: int
    threads: int
    seconds: float

    @property
    def operators(self) -> tuple[OperatorProfile, ...]:
        """The steps by their operators, the longest time first."""
        groups: dict[str, list[StepProfile]] = {}
        for step in self.steps:
            groups.setdefault(step.operator, []).append(step)
        found = [_joined(name, steps) for name, steps in groups.items()]
        return tuple(sorted(found, key=lambda one: -one.seconds))

    def to_dict(self) -> dict[str, Any]:
        """The members as ``json.dumps`` takes them. ``dmlcy graph --profile`` reads such a file."""
        return {
            "version": VERSION,
            "runs": self.runs,
            "threads": self.threads,
            "seconds": self.seconds,
            "steps": [
                {
                    "nodes": [*step.nodes],
                    "names": [*step.names],
                    "operators": [*step.operators],
                    "origins": [*step.origins],
                    **_figures(step),
                    "start": step.start,
                    "end": step.end,
                }
                for step in self.steps
            ],
            "operators": [{"operator": one.operator, "steps": one.steps, **_figures(one)} for one in self.operators],
            "left_out": [
                {"node": one.node, "name": one.name, "operator": one.operator, "why": one.why} for one in self.left_out
            ],
        }

    def to_trace(self) -> dict[str, Any]:
        """The run of median time in Chrome's trace event format, which Perfetto opens, as ``json.dumps`` takes it."""
        named = [("process_name", "dmlcy"), ("thread_name", f"steps, on {counted(self.threads, 'thread')}")]
        events: list[dict[str, object]] = [
            {"name": name, "ph": "M", "pid": 1, "tid": 1, "args": {"name": value}} for name, value in named
        ]
        events += [
            {
                "name": f"{step.operator} {step.label}",
                "cat": "step",
                "ph": "X",
                "ts": step.start * 1e6,
                "dur": (step.end - step.start) * 1e6,
                "pid": 1,
                "tid": 1,
                "args": {"nodes": [*step.nodes], **_figures(step)},
            }
            for step in self.steps
        ]
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def __str__(self) -> str:
        steps = sorted(self.steps, key=lambda one: -one.seconds)
        origins = any(any(step.origins) for step in steps)
        head = (*HEAD, "operator", "node", *(["from"] if origins else []))
        rows = [
            (*figures(step), step.operator, step.label, *([", ".join(filter(None, step.origins))] if origins else []))
            for step in steps
        ]
        operators = [(*figures(one), one.operator, str(one.steps)) for one in self.operators]
        lines = [self.summary, "", *_table((*HEAD, "operator", "steps"), operators), "", *_table(head, rows)]
        for why in dict.fromkeys(one.why for one in self.left_out):
            labels = [f"{one.node} {one.operator}" for one in self.left_out if one.why == why]
            lines += ["", f"{why}, and so in no step: {', '.join(labels)}"]
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """The whole in a line; the speed is that of the steps whose operations are known."""
        inside = sum(step.seconds for step in self.steps)
        known = [step for step in self.steps if step.operations is not None]
        rate = rate_of(sum(step.operations or 0 for step in known), sum(step.seconds for step in known))
        speed = "" if rate is None else f", {rate / 1e9:.3g} GFLOP/s"
        return (
            f"{counted(len(self.steps), 'step')}, together {inside * 1e3:.4g} ms{speed};"
            f" a whole run {self.seconds * 1e3:.4g} ms"
            f" (medians of {counted(self.runs, 'run')}, {counted(self.threads, 'thread')})"
        )


def rate_of(operations: int | None, seconds: float) -> float | None:
    """Operations a second."""
    return operations / seconds if operations is not None and seconds > 0 else None


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def figures(one: StepProfile | OperatorProfile) -> tuple[str, ...]:
    """The figures of a row as text."""
    rate = one.rate
    return (
        f"{one.share * 100:.1f}",
        f"{one.seconds * 1e3:.4f}",
        "" if rate is None or not one.operations else f"{rate / 1e9:.2f}",
        f"{one.bytes / 1e6:.3f}",
    )


def _figures(one: StepProfile | OperatorProfile) -> dict[str, object]:
    return {"seconds": one.seconds, "share": one.share, "bytes": one.bytes, "operations": one.operations}


def _joined(name: str, steps: Sequence[StepProfile]) -> OperatorProfile:
    known = [step.operations for step in steps if step.operations is not None]
    operations = sum(known) if len(known) == len(steps) else None
    seconds, share = sum(step.seconds for step in steps), sum(step.share for step in steps)
    return OperatorProfile(name, len(steps), seconds, share, sum(step.bytes for step in steps), operations)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines with the figures on the right of their columns."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    widths[: len(WIDTHS)] = map(max, widths, WIDTHS)
    return [
        "  ".join(
            cell.rjust(width) if column < len(HEAD) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
