"""Networks that PyTorch exports, over blocks: what ONNX Runtime gives for all items at once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed")
torch: Any = pytest.importorskip("torch", reason="needs torch: pip install '.[compare]'")
pytest.importorskip("onnx", reason="needs onnx: pip install '.[compare]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[compare]'")
run: Any = pytest.importorskip("dmlcy.dask", reason="dask is not installed").run

from batch_networks import Batches, Patches, Sequences  # noqa: E402


def exported(network: Any, path: Path) -> Path:
    torch.manual_seed(1)
    axes = {"x": {0: "batch"}, "y": {0: "batch"}}
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(network.eval(), (torch.randn(2, 3, 32, 32),), str(path), input_names=["x"],
                          output_names=["y"], dynamic_axes=axes, dynamo=False, opset_version=17)  # fmt: skip
    return path


@pytest.mark.deep
@pytest.mark.parametrize("network", [Patches, Sequences])
def test_networks_in_blocks(network: Any, tmp_path: Path) -> None:
    path = exported(network(), tmp_path / "m.onnx")
    x = np.random.default_rng(1).standard_normal((11, 3, 32, 32)).astype(np.float32)
    result = run(path, {"x": da.from_array(x, chunks=(4, 3, 32, 32))})["y"]
    (whole,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    assert result.chunks[0] == (4, 4, 3)
    np.testing.assert_allclose(result.compute(scheduler="threads"), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.deep
def test_a_network_that_normalizes_over_the_batch_is_refused(tmp_path: Path) -> None:
    path = exported(Batches(), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="The items of a batch do not stay apart"):
        run(path, {"x": da.zeros((11, 3, 32, 32), chunks=(4, 3, 32, 32), dtype="f4")})
