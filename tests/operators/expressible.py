"""Uses of FOLD that PyTorch can express: of what ``dmlcy.testing`` draws, less than one in a hundred can be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from strategies import Array

import dmlcy as dml

FAR = (64, 2**16, 2**20)
"""Steps of a window that has one position, or one element: they lead nowhere."""


@st.composite
def along_an_axis(draw: st.DrawFn) -> dict[str, int]:
    """The attributes of one axis, its number of blocks, and a size of the image that gives these."""
    window, blocks = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    near = st.integers(1, 4)
    stride = draw(near if blocks > 1 else st.one_of(near, st.sampled_from(FAR)))
    dilation = draw(near if window > 1 else st.one_of(near, st.sampled_from(FAR)))
    covered = (blocks - 1) * stride + (window - 1) * dilation + 1
    left = draw(st.integers(0, min(stride - 1, 5)))  # behind the last position
    padding = draw(st.integers(0, (covered + left - 1) // 2))
    return {
        "window_sizes": window, "strides": stride, "dilations": dilation, "start_padding": padding,
        "end_padding": padding, "blocks": blocks, "image": covered + left - 2 * padding,
    }  # fmt: skip


@st.composite
def folds(draw: st.DrawFn) -> tuple[Any, dict[str, Array]]:
    """A desc of FOLD over one axis or two, padded alike at both ends, with its array."""
    axes = draw(st.lists(along_an_axis(), min_size=1, max_size=2))
    given: dict[str, Any] = {name: tuple(axis[name] for axis in axes) for name in axes[0]}
    blocks, image = given.pop("blocks"), given.pop("image")
    batch, channels = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(["FLOAT64", "FLOAT32", "FLOAT16"]))
    sizes = (batch, channels * math.prod(given["window_sizes"]), math.prod(blocks))
    desc = dml.desc.Fold(
        input=dml.TensorDesc(dtype, sizes), output=dml.TensorDesc(dtype, (batch, channels, *image)), **given
    )
    return desc, {"input": np.zeros(sizes, dtype.lower())}
