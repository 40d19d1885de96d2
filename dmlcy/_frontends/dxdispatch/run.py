"""Execute a model: fill its buffers, check and compile its operators, then obey its commands."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

import numpy as np

from dmlcy._compile import compile as compile_desc
from dmlcy._desc import memory
from dmlcy._errors import DmlError
from dmlcy._facts.dtypes import count_in_bytes, has_four_bits, numpy_dtype, size_in_bytes
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch import buffers, files, images, npy, show
from dmlcy._frontends.dxdispatch.model import (
    Binding,
    Dispatch,
    Dispatchable,
    DispatchGraph,
    Model,
    Print,
    WriteFile,
)
from dmlcy._frontends.dxdispatch.observer import Observer, WrittenFile
from dmlcy._frontends.dxdispatch.operators import Desc, entry_name, parted, tensor_of, tensors_of
from dmlcy._frontends.dxdispatch.problems import printable, refuse
from dmlcy._frontends.dxdispatch.progress import Reached, nothing
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.resources import Storage, fill_all
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array

if TYPE_CHECKING:
    from dmlcy._frontends.dxdispatch.graph_models import Loaded


@dataclass(frozen=True, slots=True)
class Options:
    """``level``: a feature level, None for the current one."""

    level: FeatureLevelName | None = None
    output_path: Path = Path()
    iterations: int = 1


def run(
    model: Model, out: TextIO, options: Options, reached: Reached = nothing, observer: Observer | None = None
) -> None:
    """Execute a model and print to ``out``; ModelError with all that is wrong before anything is executed.

    ``reached`` is told how many of the iterations of a dispatch are done. With an observer, graphs are refused.
    """
    reader = Reader(model.document)
    reader.problems += model.problems
    for dispatchable in model.dispatchables.values():
        reader.problems += dispatchable.desc.problems(reader, options.level)
        dispatchable.desc.must_run(reader)
    reader.finish()
    graphs = _graphs(reader, model, options, observer is not None) if model.graphs else {}
    buffers.shared(reader, model, model.dispatchables)
    if graphs:
        _check_graphs(reader, model, graphs)
    reader.finish()
    _Executor(model, out, options, reached, observer, graphs).run()


def _graphs(reader: Reader, model: Model, options: Options, observed: bool) -> dict[str, Loaded]:
    """The graphs of a model, all of which run."""
    from dmlcy._frontends.dxdispatch import graph_models  # here: most models have none

    graphs = graph_models.load(reader, model, model.folder, options.level, fill=True)
    graph_models.must_run(reader, model, graphs, observed=observed)
    reader.finish()
    return graphs


def _check_graphs(reader: Reader, model: Model, graphs: Mapping[str, Loaded]) -> None:
    from dmlcy._frontends.dxdispatch import graph_models

    graph_models.check(reader, model, graphs)


class _Executor:
    def __init__(
        self,
        model: Model,
        out: TextIO,
        options: Options,
        reached: Reached,
        observer: Observer | None,
        graphs: Mapping[str, Loaded],
    ) -> None:
        self.model = model
        self.out = out
        self.options = options
        self.reached = reached
        self.reader = reader = Reader(model.document)
        self.storages = fill_all(reader, model.resources, model.folder)
        for command in model.commands:
            if isinstance(command, WriteFile) and images.is_image(command.target[-1]):
                self.can_write(command)
        reader.finish()
        self.operators = {name: compile_desc(d.desc.value, options.level) for name, d in model.dispatchables.items()}
        self.graphs = {name: compile_desc(one.graph, options.level) for name, one in graphs.items()}
        self.loaded = graphs
        self.observer = observer
        if observer is not None:
            observer.begin(self.storages)
        self.initial = {name: self.tensors(d, d.bindings) for name, d in model.dispatchables.items()}
        for bound in self.initial.values():  # DirectML owns a copy of what is bound at initialisation
            bound.update({name: tensor.copy() for name, tensor in bound.items()})

    def can_write(self, command: WriteFile) -> None:
        """Report what keeps an image from being written, before anything is executed."""
        target, storage = command.node.get("targetPath"), self.storages.get(command.resource)
        assert target is not None
        images.installed(self.reader, target)
        if storage is not None and storage.dtype is not None:
            images.has_type(self.reader, command.node, storage.dtype)

    def run(self) -> None:
        for command in self.model.commands:
            if isinstance(command, Dispatch):
                self.dispatch(command)
            elif isinstance(command, DispatchGraph):
                self.dispatch_graph(command)
            elif isinstance(command, Print):
                self.print(command)
            else:
                self.write_file(command)
            self.out.flush()  # a signal may end the next one

    def dispatch(self, command: Dispatch) -> None:
        dispatchable = self.model.dispatchables[command.dispatchable]
        bound = {**self.initial[command.dispatchable], **self.tensors(dispatchable, command.bindings)}
        desc: Desc = dispatchable.desc
        call: Callable[..., object] = self.operators[command.dispatchable]
        inputs = [self.argument(desc, field, bound) for field in desc.operator.fields if field.kind == "input"]
        outputs = [self.argument(desc, field, bound) for field in desc.operator.fields if field.kind == "output"]
        outputs = [output for output in outputs if output is not None]
        if self.observer is not None:
            self.observer.dispatch(command, dispatchable, bound)

        def once() -> None:
            try:
                call(*inputs, out=outputs[0] if len(outputs) == 1 else tuple(outputs))
            except DmlError as error:
                self.refuse(error, dispatchable, command)

        self.timed(command.dispatchable, once)

    def dispatch_graph(self, command: DispatchGraph) -> None:
        """Run a graph, then write its outputs."""
        from dmlcy._frontends.dxdispatch.graph_models import execute

        loaded, graph = self.loaded[command.dispatchable], self.graphs[command.dispatchable]
        views = {name: self.view(name, command.bindings[name], desc) for _, name, desc in loaded.tensors()}

        def once() -> None:
            try:
                results = execute(graph, views)
            except DmlError as error:
                for violation in error.violations:
                    self.reader.add(command.node, violation)
                refuse(self.reader.problems)
            for end, result in zip(loaded.graph.outputs, results, strict=True):
                four_bits.write(views[end.name], np.asarray(to_array(result)))

        self.timed(command.dispatchable, once)

    def timed(self, dispatchable: str, once: Callable[[], None]) -> None:
        """Do something as often as asked for, and print how long it takes."""
        times: list[float] = []
        name, iterations = printable(dispatchable), self.options.iterations
        for number in range(iterations):
            self.reached(name, number, iterations)
            start = time.perf_counter()
            once()
            times.append((time.perf_counter() - start) * 1000)
        self.reached(name, iterations, iterations)
        self.out.write(show.timing("Dispatch", name, times))

    def refuse(self, error: DmlError, dispatchable: Dispatchable, command: Dispatch) -> None:
        """Raise what the operator found in its tensors, at the binding of the tensor."""
        names = {field.python: field for field in dispatchable.desc.operator.fields}
        for violation in error.violations:
            root, entry, _ = parted(violation.field or "")
            field = names.get(root)
            name = "" if field is None else field.name if entry is None else entry_name(field, entry)
            binding = command.bindings.get(name) or dispatchable.bindings.get(name)
            self.reader.add(binding.node if binding else command.node, violation)
        refuse(self.reader.problems)

    def tensors(self, dispatchable: Dispatchable, bindings: Mapping[str, Binding]) -> dict[str, Array]:
        """The tensors of these bindings, as views of the buffers."""
        desc = dispatchable.desc.value
        found = {}
        for kind in ("input", "output"):
            for name, (field, entry) in tensors_of(desc, kind).items():
                binding = bindings.get(name)
                if binding is not None:
                    found[name] = self.view(name, binding, tensor_of(desc, field, entry))
        return found

    def argument(self, desc: Desc, field: Field, bound: Mapping[str, Array]) -> Array | tuple[Array, ...] | None:
        """The argument of an operator for a field: a tensor, a tuple of them, or None."""
        names = [name for name, (other, _) in tensors_of(desc.value, field.kind).items() if other is field]
        return tuple(bound[name] for name in names) if type_of(field.type).tensors else bound.get(field.name)

    def view(self, name: str, binding: Binding, desc: TensorDesc) -> Array:
        """A buffer as the tensor that a desc describes, bound under this name."""
        storage = self.storages[binding.resource]
        buffers.halves(self.reader, name, binding, storage.dtype)
        self.reader.finish()
        offset = buffers.begin_of(binding, storage.dtype)
        needed = offset + memory.needed(desc)
        if needed > storage.data.size:
            self.reader.report(
                "DML-MODEL-buffer-size",
                binding.node,
                name=binding.resource,
                size=storage.data.size,
                needed=needed,
                field=name,
            )
            self.reader.finish()
        return memory.view(storage.data, desc, offset)

    def print(self, command: Print) -> None:
        storage = self.storages[command.resource]
        values = self.typed(command, storage, storage.start, storage.stop)
        self.out.write(f"Resource '{printable(command.resource)}':" + ("\n" if command.verbose else " "))
        values = four_bits.values_of(values)
        self.out.writelines(show.lines(values) if command.verbose else show.line(values))
        if not command.verbose:
            self.out.write("\n")

    def write_file(self, command: WriteFile) -> None:
        storage = self.storages[command.resource]
        name = "/".join(command.target)
        size = storage.size
        content: Callable[[IO[bytes]], None] = partial(_write, data=storage.data[:size].data)
        image = images.is_image(name)
        if image or name.lower().endswith(".npy"):
            array = self.shaped(command, self.typed(command, storage, 0, storage.size), name)
            array = array if four_bits.name_of(array.dtype) is None else four_bits.in_bytes(array)
            content, size = images.writer(array, name) if image else npy.writer(array), array.nbytes
        try:
            written = files.write(self.options.output_path, command.target, content)
        except OSError as error:
            target = command.node.get("targetPath") or command.node
            self.reader.report("DML-MODEL-write", target, path=name, why=error.strerror or str(error))
            self.reader.finish()
        else:
            if self.observer is not None and not image:  # whose values are rounded
                self.observer.write_file(WrittenFile(name, command.resource, command.dimensions, size), written)
            self.out.write(f"Resource '{printable(command.resource)}' written to '{printable(str(written))}'\n")

    def shaped(self, command: WriteFile, array: Array, name: str) -> Array:
        """The elements that a file gets, in its dimensions."""
        if not command.dimensions:
            return array
        count, dimensions = math.prod(command.dimensions), command.node.get("dimensions") or command.node
        packed = four_bits.name_of(array.dtype) is not None
        if count > array.size:
            self.reader.report("DML-MODEL-dimensions", dimensions, count=count, name=command.resource, held=array.size)
            self.reader.finish()
        try:
            return array[:count] if packed else array[:count].reshape(command.dimensions)
        except ValueError as error:  # more dimensions than NumPy has
            self.reader.report("DML-MODEL-write", dimensions, path=name, why=str(error))
            self.reader.finish()
            raise

    def typed(self, command: Print | WriteFile, storage: Storage, start: int, stop: int) -> Array:
        """Whole elements of a part of a buffer, in the data type of its initial values."""
        if storage.dtype is None:
            self.reader.report("DML-MODEL-untyped", command.node, name=command.resource)
            self.reader.finish()
        assert storage.dtype is not None
        dtype, count = storage.dtype, count_in_bytes(storage.dtype, stop - start)
        data = storage.data[start : start + size_in_bytes(dtype, count)]
        if has_four_bits(dtype):
            return four_bits.unpacked(data, dtype.name, (count,))
        return np.frombuffer(data.tobytes(), numpy_dtype(dtype))


def _write(stream: IO[bytes], data: memoryview) -> None:
    stream.write(data)
