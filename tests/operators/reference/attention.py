"""MULTIHEAD_ATTENTION over whole arrays in float64, and how large the terms are of which FLOAT32 loses some."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array


def by_heads(x: Array, heads: int) -> Array:
    """{batch, heads, places, elements}, of a tensor that has the elements of all heads side by side."""
    x = x.reshape(x.shape[-3:])
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def masked(mask: Array, form: str, items: int, keys: int) -> Array:
    """Which keys are masked, by item, head, query and key; each of these axes may be of size 1."""
    place = np.arange(keys)
    if form == "BOOLEAN":
        found = mask.reshape((1,) * (4 - mask.ndim) + mask.shape[-4:]) == 0
        missing = keys - found.shape[-1] if found.shape[-1] > 1 else 0
        return np.pad(found, [(0, 0)] * 3 + [(missing, 0)])
    flat = mask.ravel()
    ends = flat[:items, None]
    starts = flat[items : 2 * items, None] if form == "KEY_SEQUENCE_END_START" else 0 * ends
    return ((place < starts) | (place >= ends)).reshape(items, 1, 1, keys)


def attention(
    heads: int,
    few: int,
    tensors: list[Array | None],
    *,
    lengths: Array | None,
    scale: float,
    filtered: float,
    form: str,
    present: tuple[str, str],
) -> Any:
    query, key, value, query_key, key_value, stacked, bias, mask, added, *before = tensors
    parts = [None if x is None else by_heads(x, n) for x, n in ((query, heads), (key, few), (value, few))]
    for one, first in ((query_key, 0), (key_value, 1), (stacked, 0)):
        if one is not None:
            for part in range(one.shape[3]):
                parts[first + part] = one[:, :, :, part].swapaxes(1, 2)
    q, k, v = (np.asarray(one) for one in parts)
    dtype = q.dtype
    wide = [one.astype(np.float64) for one in (q, k, v)]
    if bias is not None:
        rows = np.split(bias.ravel().astype(np.float64), np.cumsum([q.shape[1] * q.shape[3], k.shape[1] * k.shape[3]]))
        wide = [one + row.reshape(one.shape[1], 1, one.shape[3]) for one, row in zip(wide, rows, strict=True)]
    own = wide[1:] if bias is not None else [k, v]
    if before[0] is not None:
        past = [one.reshape(one.shape[-4:]) for one in before if one is not None]
        wide[1:] = [np.concatenate([old, new], 2) for old, new in zip(past, wide[1:], strict=True)]
        own = [np.concatenate([old, new], 2) for old, new in zip(past, own, strict=True)]
    found = [weighed(wide, heads // few, mask, added, None, scale, filtered, form)]
    if lengths is not None:
        found, whole, everything = [], [one.copy() for one in wide], [one.copy() for one in own]
        for item, length in enumerate(lengths.ravel().astype(int).tolist()):
            kept = [*range(length), *range(whole[1].shape[2] - k.shape[2], whole[1].shape[2])]
            some = [x[item : item + 1] for x in (whole[0], whole[1][:, :, kept], whole[2][:, :, kept])]
            extra = added
            if added is not None:
                extra = added.reshape(added.shape[-4:])[min(item, added.shape[-4] - 1) :][:1]
                extra = extra if extra.shape[-1] == 1 else extra[..., : len(kept)]
            found.append(weighed(some, heads // few, None, extra, length, scale, filtered, form))
            for to, source in zip(own, everything, strict=True):
                to[item] = 0
                to[item, :, : len(kept)] = source[item][:, kept]
    exact, terms = (np.concatenate(parts) for parts in zip(*found, strict=True))
    roundings = wide[1].shape[2] + wide[1].shape[2] // 64 + wide[1].shape[3] + 11
    ulp = roundings if dtype == np.float32 else 1 + roundings // 4096
    # FLOAT16 and what is added to it are added in FLOAT32.
    every = [one if bias is None else Near(one, 1, np.abs(one)) for one in own]
    outputs = [Near(exact, ulp, terms), *(one for one, name in zip(every, present, strict=True) if name)]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def weighed(
    tensors: list[Array],
    shared: int,
    mask: Array | None,
    added: Array | None,
    length: int | None,
    scale: float,
    filtered: float,
    form: str,
) -> tuple[Array, Array]:
    q, k, v = tensors[0], *(np.repeat(one, shared, 1) for one in tensors[1:])
    with np.errstate(all="ignore"):
        scores = q @ k.swapaxes(2, 3) * float(np.float32(scale))
        terms = np.abs(q) @ np.abs(k).swapaxes(2, 3) * abs(float(np.float32(scale)))
        if added is not None:
            more = added.reshape(added.shape[-4:]).astype(np.float64)
            scores, terms = scores + more, terms + np.abs(more)
        if mask is not None and form != "NONE":
            some = masked(mask, form, len(q), k.shape[2])
            scores, terms = (np.where(some, x + y, x) for x, y in ((scores, filtered), (terms, abs(filtered))))
        if length is not None:
            later = np.arange(k.shape[2]) > np.arange(q.shape[2])[:, None] + length
            scores, terms = np.where(later, -np.inf, scores), np.where(later, 0, terms)
        less = scores - scores.max(-1, keepdims=True)
        weights = np.exp(less)
        weights /= weights.sum(-1, keepdims=True)
        exact = weights @ np.where(np.isfinite(v), v, 0)
        # An infinite value or NaN counts with a weight; a value without weight does not.
        for place in zip(*np.nonzero(~np.isfinite(v)), strict=True):
            weight = weights[place[0], place[1], :, place[2]]
            exact[place[0], place[1], :, place[3]] += np.where(weight > 0, weight * v[place], 0)
        sizes = weights * (1.1 + 1.1 * np.where(less > -90, terms - less / 8, 0))
        magnitudes = sizes @ np.where(np.isfinite(v), np.abs(v), 0) + np.abs(exact) * sizes.sum(-1, keepdims=True)
    both = exact, magnitudes + 2.0**-100
    return tuple(x.swapaxes(1, 2).reshape(len(q), q.shape[2], -1) for x in both)


def multihead_attention(
    *tensors: Array | None,
    head_count: int,
    scale: float,
    mask_filter_value: float = -10000.0,
    mask_type: str = "NONE",
    output_dtype: Any = None,
    output_present_key: Any = "",
    output_present_value: Any = "",
) -> Any:
    given = [*tensors, *[None] * (11 - len(tensors))]
    present = output_present_key, output_present_value
    return attention(head_count, head_count, given, lengths=None, scale=scale, filtered=mask_filter_value,
                     form=mask_type, present=present)  # fmt: skip


def multihead_attention1(
    *tensors: Array | None,
    query_head_count: int,
    key_value_head_count: int,
    scale: float,
    mask_filter_value: float = -10000.0,
    mask_type: str = "NONE",
    output_dtype: Any = None,
    output_present_key: Any = "",
    output_present_value: Any = "",
    output_present_key_sizes: Any = None,
    output_present_value_sizes: Any = None,
) -> Any:
    given = [*tensors, *[None] * (12 - len(tensors))]
    present = output_present_key, output_present_value
    found = attention(query_head_count, key_value_head_count, given[:11], lengths=given[11], scale=scale,
                      filtered=mask_filter_value, form=mask_type, present=present)  # fmt: skip
    sizes = output_present_key_sizes, output_present_value_sizes
    asked = [one for one, name in zip(sizes, present, strict=True) if name]
    return found if not asked else (found[0], *map(with_room, found[1:], asked))


def with_room(x: Any, sizes: Any) -> Any:
    """Keys or values, and zeros up to some sizes."""
    if sizes is None:
        return x
    if isinstance(x, Near):
        return Near(with_room(x.exact, sizes), x.ulp, with_room(x.terms, sizes))
    return np.pad(x, [(0, 0), (0, 0), (0, sizes[-2] - x.shape[2]), (0, 0)]).reshape(sizes)
