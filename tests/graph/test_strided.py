"""Views: nodes that cut, turn or repeat have nothing to do, and each reader reads the elements where they are."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from depth import seeds_of
from graphs import tensor

import dmlcy as dml
from dmlcy._desc.memory import strides_of
from dmlcy._graph import chains, strided
from dmlcy._graph.model import Port
from dmlcy._graph.strided import View

EVERY: Any = get_args(dml.graph.Optimization)
LARGEST = 200
"""Elements of a value."""


class Drawn:
    """A graph of nodes that cut, turn, repeat and change values of one data type, and what NumPy makes of them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.dtype: Any = self.draw.choice([np.float32, np.float32, np.float16, np.uint8, np.int64])
        self.g = dml.Graph()
        self.values: list[tuple[Any, Any]] = []
        numbers = np.random.default_rng(seed)
        arrays = [numbers.integers(0, 100, (1, 2, 3, 4)).astype(self.dtype) for _ in range(3)]
        if arrays[0].dtype.kind == "f":
            arrays[0].flat[:5] = np.nan, -0.0, np.inf, -7, 0
        self.given = arrays[:2]
        for x in self.given:
            self.add(self.g.input(dml.TensorDesc.from_array(x)), x)
        self.add(self.g.constant(arrays[2]), arrays[2])
        for _ in range(16):
            getattr(self, self.draw.choice(KINDS))(*self.draw.choice(self.values[-6:]))
        self.ends = [*self.draw.sample(self.values, self.draw.randrange(3)), self.values[-1]]
        self.graph = self.g.build(*(value for value, _ in self.ends))

    def add(self, value: Any, x: Any) -> None:
        self.values.append((value, np.ascontiguousarray(x, self.dtype)))

    def turn(self, value: Any, x: Any) -> None:
        order = self.draw.sample(range(x.ndim), x.ndim)
        self.add(self.g.element_wise_identity(self.g.transpose(value, order)), x.transpose(order))

    def cut(self, value: Any, x: Any) -> None:
        first = [self.draw.randrange(size) for size in x.shape]
        steps = [self.draw.choice([1, 1, 2]) for _ in x.shape]
        found = x[tuple(slice(start, None, step) for start, step in zip(first, steps, strict=True))]
        self.add(self.g.slice(value, offsets=first, sizes=found.shape, strides=steps), found)

    def mirror(self, value: Any, x: Any) -> None:
        axis = self.draw.randrange(x.ndim)
        steps = [-1 if k == axis else 1 for k in range(x.ndim)]
        found = self.g.slice1(value, input_window_sizes=x.shape, input_window_strides=steps)
        self.add(found, np.flip(x, axis))

    def split(self, value: Any, x: Any) -> None:
        axis = self.draw.randrange(x.ndim)
        if x.shape[axis] > 1:
            parts = np.split(x, [self.draw.randrange(1, x.shape[axis])], axis)
            made = self.g.split(value, axis=axis, output_sizes=[part.shape for part in parts])
            for one, part in zip(made, parts, strict=True):
                self.add(one, part)

    def tile(self, value: Any, x: Any) -> None:
        repeats = [self.draw.choice([1, 2, 2]) if size == 1 else 1 for size in x.shape]
        if x.size * np.prod(repeats) <= LARGEST:
            self.add(self.g.tile(value, repeats=repeats), np.tile(x, repeats))

    def reshape(self, value: Any, x: Any) -> None:
        shape = x.reshape(self.draw.choice([(1, x.size), (x.size, 1), (1, *x.shape[:-2], -1), x.shape[::-1]])).shape
        self.add(self.g.reinterpret(value, dml.TensorDesc(x.dtype, shape)), x.reshape(shape))

    def join(self, value: Any, x: Any) -> None:
        if 2 * x.size <= LARGEST:
            self.add(self.g.join([value, value], axis=0), np.concatenate([x, x], 0))

    def largest(self, value: Any, x: Any) -> None:
        axes = self.draw.sample(range(x.ndim), 1)
        self.add(self.g.reduce(value, function="MAX", axes=axes), dml.reduce(x, function="MAX", axes=axes))

    def negate(self, value: Any, x: Any) -> None:
        self.add(
            self.g.element_wise_bit_not(value)
            if x.dtype.kind == "u"
            else self.g.element_wise_clip1(value, min=-5, max=50),
            np.invert(x) if x.dtype.kind == "u" else dml.element_wise_clip1(x, min=-5, max=50),
        )

    def sum(self, value: Any, x: Any) -> None:
        others = [one for one in self.values[-8:] if one[1].shape == x.shape]
        other, y = self.draw.choice(others) if others else (value, x)
        self.add(self.g.element_wise_add(value, other), dml.element_wise_add(x, y))


KINDS = ["turn", "cut", "mirror", "split", "tile", "reshape", "join", "largest", "negate", "negate", "sum", "sum"]


def ran(op: Any, given: Any, **more: Any) -> list[bytes]:
    """The bytes of the results."""
    found = op(*given, **more)
    return [one.tobytes() for one in (found if isinstance(found, tuple) else (found,))]


