"""The models that packages ship: those of onnx, and of packages that ``pip install --no-deps`` installs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import onnx

PACKAGES = ("magika==1.0.3", "nudenet==3.4.2", "rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3")
"""Which .ci/run installs, without what they need to run."""
SIZES: dict[str, dict[str, tuple[int, ...]]] = {
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


def shipped() -> Iterator[Path]:
    """The models of the packages that are installed."""
    yield from sorted(Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx"))
    for package in PACKAGES:
        try:
            found = files(package.partition("==")[0]) or ()
        except PackageNotFoundError:
            continue
        yield from (Path(str(one.locate())) for one in found if one.suffix == ".onnx" and one.name in SIZES)


def drawn(one: Any, sizes: dict[str, tuple[int, ...]], random: Any) -> Any:
    """Elements of an input."""
    wanted = sizes.get(one.name, tuple(one.shape))
    if one.type == "tensor(float)":
        return random.standard_normal(wanted).astype(np.float32)
    kind = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}[one.type]
    return np.array(16000, kind) if one.name == "sr" else random.integers(0, 200, wanted).astype(kind)
