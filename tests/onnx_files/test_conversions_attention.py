"""ONNX Runtime's attention operators beside its CPU provider: forms of masks, earlier keys, rotary positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

import onnxruntime
from protos import model_of
from single import (
    MICROSOFT,
    Single,
    bytes_,
    floats,
    ints,
    longs,
    must_be_refused,
    must_pass,
    on_the_cpu,
    outcome_of,
    proto_of,
    scale,
    zero,
)

from dmlcy._frontends.onnx.loading import CompiledModel

BATCH, QUERIES, KEYS, HEADS, HEAD = 2, 3, 5, 2, 4
HIDDEN = HEADS * HEAD
TRUTH = ints(1, 1, 1, 0, 1, 1, 0, 0, 1, 1).reshape(BATCH, KEYS)


def multi_head(*more: Any, keys: int = KEYS, outputs: int = 1, values: int = HIDDEN, **attributes: Any) -> Single:
    inputs = [floats(BATCH, QUERIES, HIDDEN), floats(BATCH, keys, HIDDEN), floats(BATCH, keys, values), *more]
    return Single("MultiHeadAttention", inputs, {"num_heads": HEADS, **attributes}, MICROSOFT, outputs=outputs)


@each_of(
    "single",
    [
        multi_head(floats(3 * HIDDEN), scale=0.3),
        multi_head(None, ints(2, 5)),
        multi_head(None, TRUTH, mask_filter_value=-100.0),
        multi_head(None, None, floats(BATCH, HEADS, QUERIES, KEYS)),
        multi_head(
            None, None, None, *(floats(BATCH, HEADS, KEYS, HEAD) for _ in range(2)), keys=QUERIES, outputs=3
        ),
        multi_head(values=6),
        multi_head(None, None, None, *(floats(BATCH, HEADS, 0, HEAD) for _ in range(2)), keys=QUERIES, outputs=3),
    ],
)  # fmt: skip
def test_multi_head_attention(single: Single) -> None:
    must_pass(single, "MULTIHEAD_ATTENTION")


def test_stacked_inputs_are_the_same_inputs() -> None:
    """ONNX Runtime's CPU provider does not take stacked ones."""
    query, key, value = (floats(BATCH, QUERIES, HEADS, HEAD) for _ in range(3))
    apart = [one.reshape(BATCH, QUERIES, HIDDEN) for one in (query, key, value)]
    scores = np.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(HEAD)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    expected = np.einsum("bhqk,bkhd->bqhd", weights, value).reshape(BATCH, QUERIES, HIDDEN).astype(np.float32)
    for inputs in (
        apart,
        [apart[0], np.stack([key, value], 3)],
        [np.stack([query, key, value], 3)],
    ):
        must_pass(Single("MultiHeadAttention", inputs, {"num_heads": HEADS}, MICROSOFT, expected=[expected]))


def attention(*more: Any, queries: int = QUERIES, outputs: int = 1, **attributes: Any) -> Single:
    width = sum(attributes.get("qkv_hidden_sizes", [3 * HIDDEN]))
    inputs = [floats(BATCH, queries, 6), floats(6, width), floats(width), *more]
    return Single("Attention", inputs, {"num_heads": HEADS, **attributes}, MICROSOFT, outputs=outputs)


@each_of(
    "single",
    [
        attention(ints(2, 3)),
        attention(ints(2, 3, 1, 0)),
        attention(TRUTH[:, :QUERIES]),
        attention(np.tril(np.ones((BATCH, QUERIES, QUERIES), np.int32)), mask_filter_value=-100.0),
        attention(None, None, floats(BATCH, HEADS, QUERIES, QUERIES)),
    ],
)
def test_attention(single: Single) -> None:
    must_pass(single, "GEMM", "ELEMENT_WISE_IDENTITY", "MULTIHEAD_ATTENTION")


def earlier(keys: int = KEYS) -> Any:
    return floats(2, BATCH, HEADS, keys, HEAD)


@each_of(
    "single, more",
    [
        (attention(unidirectional=1), ["DIAGONAL_MATRIX1"]),
        (attention(outputs=2), ["JOIN"]),
        (attention(None, earlier(), outputs=2), ["SLICE1", "JOIN"]),
        (attention(None, earlier(0), outputs=2, unidirectional=1), ["DIAGONAL_MATRIX1", "JOIN"]),
        (attention(None, earlier(), queries=1, outputs=2, unidirectional=1), ["DIAGONAL_MATRIX1", "SLICE1", "JOIN"]),
        (
            attention(np.tri(2, 8, 5, np.int32), earlier(), outputs=2, unidirectional=1),
            ["DIAGONAL_MATRIX1", "ELEMENT_WISE_MULTIPLY", "SLICE1", "JOIN"],
        ),
    ],
)
def test_attention_that_the_cpu_computes_on_a_device(single: Single, more: list[str]) -> None:
    must_pass(single, "GEMM", "ELEMENT_WISE_IDENTITY", "MULTIHEAD_ATTENTION", *more)


