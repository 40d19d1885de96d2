"""``dmlcy compare`` over random models: a device that is ``dmlcy run`` itself passes, and no damage to it does.

A model has some resources, dispatches of several operators into views of them, and ``writeFile`` commands before,
between and after. ``DMLCY_MODELS=5000 pytest -s tests/cli/test_compare_metamorphic.py`` judges 5,000 models, and prints
how many verdicts of each kind there were. ``DMLCY_RUN``, the number of a run of ``.ci/deep``, makes them others.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import SEED
from exchange import Array

import dmlcy as dml
from dmlcy._errors import DmlError
from dmlcy._facts.tables import DTYPES
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.model import read
from dmlcy._frontends.dxdispatch.run import Options, run
from dmlcy._judge.expected.compare import Comparison, compare
from dmlcy._judge.expected.manifest import Output
from dmlcy._judge.expected.recorder import Recorder
from dmlcy._judge.expected.save import save

MODELS = int(os.environ.get("DMLCY_MODELS", "40"))
PARTS = 4  # tests, each with a part of the models

TARGETS = (
    "o.npy", "O.npy", "o.bin", "O.BIN", "o-2.npy", "p.npy", "P.NPY", "p.dat", "x.npy", "sub/o.npy", "sub\\p.npy",
    "Sub/o.npy", "raw", "last.npy", "last.bin",
)  # fmt: skip
FLOATS = ("FLOAT32", "FLOAT16")
ANY = (*FLOATS, "INT32", "UINT8", "INT16", "UINT64")


def itemsize(dtype: str) -> int:
    return DTYPES[dtype].bits // 8


@dataclass
class View:
    """An output of a dispatch: where its elements are in a resource."""

    dispatchable: str
    field: str
    resource: str
    dtype: str
    starts: Array  # of the elements, in bytes
    over: set[int] = dataclasses.field(default_factory=set)  # bytes that later dispatches have written

    @property
    def standing(self) -> Array:
        """Which elements no later dispatch has written over."""
        found: Array = np.vectorize(lambda at: self.over.isdisjoint(range(at, at + itemsize(self.dtype))))(self.starts)
        return found

    @property
    def taken(self) -> set[int]:
        return {int(start) + byte for start in self.starts.ravel() for byte in range(itemsize(self.dtype))}

    @property
    def end(self) -> int:
        return int(self.starts.max()) + itemsize(self.dtype)


@dataclass
class Write:
    """A ``writeFile`` command; ``size``: the bytes of the resource that it writes."""

    resource: str
    path: str
    size: int


@dataclass
class Maker:
    """Makes a model at random, and keeps what its commands do, in their order."""

    chance: random.Random
    resources: dict[str, Any] = dataclasses.field(default_factory=dict)
    held: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)  # data type, and size in bytes
    dispatchables: dict[str, Any] = dataclasses.field(default_factory=dict)
    commands: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    events: list[View | Write] = dataclasses.field(default_factory=list)

    def make(self) -> dict[str, Any]:
        chance = self.chance
        for name in ("x", "X", "o", "p", "P")[: chance.randint(3, 5)]:
            self.resource(name)
        for _ in range(chance.randint(2, 7)):
            if chance.random() < 0.4:
                self.write(chance.choice([*self.held]))
            else:
                self.dispatch()
        for name in self.held:
            if chance.random() < 0.6:
                self.write(name)
        return {"resources": self.resources, "dispatchables": self.dispatchables, "commands": self.commands}

    def resource(self, name: str) -> None:
        chance = self.chance
        dtype = chance.choice(ANY)
        count = chance.randint(24, 70) * max(1, 4 // itemsize(dtype)) + chance.randint(0, 3)
        kind = chance.choice(["zeros", "small", "wide"])
        values: Any = {"valueCount": count, "value": 0}
        if kind != "zeros":
            top = 9 if kind == "small" else 60000 if dtype in FLOATS else min(2 ** (DTYPES[dtype].bits - 1) - 1, 2**31)
            draw: Callable[[], Any] = lambda: chance.randint(0, top)  # noqa: E731
            if dtype in FLOATS:
                draw = lambda: chance.choice(["nan", "inf", "-inf", -0.0, 0.1, 10, top, chance.uniform(-top, top)])  # noqa: E731
            values = [draw() for _ in range(count)]
        self.resources[name] = {"initialValuesDataType": dtype, "initialValues": values}
        self.held[name] = dtype, count * itemsize(dtype)

    def write(self, name: str) -> None:
        chance = self.chance
        dtype, size = self.held[name]
        target = chance.choice(TARGETS)
        command: dict[str, Any] = {"type": "writeFile", "resource": name, "targetPath": target}
        count = size // itemsize(dtype)
        if chance.random() < 0.5:
            sizes = [chance.randint(1, 3), chance.randint(1, 4)]
            whole = [*sizes, count // math.prod(sizes)]
            command["dimensions"] = whole if chance.random() < 0.5 else [*sizes, chance.randint(1, whole[-1])]
            if target.lower().endswith(".npy"):
                size = math.prod(command["dimensions"]) * itemsize(dtype)
        self.commands.append(command)
        self.events.append(Write(name, target.replace("\\", "/"), size))

    def desc(self) -> Any:
        chance = self.chance
        dtype = chance.choice(FLOATS if chance.random() < 0.6 else ANY)
        plane = dml.TensorDesc(dtype, (1, chance.randint(1, 2), chance.randint(2, 3), chance.randint(2, 4)))
        indices = dml.TensorDesc("UINT32", plane.sizes)
        window: dict[str, Any] = {
            "window_size": (chance.randint(1, 2), chance.randint(1, 2)),
            "strides": (1, chance.randint(1, 2)),
        }
        made: list[Callable[[], Any]] = [
            lambda: dml.desc.Padding1(
                input=dml.TensorDesc(dtype, (chance.randint(1, 9),)), start_padding=(chance.randint(0, 3),),
                end_padding=(chance.randint(0, 2),), padding_mode="CONSTANT", padding_value=3,
            ),
            lambda: dml.desc.DepthToSpace1(
                input=dml.TensorDesc(dtype, (1, 4, 2, 1)), block_size=2, order="DEPTH_COLUMN_ROW"
            ),
            lambda: dml.desc.AveragePooling(input=plane, **window, include_padding=chance.random() < 0.5),
            lambda: dml.desc.LpPooling(input=plane, **window, p=chance.choice([1, 2, 3, 100, 400])),
            lambda: dml.desc.MaxPooling(input=plane, **window),
            lambda: dml.desc.MaxPooling1(input=plane, window_size=(1, 1), output_indices=indices),
            lambda: dml.desc.Unfold(input=plane, window_sizes=(2, 1)),
        ]  # fmt: skip
        while True:
            desc = chance.choice(made)()
            if not dml.check(desc):
                return desc
            dtype = "FLOAT32"
            plane = dml.TensorDesc(dtype, plane.sizes)

    def dispatch(self) -> None:
        chance = self.chance
        desc = self.desc()
        name = f"d{len(self.dispatchables)}"
        free = chance.sample([*self.held], len(self.held))
        bindings: dict[str, Any] = {}
        views = []
        members = desc.to_dict()
        for one in desc.operator.fields:
            tensor = getattr(desc, one.python, None)
            if one.kind not in ("input", "output") or tensor is None:
                continue
            dtype, strides = tensor.dtype.name, self.strides(tensor.sizes, one.kind)
            item = itemsize(dtype)
            starts: Any = sum(np.ogrid[tuple(slice(size) for size in tensor.sizes)][axis] * stride * item
                         for axis, stride in enumerate(strides))  # fmt: skip
            resource = next((n for n in free if starts.max() + item <= self.held[n][1]), None)
            if resource is None:
                return
            free.remove(resource)
            step = max(item, 4)
            room = (self.held[resource][1] - int(starts.max()) - item) // step
            offset = chance.choice([0, 0, room, chance.randint(0, room)]) * step
            members["desc"][one.name]["Strides"] = strides
            members["desc"][one.name]["TotalTensorSizeInBytes"] = -(-(int(starts.max()) + item) // 4) * 4
            bindings[one.name] = {"name": resource, "elementOffset": offset // item, "elementSizeInBytes": item}
            if one.kind == "output":
                views.append(View(name, one.name, resource, dtype, np.asarray(starts + offset)))
        self.dispatchables[name] = members
        self.commands.append({"type": "dispatch", "dispatchable": name, "bindings": bindings})
        self.events += views

    def strides(self, sizes: tuple[int, ...], kind: str) -> list[int]:
        """Packed, or with the axes in another order, or with gaps."""
        chance = self.chance
        order = list(range(len(sizes)))
        step = 1
        if kind == "output" and chance.random() < 0.6:
            chance.shuffle(order)
            step = chance.choice([1, 1, 2])
        strides = [0] * len(sizes)
        for axis in reversed(order):
            strides[axis] = step
            step *= sizes[axis]
        return strides

    # Expected verdicts

    def views(self) -> dict[tuple[str, str], View]:
        """The outputs of which elements are left, by dispatchable and field."""
        views = [one for one in self.events if isinstance(one, View)]
        for number, one in enumerate(views):
            one.over = {byte for later in views[number + 1 :] if later.resource == one.resource for byte in later.taken}
        return {(one.dispatchable, one.field): one for one in views if one.standing.any()}

    def files(self, view: View) -> set[str]:
        """The files that hold all of an output after its last change, and nothing else since."""
        found: set[str] = set()
        for event in self.events[self.events.index(view) + 1 :]:
            if isinstance(event, View) and event.resource == view.resource and event.taken & view.taken:
                found = set()
            elif isinstance(event, Write):
                found = {path for path in found if path.lower() != event.path.lower()}
                if event.resource == view.resource and event.size >= view.end:
                    found.add(event.path)
        return found

    def size(self, path: str) -> int:
        """Bytes of the resource in a file."""
        return [event.size for event in self.events if isinstance(event, Write) and event.path == path][-1]


def made(chance: random.Random, folder: Path) -> Maker:
    """A model that was run: expected values and the device's files are in the folder."""
    while True:
        maker = Maker(chance)
        document = decode("m.json", json.dumps(maker.make()).encode())
        try:
            model, recorder = read(document, folder), Recorder()
            run(model, io.StringIO(), Options("6_4", folder / "device"), observer=recorder)
            save(folder / "expected", model, "6_4", recorder)
        except DmlError as error:  # no dispatch found room, or a file is in the way of a folder
            assert {one.id for one in error.violations} <= {"DML-MODEL-no-output", "DML-MODEL-write"}, error
            shutil.rmtree(folder / "device", ignore_errors=True)
        else:
            return maker


