"""DEPTH_TO_SPACE1 against its definition, PyTorch and ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_output_on_any_processor, check_everywhere, onnx_run
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, ORDERS, Array, any_bits, dtypes, examples, seeds

import dmlcy as dml
from dmlcy._runtime.stream import set_stream_limit, stream_limit


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
    channels = draw(st.integers(1, 4)) * block * block
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 20))
    if draw(st.booleans()):
        height, width = width, height
    return Case((draw(st.integers(1, 3)), channels, height, width), block, draw(st.sampled_from(orders)))


@examples(120)
@given(cases(), dtypes, seeds)
def test_the_definition_bit_for_bit(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    assert_same_bits(dml.depth_to_space1(x, **case.attributes), reference.depth_to_space1(x, **case.attributes))


@examples(120)
@given(cases(), dtypes, seeds, st.data())
def test_any_layout(case: Case, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "depth_to_space1", [any_bits(seed, case.sizes, dtype)], case.attributes)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("sizes", "block"),
    [
        ((2, 12, 70, 65), 2),
        ((1, 64, 9, 130), 8),
        ((1, 9, 3, 3000), 3),
        ((1, 16, 200, 1), 4),
        ((3, 7, 40, 41), 1),
        ((1, 400, 5, 3), 20),
        ((1, 288, 17, 16), 3),
    ],
)
def test_larger_tensors(sizes: tuple[int, ...], block: int, order: str, dtype: str) -> None:
    x = any_bits(3, sizes, dtype)
    expected = reference.depth_to_space1(x, block_size=block, order=order)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    out = np.empty(expected.shape[:1] + expected.shape[2:] + expected.shape[1:2], dtype).transpose(0, 3, 1, 2)
    for source in (x, last, np.asfortranarray(x)):
        assert_same_bits(dml.depth_to_space1(source, block_size=block, order=order), expected)
        assert dml.depth_to_space1(source, block_size=block, order=order, out=out) is out
        assert_same_bits(out, expected)


@pytest.fixture(params=["kept", "streamed"])
def streaming(request: pytest.FixtureRequest) -> Iterator[None]:
    """Outputs of any size are streamed, or none is."""
    before = stream_limit()
    set_stream_limit(0 if request.param == "streamed" else 1 << 62)
    yield
    set_stream_limit(before)


def laid_out(x: Array, layout: str) -> Array:
    """The same elements elsewhere; what lies between them is not theirs."""
    last = x.ndim - 1
    if layout == "channels last":
        return np.ascontiguousarray(np.moveaxis(x, 1, -1)).transpose(0, 3, 1, 2)
    if layout == "channels last, cropped":
        wide = np.zeros((x.shape[0], *x.shape[2:], x.shape[1] + 3), x.dtype)[..., 1:-2]
        wide[...] = np.moveaxis(x, 1, -1)
        return np.moveaxis(wide, -1, 1)
    if layout == "Fortran":
        return np.asfortranarray(x)
    if layout == "rows swapped with columns":
        return np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3)
    if layout == "cropped":
        wide = np.zeros((*x.shape[:last], x.shape[last] + 5), x.dtype)[..., 2:-3]
    elif layout == "every second":
        wide = np.zeros((*x.shape[:last], x.shape[last] * 2), x.dtype)[..., ::2]
    elif layout == "every fifth":
        wide = np.zeros((*x.shape[:last], x.shape[last] * 5), x.dtype)[..., ::5]
    elif layout == "backwards":
        wide = np.zeros(x.shape, x.dtype)[:, :, ::-1, ::-1]
    elif layout == "misaligned":
        wide = np.frombuffer(bytearray(x.nbytes + 1), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    else:
        assert layout == "contiguous"
        return x
    wide[...] = x
    return wide


LAYOUTS = (
    "contiguous", "channels last", "channels last, cropped", "Fortran", "rows swapped with columns", "cropped",
    "every second", "every fifth", "backwards", "misaligned",
)  # fmt: skip


@pytest.mark.usefixtures("streaming")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    ("sizes", "block"),
    [
        ((2, 64, 3, 64), 2),
        ((2, 64, 5, 63), 2),
        ((1, 12, 2, 700), 2),
        ((2, 16, 9, 65), 4),
        ((1, 256, 3, 17), 4),
        ((1, 144, 4, 31), 3),
        ((2, 9, 17, 33), 3),
        ((1, 27, 3, 48), 3),
        ((1, 9, 2, 15), 3),
        ((1, 1152, 2, 9), 3),
        ((1, 50, 3, 40), 5),
        ((1, 162, 2, 33), 9),
        ((1, 2400, 1, 3), 2),
    ],
)
def test_layouts(sizes: tuple[int, ...], block: int, dtype: str, layout: str) -> None:
    x = any_bits(8, sizes, dtype)
    source = laid_out(x, layout)
    for order in ORDERS:
        expected = reference.depth_to_space1(x, block_size=block, order=order)
        assert_same_bits(dml.depth_to_space1(source, block_size=block, order=order), expected)
        for out_layout in LAYOUTS:
            out = laid_out(np.zeros_like(expected), out_layout)
            around = out
            while isinstance(around.base, np.ndarray):
                around = around.base
            outside = around.tobytes()
            assert dml.depth_to_space1(source, block_size=block, order=order, out=out) is out
            assert_same_bits(out, expected)
            out[...] = 0
            assert around.tobytes() == outside


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype in "u1", "f2", "f4":
            for width in 7, 8, 15, 16, 33, 1000:
                x = np.random.default_rng(0).integers(0, 99, (2, 18, 3, width)).astype(dtype)
                for order in "DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH":
                    bits.update(dml.depth_to_space1(x, block_size=3, order=order).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# Other libraries


@examples(50)
@given(cases(orders=("COLUMN_ROW_DEPTH",)), st.sampled_from(["f4", "f2", "f8", "i8", "i4", "i2", "u1"]), seeds)
def test_torch(case: Case, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = any_bits(seed, case.sizes, dtype)
    expected = torch.nn.functional.pixel_shuffle(torch.from_numpy(x), case.block_size).numpy()
    assert_same_bits(dml.depth_to_space1(x, **case.attributes), expected)


@examples(40)
@given(cases(), st.sampled_from(["f4", "f8", "u1"]), seeds)
def test_onnx_runtime(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    mode = {"DEPTH_COLUMN_ROW": "DCR", "COLUMN_ROW_DEPTH": "CRD"}[case.order]
    expected = onnx_run("DepthToSpace", 13, [x], blocksize=case.block_size, mode=mode)
    assert_same_bits(dml.depth_to_space1(x, **case.attributes), expected)


# What must hold


@examples(60)
@given(cases(), dtypes, seeds)
def test_the_inverse_gives_the_input(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    y = dml.depth_to_space1(x, **case.attributes)
    n, channels, height, width = y.shape
    b = case.block_size
    blocks = y.reshape(n, channels, height // b, b, width // b, b)
    axes = {"DEPTH_COLUMN_ROW": (0, 3, 5, 1, 2, 4), "COLUMN_ROW_DEPTH": (0, 1, 3, 5, 2, 4)}[case.order]
    assert_same_bits(np.ascontiguousarray(blocks.transpose(axes)).reshape(case.sizes), x)


@examples(40)
@given(cases(), dtypes, seeds)
def test_a_batch_is_its_items(case: Case, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    items = [dml.depth_to_space1(x[i : i + 1], **case.attributes) for i in range(len(x))]
    assert_same_bits(dml.depth_to_space1(x, **case.attributes), np.concatenate(items))


def test_the_order_is_spelled_in_three_ways() -> None:
    x = np.arange(16).reshape(1, 8, 2, 1)
    expected = reference.depth_to_space1(x, block_size=2, order="COLUMN_ROW_DEPTH")
    member = dml.DepthSpaceOrder.COLUMN_ROW_DEPTH
    for order in (member, "COLUMN_ROW_DEPTH", "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH"):
        assert_same_bits(dml.depth_to_space1(x, block_size=2, order=order), expected)
