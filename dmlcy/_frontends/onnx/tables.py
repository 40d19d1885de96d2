"""The facts of ONNX's operators: the rows of ``specs/onnx``, made when an operator is asked for."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from dmlcy._frontends.onnx.model import ONNX
from dmlcy._generated.onnx import OPERATORS, QUERIES, RUNTIMES


class Parameter(NamedTuple):
    """An input or an output. ``mark``: "?" optional, "*" and "+" any number, "+" at least one."""

    name: str
    type: str  # a data type, such as INT64, or the variable of a constraint, such as T
    mark: str


class AttributeRow(NamedTuple):
    """An attribute that nodes may have."""

    name: str
    kind: str
    required: bool
    default: object


class Version(NamedTuple):
    """A version of an operator, which holds until the next one."""

    since: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, AttributeRow]
    deprecated: bool
    function: bool  # ONNX defines it by other operators


class OperatorRow(NamedTuple):
    """An operator of ONNX, or of another domain that ONNX Runtime knows; see ``codegen/model/onnx.py``."""

    domain: str
    name: str
    group: str
    kernels: tuple[int, ...]
    becomes: tuple[tuple[str, ...], ...]
    sometimes: tuple[str, ...]
    place: str
    graph: str
    constants: tuple[int, ...]
    types: dict[str, tuple[str, ...]]
    query: str
    fused: tuple[str, ...]
    about: str
    conversion: str
    fold: str
    element: str
    otherwise: str
    sizes: str
    inlined: str
    source: str
    opsets: tuple[tuple[int, int], ...]  # with a kernel: the first and the last of each range; 0 for an open end
    versions: tuple[Version, ...]

    def version(self, opset: int) -> Version | None:
        """The version that a node of this opset has; None where the operator is newer."""
        return next((one for one in reversed(self.versions) if one.since <= opset), None)

    def read(self) -> tuple[str, ...]:
        """The inputs that the newest kernel reads on the CPU."""
        newest = next((one for one in reversed(self.versions) if one.since in self.kernels), None)
        return (
            () if newest is None else tuple(newest.inputs[at].name for at in self.constants if at < len(newest.inputs))
        )


class Runtime(NamedTuple):
    """A release of ONNX Runtime that the tables describe."""

    version: str
    opset: int
    minimum: str
    source: str


CONDITIONS: Final = QUERIES
"""By the ``query`` of a row: when ONNX Runtime leaves a node to the CPU, as a sentence."""
RELEASES: Final = {row[0]: Runtime(*row) for row in RUNTIMES}
"""The releases of ONNX Runtime that have tables, by their version."""


@cache
def operator(domain: str, name: str) -> OperatorRow | None:
    """The operator of this name; None for one that is not in the tables."""
    row = OPERATORS.get((domain, name))
    if row is None:
        return None
    made = OperatorRow._make((domain, name, *row))
    return made._replace(types=dict(made.types), versions=tuple(map(_version, made.versions)))


def called(name: str) -> list[OperatorRow]:
    """The operators of this name, which may begin with the domain; capitals do not matter. ONNX's own is the first."""
    wanted = name.lower()
    keys = [key for key in sorted(OPERATORS) if wanted in (key[1].lower(), ".".join(key).lower())]
    return [row for key in keys if (row := operator(*key)) is not None]


def _version(row: tuple[Any, ...]) -> Version:
    since, inputs, outputs, attributes, deprecated, function = row
    return Version(
        since,
        tuple(Parameter(*one) for one in inputs),
        tuple(Parameter(*one) for one in outputs),
        {one[0]: AttributeRow(*one) for one in attributes},
        deprecated,
        function,
    )


def shown(domain: str, name: str) -> str:
    """How messages name an operator: with its domain where that is not ONNX's own."""
    return name if domain == ONNX else f"{domain}.{name}"
