"""What holds of resample: PyTorch gives the same, in blocks of any size; what has no weight does not count."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits

import dmlcy as dml
from dmlcy._families.resample import family

Array = np.ndarray[Any, Any]


def enlarged(x: Array, factors: Any, mode: str) -> Array:
    return dml.upsample_2d(x, scale_size=factors, interpolation_mode=mode)  # type: ignore[arg-type]


def test_upsample_2d_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    interpolate = torch.nn.functional.interpolate
    random = np.random.default_rng(1)
    for number in range(40):
        monkeypatch.setattr(family, "BLOCK", (1 << 18, 20, 200)[number % 3])
        height, width = map(int, random.integers(1, 5, 2))
        x = random.standard_normal(random.integers(1, 4, 4)).astype(("f4", "f2")[number % 2])
        found = enlarged(x, (height, width), "LINEAR")
        wide = torch.from_numpy(x.astype(np.float64))
        expected = interpolate(wide, scale_factor=(height, width), mode="bilinear").numpy()
        unit = np.spacing(np.abs(x).max())
        assert np.abs(found - expected).max() <= unit, (x.shape, height, width)
        nearest = interpolate(torch.from_numpy(x), scale_factor=(height, width), mode="nearest").numpy()
        assert_same_bits(enlarged(x, (height, width), "NEAREST_NEIGHBOR"), nearest)
        volume = x[:, :, None].repeat(3, 2)
        assert_same_bits(enlarged(volume, (height, width), "LINEAR")[:, :, 1], found)


def test_what_has_no_weight_does_not_count() -> None:
    x = np.array([[[[1, np.inf, np.nan, -1, -0.0, -0.0]]]], np.float32)
    assert_same_bits(enlarged(x, (3, 1), "LINEAR"), x.repeat(3, 2))
    found = enlarged(x, (1, 3), "LINEAR")[0, 0, 0]
    assert found[[0, 1, 4]].tolist() == [1, 1, np.inf]
    assert np.isnan(found[6:9]).all() and found[10] == -1
    assert np.signbit(found[13:]).all() and not found[13:].any()


def test_large_images_take_little_memory() -> None:
    x = np.ones((1, 1, 1024, 2048), np.float32)
    tracemalloc.start()
    try:
        found = enlarged(x, (2, 2), "LINEAR")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found == 1).all()
    assert peak < found.nbytes + (24 << 20), f"{peak / 2**20:.0f} MB"
