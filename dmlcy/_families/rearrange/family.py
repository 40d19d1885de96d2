"""rearrange: axes are split, reordered and merged."""

from __future__ import annotations

import math
from typing import Final

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given


class Rearrange(Family):
    """The family."""

    of_a_part = 0

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def evaluate(self, given: Given, output: str) -> Result:
        """The axes of the input split into the parts of its pattern, in the order of the output, and joined."""
        words = given.told.words
        pattern = words["pattern"] if "pattern" in words else words[f"pattern.{given.field('mode').name}"]
        left, right = (_groups(side) for side in pattern.split("->"))
        known = {key.removeprefix("axes."): words[key] for key in words if key.startswith("axes.")}
        sizes = {part: given.number(name) for part, name in known.items()}
        for size, group in zip(given.input.shape, left, strict=True):
            for part in group:
                if part not in known:
                    sizes[part] = size // math.prod(sizes[other] for other in group if other != part)
        before = [part for group in left for part in group]
        after = [part for group in right for part in group]
        split = given.input.reshape([sizes[part] for part in before])
        return Result(split.transpose([before.index(part) for part in after]).reshape(given.output_sizes), moved=True)


def _groups(side: str) -> list[list[str]]:
    """``n (b c) h`` as [[n], [b, c], [h]]."""
    groups: list[list[str]] = []
    inside = False
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word in "()":
            inside = word == "("
            groups += [[]] if inside else []
        elif inside:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


FAMILY: Final = Rearrange()
