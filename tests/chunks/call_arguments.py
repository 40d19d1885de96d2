"""The arguments of a call on dask arrays, from a desc."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import dmlcy as dml

pytest.importorskip("dask", reason="dask is not installed")
import dmlcy.dask


def attributes(desc: Any) -> dict[str, Any]:
    """The arguments beside tensors of a call on dask arrays that computes the outputs of a desc."""
    operator = desc.operator
    found: dict[str, Any] = operator.arguments(desc)
    takes = inspect.signature(getattr(dmlcy.dask, operator.python)).parameters
    for field in operator.fields:
        tensor = getattr(desc, field.python) if field.kind == "output" else None
        name = field.python if field.optional else f"{field.python}_dtype"
        if isinstance(tensor, dml.TensorDesc) and name in takes:
            found[name] = tensor.dtype.name
    return found
