"""Command line: python -m codegen gen | build | check [--diff] | lint | show OPERATOR | new OPERATOR [--family F]"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from . import ids, new
from .compiling import Compiler
from .diagnostics import Diagnostics, SpecError, did_you_mean
from .emit import OWNED, PACKAGE, emit
from .families import FAMILIES
from .incremental import generate
from .lint import lint, required
from .load import load
from .model import Operator, Specs
from .plan import Plan, plan, plan_operator
from .show import show
from .writer import Writer, replace

ROOT = Path(__file__).resolve().parent.parent


class UsageError(Exception):
    """A command was given what it does not take."""


def make_plan(root: Path) -> Plan:
    """Specs to plan; raises SpecError with every problem."""
    specs = load(root)
    diagnostics = Diagnostics()
    required(specs, diagnostics)
    diagnostics.raise_if_any()
    result = plan(specs, diagnostics)
    diagnostics.raise_if_any()
    return result


class _Digests(Writer):
    """Compares with what is committed, and keeps a digest of every file."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, check=True)
        self.found: dict[str, str] = {}

    def write(self, relative: str, text: str, committed: bool = False) -> None:
        super().write(relative, text, committed)
        self.found[relative] = hashlib.sha256(text.encode()).hexdigest()


def digests(root: Path) -> dict[str, str]:
    """A digest of each generated file."""
    writer = _Digests(root)
    emit(make_plan(root), writer)
    return writer.found


