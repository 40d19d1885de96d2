"""DirectML's result for the call whose desc a file has: dmlcy_layer.h writes the result into the name of the file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from dmlcy._facts import shipped

_NAME: Final = re.compile(r"([0-9a-f]{8})-(CreateOperator|CompileOperator|CompileGraph)-.*\.json")
_FAILED: Final = 2**31


class Returned(NamedTuple):
    """A call, and its HRESULT."""

    call: str
    code: int

    @property
    def refused(self) -> bool:
        """Whether the call failed."""
        return self.code >= _FAILED

    @property
    def words(self) -> str:
        """A clause: CreateOperator returned 80070057 (E_INVALIDARG)."""
        name = "S_OK" if self.code == 0 else _names().get(self.code)
        return f"{self.call} returned {self.code:08X}{'' if name is None else f' ({name})'}"


def returned_to(path: str) -> Returned | None:
    """The result in the name of a file; None for a file of another name."""
    found = _NAME.fullmatch(Path(path).name)
    return None if found is None else Returned(found[2], int(found[1], 16))


@cache
def _names() -> dict[int, str]:
    """The names of error codes."""
    return {int(term["value"]): str(term["name"]) for term in shipped.read("terms.toml")["term"] if "value" in term}
