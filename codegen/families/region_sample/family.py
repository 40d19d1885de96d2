"""region_sample: samples of the cells of regions. [kernel] names roles, and no expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Use
from .samples import sampled

ROLES: Final = {
    "rois": ("roi", Kind.TENSOR),
    "batches": ("batch_indices", Kind.TENSOR),
    "reduction": ("reduction_function", Kind.ENUM),
    "mode": ("interpolation_mode", Kind.ENUM),
    "scale_x": ("spatial_scale_x", Kind.FLOAT),
    "scale_y": ("spatial_scale_y", Kind.FLOAT),
    "least": ("minimum_samples_per_output", Kind.INT),
    "most": ("maximum_samples_per_output", Kind.INT),
}
PERHAPS: Final = {
    "before": ("input_pixel_offset", Kind.FLOAT),
    "after": ("output_pixel_offset", Kind.FLOAT),
    "corners": ("align_regions_to_corners", Kind.BOOL),
    "outside": ("out_of_bounds_input_value", Kind.FLOAT),
    "input": ("input", Kind.TENSOR),
    "gradient": ("input_gradient", Kind.TENSOR),
    "image_gradient": ("output_gradient", Kind.TENSOR),
    "region_gradient": ("output_roi_gradient", Kind.TENSOR),
}
"""Roles that are not played if the operator does not have the field."""


@dataclass(frozen=True, slots=True)
class RegionKernel:
    """The run template's view. ``reductions`` and ``modes`` map members of the two enums to their Cython constants."""

    roles: Mapping[str, str]
    reductions: Mapping[str, str]
    modes: Mapping[str, str]
    definition: Definition


class RegionSample(Moved):
    """The family."""

    name = "region_sample"
    told: ClassVar = {
        "odd_tie": (
            Kind.BOOL,
            "whether a sample is in the middle between two elements, of which the first has an odd index. A sample "
            "that is near the middle counts, too, if rounding to FLOAT32 decides. For a gradient, the element is "
            "beside such a sample",
        ),
        "contested": (Kind.BOOL, "whether the element is of a gradient, and several samples may be the greatest one"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> RegionKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is not None:
            for role, (name, kind) in (ROLES | PERHAPS).items():
                if role in ROLES or name in operator.scope or kernel.table.has(role):
                    kernel.role(role, name, kind)
        kernel.finish()
        roles = kernel.definition.roles
        reductions, modes = (kernel.members(roles.get(role, "")) for role in ("reduction", "mode"))
        return RegionKernel(roles, reductions, modes, kernel.definition)

    def needs(self, kernel: RegionKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: RegionKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: RegionKernel, use: Use) -> Picture | None:
        """Each element of the output is made of samples of a cell of its region; gradients have no figure."""
        return None if "gradient" in kernel.roles else sampled(kernel.roles, use)


FAMILY = RegionSample()