def unstable(root: Path, digests: Mapping[str, str]) -> list[str]:
    """The files that are generated otherwise in another process, where sets have another order."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    code = "import json, pathlib, sys\nfrom codegen.__main__ import digests\n"
    code += "json.dump(digests(pathlib.Path(sys.argv[1])), sys.stdout)"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(root)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    other: dict[str, str] = json.loads(done.stdout)
    return sorted(name for name in digests.keys() | other.keys() if digests.get(name) != other.get(name))


def run_gen(root: Path) -> int:
    """Write what changed, and say what."""
    for path in generate(root).changed:
        print(path)
    return 0


def run_build(root: Path) -> int:
    """Generate, then compile what changed, and say so. When that fails, the package is left with the files it had."""
    compiler = Compiler(root)
    with restored_on_failure(root / PACKAGE) as failed:
        changed = generate(root).changed
        for path in changed:
            print("wrote" if (root / path).exists() else "removed", path, flush=True)
        if compiler.is_done():
            if not changed:
                print("nothing to do")
            return 0
        said = compiler.run()
        if said is not None:
            failed.append(said)
    if failed:
        print(failed[0].rstrip(), file=sys.stderr)
        print("the build failed; the package is as it was", file=sys.stderr)
        return 1
    for path in compiler.finish():
        print("removed", path)
    return 0


@contextmanager
def restored_on_failure(folder: Path) -> Iterator[list[str]]:
    """Keeps the texts of a folder, and puts them back when something is appended to the list."""

    def texts() -> list[Path]:
        return [path for path in folder.rglob("*") if path.suffix in (".py", ".pyi", ".pyx", ".toml", ".lock", ".json")]

    before = {path: path.read_bytes() for path in texts()}
    failed: list[str] = []
    yield failed
    if failed and before:
        for path in texts():
            if path not in before:
                path.unlink()
        for path, content in before.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)


def run_check(root: Path, diff: bool) -> int:
    """Compare what is committed with what the specs give."""
    result, diagnostics = make_plan(root), Diagnostics()
    lint(result.specs, diagnostics)
    ids.check(ids.read(root, diagnostics), (id_ for id_, _ in result.ids), diagnostics)
    writer = _Digests(root)
    emit(result, writer)
    stale = writer.finish(OWNED)
    if stale:
        listed = "".join(f"stale: {name} +{more} -{less}\n" for name, (more, less) in writer.counts().items())
        print(writer.diffs() if diff else listed, end="", flush=True)  # before what is wrong
        shown = "" if diff else "; check --diff shows what it changes"
        count = "a committed file is" if len(stale) == 1 else f"{len(stale)} committed files are"
        diagnostics.error(None, f"{count} stale", f"run python -m codegen gen{shown}")
    for name in unstable(root, writer.found):
        diagnostics.error(None, f"{name} differs from one run to the next")
    diagnostics.raise_if_any()
    return 0


def run_lint(root: Path) -> int:
    """Report every problem of the specs."""
    specs = load(root)
    diagnostics = Diagnostics()
    required(specs, diagnostics)
    complete = diagnostics.ok
    lint(specs, diagnostics)
    if complete:
        plan(specs, diagnostics)
    diagnostics.raise_if_any()
    return 0


def run_show(root: Path, operator: str) -> int:
    """Print one operator with its groups merged in."""
    specs = load(root)
    name = known_name(specs, operator)
    if name not in specs.operators:
        since = specs.facts.catalogue[name].since
        raise UsageError(f"{name} (level {since}) is only listed, no spec describes it: python -m codegen new {name}")
    shown = specs.operators[name]
    print(show(shown, specs.facts.catalogue[name], lacks_of(shown, specs)), end="")
    return 0


def lacks_of(operator: Operator, specs: Specs) -> list[str]:
    """Why an operator has no loops; nothing of a spec with a problem, which others report."""
    diagnostics = Diagnostics()
    required(dataclasses.replace(specs, operators={operator.name: operator}), diagnostics)
    planned = plan_operator(operator, specs.facts, diagnostics) if diagnostics.ok else None
    if planned is None or not diagnostics.ok:
        return []
    return [] if planned.no_loops is None else [f"no loops: {planned.no_loops}"]


def run_new(root: Path, operator: str, family: str | None) -> int:
    """Write the skeleton of a spec."""
    specs = load(root)
    name = known_name(specs, operator)
    sibling = new.sibling(specs, name)
    if name in specs.operators:
        print(f"{name} has a spec: {specs.operators[name].file}", file=sys.stderr)
        return 1
    if family is None and sibling is None:
        raise UsageError(
            f"say the family of {name}: --family {' | '.join(FAMILIES)}; where none does what it does,"
            " a folder that docs/families.md names: the operator is described then, and does not run"
        )
    if family is not None and not re.fullmatch("[a-z][a-z0-9_]*", family):
        raise UsageError(f"{family!r} is no name of a family: small letters, digits and underscores")
    chosen = family or (sibling.family if sibling is not None else "")
    path = root / "specs" / "operators" / chosen / f"{name.lower()}.toml"
    if path.exists():
        print(f"{path.relative_to(root)} exists", file=sys.stderr)
        return 1
    entry = specs.facts.catalogue[name]
    groups = new.groups_of(sibling if sibling is not None and sibling.family == chosen else None, entry, root)
    replace(path, new.skeleton(entry, chosen, specs.facts, groups, runs=chosen in FAMILIES).encode())
    print(path.relative_to(root).as_posix())
    return 0


def known_name(specs: Specs, operator: str) -> str:
    """The name in the catalogue, in whatever case it was given."""
    name = operator.upper()
    if name in specs.facts.catalogue:
        return name
    hint = did_you_mean(name, specs.facts.catalogue)
    raise UsageError(f"there is no operator {operator!r}" + (f": {hint}" if hint else ""))


def parser() -> argparse.ArgumentParser:
    """The commands and what they take."""
    found = argparse.ArgumentParser(prog="python -m codegen", description="Turns the specs into the package.")
    found.add_argument("--root", type=Path, default=ROOT, help="the checkout to work on (default: this one)")
    commands = found.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("gen", help="write the generated files that changed")
    commands.add_parser("build", help="gen, then compile the modules that changed")
    check = commands.add_parser(
        "check", help="fail when a committed file is stale, an id vanished, or lint finds something"
    )
    check.add_argument("--diff", action="store_true", help="show what would change in stale files, not how much")
    commands.add_parser("lint", help="report the problems of the specs")
    shown = commands.add_parser("show", help="print a spec with its groups merged in, and why no loops compute it")
    shown.add_argument("operator")
    skeleton = commands.add_parser("new", help="write the skeleton of a spec, from the catalogue")
    skeleton.add_argument("operator")
    families = ", ".join(FAMILIES)
    about = f"default: that of another version of the operator. It runs in {families}; in others it is described only"
    skeleton.add_argument("--family", help=about)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; 0 is success, 1 a problem in the specs or a stale file, 2 wrong usage."""
    args = parser().parse_args(arguments)
    root: Path = args.root.resolve()
    try:
        match args.command:
            case "gen":
                return run_gen(root)
            case "build":
                return run_build(root)
            case "check":
                return run_check(root, args.diff)
            case "lint":
                return run_lint(root)
            case "show":
                return run_show(root, args.operator)
        return run_new(root, args.operator, args.family)
    except (SpecError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
