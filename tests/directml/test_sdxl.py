"""The Stable Diffusion XL sample of PyDirectML with drawn weights: its pieces give what NumPy and PyTorch give.

``DMLCY_PYDIRECTML`` names a checkout of aisk/PyDirectML, whose ``samples/sdxl`` has the networks and NumPy's of them.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sdxl

import dmlcy.directml

pytestmark = pytest.mark.deep
SAMPLE = "samples/sdxl"
NAMES = ("dml_layers", "reference", "text_encoder", "unet", "vae")
Array = np.ndarray[Any, Any]


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports the modules of the sample over a module ``directml``."""
    if "DMLCY_PYDIRECTML" not in os.environ:
        pytest.skip("DMLCY_PYDIRECTML names no checkout of aisk/PyDirectML")
    folder = Path(os.environ["DMLCY_PYDIRECTML"]) / SAMPLE
    assert folder.is_dir(), f"the checkout has no folder {SAMPLE}"
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}

    def load(module: ModuleType) -> Any:
        monkeypatch.setitem(sys.modules, "directml", module)
        for name in NAMES:
            sys.modules.pop(name, None)
        return SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})

    yield load
    for name in NAMES:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def near(found: Array, expected: Array, part: float = 1e-4) -> None:
    """The same, except for a part of the range of the values."""
    assert found.size == expected.size and np.isfinite(found).all()
    difference = np.abs(found.reshape(expected.shape).astype(np.float64) - expected).max()
    assert difference <= part * np.ptp(expected), f"{difference / np.ptp(expected):.1e} of the range"


def of(*sizes: int) -> Array:
    return np.random.default_rng(sum(sizes)).standard_normal(sizes).astype(np.float32)


def test_the_vae(sample: Any) -> None:
    one = sample(dmlcy.directml)
    device = dmlcy.directml.Device()
    weights, latent = sdxl.drawn(sdxl.decoder()), of(1, 4, 8, 8)
    (found,) = one.vae.decoder(device, weights, 64, 64).run(latent)
    near(found, one.reference.decode(latent, weights))
    weights, image = sdxl.drawn(sdxl.encoder()), of(1, 3, 64, 64)
    (found,) = one.vae.encoder(device, weights, 64, 64).run(image)
    near(found, one.reference.encode(image, weights))


@pytest.mark.parametrize("name", ["text_encoder", "text_encoder_2"])
def test_the_text_encoders(name: str, sample: Any) -> None:
    one = sample(dmlcy.directml)
    config = one.text_encoder.CONFIGS[name] | {"layers": 3}
    weights = sdxl.drawn(sdxl.text_encoder(config["width"], 3, 500))
    words = np.random.default_rng(1).integers(0, 500, 77)
    found = one.text_encoder.text_encoder(dmlcy.directml.Device(), weights, config).run(
        words.astype(np.uint32).reshape(1, 1, 1, 77)
    )
    expected = one.reference.encode_text(words, weights, config)
    assert len(found) == len(expected) == (2 if config["projection"] else 1)
    for result, other in zip(found, expected, strict=True):
        near(result, other)


@pytest.mark.parametrize("half", [False, True], ids=["float32", "float16"])
def test_the_unet(half: bool, sample: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both halves, with all of their blocks, but with fewer channels."""
    pytest.importorskip("torch")
    import peer

    small = {
        "BLOCK_OUT_CHANNELS": (32, 64, 96), "TRANSFORMER_LAYERS": (0, 1, 2), "ATTENTION_HEADS": (1, 2, 3),
        "CROSS_ATTENTION_DIM": 48, "TIME_EMBED_DIM": 64, "ADDITION_TIME_EMBED_DIM": 16,
    }  # fmt: skip
    weights = sdxl.drawn(sdxl.unet((32, 64, 96), (0, 1, 2), 48, 64, 64 + 6 * 16))
    weights = {name: value.astype(np.float16).astype(np.float32) for name, value in weights.items()}
    inputs = [of(1, 4, 16, 16), of(1, 1, 1, 32), of(1, 1, 1, 64 + 6 * 16), of(1, 1, 7, 48)]
    inputs = [value.astype(np.float16).astype(np.float32) for value in inputs]
    results = []
    for module in (dmlcy.directml, peer.module("directml")):
        one = sample(module).unet
        for name, value in small.items():
            monkeypatch.setattr(one, name, value)
        is_half = half and module is dmlcy.directml
        dtype = module.TensorDataType.FLOAT16 if is_half else module.TensorDataType.FLOAT32
        results.append(one.UNet(module.Device(), weights, 128, 128, dtype, 7)(*inputs))
    near(results[0], results[1], 2e-2 if half else 1e-4)


def test_it_is_linted_without_its_weights(sample: Any, tmp_path: Path) -> None:
    """``dmlcy lint --directml`` builds the decoder from sizes alone."""
    from dmlcy._frontends.directml.lint import report
    from dmlcy._frontends.directml.tracing import traced

    sample(dmlcy.directml)
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np, directml as dml, sdxl, vae\n"
        "weights = {name: np.broadcast_to(np.float32(0), sizes) for name, sizes in sdxl.decoder().items()}\n"
        "(image,) = vae.decoder(dml.Device(), weights, 64, 64).run(np.zeros((1, 4, 8, 8)))\n"
        "assert image.shape == (1, 3, 64, 64)\n",
        encoding="utf-8",
    )
    for name in NAMES:
        sys.modules.pop(name, None)
    found = report(str(script), traced(str(script), (), {"directml": dmlcy.directml}), "6_4")
    assert found.findings == ()
    (graph,) = found.dispatchables
    assert graph.minimum is not None and graph.minimum.level == "6_3" and graph.nodes is not None and graph.nodes > 200
    assert "dml_layers.py:" in graph.minimum.forced_by[0].subject