def tell(told: dict[Any, bytes], port: Any, array: Any) -> None:
    told[port] = array.tobytes()


@seeds_of(40)
def test_views_change_no_bit(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "LONG", 0)
    counted = chained = 0
    for seed in [25 * one + part for one in seeds for part in range(25)]:
        drawn = Drawn(seed)
        monkeypatch.setattr(chains, "LEAST", seed % 2 * LARGEST)
        expected = [x.tobytes() for _, x in drawn.ends]
        without: list[Any] = [name for name in EVERY if drawn.draw.random() < 0.3]
        choices: tuple[Any, ...] = ((), ("views",), without)
        for left_out in choices:
            op = dml.compile(drawn.graph, without=left_out)
            counted += not left_out and op.optimizations.counts["views"]
            chained += op.optimizations.counts["chains"]
            outs = [np.full_like(x, 1) for _, x in drawn.ends]
            out = outs[0] if len(outs) == 1 else tuple(outs)
            assert ran(op, drawn.given) == ran(op, drawn.given, out=out) == expected, (seed, left_out)
            told: dict[Any, bytes] = {}
            op.run(drawn.given, {}, seen=partial(tell, told))
            for value, x in drawn.values:
                assert value._port not in told or told[value._port] == x.tobytes(), (seed, left_out)
        with dml.record() as recorded:
            assert ran(dml.compile(drawn.graph), drawn.given) == expected, seed
        assert len(recorded.calls) == sum(not isinstance(node, dml.graph.Constant) for node in drawn.graph.nodes)
    assert counted > 25 * len(seeds) < 8 * chained, (counted, chained)