def test_values_of_another_size() -> None:
    single = attention(qkv_hidden_sizes=[HIDDEN, HIDDEN, 6])
    must_pass(single, "GEMM", "SLICE1", "ELEMENT_WISE_IDENTITY", "MULTIHEAD_ATTENTION")


def test_a_mask_for_longer_sequences_is_cut() -> None:
    """ONNX Runtime's CPU provider does not take this form: the same node with the part that is read is expected."""
    single = attention()
    longer = np.tril(np.ones((BATCH, 1, 7, 7), np.int32))
    part = longer[:, 0, :QUERIES, :QUERIES].copy()
    short, long = (single._replace(inputs=[*single.inputs, one]) for one in (part, longer))
    must_pass(long._replace(expected=on_the_cpu(short)))


def quantized(*more: Any, outputs: int = 1, **attributes: Any) -> Single:
    inputs = [
        bytes_(BATCH, QUERIES, 6), bytes_(6, 3 * HIDDEN), floats(3 * HIDDEN), scale(0.01), scale(0.02), *more
    ]  # fmt: skip
    return Single("QAttention", inputs, {"num_heads": HEADS, **attributes}, MICROSOFT, outputs=outputs)


ZEROS = zero(120), zero(130)


@each_of(
    "single, more",
    [
        (quantized(ints(2, 3), *ZEROS), []),
        (quantized(None, *ZEROS, unidirectional=1), ["DIAGONAL_MATRIX1"]),
        (
            quantized(None, *ZEROS, floats(2, BATCH, HEADS, KEYS, HEAD), outputs=2, unidirectional=1),
            ["DIAGONAL_MATRIX1", "SLICE1", "JOIN"],
        ),
    ],
)
def test_quantized_attention(single: Single, more: list[str]) -> None:
    must_pass(single, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "ELEMENT_WISE_IDENTITY", "MULTIHEAD_ATTENTION", *more)


def grouped(queries: int, kind: str, given: int, *earlier: int, **attributes: Any) -> Single:
    """Queries of 2 heads of 8 elements, and keys of one. The inputs have room for ``given`` keys.

    ``earlier``: how many of them there are, for each item.
    """
    inputs = [floats(BATCH, queries, size).astype(kind) for size in (16, 8, 8)]
    inputs += [floats(BATCH, 1, given, 8).astype(kind) for _ in range(2)]
    for one, count in zip(range(BATCH), earlier, strict=True):
        for past in inputs[3:]:
            past[one, :, count:] = 0  # what is there is not said of the outputs
    inputs += [ints(*(count + queries - 1 for count in earlier)), ints(max(earlier) + queries)]
    return Single(
        "GroupQueryAttention", inputs, {"num_heads": 2, "kv_num_heads": 1, **attributes}, MICROSOFT, outputs=3
    )  # fmt: skip


@each_of(
    "single, more",
    [
        (grouped(3, "float32", 3, 0, 0), ["FILL_VALUE_CONSTANT"]),
        (grouped(3, "float32", 8, 0, 0), ["FILL_VALUE_CONSTANT"]),
        (grouped(1, "float32", 1, 0, 0), []),
        (grouped(1, "float32", 4, 4, 4), []),
        (grouped(1, "float32", 4, 4, 2, scale=0.2), []),
        (grouped(1, "float32", 8, 4, 4), ["SLICE1"]),
        (grouped(1, "float32", 5, 1, 4), ["SLICE1"]),
        (grouped(1, "float16", 8, 3, 4), ["SLICE1", "CAST"]),
        (grouped(3, "float16", 3, 0, 0), ["FILL_VALUE_CONSTANT", "CAST"]),
    ],
)
def test_grouped_queries(single: Single, more: list[str]) -> None:
    """The keys of earlier runs are read, which ONNX Runtime finds in the memory of the outputs."""
    must_pass(single, "MULTIHEAD_ATTENTION1", *more)


@pytest.mark.parametrize("room", [0, 8])
def test_a_decoder_reads_the_keys_of_the_runs_before(room: int) -> None:
    """The cache has room for all keys, or grows from run to run; the sizes are those of each call."""
    proto = proto_of(grouped(1, "float32", 4, 4, 4))
    for info in proto.graph.input:
        info.type.tensor_type.ClearField("shape")
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    model = CompiledModel(model_of(proto), {})
    caches = [[np.zeros((BATCH, 1, room, 8), np.float32)] * 2 for _ in range(2)]
    total = 0
    for queries in (3, 1, 1):
        total += queries
        given = [floats(BATCH, queries, size) for size in (16, 8, 8)]
        rest = [ints(*[total - 1] * BATCH), ints(total)]
        theirs, ours = ({f"input{place}": one for place, one in enumerate([*given, *cache, *rest])} for cache in caches)
        results = [session.run(None, theirs), [*model.run(ours).values()]]
        for wanted, found in zip(*results, strict=True):
            part = (..., slice(total), slice(None))
            assert found.shape == wanted.shape and np.abs(found[part] - wanted[part]).max() < 1e-5
        caches = [one[1:] for one in results]


