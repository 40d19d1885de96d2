"""The files of the values of a graph: their names, and the elements as a file has them."""

from __future__ import annotations

import numpy as np

from dmlcy._desc.memory import in_memory
from dmlcy._frontends.dxdispatch.files import distinct
from dmlcy._graph.model import Port, Structure
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array


def names_of(graph: Structure) -> dict[Port, str]:
    """The file of each value that has a desc."""
    wiring, taken = wiring_of(graph), set[str]()
    return {
        port: f"{distinct(name, taken)}.npy"
        for port, name in wiring.value_names.items()
        if wiring.desc_of(port) is not None
    }


def laid_out(graph: Structure, port: Port, value: Array) -> Array:
    """A value as its file has it: in its sizes, or where its desc has strides as it lies in its buffer."""
    desc = wiring_of(graph).desc_of(port)
    assert desc is not None
    return in_memory(desc, np.ascontiguousarray(value))
