"""An observer of a run of a model, which is told of the files that are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dmlcy._frontends.dxdispatch.model import Dispatch, Dispatchable
from dmlcy._frontends.dxdispatch.resources import Storage
from dmlcy._types import Array


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that the model writes below the output folder: the first ``size`` bytes of a resource, in their order.

    ``dimensions`` are those of the last ``writeFile`` command of that name, empty where it has none.
    """

    path: str
    resource: str
    dimensions: tuple[int, ...]
    size: int

    @property
    def key(self) -> str:
        """The path as a file system compares it that ignores case."""
        return self.path.casefold()

    @property
    def is_npy(self) -> bool:
        """Whether the elements follow a header; a file of any other suffix has the bytes alone."""
        return self.path.lower().endswith(".npy")


class Observer(Protocol):
    """Looks on while a model runs."""

    def begin(self, storages: Mapping[str, Storage]) -> None:
        """The buffers are filled; ``storages`` has them by the name of the resource."""

    def dispatch(self, command: Dispatch, dispatchable: Dispatchable, bound: Mapping[str, Array]) -> None:
        """A dispatch is about to run. ``bound`` has its tensors by field name."""

    def write_file(self, file: WrittenFile, path: Path) -> None:
        """A file was written to this place."""