def verdict(one: Comparison) -> str:
    if one.problem is not None:
        return one.problem.violation.id
    assert one.differences is not None
    return one.verdict


MISSING = "DML-MODEL-actual-missing"


class Judge:
    """One model: its verdicts as it is, with one element spoiled, and without the files of an output."""

    def __init__(self, chance: random.Random, folder: Path, counts: Counter[str]) -> None:
        self.chance, self.folder, self.counts = chance, folder, counts
        self.maker = made(chance, folder)
        (folder / "device").mkdir(exist_ok=True)
        self.held = self.maker.views()

    def verdicts(self) -> dict[tuple[str, str], str]:
        report = compare(self.folder / "expected", self.folder / "device")
        found = {(one.output.dispatchable, one.output.field.name): verdict(one) for one in report.comparisons}
        self.outputs = {(one.output.dispatchable, one.output.field.name): one.output for one in report.comparisons}
        assert report.status == int(bool({*found.values()} & {"failed", MISSING}))
        self.counts.update(found.values())
        return found

    def judge(self) -> None:
        self.counts["models"] += 1
        files = {key: self.maker.files(view) for key, view in self.held.items()}
        self.verdicts()
        wanted = {key: self.right(key) if files[key] else MISSING for key in self.held}
        assert self.verdicts() == wanted
        for key, names in files.items():
            assert {file.path for file in self.outputs[key].written_to} == names
            self.counts["partly written over"] += not self.held[key].standing.all()
            for name in sorted(names):
                self.spoil(key, name, wanted)
            self.decoy(key, wanted)
        for key, names in files.items():
            if names:
                self.remove(key, names, files)

    def spoil(self, key: tuple[str, str], name: str, wanted: dict[tuple[str, str], str]) -> None:
        """Any one element beyond what passes fails the output, and no other; one that is not judged changes nothing."""
        output, view = self.outputs[key], self.held[key]
        expected = self.load(output.file)
        path = self.folder / "device" / name
        before = path.read_bytes()

        def changed(at: tuple[int, ...], value: Any) -> dict[tuple[str, str], str]:
            raw = np.asarray(value, expected.dtype).tobytes()
            start = len(before) - self.maker.size(name) + int(view.starts[at])
            path.write_bytes(before[:start] + raw + before[start + len(raw) :])
            return self.verdicts()

        free = self.free(output)
        for places in (np.argwhere(view.standing & ~free), np.argwhere(view.standing & free)):
            if not len(places):
                continue
            at = tuple(int(index) for index in self.chance.choice(places))
            if free[at]:
                assert changed(at, 7) == wanted, (key, name, at, expected[at])
                self.counts["not judged elements"] += 1
                continue
            value = beyond(self.chance, expected[at], self.allowed(output, at))
            if value is not None and not self.flushed(output, at, value):
                assert changed(at, value) == wanted | {key: "failed"}, (key, name, at, expected[at], value)
                self.counts["spoiled"] += 1
        path.write_bytes(before)

    def load(self, file: str) -> Array:
        """An array of the expected values."""
        return np.asarray(np.load(self.folder / "expected" / file))

    def right(self, key: tuple[str, str]) -> str:
        """The verdict of an output that is right."""
        judged = self.held[key].standing & ~self.free(self.outputs[key])
        return "passed" if judged.any() else "not judged"

    def free(self, output: Output) -> Array:
        """The elements that are not judged."""
        found = np.zeros(output.tensor.sizes, bool)
        for _, file in output.not_judged:
            found |= self.load(file) != 0
        return found if output.allowed is None else found | ~np.isfinite(self.load(output.allowed))

    def allowed(self, output: Output, at: tuple[int, ...]) -> float:
        """The error that passes for an element."""
        return 0.0 if output.allowed is None else float(self.load(output.allowed)[at])

    def flushed(self, output: Output, at: tuple[int, ...], value: Any) -> bool:
        """Whether a value passes as the result for 0 in place of subnormal operands."""
        if output.flushed is None:
            return False
        other, allowed = (self.load(file)[at] for file in output.flushed)
        return bool(np.isnan(allowed) or distance(other, value) <= allowed)

    def decoy(self, key: tuple[str, str], wanted: dict[tuple[str, str], str]) -> None:
        """The expected values under a name that the model gives to anything else are not taken."""
        path = self.folder / "device" / self.outputs[key].file
        used = {event.path for event in self.maker.events if isinstance(event, Write)}
        if path.name.lower() in {name.lower() for name in used} and not path.exists():
            shutil.copy(self.folder / "expected" / path.name, path)
            assert self.verdicts() == wanted
            path.unlink()
            self.counts["decoys"] += 1

    def remove(self, key: tuple[str, str], names: set[str], files: dict[tuple[str, str], set[str]]) -> None:
        """Without the files of an output it is missing; others pass if a file of theirs is left."""
        kept = {name: (self.folder / "device" / name).read_bytes() for name in names}
        for name in names:
            (self.folder / "device" / name).unlink()
        left = {other: self.right(other) if own - names else MISSING for other, own in files.items()}
        assert left[key] == MISSING and self.verdicts() == left
        for name, content in kept.items():
            (self.folder / "device" / name).write_bytes(content)
        self.counts["removed"] += 1


