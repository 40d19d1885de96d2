"""The results of the benchmark for the page of an operator: geometric means over the cells of its grid."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import source
from ..diagnostics import Diagnostics
from .markdown import cell, table

PATH = "docs/benchmarks/results.json"
PEERS = {"numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime"}


@dataclass(frozen=True, slots=True)
class Speed:
    """The figures of an operator by what it is measured beside, and the machine they were measured on."""

    beside: Mapping[str, tuple[float, int]]
    machine: str

    @property
    def rows(self) -> str:
        """A line per peer."""
        rows = [(cell(name), _times(mean), str(count)) for name, (mean, count) in self.beside.items()]
        return table(("Library", "Its time / time of dmlcy", "Cells"), rows)


def read(root: Path) -> Mapping[str, Speed]:
    """The figures by Python name of the operator; none where the benchmark left no results."""
    try:
        data = json.loads(source.read(root / PATH))
        return dict(_speeds(data))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        diagnostics = Diagnostics()
        diagnostics.error(None, f"cannot read {PATH}: {error}", "python -m benchmarks writes it")
        diagnostics.raise_if_any()
        raise


def _speeds(data: Mapping[str, Any]) -> Iterator[tuple[str, Speed]]:
    facts = data["machine"]
    versions = [f"{PEERS[name]} {facts['versions'][name]}" for name in PEERS if name in facts["versions"]]
    machine = ", ".join([str(facts["processor"]), f"{facts['threads']} threads", *versions])
    most: dict[str, int] = {}
    medians: dict[str, dict[str, float]] = {}
    for name, threads, _, _, _, *times in data["rows"]:
        if threads > most.get(name, 0):
            most[name] = threads
            pairs = zip(data["contenders"], times, strict=True)
            medians[name] = {one: time[0] if type(time) is list else time for one, time in pairs if time is not None}
    for operator in dict.fromkeys(name.partition("/")[0] for name in medians):
        own = [found for name, found in medians.items() if name.partition("/")[0] == operator]
        ratios = {name: [*_ratios(own, peer, f"{peer} out")] for peer, name in PEERS.items()}
        ratios["memcpy of the same bytes"] = [*_ratios(own, "memcpy")]
        yield operator, Speed({name: (_mean(all_), len(all_)) for name, all_ in ratios.items() if all_}, machine)


def _ratios(rows: Sequence[Mapping[str, float]], *forms: str) -> Iterator[float]:
    """The time of another one's better form in units of ours, of each cell that has one."""
    for row in rows:
        times = [row[form] for form in forms if form in row]
        if times:
            yield min(times) / row["dmlcy out"]


def _mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _times(value: float) -> str:
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"
