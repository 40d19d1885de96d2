"""Properties of attention: PyTorch and ONNX Runtime give the same; masks, earlier keys and special values; memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._families.attention import family

Array = np.ndarray[Any, Any]


def tensors(random: np.random.Generator, *sizes: tuple[int, ...]) -> list[Array]:
    return [random.standard_normal(one).astype(np.float32) for one in sizes]


def heads(x: Array, count: int) -> Array:
    """An axis of heads in front of the places."""
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def weighed(torch: Any, query: Array, key: Array, value: Array, scale: float, mask: Any = None) -> Array:
    """The attention of PyTorch over heads, in float64; heads of keys that are fewer serve several of the query."""
    wide = [torch.from_numpy(np.array(one, np.float64)) for one in (query, key, value)]
    added = None if mask is None else torch.from_numpy(np.array(mask))
    grouped = query.shape[1] != key.shape[1]
    found = torch.nn.functional.scaled_dot_product_attention(
        *wide, attn_mask=added, scale=scale, enable_gqa=grouped
    ).numpy()
    joined: Array = found.swapaxes(1, 2).reshape(found.shape[0], found.shape[2], -1)
    return joined


def test_pytorch_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As loops and reference, with a bias, an added tensor and earlier keys, each perhaps; some heads share keys."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    for number in range(60):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 1, 20)[number % 3])
        batch, queries, news, past, size, other = map(int, random.integers(1, 6, 6))
        few = int(random.integers(1, 4))
        count = few * int(random.integers(1, 3))
        q, k, v = tensors(random, (batch, queries, count * size), (batch, news, few * size), (batch, news, few * other))
        bias, added, past_key, past_value = tensors(
            random, (count * size + few * (size + other),), (batch, count, queries, past + news),
            (batch, few, past, size), (batch, few, past, other),
        )  # fmt: skip
        parts = np.split(bias, np.cumsum([count * size, few * size]))
        has_bias, has_added, has_past = number % 2, number // 2 % 2, number // 4 % 2
        mine = [one + part if has_bias else one for one, part in zip((q, k, v), parts, strict=True)]
        keys, values = heads(mine[1], few), heads(mine[2], few)
        if has_past:
            keys, values = np.concatenate([past_key, keys], 2), np.concatenate([past_value, values], 2)
        else:
            added = added[..., past:]
        expected = weighed(torch, heads(mine[0], count), keys, values, 0.75, added.astype(float) if has_added else None)
        use: Any = {"scale": 0.75, "output_present_key": True, "output_present_value": True}
        given: Any = {"bias": bias if has_bias else None, "relative_position_bias": added if has_added else None}
        given |= {"past_key": past_key, "past_value": past_value} if has_past else {}
        found, *present = dml.multihead_attention1(
            q, k, v, query_head_count=count, key_value_head_count=few, **given, **use
        )
        np.testing.assert_allclose(found, expected, atol=2e-5)
        for one, other_ in zip(present, (keys, values), strict=True):
            np.testing.assert_allclose(one, other_, atol=1e-6)
        inputs = {"query": q, "key": k, "value": v} | {name: x for name, x in given.items() if x is not None}
        outputs = dict(zip(("output", "output_present_key", "output_present_value"), (found, *present), strict=True))
        tensor_descs: dict[str, Any] = {
            name: dml.TensorDesc("FLOAT32", x.shape) for name, x in (inputs | outputs).items()
        }
        desc = dml.desc.MultiheadAttention1(
            **tensor_descs, query_head_count=count, key_value_head_count=few, scale=0.75
        )
        for one, other_ in zip(dml.compile(desc, path="reference")(**inputs), outputs.values(), strict=True):
            np.testing.assert_allclose(one, other_, atol=2e-5)
        if few == count:
            again = dml.multihead_attention(q, k, v, head_count=count, **given, **use)
            for one, other_ in zip(again, (found, *present), strict=True):
                np.testing.assert_array_equal(one, other_)


def test_stacked_tensors_are_the_same_as_separate_ones() -> None:
    random = np.random.default_rng(2)
    q, k, v = tensors(random, *[(2, 3, 4 * 5)] * 3)
    use: Any = {"head_count": 4, "scale": 0.5}
    expected = dml.multihead_attention(q, k, v, **use)
    by_head = [one.reshape(2, 3, 4, 5) for one in (q, k, v)]
    query_key, key_value, all_three = (np.stack(by_head[part], 3) for part in (slice(2), slice(1, 3), slice(3)))
    for found in (
        dml.multihead_attention(value=v, stacked_query_key=query_key, **use),
        dml.multihead_attention(query=q, stacked_key_value=key_value, **use),
        dml.multihead_attention(stacked_query_key_value=all_three, **use),
        dml.multihead_attention(q[None], k[None], v[None], **use).reshape(expected.shape),
    ):
        np.testing.assert_array_equal(found, expected)


def test_masks() -> None:
    """Each format as the truth that it stands for, with PyTorch; the value for masked positions is added to scores."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    batch, queries, keys, count = 3, 2, 5, 2
    q, k, v = tensors(random, (batch, queries, 8), (batch, keys, 8), (batch, keys, 6))
    ends, starts = np.array([5, 3, 1], np.int32), np.array([2, 0, 0], np.int32)
    place = np.arange(keys)
    short, part = place < ends[:, None], (place < ends[:, None]) & (place >= starts[:, None])
    free = random.integers(0, 2, (batch, count, queries, keys)).astype(np.int32)
    free[..., 0] = 1
    packed = np.concatenate([ends, random.integers(0, 99, 2 * batch + 2)]).astype(np.int32)
    cases: list[tuple[Any, Array, Array]] = [
        ("KEY_SEQUENCE_LENGTH", ends[None], short[:, None, None]),
        ("KEY_SEQUENCE_END_START", np.stack([ends, starts]), part[:, None, None]),
        ("KEY_QUERY_SEQUENCE_LENGTH_START_END", packed, short[:, None, None]),
        ("BOOLEAN", free, free > 0),
        ("BOOLEAN", free[:, :1], free[:, :1] > 0),
        ("BOOLEAN", 3 * free[0, 0], free[0, 0] > 0),
        ("BOOLEAN", free[0, 0, 0], free[0, 0, 0] > 0),
        ("NONE", free[0, 0, 0] * 0, np.ones(1, bool)),
    ]
    for form, mask, kept in cases:
        for value in (-10000.0, -1.5):
            added = np.broadcast_to(np.where(kept, 0.0, value), (batch, count, queries, keys))
            expected = weighed(torch, heads(q, count), heads(k, count), heads(v, count), 0.5, added)
            found = dml.multihead_attention(
                q, k, v, mask=mask, mask_type=form, head_count=count, scale=0.5, mask_filter_value=value
            )
            np.testing.assert_allclose(found, expected, atol=2e-6, err_msg=form)


