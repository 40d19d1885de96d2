"""Properties of rearrange."""

from __future__ import annotations

import numpy as np
from checks import assert_same_bits
from reference.rearrange import depth_to_space

import dmlcy as dml


def test_the_order_is_spelled_in_three_ways() -> None:
    x = np.arange(16).reshape(1, 8, 2, 1)
    expected = depth_to_space(x, block_size=2, order="COLUMN_ROW_DEPTH")
    member = dml.DepthSpaceOrder.COLUMN_ROW_DEPTH
    for order in (member, "COLUMN_ROW_DEPTH", "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH"):
        assert_same_bits(dml.depth_to_space1(x, block_size=2, order=order), expected)
