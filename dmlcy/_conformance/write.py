"""Writes a pack: a folder for each case, a file for the refusals of each operator, and the list of them all."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NoReturn

from dmlcy._conformance.cases import Case, cases_of
from dmlcy._conformance.refusals import refusals_of
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.model import read
from dmlcy._frontends.dxdispatch.problems import make, refuse, whole
from dmlcy._frontends.dxdispatch.run import Options, run
from dmlcy._frontends.dxdispatch.write import Use, export
from dmlcy._judge.expected.recorder import Recorder
from dmlcy._judge.expected.save import save
from dmlcy._judge.packs.pack import EXPECTED, NAME, REFUSALS, Entry, File, Pack, Refusals

Reached = Callable[[str, int, int], None]


def write(root: Path, operators: Sequence[Operator], level: int, count: int, seed: int, reached: Reached) -> Pack:
    """Write a pack into a folder that is empty or not there; ModelError where it cannot be written.

    ``count``: the most cases that are drawn for an operator. ``reached`` is told how many operators are done.
    """
    try:
        if root.exists() and any(root.iterdir()):
            _refuse(root, "the folder is not empty")
        entries: list[Entry] = []
        refusals: list[Refusals] = []
        for number, operator in enumerate(operators):
            reached(operator.name, number, len(operators))
            if LEVEL_INDEX[operator.since] > level:
                continue
            entries += [_case(root, case) for case in cases_of(operator, level, count, seed)]
            refusals += _refusals(root, operator, level, seed) if count else []
        pack = Pack(seed, LEVELS[level].name, tuple(entries), tuple(refusals))
        files.write(root, (NAME,), _text(pack.to_bytes()))
    except OSError as error:
        _refuse(root, error.strerror or str(error))
    return pack


def _refuse(root: Path, why: str) -> NoReturn:
    refuse([make("DML-MODEL-write", whole(str(root)), {"path": str(root), "why": why})])


def _text(data: bytes) -> Callable[[IO[bytes]], None]:
    """Writes bytes to a stream."""

    def write(stream: IO[bytes]) -> None:
        stream.write(data)

    return write


def _case(root: Path, case: Case) -> Entry:
    """Write a case: the model with its inputs, and what it must give."""
    folder = root / case.name
    use = Use(case.desc.operator.python, case.desc, case.arrays)
    written = export([use], str(folder))
    model = read(decode(str(written.model), written.model.read_bytes()), folder)
    with tempfile.TemporaryDirectory() as elsewhere:
        recorder = Recorder()
        run(model, io.StringIO(), Options(LEVELS[-1].name, Path(elsewhere)), observer=recorder)
        save(folder / EXPECTED, model, LEVELS[-1].name, recorder)
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    tensors = [*use.tensors("input").values(), *use.tensors("output").values()]
    return Entry(
        name=case.name,
        operator=case.desc.operator.name,
        level=case.level,
        origin=case.origin,
        dtypes=tuple(dict.fromkeys(tensor.dtype.name for tensor in tensors)),
        stock=not written.unknown_to_dxdispatch,
        files=tuple(File.of(folder, path) for path in found),
    )


def _refusals(root: Path, operator: Operator, level: int, seed: int) -> list[Refusals]:
    """Write the descs that must be refused; nothing where there are none."""
    found = refusals_of(operator, level, seed)
    if not found:
        return []
    text = json.dumps({"refusals": [one.to_json(operator.since) for one in found]}, indent=1, allow_nan=False) + "\n"
    path = files.write(root, (operator.name, REFUSALS), _text(text.encode()))
    return [Refusals(operator.name, operator.since, len(found), File.of(root, path))]
