"""Tensors of INT4 and UINT4 for tests: packed bytes that NumPy makes, and results as numbers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

Array = np.ndarray[Any, Any]


def packed_bytes(values: Array) -> Array:
    """The bytes of integers of 4 bits, the low half first."""
    halves = np.append(values.reshape(-1), np.zeros(values.size % 2, values.dtype)).astype(np.uint8) & 15
    return np.array([low + 16 * high for low, high in halves.reshape(-1, 2).tolist()], np.uint8)


def packed(values: Array, dtype: str) -> Any:
    return dml.packed(packed_bytes(values), dtype, values.shape)


def numbers(result: Any) -> Array:
    """The elements of a result, whether ml_dtypes is installed or not."""
    found: Array = result.values() if isinstance(result, dml.Packed) else result.astype(np.int8)
    return found.astype(np.int64)


def with_and_without_ml_dtypes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """A fixture of both cases: whether ml_dtypes is there."""
    if request.param == "ml_dtypes":
        pytest.importorskip("ml_dtypes", reason="needs ml_dtypes, which JAX and ONNX bring")
        return True
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    return False
