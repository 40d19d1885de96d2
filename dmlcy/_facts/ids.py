"""The error ids that were ever published: ``ids.lock`` of the specs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from dmlcy._facts import shipped

SECTIONS: Final = ("", "provisional:", "retired:")
"""The lines that begin the parts of the file."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Those in force, which are permanent or provisional, and why each of the others was retired."""

    permanent: dict[str, None] = field(default_factory=dict)
    provisional: dict[str, None] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)

    @property
    def in_force(self) -> tuple[str, ...]:
        """Every id that an error can have."""
        return (*self.permanent, *self.provisional)


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
