"""The versions of the formats that dmlcy writes and reads again: a file is judged by the rules of its own version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.problems import make
from dmlcy._frontends.dxdispatch.reader import UINT64, Reader

OLD: Final = "DML-MODEL-version-old"
NEWER: Final = "Compare with the version of dmlcy that wrote the file, or with a newer one."


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a format that are read. ``again``: how a file of an older one is written again."""

    oldest: int
    newest: int
    again: str

    def of(self, reader: Reader, root: Node) -> int | None:
        """The version that a file says it has; a problem for one that is not read, a warning for an old one."""
        found = reader.integer(reader.required(root, "version", "number"), 0, UINT64)
        if found is None:
            return None
        node = root.value["version"]
        if not self.oldest <= found <= self.newest:
            hint = NEWER if found > self.newest else self.again
            reader.report("DML-MODEL-version", node, hint=hint, version=found, known=self.known)
            return None
        if found < self.newest:
            values = {"version": found, "newest": self.newest}
            reader.warnings.append(make(OLD, reader.document.place(node), values, warning=True))
        return found

    @property
    def known(self) -> str:
        """The versions in a sentence."""
        return str(self.newest) if self.oldest == self.newest else f"{self.oldest} to {self.newest}"
