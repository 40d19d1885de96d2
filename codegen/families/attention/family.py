"""attention: values weighted by the softmax of products. [kernel] names roles, and no expressions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Place, Use, grid

TENSORS: Final = {
    "query": "query",
    "key": "key",
    "value": "value",
    "query_key": "stacked_query_key",
    "key_value": "stacked_key_value",
    "query_key_value": "stacked_query_key_value",
    "bias": "bias",
    "mask": "mask",
    "added": "relative_position_bias",
    "past_key": "past_key",
    "past_value": "past_value",
    "present_key": "output_present_key",
    "present_value": "output_present_value",
}
LENGTHS: Final = "past_sequence_lengths"
"""A tensor that an operator need not have."""
NUMBERS: Final = {"scale": ("scale", Kind.FLOAT), "masked": ("mask_filter_value", Kind.FLOAT)}
LETS: Final = ("batch", "sequence", "query_heads", "key_heads", "head_size", "key_sequence", "value_size")
FORMAT: Final = ("format", "mask_type")
MASKS: Final = {
    "KEY_SEQUENCE_LENGTH": "MASKS_ENDS",
    "KEY_SEQUENCE_END_START": "MASKS_STARTS",
    "KEY_QUERY_SEQUENCE_LENGTH_START_END": "MASKS_ENDS",
    "BOOLEAN": "MASKS_EACH",
}
"""By the format of a mask, what the loops are told."""
LEFT_OUT: Final = -1000
"""A number of which the exponential is 0: what is added to the score of a key that is left out."""


@dataclass(frozen=True, slots=True)
class AttentionKernel:
    """The run template's view: the roles that are played, and by constants of the format what the loops are told."""

    masks: Sequence[tuple[str, str]]
    definition: Definition

    tensors: ClassVar = tuple(TENSORS)
    numbers: ClassVar = (*NUMBERS, *LETS)

    @property
    def roles(self) -> Mapping[str, str]:
        """The tensors and numbers, by role."""
        return self.definition.roles


def kept(roles: Mapping[str, str], use: Use) -> Callable[[int, int, int, int], bool] | None:
    """Whether an item of the batch, a head and a query read a key; None: the format of the mask has no picture."""
    mask, named = roles["mask"], use.value(roles["format"]).name
    if not use.has(mask) or use.value(roles["masked"]) > LEFT_OUT:
        return lambda batch, head, query, key: True
    sizes = use.sizes(mask)
    if named == "KEY_SEQUENCE_LENGTH":
        return lambda batch, head, query, key: key < use.element(mask, (*(0 for _ in sizes[1:]), batch))
    if named != "BOOLEAN":
        return None

    def each(batch: int, head: int, query: int, key: int) -> bool:
        own = ((0,) * len(sizes) + (batch, head, query, key))[-len(sizes) :]
        return bool(use.element(mask, tuple(min(at, size - 1) for at, size in zip(own, sizes, strict=True))))

    return each


def beside(
    roles: Mapping[str, str], use: Use, sources: Mapping[Place, Sequence[Place]]
) -> Mapping[str, Mapping[Hashable, tuple[Place, ...]]]:
    """The parts of the query and of the keys that belong to the head of each element of the output."""
    heads, groups = use.value(roles["query_heads"]), use.value(roles["key_heads"])
    found: dict[str, dict[Hashable, tuple[Place, ...]]] = {}
    for name in (roles[role] for role in ("query", "key") if use.has(roles[role])):
        sizes = use.sizes(name)
        own: dict[Hashable, tuple[Place, ...]] = {}
        for place, read in sources.items():
            head = place[-1] * heads // use.sizes(use.output)[-1]
            count, head = (heads, head) if name == roles["query"] else (groups, head * groups // heads)
            size = sizes[-1] // count
            rows = [place[-2]] if name == roles["query"] else [at[-2] for at in read]
            lead = (*(0,) * (len(sizes) - 3), place[-3])
            own[place] = tuple((*lead, row, head * size + inner) for row in rows for inner in range(size))
        found[name] = own
    return found


class Attention(Moved):
    """The family."""

    name = "attention"
    told: ClassVar = {
        "unweighed": (
            Kind.BOOL,
            "whether an infinite value or a NaN has a weight that is 0, or so near 0 that rounding may make it 0",
        ),
        "behind": (Kind.BOOL, "whether the key is after the last key of its item of the batch"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> AttentionKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        masks: list[tuple[str, str]] = []
        if kernel.table is not None:
            for role, name in TENSORS.items():
                kernel.role(role, name, Kind.TENSOR)
            for role, (name, kind) in NUMBERS.items():
                kernel.role(role, name, kind)
            members = kernel.members(kernel.role(*FORMAT, Kind.ENUM))
            masks = [(members[name], told) for name, told in MASKS.items() if name in members]
            for role in LETS:
                kernel.role(role, role, Kind.INT)
            if LENGTHS in operator.scope or kernel.table.has("lengths"):
                kernel.role("lengths", LENGTHS, Kind.TENSOR)
        kernel.finish()
        return AttentionKernel(masks, kernel.definition)

    def needs(self, kernel: AttentionKernel) -> Sequence[str]:
        """The sizes that the loops are told."""
        return [kernel.roles[role] for role in LETS]

    def pieces(self, kernel: AttentionKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: AttentionKernel, use: Use) -> Picture | None:
        """Each element of the output is made of the values of the keys that its query can read."""
        roles = kernel.roles
        value, lengths = roles["value"], roles.get("lengths", "")
        if not use.has(value) or use.has(roles["past_value"]) or (lengths and use.has(lengths)):
            return None
        keeps = kept(roles, use)
        if keeps is None:
            return None
        heads, groups = use.value(roles["query_heads"]), use.value(roles["key_heads"])
        size, keys = use.sizes(use.output)[-1] // heads, range(use.sizes(value)[-2])
        lead = (0,) * (len(use.sizes(value)) - 3)
        sources: dict[Place, tuple[Place, ...]] = {}
        for place in grid(use.sizes(use.output)):
            batch, query, channel = place[-3:]
            head, inner = divmod(channel, size)
            read = [key for key in keys if keeps(batch, head, query, key)] or keys
            own = head * groups // heads * size + inner
            sources[place] = tuple((*lead, batch, key, own) for key in read)
        caption = (
            "Each element of the output is a mean of the values in its colour, weighted by the query and the keys.",
            "The other keys are masked.",
        )
        whole = all(len(read) == len(keys) for read in sources.values())
        return Picture(
            caption[:1] if whole else caption,
            sources,
            {place: place for place in sources},
            tensor=value,
            beside=beside(roles, use, sources),
        )


FAMILY = Attention()
