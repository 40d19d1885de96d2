"""Command line: python -m codegen gen | build | check | lint | show OPERATOR | new OPERATOR"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .diagnostics import Diagnostics, SpecError
from .emit import OWNED, emit
from .load import load
from .plan import Plan, plan
from .writer import Writer

ROOT = Path(__file__).resolve().parent.parent


def make_plan(root: Path) -> Plan:
    """Specs to plan; raises SpecError with every problem."""
    specs = load(root)
    diagnostics = Diagnostics()
    result = plan(specs, diagnostics)
    diagnostics.raise_if_any()
    return result


def generate(root: Path, check: bool = False) -> Writer:
    """Writes (or with ``check`` compares) every generated file."""
    writer = Writer(root, check)
    emit(make_plan(root), writer)
    writer.changed = writer.finish(OWNED)  # type: ignore[attr-defined]
    return writer


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; 0 is success, 1 a problem in the specs or a stale file, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Turns the specs into the package.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to work on (default: this one)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("gen", help="write the generated files")
    args = parser.parse_args(arguments)
    try:
        writer = generate(args.root)
        for path in writer.changed:  # type: ignore[attr-defined]
            print(path)
    except SpecError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
