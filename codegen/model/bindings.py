"""The names of PyDirectML's module: functions, an operator each, and the types of what they take and give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KINDS = (
    "expression", "expressions", "operand", "integers", "reals", "integer", "real", "flag", "scalar", "data_type",
    "member", "activation", "activations", "area", "scaling", "graph", "options",
)  # fmt: skip
"""What a parameter of a function takes; ``member``: of the enum that the field of the operator has."""


@dataclass(frozen=True, slots=True)
class BoundParameter:
    """A parameter of a function of PyDirectML.

    ``argument``: of the function of dmlcy; "" where only values read the parameter. ``default``: Python; None where
    the parameter has none. ``optional``: ``None`` is a tensor that is left out.
    """

    name: str
    argument: str
    kind: str
    default: str | None
    keyword: bool
    optional: bool
    enum: str

    @property
    def is_tensor(self) -> bool:
        """Whether it takes expressions."""
        return self.kind in ("expression", "expressions")


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """A function of PyDirectML. The comments of specs/directml.toml say what each key is."""

    name: str
    operator: str
    parameters: tuple[BoundParameter, ...]
    outputs: str  # the named tuple of the result, or ""
    asked: tuple[tuple[str, str], ...]  # each output of the operator, and the parameter that asks for it, or ""
    values: Mapping[str, str]
    result: str
    alike: tuple[str, ...]
    same_sizes: tuple[str, ...]
    instead: tuple[str, str] | None  # another operator, and when
    older: bool
    also: Mapping[str, str]
    lacks: tuple[str, str] | None  # a parameter, and the function that says which values are of it
    takes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BoundOutputs:
    """A named tuple: its fields, and whether each may be None."""

    name: str
    fields: tuple[tuple[str, bool], ...]
    doc: str


@dataclass(frozen=True, slots=True)
class BoundActivation:
    """A factory of activations: the operator, "" for none, and the names and defaults of its parameters."""

    name: str
    operator: str
    parameters: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class BoundEnum:
    """An enum with its members; ``also``: an older name of it, or ""."""

    name: str
    members: tuple[tuple[str, int], ...]
    flags: bool
    doc: str
    also: str


@dataclass(frozen=True, slots=True)
class Bindings:
    """Everything in specs/directml.toml."""

    functions: tuple[BoundFunction, ...] = ()
    outputs: tuple[BoundOutputs, ...] = ()
    activations: tuple[BoundActivation, ...] = ()
    enums: tuple[BoundEnum, ...] = ()
