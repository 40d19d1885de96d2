"""What the benchmark measured, for the page of an operator: geometric means over the cells of its grid."""

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
        return table(("Beside", "Its time / dmlcy's", "Cells"), rows)


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
    rows: dict[str, dict[str, Any]] = {}
    for row in data["rows"]:
        name = "/".join(row["cell"][part] for part in ("operator", "variant", "size", "dtype", "layout"))
        if name not in rows or row["threads"] > rows[name]["threads"]:
            rows[name] = row
    for operator in dict.fromkeys(row["cell"]["operator"] for row in rows.values()):
        own = [row for row in rows.values() if row["cell"]["operator"] == operator]
        found = {name: [row["ratios"][peer] for row in own if peer in row["ratios"]] for peer, name in PEERS.items()}
        found["memcpy of the same bytes"] = [row["memcpy"] for row in own if "memcpy" in row]
        yield operator, Speed({name: (_mean(all_), len(all_)) for name, all_ in found.items() if all_}, machine)


def _mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _times(value: float) -> str:
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"