@seeds_of(20)
def test_the_strides_of_a_reader(seeds: range) -> None:
    """A reader finds the same elements as in a copy, or there are no strides for it."""
    found = 0
    for seed in [300 * one + part for one in seeds for part in range(300)]:
        draw = random.Random(seed)
        memory = np.arange(4000)
        sizes = tuple(draw.randrange(1, 5) for _ in range(draw.randrange(1, 5)))
        strides = tuple(draw.choice([-12, -1, 0, 1, 2, 4, 12, 24]) for _ in sizes)
        view = View(Port(None, 0), 4, 2000, sizes, strides)
        copy = elements(memory, 2000, sizes, strides).ravel()
        wanted = tuple(draw.choice([1, 2, 3, 4, 6, 12]) for _ in range(draw.randrange(1, 4)))
        steps = tuple(draw.choice([0, 1, 2, 3, 4, 6, 12]) for _ in wanted)
        desc = tensor(*wanted, strides=draw.choice([None, steps]))
        last = sum((size - 1) * step for size, step in zip(wanted, strides_of(desc), strict=True))
        there = view.strides_for(desc)
        if there is not None:
            assert last < copy.size
            read = elements(memory, 2000, wanted, there)
            assert read.tolist() == elements(copy, 0, wanted, strides_of(desc)).tolist(), (view, desc)
            found += 1
        elif last < copy.size and sizes == wanted:
            assert desc.strides is not None, "a reader with the sizes of the value finds its elements"
        first, end = view.reach
        assert (first // 4, end // 4 - 1) == (elements(memory, 2000, sizes, strides).min(), view_last(memory, view))
        assert view.strides_for(tensor(*wanted, dtype="FLOAT16")) is None
    assert found > 30 * len(seeds), found


def elements(memory: Any, start: int, sizes: Any, strides: Any) -> Any:
    places = np.zeros(sizes, int) + start
    for axis, stride in enumerate(strides):
        places += (np.arange(sizes[axis]) * stride).reshape([-1 if k == axis else 1 for k in range(len(sizes))])
    return memory[places]


def view_last(memory: Any, view: View) -> Any:
    return elements(memory, view.start, view.sizes, view.strides).max()


def test_heads_of_attention_are_views() -> None:
    """The product reads the turned values; the results are turned back for a reader that finds no strides."""
    g = dml.Graph()
    x = g.input(tensor(1, 16, 4, 8))
    heads = g.element_wise_identity(g.transpose(x, (0, 2, 1, 3)), name="heads")
    keys = g.element_wise_identity(g.transpose(x, (0, 2, 3, 1)), name="keys")
    scores = g.activation_softmax1(g.gemm(heads, keys), axes=[3])
    back = g.element_wise_identity(g.transpose(g.gemm(scores, heads), (0, 2, 1, 3)), name="back")
    weights = np.random.default_rng(1).normal(size=(1, 1, 32, 8)).astype(np.float32)
    op = dml.compile(g.build(g.gemm(g.reinterpret(back, tensor(1, 1, 16, 32)), g.constant(weights))))
    plan = op.plan()
    assert [step.name for step in plan.steps if step.view] == ["heads", "keys"]
    assert op.optimizations.counts["views"] == 2 and "view" in str(plan)
    given = np.random.default_rng(0).normal(size=(1, 16, 4, 8)).astype(np.float32)
    left = given.transpose(0, 2, 1, 3)
    whole = dml.gemm(dml.activation_softmax1(dml.gemm(left, left.swapaxes(2, 3)), axes=[3]), left)
    expected = dml.gemm(np.ascontiguousarray(whole.transpose(0, 2, 1, 3)).reshape(1, 1, 16, 32), weights)
    assert op(given).tobytes() == expected.tobytes()


def test_what_stays_a_copy() -> None:
    """Outputs of the graph, and what loops would read in short pieces."""
    g = dml.Graph()
    x = g.input(tensor(64, 64))
    turned = g.element_wise_identity(g.transpose(x, (1, 0)))
    top = g.slice(x, offsets=(0, 0), sizes=(8, 64), strides=(1, 1))
    left = g.slice(x, offsets=(0, 0), sizes=(64, 8), strides=(1, 1))
    end = g.slice(x, offsets=(8, 0), sizes=(8, 64), strides=(1, 1))
    op = dml.compile(g.build(*(g.activation_relu(one) for one in (turned, top, left)), end))
    assert op.optimizations.views == (1,)
    rows = np.arange(4096, dtype=np.float32).reshape(64, 64) - 2000
    for found, part in zip(op(rows), (rows.T, rows[:8], rows[:, :8]), strict=False):
        assert found.tolist() == np.maximum(part, 0).tolist()
    assert op(rows)[3].tolist() == rows[8:16].tolist()


def test_parts_of_constants_take_no_memory() -> None:
    g = dml.Graph()
    weights = np.random.default_rng(0).normal(size=(3, 64, 64)).astype(np.float32)
    parts = g.split(g.constant(weights), axis=0, output_sizes=[(1, 64, 64)] * 3)
    x = y = g.input(tensor(1, 64, 64))
    for part in parts:
        y = g.element_wise_multiply(y, part)
    op = dml.compile(g.build(y, g.element_wise_add(x, g.element_wise_add(parts[0], parts[1], name="folded"))))
    assert op.optimizations.views == (1,) and op.optimizations.counts["folded"] == 1
    assert op.plan().constants == weights.nbytes + weights[0].nbytes
    ones = np.ones((1, 64, 64), np.float32)
    product, added = op(ones)
    assert product.tobytes() == (weights[:1] * weights[1:2] * weights[2:]).tobytes()
    assert added.tobytes() == (ones + (weights[:1] + weights[1:2])).tobytes()


def halves(overlapping: bool) -> Any:
    """Two halves of a value that operators in place change, and a third view that meets both."""
    g = dml.Graph()
    y = g.activation_tanh(g.input(tensor(1, 1, 4, 64)))
    one, two = g.split(y, axis=2, output_sizes=[(1, 1, 2, 64)] * 2)
    parts = [g.activation_relu(one, name="one"), g.activation_elu(two, name="two")]
    if overlapping:
        parts.append(g.slice(y, offsets=(0, 0, 1, 0), sizes=(1, 1, 2, 64), strides=(1, 1, 1, 1)))
    return g.build(g.max_pooling(g.join(parts, axis=2), window_size=2))


def test_a_part_is_written_over_when_nothing_reads_its_bytes() -> None:
    rows = np.random.default_rng(0).normal(size=(1, 1, 4, 64)).astype(np.float32)
    y = dml.activation_tanh(rows)
    parts = [np.maximum(y[:, :, :2], 0), dml.activation_elu(y[:, :, 2:].copy())]
    for overlapping, over in ((False, ["split1.outputs[0]", "split1.outputs[1]"]), (True, [None, None])):
        op = dml.compile(halves(overlapping))
        assert [step.over for step in op.plan().steps if step.name] == over
        whole = np.concatenate([*parts, *([y[:, :, 1:3]] if overlapping else [])], 2)
        assert op(rows).tobytes() == dml.max_pooling(whole, window_size=2).tobytes()
    assert dml.compile(halves(False)).plan().arena == 2 * rows.nbytes


def test_values_of_a_view_are_checked() -> None:
    g = dml.Graph()
    x, indices = g.input(tensor(1, 1, 4, 2)), g.input(tensor(1, 1, 4, 1, dtype="UINT32"))
    first, last = g.split(indices, axis=2, output_sizes=[(1, 1, 2, 1)] * 2)
    picked = g.gather(
        x, g.reinterpret(last, tensor(1, 1, 1, 2, dtype="UINT32")), axis=2, index_dimensions=1, name="pick"
    )
    op = dml.compile(g.build(picked, g.element_wise_add(first, first)))
    assert op.optimizations.counts["views"] == 1
    rows = np.arange(8, dtype=np.float32).reshape(1, 1, 4, 2)
    assert op(rows, np.array([9, 9, 3, 0], np.uint32).reshape(1, 1, 4, 1))[0].tolist() == [[[[6, 7], [0, 1]]]]
    with pytest.raises(dml.InvalidDataError, match='"pick"'):
        op(rows, np.array([0, 0, 3, 4], np.uint32).reshape(1, 1, 4, 1))
