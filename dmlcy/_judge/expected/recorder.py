"""The tensors that the dispatches of a model wrote, kept while it runs, for comparison with a device.

An output counts as far as its elements are still in their buffer at the end: of several dispatches that write to the
same place the last one does. Two views of one resource that share no element are two outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import extent
from dmlcy._facts.rows import Field
from dmlcy._frontends.dxdispatch.model import Dispatch, Dispatchable
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.operators import entry_name, tensor_of, tensors_of
from dmlcy._frontends.dxdispatch.resources import Storage
from dmlcy._judge.expected.manifest import Buffer
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import may_overlap
from dmlcy._types import Array

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """The tensor that is bound to a field, or to an entry of its array: the resource and the elements."""

    field: Field
    entry: int | None
    resource: str
    values: Array
    computed_by: str | None = None

    @property
    def memory(self) -> Array:
        """An array with the places of the elements in the buffer; of 4 bits, with those of the bytes."""
        return four_bits.memory(self.values)

    def of_elements(self, flags: Flags) -> Flags:
        """Flags of the places as flags of the elements."""
        if flags.shape == self.values.shape:
            return flags
        return np.repeat(flags, 2)[: self.values.size].reshape(self.values.shape)

    @property
    def name(self) -> str:
        """The name of the binding."""
        return self.field.name if self.entry is None else entry_name(self.field, self.entry)


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """An output that a dispatch wrote, in its place in the buffer, and the inputs as they were.

    ``files`` are the files that the model has written since the last change of its elements, and that hold all of them.
    ``standing`` says which elements no later dispatch has written over; None: all of them.
    """

    dispatchable: Dispatchable
    output: Tensor
    buffer: Buffer
    inputs: tuple[Tensor, ...]
    files: tuple[WrittenFile, ...] = ()
    standing: Flags | None = None

    def is_in(self, file: WrittenFile) -> bool:
        """Whether a file holds all elements: they end before the file does."""
        desc = tensor_of(self.dispatchable.desc.value, self.output.field, self.output.entry)
        return file.resource == self.output.resource and self.buffer.offset + extent(desc) <= file.size

    def after(self, other: Tensor, offset: int) -> Written | None:
        """This output after a dispatch has written another tensor to its resource; None if no element is left."""
        if not _meet(self.output, other):
            return self
        changed = np.zeros(max(_end(self.output, self.buffer.offset), _end(other, offset)), np.bool_)
        for flags in _bytes(changed, other.memory, offset):
            flags[...] = True
        hit = np.logical_or.reduce(list(_bytes(changed, self.output.memory, self.buffer.offset)))
        hit = self.output.of_elements(hit)
        if not hit.any():
            return self
        left = ~hit if self.standing is None else self.standing & ~hit
        return replace(self, standing=left, files=()) if left.any() else None


class Recorder:
    """An observer: looks at every dispatch just before it runs, and at every file just after it is written.

    ``written`` has the outputs that are in their buffers, ``files`` each file by its name without regard to case.
    """

    def __init__(self) -> None:
        self.written: list[Written] = []
        self.files: dict[str, WrittenFile] = {}
        self.paths: set[Path] = set()  # of these files
        self._storages: Mapping[str, Storage] = {}
        self._writers: list[tuple[Tensor, str]] = []
        self._writes: Counter[str] = Counter()
        self._copies: dict[object, Array] = {}

    def begin(self, storages: Mapping[str, Storage]) -> None:
        """Look up the buffers of the model here."""
        self._storages = storages

    def dispatch(self, command: Dispatch, dispatchable: Dispatchable, bound: Mapping[str, Array]) -> None:
        """Keep the inputs, and the places of the outputs. ``bound`` has the tensors by field name."""
        inputs, outputs = [], []
        for name, (field, entry) in tensors_of(dispatchable.desc.value, "input").items():
            binding = command.bindings.get(name)
            source = dispatchable.bindings[name].resource if binding is None else binding.resource
            inputs.append(self._input(Tensor(field, entry, source, bound[name]), initial=binding is None))
        for name, (field, entry) in tensors_of(dispatchable.desc.value, "output").items():
            if name in command.bindings:  # what is bound at initialisation is a copy that nobody sees
                outputs.append(Tensor(field, entry, command.bindings[name].resource, bound[name]))
        for output in outputs:
            storage = self._storages[output.resource]
            offset = output.memory.ctypes.data - storage.data.ctypes.data
            buffer = Buffer(storage.dtype, storage.size, offset)
            after = (one.after(output, offset) for one in self.written)
            self.written = [one for one in after if one is not None]
            self.written.append(Written(dispatchable, output, buffer, tuple(inputs)))
            self._writers = [one for one in self._writers if _view(one[0]) != _view(output)]
            self._writers.append((output, dispatchable.name))
            self._writes[output.resource] += 1
        kept = {id(tensor.values) for one in self.written for tensor in one.inputs}
        self._copies = {key: values for key, values in self._copies.items() if id(values) in kept}

    def write_file(self, file: WrittenFile, path: Path) -> None:
        """Note what a file holds, and its place; what a file of this name held before is gone."""
        self.paths.add(path.resolve())
        self.files[file.key] = file
        kept = [(one, tuple(other for other in one.files if other.key != file.key)) for one in self.written]
        self.written = [replace(one, files=(*others, file) if one.is_in(file) else others) for one, others in kept]

    def has_written(self, path: Path) -> bool:
        """Whether a command of the model has written to this place."""
        try:
            return path.resolve() in self.paths
        except ValueError:  # a name that no file can have
            return False

    def _input(self, tensor: Tensor, initial: bool) -> Tensor:
        if initial:  # bound at initialisation, which made a copy
            return tensor
        writers = (name for output, name in reversed(self._writers) if _meet(output, tensor))
        key = (*_view(tensor), self._writes[tensor.resource])
        if key not in self._copies:
            self._copies[key] = tensor.values.copy()
        return replace(tensor, values=self._copies[key], computed_by=next(writers, None))


def _view(tensor: Tensor) -> tuple[object, ...]:
    """The identity of a view of a resource."""
    memory, values = tensor.memory, tensor.values
    return tensor.resource, memory.ctypes.data, values.dtype, values.shape, memory.strides


def _end(tensor: Tensor, offset: int) -> int:
    """The byte behind the last element of a tensor at this offset."""
    values = tensor.memory
    steps = zip(values.shape, values.strides, strict=True)
    return int(offset + sum((size - 1) * step for size, step in steps) + values.itemsize)


def _bytes(flags: Flags, values: Array, offset: int) -> Iterator[Flags]:
    """Flags of the first byte of each element of a tensor, then of the second one, and so on."""
    for byte in range(values.itemsize):
        yield np.ndarray(values.shape, np.bool_, flags.data, offset + byte, values.strides)


def _meet(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have an element in common; what takes long to find out counts as yes."""
    return a.resource == b.resource and may_overlap(a.values, b.values)
