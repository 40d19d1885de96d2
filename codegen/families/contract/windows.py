"""The picture of sums of products of windows and a filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base import Picture, Place, Use, grid, inside, shown

SCALED = ("left_zero", "left_scale", "right_zero", "right_scale", "output_scale", "output_zero")


def pictured(roles: Mapping[str, str], use: Use) -> Picture:
    """Each element of the output is made of the elements of some channels of the input that the filter covers."""
    found: dict[Place, list[tuple[Place, Place]]] = {place: [] for place in grid(use.sizes(use.output))}
    backward = "direction" in roles and use.value(roles["direction"]).name == "BACKWARD"
    for to, place, filtered in products(roles, use, backward):
        if to in found:
            found[to].append((place, filtered))
    plain = not any(role in roles for role in SCALED) and not ("fused" in roles and use.has(roles["fused"]))
    caption = (
        "Each element of the output is computed from the elements of the input with the same colour, and the filter."
    )
    if backward:
        caption = (
            "An element of the output is the sum of the elements of the same colour, each times one of the filter."
        )
    return Picture(
        (caption,),
        {place: tuple(source for source, _ in terms) for place, terms in found.items()},
        {place: place for place, terms in found.items() if terms},
        worked={place: worked(roles, use, place, terms) for place, terms in found.items()} if plain else {},
    )


def products(roles: Mapping[str, str], use: Use, backward: bool) -> Iterator[tuple[Place, Place, Place]]:
    """The places of an element of the output, and of those of the input and of the filter whose product is added."""
    filters, sizes = use.sizes(roles["right"]), use.sizes(use.input)
    taps = [*grid(filters[2:])]
    strides, dilations, start = (use.values(roles[role], len(sizes) - 2) for role in ("strides", "dilations", "start"))
    groups = use.value(roles["groups"])
    read, made = sizes[1] // groups, (filters[1] if backward else filters[0] // groups)
    at = sizes if backward else use.sizes(use.output)
    for (batch, group, channel, other), place, tap in (
        (lead, place, tap) for lead in grid((sizes[0], groups, read, made)) for place in grid(at[2:]) for tap in taps
    ):
        steps = zip(place, strides, tap, dilations, start, strict=True)
        moved = tuple(p * stride + t * dilation - before for p, stride, t, dilation, before in steps)
        inner, outer = (place, moved) if backward else (moved, place)
        source, number = group * read + channel, group * made + other
        filtered = (source, other, *tap) if backward else (number, channel, *tap)
        yield (batch, number, *outer), (batch, source, *inner), filtered


def worked(roles: Mapping[str, str], use: Use, place: Place, terms: list[tuple[Place, Place]]) -> str:
    """The sum of products of an element, without padding."""
    flip = "mode" in roles and use.value(roles["mode"]).name != "CROSS_CORRELATION"
    size = use.sizes(roles["right"])[2:]
    said = []
    for source, filtered in terms:
        if inside(source, use.sizes(use.input)):
            taps = (n - 1 - tap for n, tap in zip(size, filtered[2:], strict=True)) if flip else filtered[2:]
            weight = use.element(roles["right"], (*filtered[:2], *taps))
            said.append(f"{shown(use.element(use.input, source))} * {shown(weight)}")
    if "added" in roles and use.has(roles["added"]):
        said.append(shown(use.element(roles["added"], (0, place[1], *(0 for _ in size)))))
    return f"{' + '.join(said)} = {shown(use.element(use.output, place))}"
