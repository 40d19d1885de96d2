"""The pieces of one axis: together they give what the whole axis gives."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._families.pad.pieces import pieces_of as padded
from dmlcy._families.pieces import Piece, cut
from dmlcy._families.windows import pieces_of as under_window

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any)
MODES = {
    "value": None,
    "edge": lambda p, n: min(max(p, 0), n - 1),
    "reflection": lambda p, n: 0 if n == 1 else min(p % (2 * n - 2), 2 * n - 2 - p % (2 * n - 2)),
    "symmetric": lambda p, n: min(p % (2 * n), 2 * n - 1 - p % (2 * n)),
    "wrap": lambda p, n: p % n,
}


@given(SIZES, st.integers(1, 4), st.integers(1, 3))
def test_cuts_are_of_whole_multiples(sizes: list[int], takes: int, gives: int) -> None:
    pieces = cut([size * takes for size in sizes], takes, gives)
    assert [piece.begin for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])]
    assert pieces[-1].end == sum(sizes) * takes
    assert all((piece.end - piece.begin) % takes == 0 and piece.end > piece.begin for piece in pieces)
    assert all(piece.size == (piece.end - piece.begin) // takes * gives for piece in pieces)


def test_chunks_are_moved_to_whole_multiples() -> None:
    assert cut([3, 3, 2], 4, 1) == [Piece(0, 4, 1), Piece(4, 8, 1)]


@given(SIZES, st.integers(1, 5), st.integers(1, 8), st.integers(0, 9), st.integers(0, 9))
def test_windows(sizes: list[int], extent: int, stride: int, before: int, after: int) -> None:
    size = sum(sizes)
    if before + size + after < extent:
        return
    positions = (before + size + after - extent) // stride + 1
    pieces = under_window(sizes, extent, stride, before, after, positions)
    assert sum(piece.size for piece in pieces) == positions
    reads = []
    for piece in pieces:
        assert 0 <= piece.begin < piece.end <= size and piece.size > 0
        length = piece.before + piece.end - piece.begin + piece.after
        assert (length - extent) // stride + 1 == piece.size
        places = [*[None] * piece.before, *range(piece.begin, piece.end), *[None] * piece.after]
        reads += [places[at * stride : at * stride + extent] for at in range(piece.size)]
    places = [*[None] * before, *range(size), *[None] * after]
    assert reads == [places[at * stride : at * stride + extent] for at in range(positions)]


@pytest.mark.parametrize("mode", MODES)
@given(sizes=SIZES, before=st.integers(0, 20), after=st.integers(0, 20))
def test_padding(mode: str, sizes: list[int], before: int, after: int) -> None:
    index, size = MODES[mode], sum(sizes)

    def read(begin: int, end: int, before: int, after: int) -> list[int | None]:
        n = end - begin
        if index is None:
            return [*[None] * before, *range(begin, end), *[None] * after]
        return [index(p, n) + begin for p in range(-before, n + after)]

    pieces = padded(sizes, before, after, index)
    found = [read(piece.begin, piece.end, piece.before, piece.after) for piece in pieces]
    assert [len(one) for one in found] == [piece.size for piece in pieces]
    assert [*itertools.chain(*found)] == read(0, size, before, after)
    assert all(0 <= piece.begin < piece.end <= size for piece in pieces)


@pytest.mark.parametrize("mode", MODES)
def test_a_short_padding_leaves_the_chunks_alone(mode: str) -> None:
    pieces = padded([100] * 10, 3, 3, MODES[mode])
    assert {(100 * at, 100 * at + 100) for at in range(1, 9)} <= {(piece.begin, piece.end) for piece in pieces}
    assert max(piece.size for piece in pieces) <= 103


def test_long_mirrors_are_found_out_soon() -> None:
    calls = 0

    def reflect(p: int, n: int) -> int:
        nonlocal calls
        calls += 1
        turn = p % max(2 * n - 2, 1)
        return min(turn, 2 * n - 2 - turn)

    assert padded([1] * 2000, 0, 1500, reflect)
    assert calls < 20_000


def test_padding_many_times_as_long_as_the_axis_makes_it_whole() -> None:
    def never(p: int, n: int) -> int:
        raise AssertionError("nothing of 2^32 elements is listed")

    assert padded([5, 5], 2**32 - 1, 0, never) == [Piece(0, 10, 2**32 + 9, 2**32 - 1, 0)]
