"""attention: the values of keys, weighed by the softmax of the products of queries and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from dmlcy._arithmetic.base import Arithmetic
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.attention.heads import Heads
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import RESULTS
from dmlcy._families.given import Given
from dmlcy._families.operations import sizes_only
from dmlcy._field_types.float import single
from dmlcy._types import Array, Number

UNIT: Final = 2.0**-24
"""The largest error of one rounding to FLOAT32, divided by the number."""
ERROR: Final = 2.0**-6
"""Of a score: for larger ones nothing is promised, as a weight changes by more than in proportion."""
LEAST: Final = -86.0
"""Loops may take the weights of lower scores for 0."""
SMALL: Final = 2.0**-124
"""A number above such a weight, and one that is large enough for the error to be a unit in the last place of it."""
LOST: Final = 2.0**-101


class Attention(Family):
    """The family."""

    of_a_part, of_all = 4, 1

    def workspace(self, desc: OperatorDesc) -> int:
        """Of the products of some queries with all keys, and of the numbers of a head."""
        return super().workspace(desc) + 8 * self.of_a_part * RESULTS

    def operations(self, desc: OperatorDesc) -> int:
        """Of each query with each key, masked or not: two for each product, and those of the softmax.

        The operations are the scale, the greatest score, the difference to it, the exponential and the sum; a bias and
        a mask add one each. A result is divided by the sum. Biases of queries, keys and values count one each.
        """
        heads = Heads(sizes_only(desc))
        size, wide = heads.sizes["key"], heads.sizes["value"]
        rows = heads.batch * heads.count * heads.sequence
        masked = heads.array("mask") is not None and heads.given.field("format").name != "NONE"
        extra = (heads.array("added") is not None) + masked
        found = rows * heads.total * (2 * (size + wide) + 5 + extra) + rows * wide
        own = heads.batch * heads.keys * heads.new
        return found + (rows * size + own * (size + wide) if heads.has_bias() else 0)

    def evaluate(self, given: Given, output: str) -> Result:
        """The values of each head side by side; or all keys or values."""
        roles = {given.told.roles[f"present_{role}"]: role for role in ("key", "value")}
        if output in roles:
            values, moved = Heads(given).present(roles[output], tuple(given.values[output].sizes))
            return Result(values, moved=moved)
        return Result(_whole(given, output), magnitudes=lambda: _magnitudes(given, output))

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``unweighed``: whether a value that is infinite or NaN has next to no weight; ``behind``: the last key."""
        heads = Heads(given)

        def unweighed() -> Array:
            result: Array = np.zeros(given.values[output].sizes, np.bool_)
            target = _by_heads(result, heads)
            for item, head, rows, queries, (query, key, value) in _queries(given, heads):
                target[item, rows, head] = queries.unweighed(query, key, value)
            return result

        def behind() -> Array:
            place = np.arange(given.values[output].sizes[-2])[:, None]
            counts = np.array([heads.keys_of(item) for item in range(heads.batch)])
            found: Array = place >= counts.reshape(-1, 1, 1, 1)
            return found

        return {"unweighed": unweighed, "behind": behind}

    def result(self, given: Given, output: str) -> Array:
        """The same, some queries of a head after others."""
        if output != given.outputs[0][0]:
            return super().result(given, output)
        found: Array = given.room(output)
        heads = Heads(given)
        target = _by_heads(found, heads)
        for item, head, rows, values in _parts(given, heads):
            target[item, rows, head] = self.stored(given, values, output, values.shape)
        return found


def _by_heads(array: Array, heads: Heads) -> Array:
    """The output over items, queries, heads and elements."""
    return array.reshape(heads.batch, heads.sequence, heads.count, heads.sizes["value"])


def _whole(given: Given, output: str) -> Number:
    result = given.arithmetic.of(np.zeros(given.values[output].sizes))
    heads = Heads(given)
    target = _by_heads(result, heads)
    for item, head, rows, values in _parts(given, heads):
        target[item, rows, head] = values
    return result


def _magnitudes(given: Given, output: str) -> Number:
    result = np.zeros(given.values[output].sizes)
    heads = Heads(given)
    target = _by_heads(result, heads)
    for item, head, rows, queries, operands in _queries(given, heads):
        target[item, rows, head] = queries.magnitudes(*operands)
    return result


def _parts(given: Given, heads: Heads) -> Iterator[tuple[int, int, slice, Number]]:
    """The results of some queries of an item and a head."""
    for item, head, rows, queries, operands in _queries(given, heads):
        yield item, head, rows, queries.results(*operands)


