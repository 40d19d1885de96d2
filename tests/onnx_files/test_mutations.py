"""Damaged models are read or refused, quickly, and nothing else comes of them: the target of the fuzzer, with seeds."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from broken_models import broken
from depth import draws_of
from written import (
    VALID,
    attribute,
    block,
    external,
    function,
    graph,
    model,
    nested,
    node,
    number,
    opset,
    tensor,
    varint,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import onnx_target


def whole() -> bytes:
    """A model with something of every message."""
    shape = block(2, b"".join([block(1, number(1, 2)), block(1, block(2, "N")), block(1, b"")]))
    info = block(13, block(1, "h") + block(2, block(1, number(1, 1) + shape)))
    other = block(13, block(1, "s") + block(2, block(4, block(1, b""))))
    elements = [
        tensor("a", 1, (2,), block(9, bytes(range(8)))), tensor("b", 7, (3,), block(7, varint(5) + varint(-1) + b"\1")),
        tensor("c", 22, (3,), number(5, 33), number(5, 4)), tensor("d", 8, (2,), block(6, "one"), block(6, "two")),
        tensor("e", 1, (2,), external(location="w.bin", offset=8, length=8)),
        tensor("f", 15, (1,), block(10, bytes(16))),
    ]  # fmt: skip
    sparse = block(1, tensor("z", 1, (1,), block(9, bytes(4)))) + block(2, tensor("", 7, (1,), number(7, 1)))
    inner = block(6, graph(node("Relu", "x", "r"), inputs="", outputs="r"))
    nodes = [
        node("Conv", "h a", "y", attribute("pads", 7, block(8, b"\1\2") + number(8, 3))),
        node("If", "x", "h", attribute("then_branch", 5, inner), attribute("value", 4, block(5, elements[0]))),
        node("F", "h", "q", block(7, "own"), attribute("s", 3, block(4, "s")), attribute("n", 8, block(9, "t"))),
    ]  # fmt: skip
    body = graph(*nodes, *(block(5, one) for one in elements), block(15, sparse + number(3, 4)), info, other)
    call = node("Relu", "i", "o", attribute("f", 1, b"\x15\0\0\0\0"))
    own = function("F", block(4, "i"), block(5, "o"), block(6, "s"), block(7, call[2:]))
    return model(body, opset("own", 1), own, block(2, "writer"), block(3, "1.0"))


SEEDS = [VALID, whole(), nested(3)]


def damaged(data: bytes, source: random.Random) -> bytes:
    """The bytes with a few changes: flipped, cut out, doubled, put in, or a piece of another model."""
    found = bytearray(data)
    for _ in range(source.randint(1, 3)):
        at, size = source.randrange(len(found) + 1), source.randint(1, 8)
        match source.randrange(6):
            case 0 if at < len(found):
                found[at] ^= 1 << source.randrange(8)
            case 1 if at < len(found):
                found[at] = source.choice([0, 1, 127, 128, 255, source.randrange(256)])
            case 2:
                del found[at : at + size]
            case 3:
                found[at:at] = found[at : at + size]
            case 4:
                found[at:at] = source.choice([b"\xff" * 9 + b"\1", b"\x80" * size, source.randbytes(size)])
            case _:
                other = source.choice(SEEDS)
                start = source.randrange(len(other))
                found[at : at + size] = other[start : start + size]
    return bytes(found)


def test_what_is_whole_is_read() -> None:
    for data in SEEDS:
        assert onnx_target.refusal(data) is None
        onnx_target.one(data)


@draws_of(1500, 100_000)
def test_damaged_models(draws: int) -> None:
    source = random.Random(draws)
    for _ in range(draws):
        onnx_target.one(damaged(source.choice(SEEDS), source))


def test_broken_models() -> None:
    for _, _, data in broken():
        if len(data) < onnx_target.LONGEST:
            onnx_target.one(data)