def test_a_mask_of_this_run_leaves_earlier_keys() -> None:
    random = np.random.default_rng(4)
    q, k, v, past_key, past_value = tensors(random, *[(1, 2, 4)] * 3, (1, 1, 3, 4), (1, 1, 3, 4))
    own = np.array([[1, 0]], np.int32)
    use: Any = {"past_key": past_key, "past_value": past_value, "head_count": 1, "scale": 1.0, "mask_type": "BOOLEAN"}
    found = dml.multihead_attention(q, k, v, mask=own, **use)
    whole = dml.multihead_attention(q, k, v, mask=np.array([[1, 1, 1, 1, 0]], np.int32), **use)
    np.testing.assert_array_equal(found, whole)


def test_numbers_of_earlier_keys_make_attention_causal() -> None:
    """Each item has its own number of earlier keys; a query has weights up to its own place."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(5)
    for dtype in (np.int32, np.float32):
        q, k, v, past_key, past_value = tensors(random, (3, 4, 6), (3, 4, 3), (3, 4, 3), (3, 1, 5, 3), (3, 1, 5, 3))
        lengths = np.array([0, 2, 5])
        found, keys, values = dml.multihead_attention1(
            q, k, v, past_key=past_key, past_value=past_value, past_sequence_lengths=lengths.astype(dtype),
            query_head_count=2, key_value_head_count=1, scale=0.5, output_present_key=True, output_present_value=True,
        )  # fmt: skip
        for item, count in enumerate(lengths.tolist()):
            own = [np.concatenate([one[item, :, :count], new[None, item]], 1)[None]
                   for one, new in ((past_key, k), (past_value, v))]  # fmt: skip
            allowed = np.arange(count + 4) <= np.arange(4)[:, None] + count
            expected = weighed(
                torch, heads(q[item : item + 1], 2), own[0], own[1], 0.5, np.where(allowed, 0.0, -np.inf)
            )
            np.testing.assert_allclose(found[item : item + 1], expected, atol=2e-6)
            for all_, one in ((keys, own[0]), (values, own[1])):
                np.testing.assert_array_equal(all_[item, :, : count + 4], one[0])
                assert not all_[item, :, count + 4 :].any()


def test_a_desc_may_have_room_for_later_keys() -> None:
    x = np.full((1, 2, 3), 2, np.float32)
    tensor = dml.TensorDesc("FLOAT32", (1, 2, 3))
    desc = dml.desc.MultiheadAttention1(
        query=tensor, key=tensor, value=tensor, past_sequence_lengths=dml.TensorDesc("INT32", (1,)), output=tensor,
        output_present_value=dml.TensorDesc("FLOAT32", (1, 1, 6, 3)), scale=1,
        query_head_count=1, key_value_head_count=1,
    )  # fmt: skip
    compiled: Any = dml.compile(desc)
    found, values = compiled(x, x, x, past_sequence_lengths=np.zeros(1, np.int32))
    np.testing.assert_array_equal(found, x)
    assert (values[0, 0, :2] == 2).all()
    assert not values[0, 0, 2:].any()


def test_a_wrong_number_of_earlier_keys_is_refused() -> None:
    x, past = np.ones((2, 1, 3), np.float32), np.ones((2, 1, 4, 3), np.float32)
    out = np.full((2, 1, 3), 7, np.float32)
    use: Any = {"query_head_count": 1, "key_value_head_count": 1, "scale": 1.0, "out": out}
    behind: dict[str, Any] = {"past_key": past, "past_value": past}
    for wrong, more in ((5, behind), (-1, {}), (1, {})):
        lengths = np.array([0, wrong], np.int32)
        with pytest.raises(dml.InvalidDataError, match=r"past_sequence_lengths\[1\].*past_sequence_lengths-inside"):
            dml.multihead_attention1(x, x, x, past_sequence_lengths=lengths, **more, **use)
    with pytest.raises(dml.InvalidDataError, match=r"past_sequence_lengths\[0\]"):
        halves = np.array([0.5, 0], np.float32)
        dml.multihead_attention1(x, x, x, past_sequence_lengths=halves, past_key=past, past_value=past, **use)
    assert (out == 7).all()


def test_onnx_runtime_gives_the_same() -> None:
    """MultiHeadAttention, with a bias, lengths of keys, an added tensor and earlier keys; GroupQueryAttention."""
    onnxruntime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    random = np.random.default_rng(6)

    def run(kind: str, feeds: dict[str, Array], names: list[str], outputs: int, **attributes: Any) -> list[Array]:
        kinds = {np.dtype(np.float32): 1, np.dtype(np.int32): 6}
        inputs = [helper.make_tensor_value_info(name, kinds[x.dtype], x.shape) for name, x in feeds.items()]
        given = [name if name in feeds else "" for name in names]
        named = [f"y{number}" for number in range(outputs)]
        node = helper.make_node(kind, given, named, domain="com.microsoft", **attributes)
        infos = [helper.make_tensor_value_info(name, 1, None) for name in named]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(helper.make_graph([node], "g", inputs, infos), opset_imports=opsets, ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, feeds)  # type: ignore[no-any-return]

    names = ["q", "k", "v", "bias", "mask", "added", "past_key", "past_value"]
    q, k, v, bias, added, past_key, past_value = tensors(
        random, (2, 3, 8), (2, 5, 8), (2, 5, 12), (28,), (2, 2, 3, 5), (2, 2, 4, 4), (2, 2, 4, 4)
    )
    plain = {"q": q, "k": k, "v": v}
    (expected,) = run("MultiHeadAttention", plain | {"bias": bias, "added": added}, names, 1, num_heads=2)
    use: Any = {"head_count": 2, "scale": 0.5}
    found = dml.multihead_attention(q, k, v, bias=bias, relative_position_bias=added, **use)
    np.testing.assert_allclose(found, expected, atol=5e-6)
    lengths = np.array([5, 2], np.int32)
    (expected,) = run("MultiHeadAttention", plain | {"mask": lengths}, names, 1, num_heads=2)
    found = dml.multihead_attention(q, k, v, mask=lengths[None], mask_type="KEY_SEQUENCE_LENGTH", **use)
    np.testing.assert_allclose(found, expected, atol=5e-6)
    square = {"q": k, "k": k, "v": k, "bias": bias[:24], "past_key": past_key, "past_value": past_value}
    expected3 = run("MultiHeadAttention", square, names, 3, num_heads=2)
    found3 = dml.multihead_attention(
        k, k, k, bias=bias[:24], past_key=past_key, past_value=past_value, output_present_key=True,
        output_present_value=True, **use,
    )  # fmt: skip
    for one, other in zip(found3, expected3, strict=True):
        np.testing.assert_allclose(one, other, atol=5e-6)
    few = tensors(random, (2, 4, 32), (2, 4, 16), (2, 4, 16))
    feeds = dict(zip(["q", "k", "v"], few, strict=True))
    feeds |= {"lengths": np.array([3, 3], np.int32), "total": np.array([4], np.int32)}
    grouped = ["q", "k", "v", "past_key", "past_value", "lengths", "total"]
    (expected, *_) = run("GroupQueryAttention", feeds, grouped, 3, num_heads=4, kv_num_heads=2, scale=0.5)
    grouped_query: Any = dml.multihead_attention1
    found = grouped_query(
        *few, past_sequence_lengths=np.zeros(2, np.int32), query_head_count=4, key_value_head_count=2, scale=0.5
    )
    np.testing.assert_allclose(found, expected, atol=5e-6)


def test_special_values() -> None:
    """Values without weight do not count; NaN and infinities of queries and keys become NaN; large scores are exact."""
    use: Any = {"head_count": 1, "scale": 1.0}
    q = np.ones((1, 1, 1), np.float32)
    k = np.array([[[1], [2], [3]]], np.float32)
    v = np.array([[[1, 2], [np.nan, np.inf], [5, 6]]], np.float32)
    mask = np.array([[1, 0, 1]], np.int32)
    found = dml.multihead_attention(q, k, v, mask=mask, mask_type="BOOLEAN", **use)
    weight = 1 / (1 + np.exp(2))
    np.testing.assert_allclose(found[0, 0], [weight + 5 * (1 - weight), 2 * weight + 6 * (1 - weight)], rtol=1e-6)
    np.testing.assert_array_equal(dml.multihead_attention(q, k, v, **use)[0, 0], [np.nan, np.inf])
    for bad in (np.nan, np.inf):
        assert np.isnan(dml.multihead_attention(q, np.full_like(k, bad), np.ones_like(v), **use)).all()
    large = np.array([[[1e4], [1e4 + 1], [-1e6]]], np.float32)
    found = dml.multihead_attention(q, large, np.array([[[0], [1], [9]]], np.float32), **use)
    np.testing.assert_allclose(found.item(), 1 / (1 + np.exp(-1)), rtol=1e-6)
    none = dml.multihead_attention(q, k, v[:, [0, 2, 2]], mask=mask * 0, mask_type="BOOLEAN", **use)
    np.testing.assert_array_equal(none, dml.multihead_attention(q, k, v[:, [0, 2, 2]], **use))


def test_blocks_of_keys() -> None:
    """A greater score in a later block scales what was before; so does none, or a much greater one."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(7)
    for queries, rising in ((3, 0.0), (1, 0.02), (2, -0.02), (2, 1.0)):
        q, k, v = tensors(random, (1, queries, 4), (1, 2500, 4), (1, 2500, 6))
        added = np.broadcast_to(np.arange(2500, dtype=np.float32) * np.float32(rising), (1, 2, queries, 2500))
        expected = weighed(torch, heads(q, 2), heads(k, 2), heads(v, 2), 0.5, added.astype(float))
        found = dml.multihead_attention(q, k, v, relative_position_bias=added, head_count=2, scale=0.5)
        np.testing.assert_allclose(found, expected, atol=1e-5 if abs(rising) < 0.5 else 2e-3)


