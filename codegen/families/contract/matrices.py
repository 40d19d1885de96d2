"""The picture of products of matrices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from ..base import Picture, Place, Use, grid, shown

SCALED = ("left_zero", "left_scale", "right_zero", "right_scale", "output_scale", "output_zero")


def multiplied(roles: Mapping[str, str], use: Use) -> Picture:
    """Each element of the output is made of a row of the left matrix and of a column of the right one."""
    sizes = use.sizes(use.output)
    turned = [
        role in roles and use.value(roles[role]).name == "TRANSPOSE" for role in ("left_transposed", "right_transposed")
    ]
    depth = use.sizes(use.input)[-2 if turned[0] else -1]
    rows: dict[Place, tuple[Place, ...]] = {}
    columns: dict[Hashable, tuple[Place, ...]] = {}
    for *lead, row, column in grid(sizes):
        place = (*lead, row, column)
        rows[place] = tuple((*lead, *((k, row) if turned[0] else (row, k))) for k in range(depth))
        columns[place] = tuple((*lead, *((column, k) if turned[1] else (k, column))) for k in range(depth))
    scaled = any(role in roles for role in SCALED) or ("fused" in roles and use.has(roles["fused"]))
    plain = not scaled and all(role not in roles or use.value(roles[role]) == 1 for role in ("alpha", "beta"))
    caption = "An element of the output is computed from the row and the column of the same colour"
    return Picture(
        (f"{caption}: the sum of their products." if plain else f"{caption}.",),
        rows,
        {place: place for place in rows},
        worked={place: worked(roles, use, place, rows[place], columns[place]) for place in rows} if plain else {},
        beside={roles["right"]: columns},
    )


def worked(roles: Mapping[str, str], use: Use, place: Place, row: tuple[Place, ...], column: tuple[Place, ...]) -> str:
    """The sum of products of an element."""
    right = roles["right"]
    said = [
        f"{shown(use.element(use.input, one))} * {shown(use.element(right, other))}"
        for one, other in zip(row, column, strict=True)
    ]
    if "added" in roles and use.has(roles["added"]):
        said.append(shown(use.element(roles["added"], place)))
    return f"{' + '.join(said)} = {shown(use.element(use.output, place))}"
