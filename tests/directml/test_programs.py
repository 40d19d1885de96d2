"""PyDirectML's sample programs, unmodified: what dmlcy.directml gives is what PyTorch gives.

``DMLCY_PYDIRECTML`` names a checkout of aisk/PyDirectML: its programs and weights are not part of this repository.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import programs
import pytest

import dmlcy.directml

MISSING = "mobilenetv20_output_pred_weight.npy"
CLASSES = {"mnist": 10, "squeezenet": 1000, "mobilenet": 1000}
PROGRAMS = ("matmul", "dtypes", *CLASSES, "superres", "candy")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the programs, with weights for the one file that is missing there."""
    pytest.importorskip("PIL")
    if "DMLCY_PYDIRECTML" not in os.environ:
        pytest.skip("DMLCY_PYDIRECTML names no checkout of aisk/PyDirectML")
    folder = tmp_path_factory.mktemp("pydirectml") / "samples"
    shutil.copytree(Path(os.environ["DMLCY_PYDIRECTML"]) / "samples", folder, ignore=shutil.ignore_patterns("sdxl"))
    weights = np.random.default_rng(1).standard_normal((1000, 1280, 1, 1)) * 0.02
    np.save(folder / "mobile_net_data" / MISSING, weights.astype(np.float32))
    return folder


@pytest.mark.deep
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    import peer

    script = samples / f"{name}.py"
    if name == "dtypes":
        assert programs.run(monkeypatch, script, dmlcy.directml)
        return
    found = programs.run(monkeypatch, script, dmlcy.directml)
    expected = programs.run(monkeypatch, script, peer.module("directml"))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4 * np.ptp(other))
        if one.size == CLASSES.get(name):
            assert np.argsort(one.ravel())[-5:].tolist() == np.argsort(other.ravel())[-5:].tolist()
