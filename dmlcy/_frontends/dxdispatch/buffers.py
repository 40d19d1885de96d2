"""Problems with the use of buffers, as far as their descriptions show without filling them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from dmlcy._desc import memory
from dmlcy._facts.dtypes import count_in_bytes
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import CATALOGUE, TensorDataType
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.model import Binding, Dispatch, Dispatchable, DispatchGraph, Model, WriteFile
from dmlcy._frontends.dxdispatch.problems import Problem
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.resources import Buffer, SourceFile, size_of


def problems(model: Model, valid: Mapping[str, Dispatchable]) -> list[Problem]:
    """The problems that would stop a run of the model, for buffers whose size does not come from a file, and warnings.

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
    return [*reader.problems, *reader.warnings]


def shared(reader: Reader, model: Model, valid: Mapping[str, Dispatchable]) -> None:
    """Report outputs that a dispatch would write over another of its tensors, where both of them are packed.

    A buffer that is bound at initialisation is copied. An output may lie exactly over an input where DirectML executes
    in place.
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
        begin = _begin(binding, buffer)
        if begin is None:
            continue
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


def _begin(binding: Binding, buffer: Buffer) -> int | None:
    """The byte at which a tensor begins; None where a file decides it."""
    known = binding.element_size is not None or not binding.offset
    return None if isinstance(buffer.initial, SourceFile) and not known else begin_of(binding, buffer.dtype)


def begin_of(binding: Binding, dtype: Dtype | None) -> int:
    """The byte at which a tensor begins in a buffer of that data type, rounded down."""
    if binding.element_size is not None:
        return binding.offset * binding.element_size
    return 0 if dtype is None else binding.offset * dtype.bits // 8


def halves(reader: Reader, name: str, binding: Binding, dtype: Dtype | None) -> None:
    """Report a tensor that begins in the middle of a byte."""
    if dtype is not None and binding.element_size is None and binding.offset * dtype.bits % 8:
        reader.report("DML-MODEL-packed-offset", binding.node, field=name, offset=binding.offset, name=binding.resource)


def _bindings(reader: Reader, model: Model, dispatchable: Dispatchable, bindings: Mapping[str, Binding]) -> None:
    reach(reader, model, ((name, desc) for _, name, desc in dispatchable.desc.tensors()), bindings)


def reach(reader: Reader, model: Model, tensors: Iterable[tuple[str, object]], bindings: Mapping[str, Binding]) -> None:
    """Report tensors that reach beyond their buffers, and warn of those with another data type than the values there.

    ``tensors``: the name and the desc of each.
    """
    for name, desc in tensors:
        binding = bindings.get(name)
        buffer = None if binding is None else model.resources.get(binding.resource)
        if binding is None or buffer is None or not isinstance(desc, TensorDesc):
            continue
        halves(reader, name, binding, buffer.dtype)
        _type(reader, name, desc, binding, buffer)
        size, begin = size_of(buffer), _begin(binding, buffer)
        if size is None or begin is None:
            continue
        held, needed = memory.rounded(size), begin + memory.needed(desc)
        if needed > held:
            reader.report("DML-MODEL-buffer-size", binding.node, name=buffer.name, size=held, needed=needed, field=name)


def _type(reader: Reader, name: str, desc: TensorDesc, binding: Binding, buffer: Buffer) -> None:
    """Warn of a tensor that has another data type than the values of its buffer.

    UINT8 from a file are bytes, and a buffer with tensors at offsets may have tensors of several data types.
    """
    if buffer.dtype is None or not isinstance(desc.dtype, TensorDataType) or buffer.dtype.name == desc.dtype.name:
        return
    of_bytes = isinstance(buffer.initial, SourceFile) and buffer.dtype.name == TensorDataType.UINT8.name
    if of_bytes or binding.offset or binding.element_size is not None:
        return
    held, dtype = buffer.dtype.name, desc.dtype.name
    hint = f'If the values are meant as {dtype}, write "initialValuesDataType": "{dtype}" in the resource.'
    reader.warn("DML-MODEL-type-differs", binding.node, hint, name=buffer.name, held=held, field=name, dtype=dtype)


def _dimensions(reader: Reader, command: WriteFile, buffer: Buffer) -> None:
    """Report dimensions that ask for more than the buffer has."""
    size, count = size_of(buffer), math.prod(command.dimensions)
    if size is None or buffer.dtype is None or not command.dimensions:
        return
    held = count_in_bytes(buffer.dtype, size)
    if count > held:
        node = command.node.get("dimensions") or command.node
        reader.report("DML-MODEL-dimensions", node, count=count, name=buffer.name, held=held)
