"""Arrays as the tensors of a graph: what a call gives, refused where it is not what the graph says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of, in_memory, is_packed, is_plain, view
from dmlcy._errors import Violation
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Structure
from dmlcy._graph.violations import Part, made
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import may_overlap, self_overlaps, to_array, to_shared_array
from dmlcy._types import Array, DType
from dmlcy._words.values import quote, show

Buffer: TypeAlias = npt.NDArray[np.uint8]


def named(
    arguments: Sequence[object], given: Mapping[str, object], names: Sequence[str], what: str
) -> dict[str, object]:
    """Arguments by their names; TypeError as a function raises it."""
    if len(arguments) > len(names):
        known = f"{len(names)} array{'' if len(names) == 1 else 's'} ({', '.join(names)})" if names else "no array"
        raise TypeError(f"{what} takes {known}, and was given {len(arguments)}")
    found = dict(zip(names, arguments, strict=False))
    for name, value in given.items():
        if name not in names:
            raise TypeError(f"{what} got an unexpected keyword argument {name!r}")
        if name in found:
            raise TypeError(f"{what} got multiple values for argument {name!r}")
        found[name] = value
    missing = [name for name in names if name not in found]
    if missing:
        raise TypeError(f"{what} missing required argument {missing[0]!r}")
    return found


class Taker:
    """Takes the arrays of a call, and collects what is wrong with them. ``taken``: the inputs by their labels."""

    def __init__(self, graph: Structure) -> None:
        self.graph = graph
        self.wrong: list[Violation] = []
        self.taken: dict[str, Array] = {}

    def input(self, index: int, label: str, value: object, desc: TensorDesc) -> Array | None:
        """The array for a graph input; None where it is refused."""
        array = taken(to_array, value)
        if array is not None and desc.element_count == 1 and getattr(value, "shape", None) == ():
            array = array.reshape(desc.sizes)
        found = self._like("inputs", index, label, value, array, desc)
        if found is not None:
            self.taken[label] = found
        return found

    def buffer(self, index: int, label: str, array: Array, desc: TensorDesc, size: int, copy: bool) -> Buffer:
        """So many bytes, with an array as the desc lays it out; those of the array itself where they are that."""
        dtype = numpy_dtype(dtype_of(desc))
        if is_plain(desc, size):
            return four_bits.in_bytes(np.array(array, dtype, order="C") if copy else array)
        placed = np.zeros(size, np.uint8)
        data = in_memory(desc, array).reshape(-1).view(np.uint8)
        placed[: data.size] = data
        bits = f"u{dtype.itemsize}"
        same = np.array_equal(view(placed, desc, 0).view(bits), np.asarray(array, dtype).view(bits))
        if not same and not is_packed(desc):
            self.wrong.append(made(self.graph, "array-place", "inputs", index, {"name": label}))
        return placed

    def output(
        self, index: int, label: str, value: object, desc: TensorDesc, others: Mapping[str, Array]
    ) -> Array | None:
        """The array for a graph output, which shares no memory with ``others``; None where it is refused."""
        array = self._like("outputs", index, label, value, taken(to_shared_array, value), desc)
        if array is None:
            return None
        why = ""
        if not array.flags.writeable:
            why = "is read-only"
        elif self_overlaps(array):
            why = "has elements that share memory with each other"
        else:
            near = [name for name, other in others.items() if may_overlap(array, other)]
            why = f"shares memory with {near[0]}" if near else ""
        if why:
            self.wrong.append(made(self.graph, "out", "outputs", index, {"name": label, "why": why}))
            return None
        return array

    def _like(
        self, part: Part, index: int, label: str, value: object, array: Array | None, desc: TensorDesc
    ) -> Array | None:
        """The array where it has the data type and the sizes of the desc."""
        dtype = numpy_dtype(dtype_of(desc))
        if array is None:
            words: dict[str, object] = {"name": label, "actual": show(value)}
            self.wrong.append(made(self.graph, "array-type", part, index, words))
        elif array.dtype != dtype:
            actual = four_bits.name_of(array.dtype) or show(array.dtype)
            words = {"name": label, "actual": actual, "expected": dtype_of(desc).name}
            hint = _conversion(array.dtype, dtype, dtype_of(desc).name, part == "inputs")
            self.wrong.append(made(self.graph, "array-dtype", part, index, words, hint=hint))
        elif array.shape != desc.sizes:
            words = {"name": label, "actual": show(array.shape), "expected": show(desc.sizes)}
            self.wrong.append(made(self.graph, "array-sizes", part, index, words))
        else:
            return array
        return None


def _conversion(actual: DType, dtype: DType, name: str, given: bool) -> str:
    """A repair of the data type of an array; no repair changes numbers of 4 bits."""
    if dtype.kind == "V" or actual.kind not in "fiub":
        return ""
    swapped = actual.newbyteorder("=") == dtype
    why = "Its bytes are in the order of other machines. " if swapped else ""
    return why + (f'Pass array.astype("{name.lower()}").' if given else f"Pass an array of numpy.{name.lower()}.")


def taken(take: Callable[[object], Array | None], value: object) -> Array | None:
    """The array that an object of any class gives; None where it gives none."""
    try:
        return take(value)
    except MemoryError:
        raise
    except Exception:
        return None


def label_of(kind: str, name: str, index: int) -> str:
    """An input or an output of the graph in a sentence."""
    return f"graph {kind} {index}" + (f" {quote(name)}" if name else "")
