"""What is wrong with the use of buffers, as far as their descriptions tell without filling them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dmlcy._model import tensors
from dmlcy._model.model import Binding, Dispatch, Dispatchable, Model, WriteFile
from dmlcy._model.numbers import numpy_dtype
from dmlcy._model.problems import Problem
from dmlcy._model.reader import Reader
from dmlcy._model.resources import Buffer, SourceFile, size_of
from dmlcy._tensor_desc import TensorDesc


def problems(model: Model, valid: Mapping[str, Dispatchable]) -> list[Problem]:
    """What running the model would stop at, for buffers whose size does not come from a file.

    ``valid``: the dispatchables whose descs are.
    """
    reader = Reader(model.document)
    for dispatchable in valid.values():
        _bindings(reader, model, dispatchable, dispatchable.bindings)
    for command in model.commands:
        if isinstance(command, Dispatch):
            if command.dispatchable in valid:
                _bindings(reader, model, valid[command.dispatchable], command.bindings)
        elif command.resource in model.resources:
            buffer = model.resources[command.resource]
            shown = not isinstance(command, WriteFile) or command.target[-1].lower().endswith(".npy")
            if shown and buffer.dtype is None and not isinstance(buffer.initial, SourceFile):
                reader.report("DML-MODEL-untyped", command.node, name=buffer.name)
            elif shown and isinstance(command, WriteFile):
                _dimensions(reader, command, buffer)
    return reader.problems


def _bindings(reader: Reader, model: Model, dispatchable: Dispatchable, bindings: Mapping[str, Binding]) -> None:
    """Report tensors that reach beyond their buffers."""
    values = dispatchable.desc.value.values()
    for field in dispatchable.desc.operator.fields:
        binding, desc = bindings.get(field.name), values.get(field.python)
        buffer = None if binding is None else model.resources.get(binding.resource)
        if binding is None or buffer is None or not isinstance(desc, TensorDesc):
            continue
        size, itemsize = size_of(buffer), binding.element_size
        if size is None or (itemsize is None and binding.offset and isinstance(buffer.initial, SourceFile)):
            continue
        if itemsize is None:
            itemsize = numpy_dtype(buffer.dtype).itemsize if buffer.dtype else 0
        held, needed = tensors.rounded(size), binding.offset * itemsize + tensors.needed(desc)
        if needed > held:
            reader.report(
                "DML-MODEL-buffer-size", binding.node, name=buffer.name, size=held, needed=needed, field=field.name
            )


def _dimensions(reader: Reader, command: WriteFile, buffer: Buffer) -> None:
    """Report dimensions that ask for more than the buffer has."""
    size, count = size_of(buffer), math.prod(command.dimensions)
    if size is None or buffer.dtype is None or not command.dimensions:
        return
    held = size // numpy_dtype(buffer.dtype).itemsize
    if count > held:
        node = command.node.get("dimensions") or command.node
        reader.report("DML-MODEL-dimensions", node, count=count, name=buffer.name, held=held)
