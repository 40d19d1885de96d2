"""Chains and epilogues: nodes that run block by block give the bits that they give one by one."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from chained import CONVOLUTIONS, check, numbers, same

import dmlcy as dml
from dmlcy._graph import chains


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains of small values, in blocks of a few elements."""
    monkeypatch.setattr(chains, "LEAST", 0)
    monkeypatch.setattr(chains, "BLOCK", 96)
    monkeypatch.setattr(chains, "PASS", 160)
    monkeypatch.setattr(chains, "ROW", 1)


class Drawer:
    """Draws a graph of elementwise nodes, casts, and products now and then."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.seed = seed
        self.g = dml.Graph()
        self.sizes = self.draw.choice([(1, 3, 5, 16), (2, 4, 4, 8), (1, 1, 16, 16), (4, 64)])
        self.arrays: list[Any] = []
        self.values: list[Any] = [self.input(self.draw.choice([np.float32, np.float16])) for _ in range(3)]

    def input(self, dtype: Any, sizes: Any = None) -> Any:
        sizes = self.sizes if sizes is None else sizes
        self.arrays.append(numbers(sizes, dtype, self.seed + len(self.arrays)))
        return self.g.input(dml.TensorDesc(np.dtype(dtype).name.upper(), sizes))

    def like(self, value: Any) -> Any:
        """Another value of the same data type, or one that is repeated along some axes."""
        if self.draw.random() < 0.25:
            axes = [size if self.draw.random() < 0.5 else 1 for size in self.sizes]
            dtype = np.float32 if value.desc.dtype == dml.TensorDataType.FLOAT32 else np.float16
            return self.g.broadcast(self.input(dtype, tuple(axes)), self.sizes)
        return self.draw.choice([one for one in self.values if one.desc.dtype == value.desc.dtype])

    def node(self) -> Any:
        g, value = self.g, self.draw.choice(self.values[-3:])
        kind = self.draw.randrange(9)
        if kind == 0:
            return g.activation_relu(value)
        if kind == 1:
            return g.element_wise_add(value, self.like(value))
        if kind == 2:
            return g.element_wise_multiply(self.like(value), value)
        if kind == 3:
            return g.element_wise_clip(value, min=-0.5, max=1.5, scale_bias=(0.75, 0.1))
        if kind == 4:
            other = "FLOAT16" if value.desc.dtype == dml.TensorDataType.FLOAT32 else "FLOAT32"
            return g.cast(value, output_dtype=other)
        if kind == 5:
            return g.element_wise_max(value, value)
        if kind == 6:
            return g.element_wise_subtract(value, self.like(value))
        if kind == 7:
            return g.element_wise_identity(value)
        count = self.sizes[-1]
        matrix = numbers((1,) * (len(self.sizes) - 2) + (count, count), np.float32, 3, 0)
        constant = g.constant(matrix.astype(np.float16) if value.desc.dtype == dml.TensorDataType.FLOAT16 else matrix)
        return g.gemm(value, g.broadcast(constant, (*self.sizes[:-2], count, count)))

    def graph(self) -> Any:
        for _ in range(self.draw.randrange(4, 16)):
            self.values.append(self.node())
        ends = self.draw.sample(self.values[3:], self.draw.randrange(1, 3)) + self.values[-1:]
        return self.g.build(*ends)


@pytest.mark.parametrize("part", range(3))
def test_random_chains(part: int, threads: None) -> None:
    joined = epilogues = 0
    for seed in range(part, 45, 3):
        drawer = Drawer(seed)
        graph = drawer.graph()
        found = check(graph, drawer.arrays)
        joined += len(found.chains)
        epilogues += len(found.epilogues)
    assert joined > 10 and epilogues > 2


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_epilogues_of_convolutions(kind: str, dtype: Any, threads: None) -> None:
    sizes, filters, given = CONVOLUTIONS[kind]
    g = dml.Graph()
    name = np.dtype(dtype).name.upper()
    x = g.input(dml.TensorDesc(name, sizes))
    y = g.convolution(x, g.constant(numbers(filters, dtype, 1, 0) / 8), **given)
    wide, channels = y.desc.sizes, y.desc.sizes[1]
    beside = g.input(dml.TensorDesc(name, wide))
    bias = g.constant(numbers((1, channels, *(1 for _ in wide[2:])), dtype, 2))
    first = g.activation_relu(g.element_wise_add(y, beside))
    second = g.element_wise_add(g.element_wise_multiply(first, y), g.broadcast(bias, wide))
    found = check(g.build(second), [numbers(sizes, dtype, 3, 0.002), numbers(wide, dtype, 4)])
    assert [len(one) for one in found.epilogues] == [5]


@pytest.mark.parametrize(
    ("rows", "depth", "columns", "batch"),
    [(5, 3, 7, 3), (1, 40, 130, 1), (30, 300, 50, 2), (7, 80, 5, 1), (64, 16, 96, 2), (3, 500, 33, 1)],
)
@pytest.mark.parametrize("turned", ["NONE", "TRANSPOSE"])
def test_epilogues_of_products(rows: int, depth: int, columns: int, batch: int, turned: Any, threads: None) -> None:
    g = dml.Graph()
    a = g.input(dml.TensorDesc("FLOAT32", (1, batch, rows, depth)))
    right = (1, batch, depth, columns) if turned == "NONE" else (1, batch, columns, depth)
    b = g.input(dml.TensorDesc("FLOAT32", right))
    y = g.gemm(a, b, trans_b=turned)
    bias = g.broadcast(g.constant(numbers((1, 1, 1, columns), np.float32, 5)), (1, batch, rows, columns))
    y = g.activation_relu(g.element_wise_add(y, bias))
    found = check(
        g.build(y), [numbers((1, batch, rows, depth), np.float32, 6, 0.002), numbers(right, np.float32, 7, 0)]
    )
    assert [len(one) for one in found.epilogues] == [3]


def test_an_epilogue_does_not_write_over_what_its_product_reads() -> None:
    g = dml.Graph()
    x = g.activation_tanh(g.input(dml.TensorDesc("FLOAT32", (1, 8, 9, 9))))
    y = g.convolution(x, g.constant(numbers((8, 8, 3, 3), np.float32, 1, 0)), start_padding=1, end_padding=1)
    graph = g.build(g.max_pooling(g.activation_relu(g.element_wise_add(x, y)), window_size=2))
    found = check(graph, [numbers((1, 8, 9, 9), np.float32, 2)])
    assert len(found.epilogues) == 1
    steps = {step.node: step for step in dml.compile(graph).plan().steps}
    assert steps[found.epilogues[0][-1]].over != graph.value_names[dml.graph.Port(0, 0)]


def test_values_of_a_chain_alone_take_no_memory() -> None:
    g = dml.Graph()
    a, b, c = (g.input(dml.TensorDesc("FLOAT32", (1, 4, 8, 8))) for _ in range(3))
    y = g.activation_relu(g.element_wise_add(g.element_wise_multiply(a, b), c))
    graph = g.build(y)
    op = dml.compile(graph)
    steps = op.plan().steps
    assert [step.written for step in steps] == ["chained", "chained", "1024"]
    assert [step.chain for step in steps] == [0, 0, 0] and op.plan().arena == 0
    assert str(op.optimizations) == "chains 1 of 3 nodes"
    check(graph, [numbers((1, 4, 8, 8), np.float32, seed) for seed in range(3)])


def test_a_node_that_refuses_values_is_named_behind_a_chain() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 8, 8)))
    at = g.input(dml.TensorDesc("INT64", (1, 1, 1, 2)))
    y = g.activation_relu(g.element_wise_add(x, x))
    y = g.gather_elements(y, g.broadcast(at, (1, 1, 8, 2)), axis=3, name="picked")
    op = dml.compile(g.build(g.activation_relu(g.element_wise_negate(y))))
    assert len(op.optimizations.chains) == 2
    array, good = numbers((1, 1, 8, 8), np.float32, 1), np.array([[[[1, 2]]]], np.int64)
    expected = op(array, good)
    out = expected.copy()
    with pytest.raises(dml.DmlError, match="picked"):
        op(array, good + 7, out=out)
    assert same(out, expected) and same(op(array, good), expected)


def test_calls_of_a_chain_are_recorded_one_by_one() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 16, 16)), name="x")
    graph = g.build(g.activation_relu(g.element_wise_add(g.element_wise_negate(x), x)))
    op, array = dml.compile(graph), numbers((1, 1, 16, 16), np.float32, 1)
    with dml.record() as recorded:
        result = op(array)
    assert len(recorded.calls) == 3 and same(result, op(array))
    told: dict[Any, Any] = {}
    op.run((array,), {}, seen=lambda port, value: told.__setitem__(port, value.copy()))
    assert len(told) == 4 and same(told[dml.graph.Port(0, 0)], -array)


def test_a_chain_takes_what_was_given_once_also_node_by_node() -> None:
    g = dml.Graph()
    owned = dml.TensorDesc("FLOAT32", (1, 1, 8, 8), flags="OWNED_BY_DML")
    x, once = g.input(dml.TensorDesc("FLOAT32", (1, 1, 8, 8)), name="x"), g.input(owned, name="once")
    op = dml.compile(g.build(g.activation_relu(g.element_wise_add(x, once))))
    array = numbers((1, 1, 8, 8), np.float32, 1)
    for seed in (2, 3):
        other = numbers((1, 1, 8, 8), np.float32, seed)
        op.initialize(once=other)
        expected = dml.activation_relu(dml.element_wise_add(array, other))
        assert same(op(array), expected)
        assert same(op.run((array,), {}, seen=lambda port, value: None), expected)


def test_several_threads_of_python_run_one_chain() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 4, 32, 32)))
    op = dml.compile(g.build(g.activation_relu(g.element_wise_multiply(g.activation_tanh(x), x))))
    arrays = [numbers((1, 4, 32, 32), np.float32, seed) for seed in range(4)]
    expected = [op(array) for array in arrays]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert all(map(same, pool.map(op, arrays), expected))


NORMALIZATIONS = {
    "planes": ((2, 3, 6, 11), [2, 3]),
    "a line each": ((1, 1, 40, 33), [3]),
    "long lines": ((1, 2, 80, 60), [2, 3]),
    "side by side": ((2, 7, 6, 33), [1]),
    "all": ((1, 2, 6, 11), [0, 1, 2, 3]),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_epilogues_of_normalizations(kind: str, dtype: Any, threads: None) -> None:
    sizes, axes = NORMALIZATIONS[kind]
    g = dml.Graph()
    x, beside = (g.input(dml.TensorDesc(np.dtype(dtype).name.upper(), sizes)) for _ in range(2))
    y = g.mean_variance_normalization1(x, axes=axes, normalize_variance=True)
    y = g.activation_relu(g.element_wise_add(y, beside))
    found = check(g.build(y), [numbers(sizes, dtype, 1, 0.002), numbers(sizes, dtype, 2)])
    assert [len(one) for one in found.epilogues] == [3]


def test_an_epilogue_of_a_normalization_in_place() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 4, 9, 9)))
    y = g.activation_softmax1(g.activation_tanh(x), axes=[3])
    graph = g.build(g.max_pooling(g.element_wise_multiply(y, y), window_size=2))
    assert [len(one) for one in check(graph, [numbers((1, 4, 9, 9), np.float32, 1, 0)]).epilogues] == [2]


def residual(g: Any) -> tuple[Any, Any]:
    """A block of ResNet: two convolutions beside their input."""
    x = g.input(dml.TensorDesc("FLOAT32", (1, 8, 7, 7)))
    y = g.activation_relu(convolved(g, x, 8, 3))
    return x, g.activation_relu(g.element_wise_add(convolved(g, y, 8, 3), x))


def inverted(g: Any) -> tuple[Any, Any]:
    """A block of MobileNetV2: wide in the middle, where each channel has a filter of its own."""
    x = g.input(dml.TensorDesc("FLOAT32", (1, 6, 8, 8)))
    y = g.element_wise_clip(convolved(g, x, 20, 1), min=0, max=6)
    y = g.element_wise_clip(convolved(g, y, 20, 3, group_count=20), min=0, max=6)
    return x, g.element_wise_add(x, convolved(g, y, 6, 1))


def encoder(g: Any) -> tuple[Any, Any]:
    """Half a layer of a transformer: two products with biases, beside their input, and a normalization."""
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 12, 16)))
    y = g.activation_gelu(multiplied(g, x, 16, 40))
    y = g.element_wise_add(x, multiplied(g, y, 40, 16))
    y = g.mean_variance_normalization1(y, axes=[3], normalize_variance=True)
    scale = g.broadcast(g.constant(numbers((1, 1, 1, 16), np.float32, 5, 0)), (1, 1, 12, 16))
    return x, g.element_wise_multiply(y, scale)


def convolved(g: Any, x: Any, filters: int, window: int, **given: Any) -> Any:
    channels = x.desc.sizes[1] // given.get("group_count", 1)
    weights = g.constant(numbers((filters, channels, window, window), np.float32, filters, 0))
    bias = g.constant(numbers((1, filters, 1, 1), np.float32, 1, 0))
    return g.convolution(x, weights, bias, start_padding=window // 2, end_padding=window // 2, **given)


def multiplied(g: Any, x: Any, depth: int, columns: int) -> Any:
    y = g.gemm(x, g.constant(numbers((1, 1, depth, columns), np.float32, columns, 0)))
    return g.element_wise_add(y, g.broadcast(g.constant(numbers((1, 1, 1, columns), np.float32, 2, 0)), y.desc.sizes))


@pytest.mark.parametrize(
    ("block", "epilogues"),
    [(residual, [2, 3]), (inverted, [2, 2, 2]), (encoder, [3, 3, 2])],
    ids=["residual", "inverted", "encoder"],
)
def test_blocks_of_networks(block: Any, epilogues: list[int]) -> None:
    g = dml.Graph()
    x, y = block(g)
    found = check(g.build(y), [numbers(x.desc.sizes, np.float32, 9, 0)])
    assert [len(one) for one in found.epilogues] == epilogues and found.counts["in_place"] > 0


def test_a_member_with_several_outputs() -> None:
    g = dml.Graph()
    like = dml.TensorDesc("FLOAT32", (1, 1, 6, 7))
    parts = [g.activation_relu(g.input(like)) for _ in range(4)]
    step = g.input(dml.TensorDesc("FLOAT32", (1, 1, 1, 1)))
    given: Any = {"learning_rate": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-3}
    values, first, second = g.adam_optimizer(parts[0], parts[1], parts[2], parts[3], step, **given)
    graph = g.build(g.element_wise_add(g.element_wise_negate(values), first), second)
    arrays = [numbers((1, 1, 6, 7), np.float32, seed, 0) for seed in range(4)]
    found = check(graph, [*arrays, np.full((1, 1, 1, 1), 3, np.float32)])
    assert [len(one) for one in found.chains] == [4]


@pytest.mark.parametrize("kind", ["backwards", "a matrix", "rows with gaps in the output"])
def test_a_single_node_behind_a_convolution(kind: str, threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "ROW", 1 << 40)  # no row is so long: the node runs behind the loops as a whole
    sizes, filters, given = CONVOLUTIONS[kind]
    for repeated in (False, True):
        g = dml.Graph()
        y = g.convolution(
            g.input(dml.TensorDesc("FLOAT32", sizes)), g.constant(numbers(filters, np.float32, 1, 0)), **given
        )
        scale = g.constant(numbers((1, y.desc.sizes[1], 1, 1), np.float32, 2))
        other = g.broadcast(scale, y.desc.sizes) if repeated else y
        found = check(g.build(g.element_wise_multiply(y, other)), [numbers(sizes, np.float32, 3, 0.01)])
        assert [len(one) for one in found.epilogues] == [2]
