"""The process that makes the calls of one checkout for ``--beside``: a JSON value a line asks, another one answers."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from typing import Any

import dmlcy as dml
from benchmarks.calls import Call
from benchmarks.families import OPERATORS, all_cells
from benchmarks.groups import all_groups, contenders, networks
from benchmarks.groups.inputs import inputs_of
from benchmarks.run import our_calls


def serve() -> None:
    """Answer until nobody asks."""
    cells = {cell.name: cell for cell in all_cells()}
    calls: dict[str, Call] = {}
    for text in sys.stdin:
        answer: Any = None
        match json.loads(text):
            case ["package"]:
                answer = dml.__file__
            case ["cell", name, threads]:
                dml.set_num_threads(threads)
                if name in cells:
                    calls, outputs = our_calls(cells[name], OPERATORS[cells[name].operator].inputs(cells[name]))
                else:
                    calls, outputs = committed(name)
                answer = {"forms": list(calls), "bits": digest(outputs)}
            case ["block", form, count]:
                answer = calls[form].block()(count)
        print(json.dumps(answer), flush=True)


def committed(name: str) -> tuple[dict[str, Call], tuple[Any, ...]]:
    """Our calls of a cell of the groups, and the results of the last one."""
    group = all_groups()[name.partition("/")[0]]
    cell = next(cell for cell in group.cells if cell.name == name)
    calls = networks.our_calls(cell) if cell.network else contenders.our_calls(group, cell, inputs_of(cell))[0]
    made = [*calls.values()][-1].once()
    return calls, made if isinstance(made, tuple) else (made,)


def digest(outputs: Iterable[Any]) -> str:
    """A text that two results share only if they have the same bits."""
    found = hashlib.sha256()
    for one in outputs:
        found.update(f"{one.dtype} {one.shape}".encode())
        found.update(one.tobytes())
    return found.hexdigest()
