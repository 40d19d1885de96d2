"""region_sample: samples of the cells of regions. [kernel] names roles, and no expressions."""

from __future__ import annotations

from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told

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


class RegionSample(Evaluated):
    """The family."""

    name = "region_sample"
    told: ClassVar = {"odd_tie": Kind.BOOL, "contested": Kind.BOOL}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        if kernel.table is not None:
            for role, (name, kind) in (ROLES | PERHAPS).items():
                if role in ROLES or name in operator.scope or kernel.table.has(role):
                    kernel.role(role, name, kind)
        kernel.finish()
        return Told(kernel.definition)


FAMILY = RegionSample()
