"""What is wrong with the use of buffers, as far as their descriptions tell without filling them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from dmlcy._desc import memory
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import CATALOGUE
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.model import Binding, Dispatch, Dispatchable, DispatchGraph, Model, WriteFile
from dmlcy._frontends.dxdispatch.problems import Problem
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.resources import Buffer, SourceFile, size_of


def problems(model: Model, valid: Mapping[str, Dispatchable]) -> list[Problem]:
    """What running the model would stop at, for buffers whose size does not come from a file.

    ``valid``: the dispatchables whose descs are.
    """
    reader = Reader(model.document)
    shared(reader, model, valid)
    for dispatchable in valid.values():
        _bindings(reader, model, dispatchable, dispatchable.bindings)
    for command in model.commands:
        if isinstance(command, Dispatch):
            if command.dispatchable in valid:
                _bindings(reader, model, valid[command.dispatchable], command.bindings)
        elif not isinstance(command, DispatchGraph) and command.resource in model.resources:
            buffer = model.resources[command.resource]
            shown = not isinstance(command, WriteFile) or command.is_typed
            if shown and buffer.dtype is None and not isinstance(buffer.initial, SourceFile):
                reader.report("DML-MODEL-untyped", command.node, name=buffer.name)
            elif shown and isinstance(command, WriteFile):
                _dimensions(reader, command, buffer)
    return reader.problems


def shared(reader: Reader, model: Model, valid: Mapping[str, Dispatchable]) -> None:
    """Report outputs that a dispatch would write over another of its tensors, where both of them are packed.

    What is bound at initialisation is a copy. An output may lie exactly over an input where DirectML executes in place.
    """
    for command in model.commands:
        if not isinstance(command, Dispatch) or command.dispatchable not in valid:
            continue
        desc = valid[command.dispatchable].desc
        tensors = [(field.kind, name, tensor) for field, name, tensor in desc.tensors()]
        overlaps(reader, model, command.bindings, tensors, CATALOGUE[desc.operator.name].in_place)


def overlaps(
    reader: Reader,
    model: Model,
    bindings: Mapping[str, Binding],
    tensors: Iterable[tuple[str, str, object]],
    in_place: Collection[str],
) -> None:
    """Report outputs that lie over another tensor. ``tensors``: the kind, the name and the desc of each."""
    seen = list[tuple[str, str, str, range]]()
    for kind, name, tensor in tensors:
        binding = bindings.get(name)
        buffer = None if binding is None else model.resources.get(binding.resource)
        if binding is None or buffer is None or not isinstance(tensor, TensorDesc) or not memory.is_packed(tensor):
            continue
        itemsize = _itemsize(binding, buffer)
        if itemsize is None:
            continue
        begin = binding.offset * itemsize
        place = range(begin, begin + memory.extent(tensor))
        for other, other_name, resource, taken in seen:
            first, last = max(place.start, taken.start), min(place.stop, taken.stop) - 1
            kinds = {kind, other}
            if place == taken and len(kinds) == 2 and not {name, other_name}.isdisjoint(in_place):
                continue
            if "output" in kinds and resource == buffer.name and first <= last:
                reader.report(
                    "DML-MODEL-shared", binding.node,
                    field=name, other=other_name, begin=first, end=last, name=buffer.name,
                )  # fmt: skip
        seen.append((kind, name, buffer.name, place))


def _itemsize(binding: Binding, buffer: Buffer) -> int | None:
    """Bytes of an element that the offset of a binding counts; None where a file decides it."""
    if binding.element_size is not None or not binding.offset:
        return binding.element_size or 0
    if isinstance(buffer.initial, SourceFile):
        return None
    return numpy_dtype(buffer.dtype).itemsize if buffer.dtype else 0


def _bindings(reader: Reader, model: Model, dispatchable: Dispatchable, bindings: Mapping[str, Binding]) -> None:
    reach(reader, model, ((name, desc) for _, name, desc in dispatchable.desc.tensors()), bindings)


def reach(reader: Reader, model: Model, tensors: Iterable[tuple[str, object]], bindings: Mapping[str, Binding]) -> None:
    """Report tensors that reach beyond their buffers. ``tensors``: the name and the desc of each."""
    for name, desc in tensors:
        binding = bindings.get(name)
        buffer = None if binding is None else model.resources.get(binding.resource)
        if binding is None or buffer is None or not isinstance(desc, TensorDesc):
            continue
        size, itemsize = size_of(buffer), _itemsize(binding, buffer)
        if size is None or itemsize is None:
            continue
        held, needed = memory.rounded(size), binding.offset * itemsize + memory.needed(desc)
        if needed > held:
            reader.report("DML-MODEL-buffer-size", binding.node, name=buffer.name, size=held, needed=needed, field=name)


def _dimensions(reader: Reader, command: WriteFile, buffer: Buffer) -> None:
    """Report dimensions that ask for more than the buffer has."""
    size, count = size_of(buffer), math.prod(command.dimensions)
    if size is None or buffer.dtype is None or not command.dimensions:
        return
    held = size // numpy_dtype(buffer.dtype).itemsize
    if count > held:
        node = command.node.get("dimensions") or command.node
        reader.report("DML-MODEL-dimensions", node, count=count, name=buffer.name, held=held)
