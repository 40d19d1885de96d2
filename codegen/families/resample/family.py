"""resample: elements between those of a tensor, along each axis by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Use
from .weights import pictured

PERHAPS: Final = {
    "before": ("input_pixel_offsets", Kind.FLOATS),
    "after": ("output_pixel_offsets", Kind.FLOATS),
    "rounding": ("rounding_direction", Kind.ENUM),
    "smooth": ("antialiased", Kind.BOOL),
}
"""Roles that are not played if the operator does not have the field."""


@dataclass(frozen=True, slots=True)
class ResampleKernel:
    """The run template's view. ``modes`` and ``directions`` map members of the two enums to their Cython constants."""

    roles: Mapping[str, str]
    modes: Mapping[str, str]
    directions: Mapping[str, str]
    gradient: bool
    tie: str
    lets: tuple[str, ...]
    definition: Definition


class Resample(Moved):
    """The family."""

    name = "resample"
    told: ClassVar = {
        "odd_tie": (
            Kind.BOOL,
            "whether the place is in the middle between two elements, of which the first has an odd index. For a "
            "gradient, this is said of each element next to such a place",
        ),
        "near": (
            Kind.BOOL,
            "whether rounding to FLOAT32 decides which element is nearest to the place. For a gradient, this "
            "is said of each element next to such a place",
        ),
        "edge": (Kind.BOOL, "whether the antialiasing filter gives a weight to elements beyond an end of the axis"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ResampleKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        gives = tie = ""
        if table is not None:
            if table.has("gives"):
                gives = kernel.word("gives", table.choice("gives", ("elements", "gradient")))
            kernel.role("mode", "interpolation_mode", Kind.ENUM)
            if table.has("factors"):
                kernel.role("factors", "", Kind.VECTOR)
            else:
                kernel.role("scales", "scales", Kind.FLOATS)
            for role, (name, kind) in PERHAPS.items():
                if name in operator.scope or table.has(role):
                    kernel.role(role, name, kind)
            if not {"factors", "rounding"} & kernel.definition.roles.keys():
                tie = kernel.word("tie", table.choice("tie", ("lower", "higher")))
        kernel.finish()
        roles = kernel.definition.roles
        return ResampleKernel(
            roles,
            kernel.members(roles.get("mode", "")),
            kernel.members(roles.get("rounding", "")),
            gives == "gradient",
            tie or "lower",
            (roles["factors"],) if "factors" in roles else (),
            kernel.definition,
        )

    def needs(self, kernel: ResampleKernel) -> Sequence[str]:
        """The let among the roles."""
        return kernel.lets

    def pieces(self, kernel: ResampleKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: ResampleKernel, use: Use) -> Picture:
        """Each element of the output is one of the input, or a mean of some of them."""
        return pictured(kernel, use)


FAMILY = Resample()
