"""The elements of the outputs of nodes whose inputs are constants: a file for each theme.

The key ``fold`` of a row of ``specs/onnx`` names a file and a function in it, such as ``elements.add``. The function of
a :class:`~dmlcy._frontends.onnx.use.Use` reads the inputs by ``use.constant``, and gives an array, or one for each
output.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeAlias

import numpy as np

from dmlcy._frontends.onnx.elements import as_element
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array

Fold: TypeAlias = Callable[[Use], tuple[Array, ...]]


@cache
def function(name: str) -> Fold:
    """The function of this name. Its arrays have the data types that ``use.elements`` says, where these are known."""
    theme, _, own = name.partition(".")
    made = getattr(import_module(f"{__name__}.{theme}"), own)

    def fold(use: Use) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            found = made(use)
            arrays = found if isinstance(found, tuple) else (found,)
            return tuple(
                as_element(array, element) if element else np.asarray(array)
                for array, element in zip(arrays, use.elements, strict=False)
            )

    return fold
