"""Generation that makes again only what an edit reaches.

An operator without a problem is a unit. Its plan is stored with the digests of the files that it was read from. The
plan is found again while these files, the facts and codegen itself are the same. Each generated file has a stamp: a
digest of everything that its text was made of, and one of the text. A file is made again where its stamp differs, or
where it was changed since. An operator with a problem is never stored, so a run reports what a run from nothing would
report.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import names
from .diagnostics import Diagnostics
from .emit import FOLDER, OUTPUTS, OWNED, Given, Output
from .families import FAMILIES
from .lint import required
from .load import Named, Reader, onnx_files, spec_files
from .model import Facts, Onnx, Operator, Specs
from .pages.speed import PATH as SPEEDS
from .plan import FamilyPlan, OperatorPlan, Plan, assemble, plan_operator
from .store import Store, digest, file_digest
from .writer import Writer

UNITS = "unit-"
"""How the names of stored units begin."""


@dataclass(frozen=True, slots=True)
class Unit:
    """An operator without a problem: what others show of it, the digests of its files, and its plan as bytes."""

    named: Named
    family: str
    is_called: bool
    newer: tuple[tuple[str, str], ...]  # the older operators that it replaces, and what their pages show of it
    reads: Mapping[str, str | None]
    plan: bytes

    @property
    def digest(self) -> str:
        """A digest of everything that the plan was made of beside the facts."""
        return digest(*(part for file, found in self.reads.items() for part in (file, found)))


@dataclass(frozen=True, slots=True)
class Stamp:
    """The sources of a generated file: digests of all but the templates, of each template, and of the text."""

    key: str
    templates: Mapping[str, str | None]
    text: str | None


@dataclass(slots=True)
class Generated:
    """The work of a run: the files that it wrote or removed, the specs that it read, and the files that it rendered."""

    changed: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    rendered: list[str] = field(default_factory=list)


def generate(root: Path) -> Generated:
    """Writes every generated file that changed, or none when there is a problem."""
    return _Run(root).run()


class _Run:
    """One run in a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store(root)
        self.done = Generated()
        self.diagnostics = Diagnostics()
        self.reader = Reader(root, self.diagnostics)
        self.files: dict[str, str | None] = {}  # digests of the files of the checkout
        self.templates: dict[str, str | None] = {}  # and of the templates
        self.words = self._words()
        folder = root / "specs"
        paths = sorted([*folder.glob("*.toml"), folder / "onnx" / "errors.toml"])
        facts = [path.relative_to(root).as_posix() for path in paths]
        self.key = digest(self.words, *(part for file in (*facts, SPEEDS) for part in (file, self.digest(file))))
        onnx = onnx_files(root)
        self.onnx_key = digest(self.key, *(part for file in onnx for part in (file, self.digest(file))))
        self.loaded_facts: Facts | None = None
        self.loaded_onnx: Onnx | None = None
        self.plans: dict[str, OperatorPlan] = {}

    def run(self) -> Generated:
        units = self.units()
        writer = Writer(self.root, check=False)
        stamps = self.render(units, writer)
        unchanged = all(file_digest(self.root / file) == found for file, found in self.files.items())
        self.done.changed = writer.finish(OWNED)
        if unchanged:  # nobody edited a file while it was read
            self.store.put("files", "", stamps)
            self.store.write(UNITS)
        return self.done

    def digest(self, file: str) -> str | None:
        if file not in self.files:
            self.files[file] = file_digest(self.root / file)
        return self.files[file]

    def template(self, name: str) -> str | None:
        """The digest of a template, in the first of the folders that has it."""
        if name not in self.templates:
            found = (file_digest(FOLDER / folder / name) for folder in ("templates", "families"))
            self.templates[name] = next((one for one in found if one is not None), None)
        return self.templates[name]

    def _words(self) -> str:
        """A digest of the names that the templates take, which no operator may have."""
        paths = sorted(path for folder in ("templates", "families") for path in (FOLDER / folder).rglob("*.j2"))
        key = digest(*(part for path in paths for part in (path.relative_to(FOLDER).as_posix(), file_digest(path))))
        found = self.store.get("names", key)
        if found is None:
            found = digest(repr(names.public()), *(repr(sorted(names.used(family))) for family in ("*", *FAMILIES)))
            found = digest(found, repr(names.endings()))
            self.store.put("names", key, found)
        return str(found)

    @property
    def facts(self) -> Facts:
        """The facts; raises SpecError."""
        if self.loaded_facts is None:
            self.loaded_facts = self.store.get("facts", self.key)
        if self.loaded_facts is None:
            self.loaded_facts = self.reader.facts()
            self.diagnostics.raise_if_any()
            self.store.put("facts", self.key, self.loaded_facts)
        return self.loaded_facts

    @property
    def onnx(self) -> Onnx:
        """The operators of ONNX; raises SpecError."""
        if self.loaded_onnx is None:
            self.loaded_onnx = self.store.get("onnx", self.onnx_key)
        if self.loaded_onnx is None:
            self.loaded_onnx = self.reader.onnx(self.facts)
            self.diagnostics.raise_if_any()
            self.store.put("onnx", self.onnx_key, self.loaded_onnx)
        return self.loaded_onnx

    # Units -----------------------------------------------------------------------------------------------------------

    def units(self) -> list[Unit]:
        """The operators in the order of their names; raises SpecError with every problem."""
        files = spec_files(self.root)
        known = {file: self.known(file) for file in files}
        read: dict[str, Operator] = {}
        found: list[Named] = []
        for file in files:
            unit = known[file]
            if unit is not None:
                found.append(unit.named)
                continue
            self.done.loaded.append(file)
            operator = self.reader.operator(self.facts, file)
            if operator is not None:
                read[file] = operator
                found.append(Named(file, operator.name, operator.python))
        self.reader.distinct(found)
        self.diagnostics.raise_if_any()
        _ = self.onnx  # its problems are reported before anything is written
        made = self.planned(self.reader.specs(self.facts, read.values(), self.onnx)) if read else []
        return sorted(made + [unit for unit in known.values() if unit], key=lambda unit: unit.named.name)

    def planned(self, specs: Specs) -> list[Unit]:
        """The units of operators that were read."""
        required(specs, self.diagnostics)
        self.diagnostics.raise_if_any()
        plans = [plan_operator(operator, specs.facts, self.diagnostics) for operator in specs.operators.values()]
        self.diagnostics.raise_if_any()
        return [self.unit(plan) for plan in plans if plan is not None]

    def known(self, file: str) -> Unit | None:
        """The stored unit of a spec, while it is what the spec gives."""
        unit: Unit | None = self.store.get(unit_name(file), digest(self.key, file))
        if unit is None or any(self.digest(read) != found for read, found in unit.reads.items()):
            return None
        return unit

    def unit(self, plan: OperatorPlan) -> Unit:
        operator = plan.operator
        self.plans[operator.file] = plan
        files = (*(f"specs/shared/{name}.toml" for name in operator.include), operator.file)
        reads = {file: self.digest(file) for file in files}
        newer = tuple(
            (same.older, repr((operator.since, same.given, same.theirs, plan.drawn))) for same in operator.same
        )
        named = Named(operator.file, operator.name, operator.python)
        unit = Unit(
            named, operator.family, plan.compiled is not None, newer, reads, pickle.dumps(plan, pickle.HIGHEST_PROTOCOL)
        )
        self.store.put(unit_name(operator.file), digest(self.key, operator.file), unit)
        return unit

    # Files -----------------------------------------------------------------------------------------------------------

    def render(self, units: list[Unit], writer: Writer) -> dict[str, Stamp]:
        """Gives every file to the writer, made again where its stamp says so; returns the stamps."""
        stamps: Mapping[str, Stamp] = self.store.get("files", "") or {}
        keys = {path: (output, key) for output in OUTPUTS for path, key in self.keys(output, units)}
        found: dict[str, Stamp] = {}
        for path, (output, key) in keys.items():
            stamp = stamps.get(path)
            if stamp is not None and self.is_made(path, self.read(output, key), stamp):
                found[path] = stamp
                if stamp.text is not None:
                    writer.keep(path, output.committed)
        if len(found) == len(keys):
            return found
        plan = self.plan(units)
        given = Given.of(self.root, plan.facts, plan.enums)
        made: dict[str, str | None] = {}
        for output in OUTPUTS:
            for path, item in output.items(plan):
                if path in found:
                    continue
                given.env.used.clear()
                made[path] = text = output.made(given, plan, item)
                self.done.rendered.append(path)
                templates = {name: self.template(name) for name in sorted(given.env.reached())}
                found[path] = Stamp("", templates, None if text is None else digest(text))
                if text is not None:
                    writer.write(path, text, output.committed)
        for path in made:
            output, key = keys[path]  # a file that is read has its new text, from which the same is made
            found[path] = replace(found[path], key=self.read(output, key, made.get(output.reads or "")))
        return found

    def is_made(self, path: str, key: str, stamp: Stamp) -> bool:
        """Whether a file is there with the text that would be made."""
        same = all(self.template(name) == known for name, known in stamp.templates.items())
        return same and stamp.key == key and file_digest(self.root / path) == stamp.text

    def read(self, output: Output, key: str, text: str | None = None) -> str:
        """The key with a digest of the file that the output reads: of its new text, or of what it has."""
        if output.reads is None:
            return key
        return digest(key, file_digest(self.root / output.reads) if text is None else digest(text))

    def plan(self, units: list[Unit]) -> Plan:
        """The plan of everything."""
        plans = [self.plans.get(unit.named.file) or pickle.loads(unit.plan) for unit in units]
        return assemble(Specs(self.facts, {plan.name: plan.operator for plan in plans}, {}, self.onnx), plans)

    def keys(self, output: Output, units: list[Unit]) -> Iterator[tuple[str, str]]:
        """The path of each file of an output, and a digest of what its text is made of beside templates and a file."""
        around = [self.key, output.path, *(unit.named.name for unit in units if output.linked)]
        if output.of is OperatorPlan:
            for unit in units:
                name = unit.named.name
                newer = ((one.named.name, shown) for one in units for older, shown in one.newer if older == name)
                linked = [part for row in newer for part in row] if output.linked else []
                yield output.file(unit.named.python, name), digest(*around, unit.digest, *linked)
        elif output.of is FamilyPlan:
            for family in FAMILIES:
                members = [unit.digest for unit in units if unit.is_called and unit.family == family]
                if members:
                    yield output.file(family), digest(*around, *members)
        elif output.of is Onnx:
            yield output.file(), digest(self.onnx_key, output.path)
        else:
            yield output.file(), digest(*around, *(unit.digest for unit in units if output.of is Plan))


def unit_name(file: str) -> str:
    """The name under which the unit of a spec is stored."""
    return f"{UNITS}{digest(file)[:16]}"