def test_special_values_in_blocks() -> None:
    """A masked value does not count, in any block. Another infinite value counts, for queries that see it."""
    random = np.random.default_rng(8)
    for queries in (1, 50):
        q, k, v = tensors(random, (1, queries, 4), (1, 2100, 4), (1, 2100, 3))
        bad = v.copy()
        bad[0, [5, 2050], [0, 2]] = np.nan, -np.inf
        mask = np.ones(2100, np.int32)
        mask[[5, 2050]] = 0
        use: Any = {"head_count": 1, "scale": 0.5, "mask_type": "BOOLEAN"}
        found = dml.multihead_attention(q, k, bad, mask=mask, **use)
        np.testing.assert_array_equal(found, dml.multihead_attention(q, k, v, mask=mask, **use))
        mask[2050] = 1
        seen = dml.multihead_attention(q, k, bad, mask=mask, **use)
        assert (seen[..., 2] == -np.inf).all()
        np.testing.assert_allclose(
            seen[..., :2], dml.multihead_attention(q, k, v, mask=mask, **use)[..., :2], atol=1e-6
        )


def test_nothing_overflows_before_the_result() -> None:
    """Neither the sum of large values nor a score of large numbers."""
    for queries in (1, 3):
        q, most = np.ones((1, queries, 2), np.float32), np.float32(3e38)
        k, v = np.zeros((1, 40, 2), np.float32), np.full((1, 40, 2), most)
        found = dml.multihead_attention(q, k, v, head_count=1, scale=1.0)
        np.testing.assert_allclose(found / most, 1, rtol=1e-6)
        k[0, 7] = 1e38
        v[0, 7] = 5
        np.testing.assert_array_equal(dml.multihead_attention(q * np.float32(1e3), k, v, head_count=1, scale=1.0), 5)


def test_long_sequences_take_little_memory() -> None:
    x = np.ones((1, 3000, 64), np.float32)
    tracemalloc.start()
    try:
        found = dml.multihead_attention(x, x, x, head_count=2, scale=0.1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(found, 1, rtol=1e-6)
    assert peak < found.nbytes + (32 << 20), f"{peak / 2**20:.0f} MB"


def test_an_out_with_ones_in_front_is_refused() -> None:
    """A desc may add such ones. The call infers the sizes of its result, and adds none."""
    query = np.ones((1, 9, 1), np.float32)
    stacked = np.ones((1, 2, 1, 2, 1), np.float32)
    names: dict[str, Any] = {"stacked_key_value": stacked, "query_head_count": 1, "key_value_head_count": 1, "scale": 1}
    with pytest.raises(dml.InvalidDescError, match=r"must have \(1, 9, 1\): the sizes that the call infers") as caught:
        dml.multihead_attention1(query, **names, out=np.empty((1, 1, 9, 1), np.float32))
    assert caught.value.violations[0].id == "DML-MULTIHEAD_ATTENTION1-output-sizes"
