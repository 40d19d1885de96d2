"""SPACE_TO_DEPTH1 against its definition, PyTorch, ONNX Runtime and DEPTH_TO_SPACE1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_output_on_any_processor, check_everywhere, onnx_run
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, ORDERS, any_bits, dtypes, examples, seeds
from test_depth_to_space import LAYOUTS, laid_out, streaming

import dmlcy as dml

__all__ = ["streaming"]


@dataclass(frozen=True)
class Case:
    sizes: tuple[int, int, int, int]
    block_size: int
    order: str

    @property
    def attributes(self) -> dict[str, Any]:
        return {"block_size": self.block_size, "order": self.order}


@st.composite
def cases(draw: st.DrawFn, orders: tuple[str, ...] = tuple(ORDERS)) -> Case:
    block = draw(st.integers(1, 5))
    height, width = draw(st.integers(1, 5)) * block, draw(st.integers(1, 12)) * block
    if draw(st.booleans()):
        height, width = width, height
    batch, channels = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    return Case((batch, channels, height, width), block, draw(st.sampled_from(orders)))


@examples(120)
@given(cases(), dtypes, seeds)
def test_the_definition_bit_for_bit(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    assert_same_bits(dml.space_to_depth1(x, **case.attributes), reference.space_to_depth1(x, **case.attributes))


@examples(120)
@given(cases(), dtypes, seeds, st.data())
def test_any_layout(case: Case, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "space_to_depth1", [any_bits(seed, case.sizes, dtype)], case.attributes)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("sizes", "block"),
    [
        ((2, 3, 140, 130), 2),
        ((1, 1, 72, 1040), 8),
        ((1, 1, 9, 9000), 3),
        ((1, 1, 800, 4), 4),
        ((3, 7, 40, 41), 1),
        ((1, 1, 100, 60), 20),
        ((1, 32, 51, 48), 3),
    ],
)
def test_larger_tensors(sizes: tuple[int, ...], block: int, order: str, dtype: str) -> None:
    x = any_bits(3, sizes, dtype)
    expected = reference.space_to_depth1(x, block_size=block, order=order)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    out = np.empty(expected.shape[:1] + expected.shape[2:] + expected.shape[1:2], dtype).transpose(0, 3, 1, 2)
    for source in (x, last, np.asfortranarray(x)):
        assert_same_bits(dml.space_to_depth1(source, block_size=block, order=order), expected)
        assert dml.space_to_depth1(source, block_size=block, order=order, out=out) is out
        assert_same_bits(out, expected)


@pytest.mark.usefixtures("streaming")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    ("sizes", "block"),
    [((2, 16, 6, 128), 2), ((1, 3, 4, 1400), 2), ((1, 16, 12, 68), 4), ((1, 16, 12, 93), 3), ((1, 2, 15, 200), 5)],
)
def test_layouts(sizes: tuple[int, ...], block: int, dtype: str, layout: str) -> None:
    x = any_bits(8, sizes, dtype)
    source = laid_out(x, layout)
    for order in ORDERS:
        expected = reference.space_to_depth1(x, block_size=block, order=order)
        assert_same_bits(dml.space_to_depth1(source, block_size=block, order=order), expected)
        for out_layout in LAYOUTS:
            out = laid_out(np.zeros_like(expected), out_layout)
            assert dml.space_to_depth1(source, block_size=block, order=order, out=out) is out
            assert_same_bits(out, expected)


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype in "u1", "f2", "f4":
            for width in 7, 8, 15, 16, 33, 1000:
                x = np.random.default_rng(0).integers(0, 99, (2, 2, 9, 3 * width)).astype(dtype)
                for order in "DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH":
                    bits.update(dml.space_to_depth1(x, block_size=3, order=order).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# Other libraries


@examples(50)
@given(cases(orders=("COLUMN_ROW_DEPTH",)), st.sampled_from(["f4", "f2", "f8", "i8", "i4", "i2", "u1"]), seeds)
def test_torch(case: Case, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = any_bits(seed, case.sizes, dtype)
    expected = torch.nn.functional.pixel_unshuffle(torch.from_numpy(x), case.block_size).numpy()
    assert_same_bits(dml.space_to_depth1(x, **case.attributes), expected)


@examples(40)
@given(cases(orders=("DEPTH_COLUMN_ROW",)), st.sampled_from(["f4", "f8", "u1"]), seeds)
def test_onnx_runtime(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    expected = onnx_run("SpaceToDepth", 13, [x], blocksize=case.block_size)
    assert_same_bits(dml.space_to_depth1(x, **case.attributes), expected)


# What must hold


@examples(60)
@given(cases(), dtypes, seeds)
def test_depth_to_space_gives_the_input(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    assert_same_bits(dml.depth_to_space1(dml.space_to_depth1(x, **case.attributes), **case.attributes), x)


def test_what_no_block_fills_is_refused() -> None:
    for sizes in ((1, 1, 3, 4), (1, 1, 4, 3), (1, 1, 1, 1)):
        with pytest.raises(dml.InvalidDescError, match="block_size does not divide the height and the width"):
            dml.space_to_depth1(np.ones(sizes, np.float32), block_size=2)