def test_what_grouped_queries_ignore_is_refused() -> None:
    """Nothing that a node says of its results is left out."""
    single, one = grouped(1, "float32", 4, 4, 4), floats(8)
    for name, value in {
        "do_rotary": 1, "softcap": 0.5, "causal": 0, "local_window_size": 3, "smooth_softmax": 1, "qk_output": 1,
        "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_CHANNEL", "kv_cache_bit_width": 8,
        "sliding_window_cache": 1,
    }.items():  # fmt: skip
        found = outcome_of(single._replace(attributes={**single.attributes, name: value}, expected=[one] * 3))
        assert (found.verdict, found.why.split("-")[-1]) in (("refused", "value"), ("refused", "unsupported")), name
    for place in range(10, 17):
        inputs = [*single.inputs, *[None] * (place - 7), one if place < 16 else ints(1, 1)]
        must_be_refused(single._replace(inputs=inputs), "DML-ONNX-unsupported")
    must_be_refused(single._replace(outputs=4), "DML-ONNX-unsupported")
    short = [*single.inputs[:4], floats(BATCH, 1, 3, 8), *single.inputs[5:]]
    must_be_refused(single._replace(inputs=short), "DML-ONNX-sizes")
    must_be_refused(grouped(3, "float32", 3, 0, 0)._replace(inputs=[*single.inputs[:6], ints(0)]), "DML-ONNX-count")


def rotary(sizes: tuple[int, ...], positions: Any, **attributes: Any) -> Single:
    inputs = [floats(*sizes), positions, floats(9, HEAD // 2), floats(9, HEAD // 2)]
    return Single("RotaryEmbedding", inputs, attributes, MICROSOFT)


PLACES = longs(0, 2, 4, 1, 3, 5).reshape(BATCH, QUERIES)


@each_of(
    "single",
    [
        rotary((BATCH, QUERIES, HIDDEN), PLACES),
        rotary((BATCH, QUERIES, HIDDEN), longs(2), interleaved=1),
        rotary((BATCH, HEADS, QUERIES, HEAD), longs(2)),
        rotary((BATCH, QUERIES, HEADS * 6), PLACES, num_heads=HEADS, rotary_embedding_dim=HEAD),
        rotary((BATCH, HEADS, QUERIES, 6), longs(1), num_heads=HEADS, rotary_embedding_dim=HEAD, interleaved=1),
    ],
)
def test_rotary_positions(single: Single) -> None:
    must_pass(single)


@each_of(
    "single, identifier",
    [
        (multi_head(unidirectional=1), "DML-ONNX-unsupported"),
        (multi_head(num_heads=3), "DML-ONNX-attribute-value"),
        (attention(ints(2, 3), unidirectional=1), "DML-ONNX-unsupported"),
        (attention(do_rotary=1), "DML-ONNX-unsupported"),
        (attention(qkv_hidden_sizes=[HIDDEN, HIDDEN, 6], outputs=2), "DML-ONNX-unsupported"),
        (attention(qkv_hidden_sizes=[HIDDEN, 6, HIDDEN]), "DML-ONNX-attribute-value"),
        (quantized(ints(2, 3), *ZEROS, unidirectional=1), "DML-ONNX-unsupported"),
        (grouped(1, "float32", 4, 4, 4, kv_num_heads=3), "DML-ONNX-attribute-value"),
        (multi_head(outputs=4), "DML-ONNX-unsupported"),
        (rotary((BATCH, 10, HIDDEN), longs(0)), "DML-ONNX-broadcast"),
        (rotary((BATCH, QUERIES, HIDDEN), PLACES, num_heads=HEADS, rotary_embedding_dim=3), "DML-ONNX-attribute-value"),
        (rotary((BATCH, HIDDEN), longs(0)), "DML-ONNX-rank"),
    ],
)
def test_refused(single: Single, identifier: str) -> None:
    must_be_refused(single, identifier)


def test_keys_of_earlier_runs_only_are_refused_by_the_rules_of_the_operator() -> None:
    """ONNX Runtime gives them to DirectML, whose page wants the key and the value of this run."""
    past = floats(BATCH, HEADS, KEYS, HEAD)
    single = Single("MultiHeadAttention", [floats(BATCH, QUERIES, HIDDEN), past, past], {"num_heads": HEADS}, MICROSOFT)
    found = outcome_of(single)
    assert "DML-MULTIHEAD_ATTENTION-key-once" in found.why.split()
