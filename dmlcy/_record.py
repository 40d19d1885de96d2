"""Keeps the calls of a block with their tensors, for a model that runs them elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts import tables as _tables
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_array import arrays_by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.write import Export, Use, export
from dmlcy._runtime import four_bits
from dmlcy._runtime.context import RECORDINGS, close_block, open_block
from dmlcy._types import Array

__all__ = ["Export", "RecordedCall", "Recording", "keep", "record"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordedCall:
    """A call that succeeded.

    Attributes
    ----------
    desc
        The desc of the call: an object of a class of ``dmlcy.desc``. Its tensors are packed, whatever layout the arrays
        of the call had, with leading ones where the call left them out.
    inputs
        The inputs of the call, by the Python name of the field: C-contiguous copies, read-only, with the sizes in the
        desc. An array of tensors is a tuple.
    outputs
        The outputs of the call, in the same form.
    """

    desc: OperatorDesc
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"RecordedCall({self.desc!r})"


class Recording:
    """The calls of a ``with dmlcy.record()`` block, in the order in which they ended."""

    __slots__ = ("_calls", "_state")

    def __init__(self) -> None:
        self._calls: list[RecordedCall] = []
        self._state = "new"

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """The calls recorded so far."""
        return tuple(self._calls)

    def export(self, folder: str | os.PathLike[str]) -> Export:
        """Write a DxDispatch model of the calls: ``model.json``, with each input in a ``.npy`` file beside it.

        Running the model writes each output to a ``.npy`` file.

        Parameters
        ----------
        folder
            Made where it does not exist. Files of the same names in it are replaced: all of them, or none when one
            cannot be written.

        Returns
        -------
        Export
            Where the model is, and what in it no stock DxDispatch knows.

        Raises
        ------
        ModelError
            There are no calls, or a file cannot be written.
        """
        uses = []
        for number, call in enumerate(self._calls, 1):
            name = f"{number}_{call.desc.operator.python}"
            uses.append(Use(name, call.desc, arrays_by_path(call.inputs), prefix=f"{name}_"))
        return export(uses, os.fspath(folder))

    @staticmethod
    def keep(recordings: tuple[Recording, ...], operator: str, values: dict[str, Any]) -> None:
        """Adds a call to recordings; what calls it need not know this module."""
        keep(recordings, operator, values)

    def __enter__(self) -> Self:
        if self._state != "new":
            raise RuntimeError("a recording records one block; call dmlcy.record() for another")
        self._state = "open"
        RECORDINGS.set((*RECORDINGS.get(), self))
        open_block()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._state == "open":  # the block may end in another context than it began in, as in a generator
            self._state = "closed"
            close_block()
            RECORDINGS.set(tuple(one for one in RECORDINGS.get() if one is not self))

    def __repr__(self) -> str:
        count = len(self._calls)
        return f"<{self._state} dmlcy.Recording of {count} call{'' if count == 1 else 's'}>"


def record() -> Recording:
    """Everything that the ``with`` block calls is kept, to be exported as a model.

    Every operator that is called in the block and does not fail is kept, as a function or compiled, with copies of its
    inputs and outputs. The memory that they take is held until the recording is dropped. While a call is recorded it
    runs on the copies of its inputs. A thread or a task does not record unless it runs in a copy of the context of the
    block, and nothing is recorded once the block has been left. Of nested blocks, each records what is called in it and
    in those within.

    Returns
    -------
    Recording
        ``with dmlcy.record() as recording:`` names it.

    Examples
    --------
    >>> x = np.ones((1, 1, 4, 4), np.float32)
    >>> with dmlcy.record() as recording:
    ...     y = dmlcy.average_pooling(x, window_size=2)
    >>> recording.calls[0].desc.window_size
    (2, 2)
    """
    return Recording()


def keep(recordings: tuple[Recording, ...], operator: str, values: dict[str, Any]) -> None:
    """Adds a call to recordings: its tensors as packed arrays, its attributes as the kernel saw them."""
    spec = _tables.OPERATORS[operator]
    given: dict[str, object] = {}
    arrays: dict[str, dict[str, object]] = {"input": {}, "output": {}}
    for field in spec.fields:
        value = values.get(field.python)
        if value is None:
            continue
        if field.kind == "attribute":
            given[field.python] = type_of(field.type).recorded(value)
        else:
            parts = value if type(value) is tuple else (value,)
            kept = tuple(map(_read_only, parts))
            arrays[field.kind][field.python] = kept if type(value) is tuple else kept[0]
            descs = tuple(TensorDesc(part.dtype, part.shape) for part in parts)
            given[field.python] = descs if type(value) is tuple else descs[0]
    call = RecordedCall(desc_class(operator)(**given), arrays["input"], arrays["output"])
    for recording in recordings:
        if recording._state == "open":
            recording._calls.append(call)


def _read_only(array: Array) -> Array | four_bits.Packed:
    """An array as callers get it, to which nobody writes."""
    array.flags.writeable = False
    found: Array | four_bits.Packed = four_bits.given_back(array)
    if isinstance(found, four_bits.Packed):
        found.data.flags.writeable = False
    return found
