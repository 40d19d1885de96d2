"""The operators as their documentation defines them, in NumPy: independent of the specs, of the kernels and of PyTorch.

A family with loops has a module of its name. In it each operator is a function; a newer version of the operator gives
it more attributes, or has a function of its own. A family needs no module if a library has a call for each operator.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .elementwise import Near
from .window_reduce import Average, Norm

__all__ = ["Average", "Near", "Norm", "defined"]


def defined(operator: Any, *arrays: Any, **given: Any) -> Any:
    """The result of an operator of the package or of a spec, its enum members given by their names."""
    family = import_module(f"{__name__}.{operator.family}")
    name = operator.python if hasattr(family, operator.python) else operator.python.rstrip("0123456789")
    return getattr(family, name)(*arrays, **given)
