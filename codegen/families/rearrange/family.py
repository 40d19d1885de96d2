"""rearrange: axes are split, reordered and merged.

``pattern`` says so in one line, e.g. ``n (b1 b2 c) h w -> n c (h b1) (w b2)``: a group is one axis of the tensor, its
parts run from slowest to fastest. ``[kernel.axes]`` gives the sizes that the input does not tell. With ``mode``, one
pattern per member of that enum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Diagnostics, did_you_mean
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import (
    Definition,
    KernelTable,
    Moved,
    Picture,
    Place,
    Region,
    Use,
    grid,
    joined,
    spread,
)


@dataclass(frozen=True, slots=True)
class Axis:
    """A part: its size and strides in both tensors, as Cython."""

    name: str
    size: str
    input_stride: str
    output_stride: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, its parts in output order; ``constant`` is that of the enum member, if there is a mode."""

    text: str
    constant: str | None
    sizes: tuple[tuple[str, str], ...]  # (part, size), in an order in which each can be computed
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class RearrangeKernel:
    """The run template's view."""

    mode: str | None
    patterns: tuple[Pattern, ...]
    definition: Definition

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all parts."""
        return tuple(dict.fromkeys(name for pattern in self.patterns for name, _ in pattern.sizes))


class Rearrange(Moved):
    """The family."""

    name = "rearrange"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> RearrangeKernel:
        """Reads the patterns."""
        kernel = KernelTable(operator, facts, diagnostics)
        known: dict[str, str] = {}
        axes = kernel.table_of("axes")
        if axes is not None:
            names = axes.keys()
            for name in names:
                size = axes.str(name)
                symbol = operator.scope.get(size)
                if symbol is None or symbol.kind is not Kind.INT:
                    axes.error(name, f"{size!r} is no integer", did_you_mean(size, operator.scope))
                known[name] = f"a.{kernel.word(f'axes.{name}', size)}"
            axes.finish()
        table = kernel.table
        patterns: list[Pattern] = []
        mode = None
        if table is None:
            kernel.error("pattern", "family rearrange needs [kernel] with a pattern")
        elif table.has("mode"):
            mode = kernel.role("mode", "", Kind.ENUM)
            members, given = kernel.members(mode), table.table("pattern")
            for member, constant in members.items():
                if given is None or not given.has(member):
                    kernel.error("pattern", f"there is no pattern for {member}")
                else:
                    text = kernel.word(f"pattern.{member}", given.str(member))
                    patterns.append(self.pattern(kernel, text, constant, known))
            if given is not None:
                given.finish()
        else:
            text = kernel.word("pattern", table.str("pattern"))
            patterns.append(self.pattern(kernel, text, None, known))
        kernel.finish()
        return RearrangeKernel(mode, tuple(patterns), kernel.definition)

    def pattern(self, kernel: KernelTable, text: str, constant: str | None, known: Mapping[str, str]) -> Pattern:
        """One pattern: the sizes of its parts, and their strides in both tensors."""
        left, _, right = text.partition("->")
        inputs, outputs = _groups(left), _groups(right)
        if inputs is None or outputs is None or _parts(inputs) != _parts(outputs):
            kernel.error(
                "pattern",
                f"{text!r} is no pattern: both sides of -> name the same parts, groups in ( )",
                "a part is a letter from b to z and perhaps a digit",
            )
            return Pattern(text, constant, (), ())
        sizes: dict[str, str] = {}
        for axis, group in enumerate(inputs):
            sizes.update({name: known[name] for name in group if name in known})
            open_ = [name for name in group if name not in known]
            if len(open_) > 1:
                kernel.error(
                    "pattern",
                    f"the sizes of {' and '.join(open_)} do not follow from the input",
                    "give them in [kernel.axes]",
                )
            for name in open_:
                rest = [part for part in group if part in known]
                divisor = rest[0] if len(rest) == 1 else f"({' * '.join(rest)})"
                sizes[name] = f"a.input.sizes[{axis}]" + (f" // {divisor}" if rest else "")
        axes = tuple(
            Axis(name, name, _stride(inputs, name, "input"), _stride(outputs, name, "output"))
            for group in outputs
            for name in group
        )
        return Pattern(text, constant, tuple(sizes.items()), axes)

    def needs(self, kernel: RearrangeKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: Any) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: RearrangeKernel, use: Use) -> Picture:
        """Each element of the output is one of the input: both have the same part on each side of the pattern."""
        words = kernel.definition.words
        text = words["pattern"] if kernel.mode is None else words[f"pattern.{use.value(kernel.mode).name}"]
        inputs, outputs = (_groups(side) or [] for side in text.split("->"))
        sizes = {part: int(use.value(words[f"axes.{part}"])) for part in _parts(inputs) if f"axes.{part}" in words}
        for size, group in zip(use.sizes(use.input), inputs, strict=True):
            known = math.prod(sizes.get(part, 1) for part in group)
            sizes.update({part: size // known for part in group if part not in sizes})
        sources: dict[Place, tuple[Place, ...]] = {}
        for place in grid(use.sizes(use.output)):
            at: dict[str, int] = {}
            for index, group in zip(place, outputs, strict=True):
                at.update(zip(group, spread(index, [sizes[part] for part in group]), strict=True))
            read = tuple(joined([at[p] for p in group], [sizes[p] for p in group]) for group in inputs)
            sources[place] = (read,)
        caption = ["A colour marks one plane of the input and the places of its elements in the output."]
        last = [math.prod(sizes[part] for part in group[1:]) - 1 for group in outputs[-2:]]
        frames = []
        if any(last):
            caption.append("A frame is around the first block.")
            for lead in grid(use.sizes(use.output)[:-2]):
                frames.append(Region("", {use.output: ((*lead, 0, 0), (*lead, *last))}))
        keys = {place: read[0][:-2] for place, read in sources.items()}
        return Picture(tuple(caption), sources, keys, regions=tuple(frames))


def _groups(side: str) -> list[list[str]] | None:
    """``n (b1 b2 c) h`` as [[n], [b1, b2, c], [h]]."""
    found = re.findall(r"\([^()]*\)|[^\s()]+|.", side.strip())
    groups = [group.strip("()").split() for group in found if group != " "]
    names = [name for group in groups for name in group]
    # Generated code has the parts as variables, and longer names, and a, of its own.
    if not all(groups) or len({*names}) < len(names) or not all(re.fullmatch(r"[b-z][0-9]?", name) for name in names):
        return None
    return groups


def _parts(groups: list[list[str]]) -> list[str]:
    """All parts, sorted."""
    return sorted(name for group in groups for name in group)


def _stride(groups: list[list[str]], name: str, tensor: str) -> str:
    axis, group = next((axis, group) for axis, group in enumerate(groups) if name in group)
    faster = group[group.index(name) + 1 :]
    return " * ".join([f"a.{tensor}.strides[{axis}]", *faster])


FAMILY = Rearrange()
