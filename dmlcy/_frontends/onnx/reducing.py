"""The smallest part of a model for which a check still fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from dmlcy._errors import DmlError
from dmlcy._frontends.onnx.inputs import arrays_for
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.model import Model
from dmlcy._frontends.onnx.structure import ordered
from dmlcy._frontends.onnx.values import LARGEST
from dmlcy._frontends.onnx.visits import Known
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._frontends.onnx.writing import Described, Source, names_read, part
from dmlcy._types import Array

Mode: TypeAlias = Literal["bisect", "linear"]


def smallest(nodes: Sequence[int], fails: Callable[[Sequence[int]], bool], mode: Mode) -> list[int]:
    """Nodes in their order of which none can be left out, so that the check still fails, as it does for all of them.

    "bisect" first looks for the shortest beginning that fails, then for its shortest end, and leaves out halves,
    quarters and so on. The method "linear" only tries to leave out one node after the other. The same for the same
    answers.
    """
    known: dict[tuple[int, ...], bool] = {}

    def still(several: Sequence[int]) -> bool:
        key = tuple(several)
        if key not in known:
            known[key] = bool(key) and fails(key)
        return known[key]

    left = [*nodes]
    if mode == "bisect":
        left = left[: _least(len(left), lambda count: still(left[:count]))]
        end = left
        left = end[len(end) - _least(len(end), lambda count: still(end[len(end) - count :])) :]
    size = len(left) // 2 if mode == "bisect" else 1
    while size:
        before = len(left)
        left = _without(left, size, still)
        size = size // 2 if len(left) == before or size > 1 else min(size, len(left))
    return left


def _least(most: int, fails: Callable[[int], bool]) -> int:
    """A number up to ``most``, for which the check fails, and not for the number before it, as far as it was asked."""
    passing, failing = 0, most
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if fails(middle):
            failing = middle
        else:
            passing = middle
    return failing


def _without(nodes: Sequence[int], size: int, fails: Callable[[Sequence[int]], bool]) -> list[int]:
    """The nodes without the runs of this length that the check fails without, the last ones first."""
    left = [*nodes]
    for start in range((len(left) - 1) // size * size, -1, -size):
        others = left[:start] + left[start + size :]
        if fails(others):
            left = others
    return left


class Parts:
    """Writes parts of a model: what other nodes give is a constant where it is known, else an input."""

    def __init__(
        self, source: Source, model: Model, shapes: Mapping[str, Sequence[int]], files: Mapping[str, str], seed: int
    ) -> None:
        self.source, self.model = source, model
        self.walk = Walk(model, shapes)
        self.order = [node.number for node in ordered(model.graph, model.file)]
        self.outputs = {one.name for one in model.graph.outputs}
        self.values = self._values(shapes, files, seed)

    def _values(
        self, shapes: Mapping[str, Sequence[int]], files: Mapping[str, str], seed: int
    ) -> dict[str, Array] | None:
        """The values of a run, for the inputs of parts; None where the model does not run here."""
        try:
            model = CompiledModel(self.model, shapes)
            names = [name for name in model.names if name in self.walk.scope]
            return model.run(arrays_for(model, files, seed), names)
        except DmlError:
            return None

    def model_of(self, numbers: Collection[int]) -> tuple[bytes, dict[str, Array] | None]:
        """The bytes of the part of these nodes, and arrays for its inputs, if there are any."""
        nodes = [self.model.graph.nodes[number] for number in sorted(numbers)]
        made = {name for node in nodes for name in node.outputs if name}
        read = {name for number in numbers for name in names_read(self.model, number)}
        constants: dict[str, tuple[Array, str]] = {}
        inputs: list[Described] = []
        for name in sorted(read - made):
            known = self.walk.scope.get(name)
            if name in self.model.graph.initializers and (known is None or known.is_constant):
                continue
            elements = None if known is None else _elements(known)
            if elements is None:
                inputs.append(self._described(name, known))
            else:
                constants[name] = elements
        outputs = [
            self._described(name, self.walk.scope.get(name), sizes=False)
            for name in dict.fromkeys(name for node in nodes for name in node.outputs if name)
            if name not in read or name in self.outputs
        ]
        data = part(self.source, self.model, numbers, inputs=inputs, outputs=outputs, constants=constants)
        if self.values is None or any(one.name not in self.values for one in inputs):
            return data, None
        return data, {one.name: self.values[one.name] for one in inputs}

    def _described(self, name: str, known: Known | None, *, sizes: bool = True) -> Described:
        """A value with its data type and sizes; those of a run, where there was one."""
        element = None if known is None else known.element
        said = None if known is None else known.sizes
        if self.values is not None and name in self.values:
            said = self.values[name].shape
        return Described(name, element, said if sizes or said is None else (None,) * len(said))


def _elements(known: Known) -> tuple[Array, str] | None:
    """The elements and the data type of a value that is known before the model runs; None for one that is not."""
    value = known.value
    if value is None or value.read is None:
        return None
    array = value.read()
    return (array, value.element) if array.size <= LARGEST else None
