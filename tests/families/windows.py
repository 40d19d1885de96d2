"""Properties of the families that have windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.given import Given
from dmlcy._families.windows import Slide, roles_of, slide

from .common import Arrays, run, whole


def window_of(desc: OperatorDesc, arrays: Arrays) -> Slide:
    given = Given.of_desc(desc, arrays)
    return slide(given, given.input.shape)


def a_flip_flips(desc: Any, arrays: Arrays, result: Array) -> bool:
    """With as much padding at the end as it takes for no element to be left out."""
    exact, window, roles = whole(desc, arrays), window_of(desc, arrays), roles_of(desc.operator)
    spatial = len(window.sizes)
    if max(window.strides) > 50:
        return False
    end = tuple(
        after - (n + before + after - dilation * (w - 1) - 1) % -step
        for n, w, step, dilation, before, after in zip(
            window.limits, window.sizes, window.strides, window.dilations, window.start, desc.end_padding, strict=True
        )
    )
    axes = tuple(range(2, 2 + spatial))
    flipped = run(desc, {"input": np.flip(exact["input"], axes)}, **{roles.start: end, "end_padding": window.start})
    plain = run(desc, exact, end_padding=end)
    if window.blocks is not None:  # rows and columns both run backwards; channels do not
        split = (plain.shape[0], exact["input"].shape[1], -1, plain.shape[2])
        flipped, plain = flipped.reshape(split), plain.reshape(split)[:, :, ::-1, ::-1]
    else:
        plain = np.flip(plain, axes)
    assert_same_bits(flipped, np.ascontiguousarray(plain))
    return True


def a_window_of_one_is_the_identity(desc: Any, arrays: Arrays, result: Array) -> bool:
    roles, x = roles_of(desc.operator), arrays["input"]
    changes = dict.fromkeys(filter(None, (roles.window, roles.strides, roles.dilations)), 1)
    same = run(desc, {"input": x}, **changes, **{roles.start: 0}, end_padding=0)
    number = np.array(x, order="C").reshape(same.shape)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        assert_same_values(same + same.dtype.type(0), number + same.dtype.type(0))
    return True
