"""The differences that pass for an expected output, by the rules of the version of its manifest."""

from __future__ import annotations

from typing import Any

from dmlcy._desc.check import check_inputs
from dmlcy._desc.memory import dtype_of
from dmlcy._errors import DmlError
from dmlcy._facts.tables import DTYPES
from dmlcy._field_types.tensor_array import arrays_by_path
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.operators import tensor_of, tensors_of
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._judge.expected.manifest import OLD, Output
from dmlcy._judge.expected.manifest_reader import Expected
from dmlcy._judge.passes import Device, Mask, Passes, grouped, judged
from dmlcy._reference.accuracy import Tolerance
from dmlcy._runtime.four_bits import values_of
from dmlcy._types import Array


def passes_of(source: Expected, output: Output, expected: Array, options: Device) -> Passes:
    """The differences that pass for these values and options of the device; ModelError for unreadable files."""
    assert output.node is not None
    return _Files(source, output, output.node).passes(expected, options)


class _Files:
    """Reads the files of an output."""

    def __init__(self, source: Expected, output: Output, node: Node) -> None:
        self.source, self.output, self.node = source, output, node

    def passes(self, expected: Array, options: Device) -> Passes:
        output, standing = self.output, None
        if output.standing is not None:
            standing = self.marks(self.node.value["standing"])
        if options.half and output.has_half and self.source.manifest.version != OLD:
            found = judged(output.desc, self.inputs(), output.path, options)[1]
            return Passes(found.allowed, found.typical, found.flushed, found.not_judged, standing)
        if output.old is not None and output.allowed is None:
            tolerance = None if output.old.tolerance is None else self.numbers("accuracy", "tolerance")
            found = Passes.of_bound(expected, output.old.bound, tolerance)
            return options.replaced(Passes(found.allowed, standing=standing), expected)
        allowed = None if output.allowed is None else self.numbers("accuracy", "allowed")
        typical = None if output.typical is None else self.numbers("accuracy", "typical")
        flushed = None
        if output.flushed is not None:
            flushed = self.values(self.node.value["flushed"].value["file"]), self.numbers("flushed", "allowed")
        marked = self.node.value["not_judged"].value if output.not_judged else ()
        marks = tuple((node.value["id"].value, self.marks(node.value["file"])) for node in marked)
        return options.replaced(Passes(allowed, typical, flushed, marks, standing), expected)

    def values(self, node: Node) -> Array:
        """Values of the output."""
        return values_of(self.source.array(node, self.output.dtype, self.output.tensor.sizes))

    def marks(self, node: Node) -> Mask:
        """The elements that are marked."""
        found: Mask = self.source.array(node, DTYPES["UINT8"], self.output.tensor.sizes) != 0
        return found

    def numbers(self, member: str, name: str) -> Tolerance:
        """Differences for each element, which are not negative."""
        node = self.node.value[member].value[name]
        found: Tolerance = self.source.array(node, DTYPES["FLOAT64"], self.output.tensor.sizes)
        if (found < 0).any():
            reader = Reader(self.source.document)
            reader.report("DML-MODEL-manifest-tolerance", node, path=str(self.source.folder / node.value))
            reader.finish()
        return found

    def inputs(self) -> dict[str, Any]:
        """The inputs of the dispatch, by their Python names; ModelError where the operator does not take them."""
        reader, node = Reader(self.source.document), self.node.value["inputs"]
        found = []
        for name, (field, entry) in tensors_of(self.output.desc, "input").items():
            if name not in self.output.inputs:
                reader.missing("DML-MODEL-missing", node, name, name=name)
                continue
            tensor = tensor_of(self.output.desc, field, entry)
            file = node.value[name].value["file"]
            found.append((field, entry, self.source.array(file, dtype_of(tensor), tensor.sizes)))
        reader.finish()
        arrays = grouped(found)
        try:
            check_inputs(self.output.desc, arrays_by_path(arrays))
        except DmlError as error:
            for violation in error.violations:
                reader.add(node, violation)
        reader.finish()
        return arrays
