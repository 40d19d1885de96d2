"""Tensors of products and convolutions that tests draw, and the convolution of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from strategies import Array

random = np.random.default_rng(23)


def normal(*sizes: int, dtype: str = "f4") -> Array:
    return random.standard_normal(sizes).astype(dtype)


def whole(dtype: str, *sizes: int) -> Array:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, sizes, dtype, endpoint=True)


def assert_near(result: Array, expected: Any, terms: int = 0, magnitudes: Any = 0) -> None:
    """The nearest numbers to those in float64, which are off by next to nothing.

    ``terms``: so many were added in FLOAT32, each of which rounds the sum. ``magnitudes`` is that of their sizes.
    """
    wide = np.asarray(expected, np.float64)
    assert result.shape == wide.shape
    limits = np.finfo(result.dtype)
    error = float(limits.smallest_subnormal) + 1e-12 + terms * 2.0**-24 * np.asarray(magnitudes, np.float64)
    off = np.abs(result.astype(np.float64) - wide) - error
    assert np.all(off <= float(limits.eps) * 0.501 * np.abs(wide)), off.max()


def tensor(array: Array) -> Any:
    return pytest.importorskip("torch").from_numpy(np.array(array, np.float64))


def forward(spatial: int) -> tuple[Array, Array, Array, dict[str, Any]]:
    """The tensors and the attributes of a convolution."""
    groups, batch = (int(n) for n in random.integers(1, 4, 2))
    inputs, outputs = (groups * int(n) for n in random.integers(1, 4, 2))
    sizes, window, strides, dilations, start, end = (
        random.integers(low, high, spatial).tolist() for low, high in ((1, 8), (1, 4), (1, 4), (1, 3), (0, 4), (0, 4))
    )
    for axis in range(spatial):
        extent = dilations[axis] * (window[axis] - 1) + 1
        sizes[axis] = max(sizes[axis], extent - start[axis] - end[axis], 1)
    said = {"strides": strides, "dilations": dilations, "start_padding": start, "end_padding": end}
    ones = (1,) * spatial
    filters = normal(outputs, inputs // groups, *window)
    return normal(batch, inputs, *sizes), filters, normal(1, outputs, *ones), said | {"group_count": groups}


def peer(torch: Any, x: Any, filters: Any, said: dict[str, Any], **more: Any) -> Any:
    """The convolution in PyTorch."""
    spatial = x.ndim - 2
    pairs = [*zip(said["start_padding"], said["end_padding"], strict=True)]
    padded = torch.nn.functional.pad(x, [n for pair in reversed(pairs) for n in pair])
    function = getattr(torch.nn.functional, f"conv{spatial}d")
    attributes = {"stride": said["strides"], "dilation": said["dilations"], "groups": said["group_count"]}
    return function(padded, filters, **attributes, **more)