def beyond(chance: random.Random, value: Any, allowed: float) -> Any:
    """A number that differs from this one by more than is allowed, often by hardly more; None where any passes."""
    dtype = value.dtype
    if dtype.kind != "f":
        return value ^ dtype.type(1 << chance.randrange(8 * dtype.itemsize - 1))
    infinity, nan = dtype.type(math.inf), dtype.type(math.nan)
    if math.isnan(allowed) or (math.isinf(allowed) and np.isnan(value)):
        return None
    if math.isinf(allowed):
        return nan
    if np.isnan(value):
        return chance.choice([infinity, dtype.type(0), dtype.type(1)])
    moved, towards = value, chance.choice([infinity, -infinity])
    with np.errstate(over="ignore"):
        if np.isfinite(value):
            moved = (np.float64(value) + math.copysign(allowed, towards)).astype(dtype)
        while not np.isnan(moved) and distance(value, moved) <= allowed:
            step = np.nextafter(moved, towards)
            moved = nan if step == moved else step
    return chance.choice([moved, moved, nan])


def distance(a: Any, b: Any) -> float:
    """The distance of two numbers, where infinity is the number after the largest."""
    if a.dtype.kind != "f":
        return abs(int(a) - int(b))
    limit = 2.0 ** float(np.finfo(a.dtype).maxexp)
    found: float = abs(max(-limit, min(limit, float(a))) - max(-limit, min(limit, float(b))))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_models(tmp_path: Path, part: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEED + part, SEED + MODELS, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            Judge(random.Random(seed), folder, counts).judge()
        except Exception as error:
            error.add_note(f"seed {seed}, in {folder}")
            raise
        shutil.rmtree(folder)
    print(f"\n{dict(sorted(counts.items()))}")
    assert counts["models"] >= MODELS // PARTS and counts["spoiled"] > counts["models"] // 2
    assert min(counts[what] for what in ("passed", "failed", MISSING, "removed", "decoys", "partly written over")) > 0
