"""Places in row-major order as indices along each axis."""

from __future__ import annotations

import itertools

import numpy as np

from dmlcy._runtime.places import indices_of


def test_indices_count_the_elements() -> None:
    for sizes in ((), (1,), (5,), (2, 1, 3), (4, 3, 2, 1)):
        found = [indices_of(place, sizes) for place in range(int(np.prod(sizes)))]
        assert found == [*itertools.product(*map(range, sizes))]


def test_indices_of_many_places_in_an_array_that_ends_in_ones() -> None:
    sizes = (100, 1, 90)
    places = range(9000)
    for shape in ((9000,), (9000, 1), (90, 100, 1, 1)):
        arrays = indices_of(np.array(places).reshape(shape), sizes)
        assert [one.shape for one in arrays] == [shape] * 3
        found = zip(*(one.ravel().tolist() for one in arrays), strict=True)
        assert [*found] == [indices_of(one, sizes) for one in places]
