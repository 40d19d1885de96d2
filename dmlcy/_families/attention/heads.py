"""The tensors of attention, item by item of the batch and head by head."""

from __future__ import annotations

import numpy as np

from dmlcy._families.given import Given
from dmlcy._types import Array, Number

STACKED = {"query": (("query_key", 0), ("query_key_value", 0)),
           "key": (("query_key", 1), ("key_value", 0), ("query_key_value", 1)),
           "value": (("key_value", 1), ("query_key_value", 2))}  # fmt: skip
"""Where else a tensor may be: the stacked tensors, and which part of them it is."""


class Heads:
    """The queries, keys and values of a use, over items of the batch, heads, places and elements."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.batch, self.sequence, self.count, self.keys, self.new = (
            self.number(role) for role in ("batch", "sequence", "query_heads", "key_heads", "key_sequence")
        )
        self.sizes = {
            "query": self.number("head_size"),
            "key": self.number("head_size"),
            "value": self.number("value_size"),
        }
        past = self.array("past_key")
        self.past = 0 if past is None else past.shape[-2]
        lengths = self.array("lengths") if "lengths" in given.told.roles else None
        self.lengths = None if lengths is None else lengths.ravel().astype(np.int64)

    def number(self, role: str) -> int:
        """The value of a let."""
        return self.given.number(self.given.told.roles[role])

    def array(self, role: str) -> Array | None:
        """The tensor that plays a role."""
        return self.given.arrays.get(self.given.told.roles[role])

    @property
    def total(self) -> int:
        """How many keys there are, at most."""
        return self.past + self.new

    def keys_of(self, item: int) -> int:
        """How many keys an item of the batch has."""
        return self.total if self.lengths is None else self.new + min(self.past, int(self.lengths[item]))

    def has_bias(self) -> bool:
        """Whether something is added to queries, keys and values."""
        return self.array("bias") is not None

    def raw(self, role: str) -> Array:
        """The elements of this run."""
        heads = self.count if role == "query" else self.keys
        found = self.array(role)
        if found is not None:
            places = self.sequence if role == "query" else self.new
            found = found.reshape(self.batch, places, heads, self.sizes[role])
        else:
            stacked = ((self.array(name), part) for name, part in STACKED[role])
            found = next(array[..., part, :] for array, part in stacked if array is not None)
        return found.swapaxes(1, 2)

    def own(self, role: str, item: int | slice, head: int | slice) -> Number:
        """The numbers of this run, of one item and one head or of all of them, with what is added to them."""
        m = self.given.arithmetic
        numbers = m.of(self.raw(role)[item, head])
        bias = self.array("bias")
        if bias is None:
            return numbers
        parts = self.count * self.sizes["query"], self.keys * self.sizes["key"]
        which = ("query", "key", "value").index(role)
        flat = np.split(bias.ravel(), np.cumsum(parts))[which].reshape(-1, 1, self.sizes[role])
        return m.add(numbers, m.of(flat[head]))

    def all(self, role: str, item: int, head: int) -> Number:
        """The keys or values of earlier runs and of this one, of an item and a head."""
        own = self.own(role, item, head)
        before = self.array(f"past_{role}")
        if before is None:
            return own
        before = before.reshape(self.batch, self.keys, self.past, self.sizes[role])[item, head]
        some = before if self.lengths is None else before[: self.lengths[item]]
        return np.concatenate([self.given.arithmetic.of(some), own])

    def present(self, role: str, sizes: tuple[int, ...]) -> tuple[Number, bool]:
        """All keys or values of all heads, then 0 up to the sizes; and whether they are in their data type."""
        moved = not self.has_bias()
        whole = (self.batch, self.keys, *sizes[-2:])
        own = self.raw(role) if moved else self.own(role, slice(None), slice(None))
        result: Number = np.zeros(whole, own.dtype) if moved else self.given.arithmetic.of(np.zeros(whole))
        before = self.array(f"past_{role}")
        before = None if before is None else before.reshape(self.batch, self.keys, self.past, self.sizes[role])
        for item in range(self.batch):
            count = self.past if self.lengths is None else int(self.lengths[item])
            if before is not None:
                some = before[item, :, :count]
                result[item, :, :count] = some if moved else self.given.arithmetic.of(some)
            result[item, :, count : count + self.new] = own[item]
        return result.reshape(sizes), moved

    def mask(self, item: int, head: int, rows: slice, keys: int) -> Array | None:
        """Which keys are masked for some queries; None: none."""
        mask, form = self.array("mask"), self.given.field("format").name
        if mask is None or form == "NONE":
            return None
        place, flat = np.arange(keys), mask.ravel().astype(np.int64)
        if form == "BOOLEAN":
            several = mask.reshape((1,) * (4 - mask.ndim) + mask.shape[-4:])
            width = mask.shape[-1]
            sizes = (self.batch, self.count, self.sequence, width)
            own: Array = np.broadcast_to(several, sizes)[item, head, rows] == 0
            if own.shape[-1] == 1:
                return np.broadcast_to(own, (len(own), keys))
            if own.shape[-1] < keys:  # of the keys of this run only
                own = np.concatenate([np.zeros((len(own), keys - own.shape[-1]), bool), own], axis=1)
            return own[:, :keys]
        if form == "KEY_SEQUENCE_END_START":
            ends, starts = np.split(flat, 2)
            outside: Array = (place < starts[item]) | (place >= ends[item])
        else:
            outside = place >= flat[item]
        return outside.reshape(1, -1)

    def added(self, item: int, head: int, rows: slice, keys: int) -> Number:
        """The numbers that are added to the products, or None."""
        array = self.array("added")
        if array is None:
            return None
        several = array.reshape(array.shape[-4:])
        width = array.shape[-1]
        sizes = (self.batch, self.count, self.sequence, width)
        part = np.broadcast_to(several, sizes)[item, head, rows]
        return self.given.arithmetic.of(part if part.shape[-1] == 1 else part[:, :keys])
