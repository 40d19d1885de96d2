"""TOML to model: reads every spec, reports every problem with its place, and builds nothing that is not valid."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..diagnostics import Diagnostics
from ..model import Facts, Onnx, Operator, Specs
from .facts import facts as read_facts
from .onnx import onnx as read_onnx
from .onnx import onnx_files
from .operator import operator as read_operator
from .reading import Files

__all__ = ["Named", "Reader", "load", "onnx_files", "spec_files"]


def load(root: Path) -> Specs:
    """Every spec below ``root``/specs; raises SpecError with all problems."""
    diagnostics = Diagnostics()
    reader = Reader(root, diagnostics)
    facts = reader.facts()
    diagnostics.raise_if_any()
    found = [reader.operator(facts, file) for file in spec_files(root)]
    operators = [operator for operator in found if operator is not None]
    reader.distinct(Named(operator.file, operator.name, operator.python) for operator in operators)
    diagnostics.raise_if_any()
    onnx = reader.onnx(facts)
    diagnostics.raise_if_any()
    return reader.specs(facts, operators, onnx)


def spec_files(root: Path) -> list[str]:
    """The files of the operators, relative to the root, sorted."""
    return [path.relative_to(root).as_posix() for path in sorted((root / "specs" / "operators").glob("*/*.toml"))]


class Named(NamedTuple):
    """The file of an operator, and its names in DirectML and in Python."""

    file: str
    name: str
    python: str


class Reader:
    """Reads specs one by one; problems go to ``diagnostics``."""

    def __init__(self, root: Path, diagnostics: Diagnostics) -> None:
        self.root = root
        self.files = Files(root, diagnostics)

    def facts(self) -> Facts:
        """Everything that is true of all operators."""
        return read_facts(self.files)

    def operator(self, facts: Facts, file: str) -> Operator | None:
        """The operator of a file; None where nothing of it can be read."""
        table = self.files.table(file)
        return None if table is None else read_operator(self.files, facts, table, self.root / file)

    def onnx(self, facts: Facts) -> Onnx:
        """The operators of ONNX."""
        return read_onnx(self.files, facts)

    def distinct(self, operators: Iterable[Named]) -> None:
        """Refuses operators that share a name."""
        known: dict[str, Named] = {}
        for one in operators:
            same = [other for other in known.values() if other.name != one.name and other.python == one.python]
            table = self.files.table(one.file) if one.name in known or same else None
            if table is not None:
                if one.name in known:
                    table.error("operator", f"{one.name} is described twice", f"also in {known[one.name].file}")
                for other in same:
                    table.error("operator", f"{one.python} is also the name of {other.name} in Python")
            known[one.name] = one

    def specs(self, facts: Facts, operators: Iterable[Operator], onnx: Onnx) -> Specs:
        """The set of these operators."""
        documents = {file: document for file, document in self.files.documents.items() if document is not None}
        ordered = sorted(operators, key=lambda operator: operator.name)
        return Specs(facts, {operator.name: operator for operator in ordered}, documents, onnx)