def _queries(given: Given, heads: Heads) -> Iterator[tuple[int, int, slice, _Queries, tuple[Number, Number, Number]]]:
    """Some queries of an item and a head after others, with their numbers and those of the keys and values."""
    shared = heads.count // heads.keys
    step = max(1, RESULTS // heads.total)
    for item in range(heads.batch):
        for head in range(heads.count):
            if head % shared == 0:
                key, value = (heads.all(role, item, head // shared) for role in ("key", "value"))
            query = heads.own("query", item, head)
            for first in range(0, heads.sequence, step):
                rows = slice(first, min(first + step, heads.sequence))
                yield item, head, rows, _Queries(given, heads, item, head, rows), (query[rows], key, value)


class _Queries:
    """Some queries of an item of the batch and a head."""

    def __init__(self, given: Given, heads: Heads, item: int, head: int, rows: slice) -> None:
        self.m = given.arithmetic
        count = heads.keys_of(item)
        self.added = heads.added(item, head, rows, count)
        self.mask = heads.mask(item, head, rows, count)
        self.later: Array | None = None
        if heads.lengths is not None:
            place = np.arange(rows.start, rows.stop) + (count - heads.new)
            self.later = np.arange(count) > place[:, None]
        roles, values = given.told.roles, given.values
        self.scale, self.filter = (
            self.m.of(np.array([single(values[roles[name]])]))[0] for name in ("scale", "masked")
        )

    def scores(self, query: Number, key: Number, absolute: bool) -> Number:
        """The scores of which the softmax is taken; or the sizes of their terms."""
        m = self.m
        sized = m.absolute if absolute else lambda x: x
        found = m.multiply(m.matmul(sized(query), sized(np.swapaxes(key, 0, 1))), sized(self.scale))
        if self.added is not None:
            found = m.add(found, sized(self.added))
        if self.mask is not None:
            masked = np.broadcast_to(self.mask, found.shape)
            found = m.where(masked, m.add(found, sized(self.filter)), found)
        return found if self.later is None else m.where(self.later, 0 if absolute else -np.inf, found)

    def powers(self, query: Number, key: Number) -> Number:
        """The exponentials of the scores, of which the greatest is 1."""
        scores = self.scores(query, key, False)
        return self.m.function("exp", self.m.subtract(scores, self.m.greatest(scores, -1)))

    def floats(self, query: Number, key: Number) -> tuple[Array, Array]:
        """Each score less the greatest one, and how far it may be off where it is computed in FLOAT32; in float64."""
        with np.errstate(all="ignore"):
            scores, terms = (_floats(self.m, self.scores(query, key, absolute)) for absolute in (False, True))
            return scores - scores.max(-1, keepdims=True), (query.shape[-1] + 5) * UNIT * terms

    def unweighed(self, query: Number, key: Number, value: Number) -> Array:
        """For which results an infinite value or a NaN has next to no weight, or may have."""
        less, error = self.floats(query, key)
        with np.errstate(all="ignore"):
            small = ~(np.exp(less - 2 * error) >= SMALL)
        found: Array = np.matmul(small.astype(np.float32), (~np.isfinite(value)).astype(np.float32)) > 0
        return found

    def results(self, query: Number, key: Number, value: Number) -> Number:
        """The values by their weights; what has no weight does not count."""
        m = self.m
        power = self.powers(query, key)
        none = m.equal(m.double(power), 0)
        power = m.where(none, 0.0, power)
        return m.divide(self.weighed(power, value), m.sum(power, -1))

    def magnitudes(self, query: Number, key: Number, value: Number) -> Array:
        """How large the terms of the results are, as errors of weights in FLOAT32 see them; NaN: nothing is promised.

        A result y is the sum of w v, and an error e of a score changes it by w (v - y) e.
        """
        less, error = self.floats(query, key)
        values, results = _floats(self.m, value), _floats(self.m, self.results(query, key, value))
        with np.errstate(all="ignore"):
            counts = less + 2 * error > LEAST
            lost = (counts & (error > ERROR)).any(-1, keepdims=True)
            power = np.exp(less)
            steps = error / ((query.shape[-1] + 5) * UNIT) - less / 8
            weights = np.maximum(power, LOST) * np.where(counts, 1 + steps, 1) / power.sum(-1, keepdims=True)
            sizes, means = (np.where(np.isfinite(one), np.abs(one), 0) for one in (values, results))
            found: Array = (weights @ sizes + means * weights.sum(-1, keepdims=True)) * (17 / 16)
        return np.where(lost, np.nan, found)

    def weighed(self, power: Number, value: Number) -> Number:
        """The sums of the values times their weights."""
        m = self.m
        finite = np.asarray(m.isfinite(value))
        total = m.matmul(power, m.where(finite, value, 0.0))
        for place in np.flatnonzero(~finite.all(-1)):
            weight = power[:, place, None]
            special = m.where(finite[place], 0.0, value[place])
            terms = m.multiply(weight, special)
            total = m.add(total, m.where(np.broadcast_to(m.equal(weight, 0), terms.shape), 0.0, terms))
        return total


def _floats(m: Arithmetic, numbers: Number) -> Array:
    """Numbers of an arithmetic in float64."""
    found: Array = np.asarray(m.double(numbers)).astype(np.float64)
    return found


FAMILY: Final = Attention()
