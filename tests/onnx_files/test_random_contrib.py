"""Nodes of ONNX Runtime's own operators with random options, beside its CPU provider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from depth import seeds_of
from saturation import unsaturated

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import MICROSOFT, Single, must_pass

from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.use import Use

COUNT = 2
Array = Any


class Draw:
    """Draws nodes: a method for each operator."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.batch, self.length, self.heads, self.head = (int(self.random.integers(1, 5)) for _ in range(4))
        self.hidden = self.heads * self.head

    def floats(self, *sizes: int) -> Array:
        return self.random.standard_normal(sizes).astype(np.float32)

    def whole(self, low: int, high: int, *sizes: int) -> Array:
        return self.random.integers(low, high, sizes).astype(np.int32)

    def bytes_(self, *sizes: int, signed: bool = False) -> Array:
        return self.random.integers(0, 256, sizes).astype(np.uint8).view(np.int8 if signed else np.uint8)

    def number(self, least: float, most: float) -> Array:
        return np.array(self.random.uniform(least, most), np.float32)

    def some(self, array: Array) -> Array | None:
        return array if self.random.integers(2) else None

    def some_of(self, **attributes: Any) -> dict[str, Any]:
        return {name: value for name, value in attributes.items() if self.random.integers(2)}

    def node(
        self, operator: str, *inputs: Array | None, outputs: int = 1, domain: str = MICROSOFT, **attributes: Any
    ) -> Single:
        given = [*inputs]
        while given and given[-1] is None:
            given.pop()
        return Single(operator, given, attributes, domain, outputs=outputs)

    # The operators ---------------------------------------------------------------------------------------------------

    def gelu(self) -> Single:
        sizes = self.batch, self.length, self.hidden
        x, bias = self.floats(*sizes), self.floats(self.hidden)
        kinds = (
            self.node("Gelu", x),
            self.node("BiasGelu", x, bias),
            self.node("QuickGelu", x, **self.some_of(alpha=1.5)),
        )
        return kinds[self.random.integers(3)]

    def skip(self) -> Single:
        sizes = self.batch, self.length, self.hidden + 1
        x, skip = self.floats(*sizes), self.floats(*sizes[int(self.random.integers(2)) :])
        gamma, beta, bias = (self.floats(sizes[-1]) for _ in range(3))
        more = self.some_of(epsilon=0.25)
        if self.random.integers(2):
            return self.node("SkipSimplifiedLayerNormalization", x, skip, gamma, self.some(bias), **more)
        return self.node("SkipLayerNormalization", x, skip, gamma, self.some(beta), self.some(bias), **more)

    def fused_matmul(self) -> Single:
        rank = int(self.random.integers(2, 5))
        batches = [int(one) for one in self.random.integers(1, 4, rank - 2)]
        rows, inner, columns = (int(one) for one in self.random.integers(1, 6, 3))
        turns = [int(one) for one in self.random.integers(0, 2, 2)]
        ends = [(rows, inner)[:: -1 if turns[0] else 1], (inner, columns)[:: -1 if turns[1] else 1]]
        a, b = (self.floats(*batches, *end) for end in ends)
        return self.node("FusedMatMul", a, b, transA=turns[0], transB=turns[1], **self.some_of(alpha=0.5))

    def attention(self) -> Single:
        past = int(self.random.integers(0, 4)) if self.random.integers(2) else None
        total = self.length + (past or 0)
        mask = [None, self.whole(1, 2, self.batch, total), self.whole(1, 2, self.batch, self.length, total)]
        if past is None:
            mask += [self.whole(1, self.length + 1, self.batch)]
        causal = int(self.random.integers(2))
        chosen = mask[int(self.random.integers(3 if causal else len(mask)))]
        position = self.some(self.floats(1, self.heads, self.length, total)) if past is None else None
        earlier = None if past is None else self.floats(2, self.batch, self.heads, past, self.head)
        x, weights, bias = (
            self.floats(self.batch, self.length, 3),
            self.floats(3, 3 * self.hidden),
            self.floats(3 * self.hidden),
        )
        return self.node(
            "Attention", x, weights, bias, chosen, earlier, position, outputs=1 if past is None else 2,
            num_heads=self.heads, unidirectional=causal, **self.some_of(scale=0.4),
        )  # fmt: skip

    def multi_head(self) -> Single:
        keys, past = (
            int(self.random.integers(1, 5)),
            int(self.random.integers(0, 4)) if self.random.integers(2) else None,
        )
        total, width = keys + (past or 0), self.heads * int(self.random.integers(1, 4))
        values = width if past is None else self.hidden
        q, k, v = (
            self.floats(self.batch, *one) for one in ((self.length, self.hidden), (keys, self.hidden), (keys, values))
        )
        mask = self.some(self.whole(0, 2, self.batch, total))
        bias = self.some(self.floats(2 * self.hidden + values))
        position = self.some(self.floats(int(self.random.choice([1, self.batch])), self.heads, self.length, total))
        earlier = [None if past is None else self.floats(self.batch, self.heads, past, self.head) for _ in range(2)]
        return self.node(
            "MultiHeadAttention", q, k, v, bias, mask, position, *earlier, outputs=1 if past is None else 3,
            num_heads=self.heads, **self.some_of(scale=0.4, mask_filter_value=-1000.0),
        )  # fmt: skip

    def grouped(self) -> Single:
        shared = int(self.random.integers(1, 4))
        heads, head = self.heads * shared, 8 * int(self.random.integers(1, 3))
        first = bool(self.random.integers(2))
        counts = np.zeros(self.batch, int) if first else self.random.integers(0, 6, self.batch)
        queries = self.length if first else 1
        most = int(counts.max())
        room = most if most and self.random.integers(2) else most + queries + int(self.random.integers(0, 4))
        inputs = [self.floats(self.batch, queries, one * head) for one in (heads, self.heads, self.heads)]
        past = [self.floats(self.batch, self.heads, room, head) for _ in range(2)]
        for one in past:
            for item, count in enumerate(counts):
                one[item, :, count:] = 0
        lengths = (counts + queries - 1).astype(np.int32), np.array([most + queries], np.int32)
        return self.node(
            "GroupQueryAttention", *inputs, *past, *lengths, outputs=3, num_heads=heads, kv_num_heads=self.heads,
            **self.some_of(scale=0.3),
        )  # fmt: skip

    def rotary(self) -> Single:
        head, part = 2 * self.head + 2, 2 * int(self.random.integers(1, self.head + 2))
        headed = bool(self.random.integers(2))
        sizes = (self.heads, self.length, head) if headed else (self.length, self.heads * head)
        places = self.random.integers(0, 9, (self.batch, self.length)) if self.random.integers(2) else np.array([2])
        caches = [self.floats(12, part // 2) for _ in range(2)]
        more: dict[str, Any] = {"interleaved": int(self.random.integers(2))}
        if part != head:
            more |= {"rotary_embedding_dim": part, "num_heads": self.heads}
        return self.node("RotaryEmbedding", self.floats(self.batch, *sizes), places.astype(np.int64), *caches, **more)

    def n_bits(self) -> Single:
        bits, block = int(self.random.choice([4, 8])), int(self.random.choice([16, 32]))
        blocks, rows = int(self.random.integers(1, 6)), int(self.random.integers(1, 9))
        sizes = [int(one) for one in self.random.integers(1, 4, self.random.integers(1, 4))]
        zeros = self.some(self.bytes_(rows, -(-blocks * bits // 8)))
        inputs = [
            self.floats(*sizes, blocks * block),
            self.bytes_(rows, blocks, block * bits // 8),
            self.floats(rows, blocks),
        ]
        single = self.node("MatMulNBits", *inputs, zeros, K=blocks * block, N=rows, bits=bits, block_size=block)
        return single._replace(constants=range(1, len(single.inputs)))

    def quantized(self) -> Single:
        signed = bool(self.random.integers(2))
        sizes = self.batch, self.length, self.hidden
        kind = np.int8 if signed else np.uint8
        factors = [(self.number(0.01, 0.1), np.array(self.random.integers(0, 100), kind)) for _ in range(3)]
        a, b = (self.bytes_(*sizes, signed=signed) for _ in range(2))
        weights = unsaturated(self.bytes_(self.hidden, 3, signed=signed))
        kinds = [
            self.node("QLinearAdd", a, *factors[0], b, *factors[1], *factors[2]),
            self.node("QLinearSigmoid", a, *factors[0], *factors[1]),
            self.node("QLinearConcat", *factors[2], a, *factors[0], b, *factors[1], axis=self.length % 6 - 3),
            self.node("DynamicQuantizeMatMul", self.floats(*sizes), weights,
                      self.number(0.01, 0.1), self.some(np.array(7, kind)), self.some(self.floats(3))),
        ]  # fmt: skip
        return kinds[self.random.integers(len(kinds))]


DRAWN: tuple[Callable[[Draw], Single], ...] = (
    Draw.gelu, Draw.skip, Draw.fused_matmul, Draw.attention, Draw.multi_head, Draw.grouped, Draw.rotary, Draw.n_bits,
    Draw.quantized,
)  # fmt: skip


IGNORED = {
    "Attention": {"rotary_embedding_dim"},  # says more of do_rotary, which is refused
    "GroupQueryAttention": {  # more of do_rotary, and of the norms of queries and keys, which are refused
        "rotary_interleaved", "k_norm_epsilon", "q_norm_epsilon", "qk_norm_epsilon", "cos_cache", "sin_cache",
        "position_ids",
    },
    "RotaryEmbedding": {"is_packed_batching"},  # read only if the sequence is longer than the cache
    "MatMulNBits": {"accuracy_level"},  # a node may be more accurate
}  # fmt: skip
"""Attributes that no conversion reads, by the operator, and why: nothing else that a node says is left out in silence.
"""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> defaultdict[str, set[str]]:
    """The attributes, inputs and outputs that conversions read, by the operator."""
    found = defaultdict[str, set[str]](set)

    def note(use: Use, name: str) -> None:
        found[use.row.name].add(name)

    def at(use: Use, place: int) -> None:
        note(use, use.version.inputs[min(place, len(use.version.inputs) - 1)].name)

    def to(use: Use, place: int) -> None:
        note(use, use.version.outputs[place].name)

    def noting(look: Callable[[Use, Any], None], name: str) -> None:
        """The method notes what it is asked for."""
        method = getattr(Use, name)

        def asked(use: Use, *given: Any) -> Any:
            look(use, given[0])
            return method(use, *given)

        monkeypatch.setattr(Use, name, asked)

    for look, name in ((note, "attribute"), (at, "has"), (at, "__getitem__"), (to, "wants")):
        noting(look, name)
    out = Use.out

    def written(use: Use, one: Any, sizes: Any, place: int = 0) -> Any:
        to(use, place)
        return out(use, one, sizes, place)

    monkeypatch.setattr(Use, "out", written)
    return found


@seeds_of(40)
def test_results_are_those_of_onnx_runtime(seeds: range, read: defaultdict[str, set[str]]) -> None:
    for seed in seeds:
        for number in range(COUNT):
            for draw in DRAWN:
                must_pass(draw(Draw(COUNT * seed + number)))
    rows = [row for name in read if (row := operator(MICROSOFT, name)) is not None]
    for row in rows if len(seeds) > 1 else ():
        version = row.versions[-1]
        said = {*version.attributes, *(one.name for one in (*version.inputs, *version.outputs))}
        assert said - read[row.name] == IGNORED.get(row.name, set()), row.name
    assert len(rows) > 10 or len(seeds) == 1
