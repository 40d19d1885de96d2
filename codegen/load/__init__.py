"""TOML to model: reads every spec, reports every problem with its place, and builds nothing that is not valid."""

from __future__ import annotations

from pathlib import Path

from ..diagnostics import Diagnostics
from ..model import Operator, Specs
from .facts import facts as read_facts
from .operator import operator as read_operator
from .reading import Files

__all__ = ["load"]


def load(root: Path) -> Specs:
    """Every spec below ``root``/specs; raises SpecError with all problems."""
    diagnostics = Diagnostics()
    reader = Files(root, diagnostics)
    facts = read_facts(reader)
    diagnostics.raise_if_any()
    operators: dict[str, Operator] = {}
    for path in sorted((root / "specs" / "operators").glob("*/*.toml")):
        table = reader.table(path.relative_to(root).as_posix())
        operator = None if table is None else read_operator(reader, facts, table, path)
        if operator is None:
            continue
        if operator.name in operators and table is not None:
            table.error("operator", f"{operator.name} is described twice", f"also in {operators[operator.name].file}")
        for other in operators.values():
            if table is not None and other.name != operator.name and other.python == operator.python:
                table.error("operator", f"{operator.python} is also the name of {other.name} in Python")
        operators[operator.name] = operator
    diagnostics.raise_if_any()
    ordered = sorted(operators.values(), key=lambda operator: operator.name)
    return Specs(facts, {operator.name: operator for operator in ordered})
