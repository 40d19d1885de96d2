"""DEPTH_TO_SPACE1 and SPACE_TO_DEPTH1, each against its definition, PyTorch, ONNX Runtime and the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

INVERSE = {"depth_to_space1": "space_to_depth1", "space_to_depth1": "depth_to_space1"}
both = pytest.mark.parametrize("name", INVERSE)


def sizes_of(name: str, deep: tuple[int, ...], block: int) -> tuple[int, ...]:
    """The sizes of the input, where ``deep`` are those of the tensor whose blocks are in its channels."""
    n, c, h, w = deep
    return deep if name == "depth_to_space1" else (n, c // block**2, h * block, w * block)


@dataclass(frozen=True)
class Case:
    deep: tuple[int, int, int, int]
    block_size: int
    order: str

    @property
    def attributes(self) -> dict[str, Any]:
        return {"block_size": self.block_size, "order": self.order}

    def input(self, name: str, seed: int, dtype: str) -> Array:
        return any_bits(seed, sizes_of(name, self.deep, self.block_size), dtype)


@st.composite
def cases(draw: st.DrawFn, orders: tuple[str, ...] = tuple(ORDERS)) -> Case:
    block = draw(st.integers(1, 5))
    channels = draw(st.integers(1, 4)) * block * block
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 20))
    if draw(st.booleans()):
        height, width = width, height
    return Case((draw(st.integers(1, 3)), channels, height, width), block, draw(st.sampled_from(orders)))


def called(name: str) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """The operator, and its definition."""
    return getattr(dml, name), getattr(reference, name)


@both
@examples(120)
@given(cases(), dtypes, seeds)
def test_the_definition_bit_for_bit(name: str, case: Case, dtype: str, seed: int) -> None:
    function, defined = called(name)
    x = case.input(name, seed, dtype)
    assert_same_bits(function(x, **case.attributes), defined(x, **case.attributes))


@both
@examples(120)
@given(cases(), dtypes, seeds, st.data())
def test_any_layout(name: str, case: Case, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, name, [case.input(name, seed, dtype)], case.attributes)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("deep", "block"),
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
@both
def test_larger_tensors(name: str, deep: tuple[int, ...], block: int, order: str, dtype: str) -> None:
    function, defined = called(name)
    x = any_bits(3, sizes_of(name, deep, block), dtype)
    expected = defined(x, block_size=block, order=order)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    out = np.empty(expected.shape[:1] + expected.shape[2:] + expected.shape[1:2], dtype).transpose(0, 3, 1, 2)
    for source in (x, last, np.asfortranarray(x)):
        assert_same_bits(function(source, block_size=block, order=order), expected)
        assert function(source, block_size=block, order=order, out=out) is out
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
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    ("deep", "block"),
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
        ((2, 68, 3, 37), 2),
        ((1, 189, 2, 35), 3),
    ],
)
@both
def test_layouts(name: str, deep: tuple[int, ...], block: int, dtype: str) -> None:
    function, defined = called(name)
    x = any_bits(8, sizes_of(name, deep, block), dtype)
    for order in ORDERS:
        expected = defined(x, block_size=block, order=order)
        for layout in LAYOUTS:
            source = laid_out(x, layout)
            assert_same_bits(function(source, block_size=block, order=order), expected)
            for out_layout in LAYOUTS:
                out = laid_out(np.zeros_like(expected), out_layout)
                around = out
                while isinstance(around.base, np.ndarray):
                    around = around.base
                outside = around.tobytes()
                assert function(source, block_size=block, order=order, out=out) is out
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
                    y = dml.depth_to_space1(x, block_size=3, order=order)
                    bits.update(y.tobytes())
                    bits.update(dml.space_to_depth1(y[:, :, ::-1].copy(), block_size=3, order=order).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# Other libraries


@both
@examples(50)
@given(cases(orders=("COLUMN_ROW_DEPTH",)), st.sampled_from(["f4", "f2", "f8", "i8", "i4", "i2", "u1"]), seeds)
def test_torch(name: str, case: Case, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    functions = torch.nn.functional
    theirs = {"depth_to_space1": functions.pixel_shuffle, "space_to_depth1": functions.pixel_unshuffle}[name]
    x = case.input(name, seed, dtype)
    expected = theirs(torch.from_numpy(x), case.block_size).numpy()
    assert_same_bits(getattr(dml, name)(x, **case.attributes), expected)


@examples(40)
@given(cases(), st.sampled_from(["f4", "f8", "u1"]), seeds)
def test_onnx_runtime(case: Case, dtype: str, seed: int) -> None:
    x = case.input("depth_to_space1", seed, dtype)
    mode = {"DEPTH_COLUMN_ROW": "DCR", "COLUMN_ROW_DEPTH": "CRD"}[case.order]
    expected = onnx_run("DepthToSpace", 13, [x], blocksize=case.block_size, mode=mode)
    assert_same_bits(dml.depth_to_space1(x, **case.attributes), expected)


@examples(40)
@given(cases(orders=("DEPTH_COLUMN_ROW",)), st.sampled_from(["f4", "f8", "u1"]), seeds)
def test_onnx_runtime_back(case: Case, dtype: str, seed: int) -> None:
    x = case.input("space_to_depth1", seed, dtype)
    expected = onnx_run("SpaceToDepth", 13, [x], blocksize=case.block_size)
    assert_same_bits(dml.space_to_depth1(x, **case.attributes), expected)


# What must hold


@both
@examples(60)
@given(cases(), dtypes, seeds)
def test_the_inverse_gives_the_input(name: str, case: Case, dtype: str, seed: int) -> None:
    x = case.input(name, seed, dtype)
    there = getattr(dml, name)(x, **case.attributes)
    assert_same_bits(getattr(dml, INVERSE[name])(there, **case.attributes), x)


@both
@examples(40)
@given(cases(), dtypes, seeds)
def test_a_batch_is_its_items(name: str, case: Case, dtype: str, seed: int) -> None:
    function, _ = called(name)
    x = case.input(name, seed, dtype)
    items = [function(x[i : i + 1], **case.attributes) for i in range(len(x))]
    assert_same_bits(function(x, **case.attributes), np.concatenate(items))


def test_the_order_is_spelled_in_three_ways() -> None:
    x = np.arange(16).reshape(1, 8, 2, 1)
    expected = reference.depth_to_space1(x, block_size=2, order="COLUMN_ROW_DEPTH")
    member = dml.DepthSpaceOrder.COLUMN_ROW_DEPTH
    for order in (member, "COLUMN_ROW_DEPTH", "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH"):
        assert_same_bits(dml.depth_to_space1(x, block_size=2, order=order), expected)


def test_what_no_block_fills_is_refused() -> None:
    for sizes in ((1, 1, 3, 4), (1, 1, 4, 3), (1, 1, 1, 1)):
        with pytest.raises(dml.InvalidDescError, match="block_size does not divide the height and the width"):
            dml.space_to_depth1(np.ones(sizes, np.float32), block_size=2)
