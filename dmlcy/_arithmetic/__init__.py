"""Numbers to evaluate ``[kernel]`` over: arrays of float64 and of integers for users, exact numbers for tests."""

from __future__ import annotations

from dmlcy._arithmetic.base import Arithmetic, limits
from dmlcy._arithmetic.exact import EXACT, SINGLE
from dmlcy._arithmetic.wide import WIDE
from dmlcy._types import Array

__all__ = ["EXACT", "SINGLE", "WIDE", "Arithmetic", "Array", "limits"]
