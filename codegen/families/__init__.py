"""The families: for each, which ``[kernel]`` keys and roles it takes, and what its templates are given."""

from __future__ import annotations

from .base import Family, WindowRoles
from .pad import Pad
from .rearrange import Rearrange
from .region_reduce import RegionReduce
from .window_gather import WindowGather
from .window_reduce import WindowReduce
from .window_scatter import WindowScatter

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (WindowReduce(), WindowGather(), WindowScatter(), Rearrange(), Pad(), RegionReduce())
}

__all__ = ["FAMILIES", "Family", "WindowRoles"]
