"""The error ids that were ever published: ``ids.lock`` of the specs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

from dmlcy._facts import shipped

SECTIONS: Final = ("", "provisional:", "retired:")
"""The lines that begin the parts of the file."""


@dataclass(frozen=True)
class Ids:
    """The ids in force, which are permanent or provisional, and why each of the others was retired."""

    permanent: dict[str, None] = field(default_factory=dict)
    provisional: dict[str, None] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)

    @property
    def in_force(self) -> tuple[str, ...]:
        """Every id that an error can have."""
        return (*self.permanent, *self.provisional)

    @cached_property
    def by_small_letters(self) -> dict[str, str]:
        """Every id that was ever published, by itself in small letters."""
        return {id_.lower(): id_ for id_ in (*self.in_force, *self.retired)}

    @cached_property
    def _by_subject(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id_ in self.in_force:
            found.setdefault(id_[: id_.find("-", id_.find("-", 4) + 1)], []).append(id_)
        return found

    def about(self, operator: str, subject: str) -> list[str]:
        """The ids in force about a field of an operator, by its Python name, or about the operator itself."""
        return self._by_subject.get(f"DML-{operator}-{subject}", [])


@cache
def published() -> Ids:
    """The ids, read once."""
    found, section = Ids(), ""
    for line in shipped.folder().joinpath("ids.lock").read_text(encoding="utf-8").splitlines():
        id_, _, reason = line.strip().partition(" ")
        if line.strip() in SECTIONS[1:]:
            section = line.strip()
        elif id_.startswith("DML-") and section == "retired:":
            found.retired[id_] = reason.strip()
        elif id_.startswith("DML-"):
            (found.provisional if section == "provisional:" else found.permanent)[id_] = None
    return found
