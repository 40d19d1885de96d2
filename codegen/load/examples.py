"""The examples of an operator, and the older versions that give the same."""

from __future__ import annotations

from typing import Any

from ..diagnostics import did_you_mean
from ..field_types import type_of
from ..model import Example, Facts, Field, Same, TensorData
from ..source import Table
from .reading import source_of


class Examples:
    """Reads the examples of one operator."""

    def __init__(self, facts: Facts, fields: tuple[Field, ...]) -> None:
        self.facts = facts
        self.fields = fields

    def example(self, row: Table) -> Example:
        source_url = source_of(row) if row.has("source") else None
        calculation = row.str("calculation", None)
        if (source_url is None) == (calculation is None):
            row.error("title", "an example has either a source (documented) or a calculation (derived)")
        inputs = self.tensors(row, "inputs", [field for field in self.fields if field.kind == "input"])
        outputs = self.tensors(row, "outputs", [field for field in self.fields if field.kind == "output"])
        attributes = self.attributes(row, "attributes")
        figure = self.followed(row, outputs) if row.has("figure") else None
        title, span = row.str("title"), row.span("title")
        contradicts = row.str("contradicts", "")
        if contradicts and source_url is None:
            row.error("contradicts", "only a documented example is contradicted by its page", "add the source")
        sized = row.bool("sized", False)
        return Example(title, source_url, calculation, inputs, attributes, outputs, figure, span, contradicts, sized)

    def attributes(self, row: Table, key: str) -> dict[str, Any]:
        """Values by the names of attributes."""
        found = row.any(key, {})
        if not isinstance(found, dict):
            row.error(key, "attributes are a table: { field = value }")
            return {}
        known = [field.python for field in self.fields if field.kind == "attribute"]
        for name in found:
            if name not in known:
                row.error(key, f"{name!r} is no attribute", did_you_mean(name, known))
        return found

    def same(self, row: Table) -> Same:
        return Same(row.str("as"), self.attributes(row, "with"), self.attributes(row, "older"), row.span("as"))

    def followed(self, row: Table, outputs: dict[str, TensorData]) -> tuple[tuple[int, ...], ...]:
        """The elements of the first output that the figure follows; none: it chooses them."""
        sizes = next(iter(outputs.values())).sizes if outputs else ()
        places = row.any("figure")
        for place in places if isinstance(places, list) else [None]:
            if not isinstance(place, list) or any(type(index) is not int for index in place):
                row.error("figure", "figure is an array of elements of the output: arrays of indices")
            elif len(place) != len(sizes) or not all(0 <= i < size for i, size in zip(place, sizes, strict=True)):
                row.error("figure", f"the output has no element {place}: its sizes are {list(sizes)}")
            else:
                continue
            return ()
        return tuple(map(tuple, places))

    def tensors(self, row: Table, key: str, fields: list[Field]) -> dict[str, TensorData]:
        table = row.table(key)
        if table is None:
            row.error(key, f"an example has {key}")
            return {}
        found: dict[str, TensorData] = {}
        for field in fields:
            if not table.has(field.python):
                if not field.optional:
                    row.error(key, f"{key} has no {field.python}")
            elif type_of(field).several:
                for number, tensor in enumerate(table.tables(field.python)):
                    found[f"{field.python}[{number}]"] = self.tensor(tensor)
            else:
                one = table.table(field.python)
                if one is not None:
                    found[field.python] = self.tensor(one)
        table.finish()
        return found

    def tensor(self, row: Table) -> TensorData:
        given, data = row.any("sizes"), row.any("data")
        sizes = tuple(given) if isinstance(given, list) else ()
        if not sizes or any(type(size) is not int for size in sizes):
            row.error("sizes", "sizes are an array of integers")
        elif sizes_of(data) != sizes:
            row.error("data", f"the data has the sizes {list(sizes_of(data))}, not {list(sizes)}")
        dtypes = tuple(dtype.name for dtype in self.facts.dtypes)
        found = TensorData(row.choice("dtype", dtypes), sizes, data)
        row.finish()
        return found


def sizes_of(data: Any) -> tuple[int, ...]:
    """Sizes of nested lists; a ragged one gives sizes that no tensor has."""
    if not isinstance(data, list):
        return ()
    inner = {sizes_of(item) for item in data}
    return (len(data), *(inner.pop() if len(inner) == 1 else (-1,)))
