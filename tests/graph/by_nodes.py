"""A graph evaluated node by node, without a plan: each value has memory of its own, which is never written again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import dmlcy as dml
from dmlcy._desc.memory import stored
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import DTYPES

Memory = Any
"""Bytes; behind those of the tensor there are zeros."""
BEHIND = 64


def evaluated(graph: dml.graph.GraphDesc, inputs: Mapping[int, Any], level: Any = None) -> list[Any]:
    """The outputs of a valid graph; ``inputs``: arrays by the number of the graph input."""
    sources = {edge.target: edge.source for edge in graph.edges}
    values: dict[Any, Memory] = {}
    for index, array in inputs.items():
        values[dml.graph.Port(None, index)] = laid_out(array, tensor_of_input(graph, index))
    for number, node in enumerate(graph.nodes):
        if isinstance(node, dml.graph.Constant):
            assert node.data is not None
            values[dml.graph.Port(number, 0)] = np.concatenate([node.data, np.zeros(BEHIND, np.uint8)])
    left = [number for number, node in enumerate(graph.nodes) if isinstance(node, dml.graph.Node)]
    while left:
        later = [number for number in left if not run(graph, number, sources, values, level)]
        assert len(later) < len(left), "a cycle"
        left = later
    found = []
    for index in range(len(graph.outputs)):
        port = sources[dml.graph.Port(None, index)]
        desc = graph.outputs[index].desc or tensor_of(graph, port)
        found.append(np.array(seen(values[port], desc)))
    return found


def run(graph: Any, number: int, sources: Mapping[Any, Any], values: dict[Any, Memory], level: Any) -> bool:
    """Run a node; False where one of its inputs is not there yet."""
    desc = graph.nodes[number].desc
    given: dict[str, Any] = {}
    place = -1
    for name, tensors, several in fields(desc, "input"):
        arrays = []
        for tensor in tensors:
            place += 1
            if tensor is None:
                continue
            port = sources[dml.graph.Port(number, place)]
            if port not in values:
                return False
            arrays.append(np.array(seen(values[port], tensor)))
        if arrays:
            given[name] = tuple(arrays) if several else arrays[0]
    results = dml.compile(desc, level)(**given)
    arrays = list(results) if isinstance(results, tuple) else [results]
    place = -1
    for _, tensors, _ in fields(desc, "output"):
        for tensor in tensors:
            place += 1
            if tensor is not None:
                values[dml.graph.Port(number, place)] = laid_out(arrays.pop(0), tensor)
    assert not arrays
    return True


def fields(desc: Any, kind: str) -> list[tuple[str, tuple[Any, ...], bool]]:
    """The tensor fields of a desc with their tensors; each that is left out is None."""
    found = []
    for field in desc.operator.fields:
        if field.kind == kind:
            value = getattr(desc, field.python)
            several = isinstance(value, tuple)
            found.append((field.python, value if several else (value,), several))
    return found


def tensor_of_input(graph: Any, index: int) -> Any:
    """The desc of a graph input, or that of its first reader."""
    return graph.inputs[index].desc or first_reader(graph, dml.graph.Port(None, index))


def tensor_of(graph: Any, port: Any) -> Any:
    """The desc of a value."""
    if port.node is None:
        return tensor_of_input(graph, port.place)
    node = graph.nodes[port.node]
    if isinstance(node, dml.graph.Constant):
        return node.desc or first_reader(graph, port)
    return [tensor for _, tensors, _ in fields(node.desc, "output") for tensor in tensors][port.place]


def first_reader(graph: Any, port: Any) -> Any:
    """The desc of the bytes of a value, by the first tensor that reads it and has one."""
    for edge in graph.edges:
        if edge.source != port:
            continue
        if edge.target.node is None:
            found = graph.outputs[edge.target.place].desc
        else:
            desc = graph.nodes[edge.target.node].desc
            found = [tensor for _, tensors, _ in fields(desc, "input") for tensor in tensors][edge.target.place]
        if found is not None:
            return stored(found)
    return None


def laid_out(array: Any, tensor: Any) -> Memory:
    """The elements of an array where the desc has them, in new memory."""
    steps, dtype = strides(tensor), numpy_dtype(DTYPES[tensor.dtype.name])
    reach = sum((size - 1) * step for size, step in zip(tensor.sizes, steps, strict=True)) + 1
    memory = np.zeros(max(reach * dtype.itemsize, tensor.total_tensor_size_in_bytes) + BEHIND, np.uint8)
    for index in np.ndindex(tensor.sizes):
        at = sum(i * step for i, step in zip(index, steps, strict=True)) * dtype.itemsize
        memory[at : at + dtype.itemsize] = np.frombuffer(np.asarray(array, dtype)[index].tobytes(), np.uint8)
    return memory


def seen(memory: Memory, tensor: Any) -> Any:
    """The elements that a desc finds in memory."""
    dtype = numpy_dtype(DTYPES[tensor.dtype.name])
    steps = tuple(step * dtype.itemsize for step in strides(tensor))
    return np.ndarray(tensor.sizes, dtype, memory.data, 0, steps)


def strides(tensor: Any) -> tuple[int, ...]:
    """In elements."""
    if tensor.strides is not None:
        return tuple(tensor.strides)
    found, step = [], 1
    for size in reversed(tensor.sizes):
        found.append(step)
        step *= size
    return tuple(reversed(found))
