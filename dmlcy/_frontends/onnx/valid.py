"""Whether a node has the inputs, outputs and attributes of its operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dmlcy._frontends.onnx.binding import written
from dmlcy._frontends.onnx.elements import parameter
from dmlcy._frontends.onnx.model import ELEMENTS, Info, Node, Sizes
from dmlcy._frontends.onnx.tables import OperatorRow, Parameter, Version, shown
from dmlcy._frontends.onnx.use import Unconverted


def problems(node: Node, row: OperatorRow, version: Version) -> Iterator[Unconverted]:
    """The problems of a node, whatever its values are."""
    operator = shown(row.domain, row.name)
    for rows, names, what in ((version.inputs, node.inputs, "inputs"), (version.outputs, node.outputs, "outputs")):
        most = _most(rows)
        if most is not None and len(names) > most:
            yield Unconverted(
                "DML-ONNX-node-inputs", count=len(names), what=what, operator=operator, allowed=_allowed(rows, most)
            )
    for place, one in enumerate(version.inputs):
        if one.mark in ("", "+") and (place >= len(node.inputs) or (one.mark == "" and not node.inputs[place])):
            yield Unconverted("DML-ONNX-node-input", input=one.name)
    for name, declared in version.attributes.items():
        given = node.attributes.get(name)
        if given is None and declared.required:
            yield Unconverted("DML-ONNX-node-attribute", name=name)
        elif given is not None and given.kind != declared.kind:
            yield Unconverted("DML-ONNX-node-attribute-kind", name=name, kind=given.kind, wanted=declared.kind)


def types(node: Node, row: OperatorRow, version: Version, elements: Sequence[str | None]) -> Iterator[Unconverted]:
    """The inputs whose data type is not that of the parameter, or of the inputs that must be alike."""
    if not row.conversion and not row.fold:
        return
    results = {one.type for one in version.outputs}
    wanted: dict[str, str] = {}
    for place, (name, element) in enumerate(zip(node.inputs, elements, strict=True)):
        one = parameter(version.inputs, place)
        if one is None or element is None or (one.mark and one.mark != "?" and one.type not in results):
            continue  # of any number of inputs, each may have a type of its own that the outputs do not have
        allowed = one.type if one.type in ELEMENTS else wanted.setdefault(one.type, element)
        if element != allowed:
            yield Unconverted("DML-ONNX-input-type", name=name, element=element, wanted=allowed)


def unknown(node: Node, row: OperatorRow, version: Version) -> Iterator[Unconverted]:
    """The attributes that the version of the operator does not have: warnings."""
    for name in node.attributes:
        if name not in version.attributes:
            operator = shown(row.domain, row.name)
            yield Unconverted("DML-ONNX-node-attribute-unknown", operator=operator, name=name, version=version.since)


def contradictions(info: Info, sizes: Sizes) -> Iterator[Unconverted]:
    """The statements of the model about the sizes of an output that are wrong."""
    said = info.sizes
    if said is None:
        return
    if len(said) != len(sizes):
        yield Unconverted("DML-ONNX-output-rank", name=info.name, rank=len(sizes), said=len(said))
    elif any(isinstance(one, int) and one != size for one, size in zip(said, sizes, strict=True)):
        yield Unconverted("DML-ONNX-output-sizes", name=info.name, sizes=written(sizes), said=written(said))


def _most(rows: Sequence[Parameter]) -> int | None:
    """The most parameters; None for any number."""
    return None if rows and rows[-1].mark in ("*", "+") else len(rows)


def _allowed(rows: Sequence[Parameter], most: int) -> str:
    least = sum(one.mark == "" for one in rows)
    return str(most) if least == most else f"{least} to {most}"
