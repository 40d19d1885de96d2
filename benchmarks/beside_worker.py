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
                calls, outputs = our_calls(cells[name], OPERATORS[cells[name].operator].inputs(cells[name]))
                answer = {"forms": list(calls), "bits": digest(outputs)}
            case ["block", form, count]:
                answer = calls[form].block()(count)
        print(json.dumps(answer), flush=True)


def digest(outputs: Iterable[Any]) -> str:
    """A text that two results share only if they have the same bits."""
    found = hashlib.sha256()
    for one in outputs:
        found.update(f"{one.dtype} {one.shape}".encode())
        found.update(one.tobytes())
    return found.hexdigest()
