"""A length in a file costs no memory that the file does not have: numbers of every file that is read, made huge."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import deep
from exchange import Done, command

import dmlcy as dml
from dmlcy._conformance.command import program

ROOT = Path(__file__).parents[2]
HUGE = (2**36, 2**63 - 1, 2**70)
MOST = 16 * 2**20
"""Bytes that a command may take: the files have a few thousand."""


@dataclass(frozen=True)
class Folder:
    """Files that a command reads. ``listed``: those in JSON whose numbers are changed."""

    path: Path
    listed: tuple[str, ...]
    compare: Callable[[Path], Done]


def expected(path: Path) -> Folder:
    assert command("run", ROOT / "examples" / "average_pooling.json", "--expect", path).status == 0
    actual = shutil.copytree(path, path.with_name("actual"))
    return Folder(path, ("manifest.json",), lambda own: command("compare", own, actual))


def dump(path: Path) -> Folder:
    g = dml.Graph()
    x, k = g.input(dml.TensorDesc("FLOAT32", (10, 10)), name="x"), g.constant(np.ones((10, 10), np.float32), name="k")
    small = g.constant(np.ones(100, np.float16), name="small")
    y = g.element_wise_add(x, k, name="add")
    file = dml.graph.save(g.build(y=g.activation_relu(y), z=g.element_wise_identity(small)), path.with_name("graph"))
    assert command("run", file, "--dump", path).status == 0
    actual = shutil.copytree(path, path.with_name("actual"))
    return Folder(path, ("manifest.json", "graph/graph.json"), lambda own: command("compare", own, actual))


def pack(path: Path) -> Folder:
    results = path.with_name("results")
    given = ["--operators", "AVERAGE_POOLING", "--cases", "0"]
    assert command("export", path, *given, run=program).status == 0
    for model in path.rglob("model.json"):
        assert command("run", model, "--output-path", results / model.parent.relative_to(path)).status == 0
    return Folder(path, ("pack.json",), lambda own: command("compare", own, results, run=program))


KINDS: dict[str, Callable[[Path], Folder]] = {"expected": expected, "dump": dump, "pack": pack}


def places(value: Any, path: str, seen: set[str]) -> Iterator[tuple[Any, Any]]:
    """An integer of each kind in JSON, by what holds it and its key; entries of one list are of one kind."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        inner = f"{path}.{key}" if isinstance(value, dict) else f"{path}[]"
        if type(one) is int and inner not in seen:
            seen.add(inner)
            yield value, key
        yield from places(one, inner, seen)


def cheap(run: Callable[[], Done], what: object) -> Done:
    """The output of a command, which takes little memory, asks for no more, and raises only its own errors."""
    tracemalloc.start()
    try:
        done = run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done.status in (0, 1, 2) and "memory" not in done.out + done.err, (what, done)
    assert peak < MOST, (what, peak)
    return done


SOME_OR_ALL = pytest.mark.parametrize("step", [2, pytest.param(1, marks=deep)])
"""By default every second huge number in each place, the others in the places beside it."""


@SOME_OR_ALL
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_lists(kind: str, step: int, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "own")
    assert cheap(lambda: folder.compare(folder.path), kind).status == 0
    refused = 0
    for name in folder.listed:
        path = folder.path / name
        text = path.read_text("utf-8")
        whole = json.loads(text)
        for turn, (holder, key) in enumerate([*places(whole, "$", set())]):
            before = holder[key]
            for number in HUGE[turn % step :: step]:
                holder[key] = number
                path.write_text(json.dumps(whole), "utf-8")
                done = cheap(lambda: folder.compare(folder.path), (name, key, number))
                assert done.status == 0 or done.out or "[DML-" in done.err
                refused += done.status == 2
            holder[key] = before
        path.write_text(text, "utf-8")
    assert refused > len(HUGE)


SHAPES = (
    "(68719476736,)",
    "(9223372036854775807,)",
    "(18446744073709551616,)",
    "(4294967296, 4294967296)",
    "(0, 10**9)",
)


@SOME_OR_ALL
@pytest.mark.parametrize("kind", KINDS)
def test_headers_of_arrays(kind: str, step: int, tmp_path: Path) -> None:
    """The folders are damaged on both sides, one file after the other."""
    folder = KINDS[kind](tmp_path / "own")
    for side in (folder.path, tmp_path / "actual", tmp_path / "results"):
        for turn, path in enumerate(sorted(side.rglob("*.npy"))):
            data = path.read_bytes()
            start = 10 + int.from_bytes(data[8:10], "little")
            descr = data[:start].split(b"'descr': ")[1].split(b",")[0].decode()
            for shape in SHAPES[turn % step :: step]:
                header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(start - 11)
                path.write_bytes(data[:10] + header + b"\n" + data[start:])
                cheap(lambda: folder.compare(folder.path), (path.name, shape))
            path.write_bytes(data)


def test_words_of_serialized_graphs(tmp_path: Path) -> None:
    """Each word is an offset, a count or a number of a graph."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 2, 2)), name="x")
    whole = g.build(y=g.gemm(x, g.constant(np.ones((1, 1, 2, 2), np.float32), name="k"), name="gemm"))
    data = dml.graph.to_bytes(whole)
    path = tmp_path / "g.bin"
    for place in range(0, len(data) - 3, 4):
        number = (2**30, 2**31 - 1, 2**32 - 1)[place // 4 % 3]
        path.write_bytes(data[:place] + number.to_bytes(4, "little") + data[place + 4 :])
        cheap(lambda: command("graph", path), (place, number))
