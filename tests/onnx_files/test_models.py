"""Models of PyTorch: the DirectML graph of a model computes what ONNX Runtime computes, and no node is left over."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dmlcy._frontends.onnx.lint import lint
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.walk import Walk

pytest.importorskip("onnx", reason="needs onnx, with which PyTorch writes models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are compared")
pytest.importorskip("torch", reason="needs PyTorch, which makes the models")

import networks
import onnxruntime as ort
import torch
from torch import nn


class Attention(nn.Module):
    """A block of a transformer, with the sizes that PyTorch traces as operators."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.project, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.project(self.norm(x)).reshape(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 2 + mask, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class Shapes(nn.Module):
    """Concat, slices, gathers, pads and reductions, whose arguments are computed from shapes."""

    def forward(self, x: Any) -> Any:
        half = x.shape[-1] // 2
        parts = torch.cat([x[..., half:], x[..., :half]], -1)
        padded = nn.functional.pad(parts, (1, 2), mode="reflect")
        top = torch.topk(padded, 3, -1).values
        where = torch.where(padded > 0, padded, padded * 0.1)
        return where[..., ::2].mean(-1, keepdim=True) + top.sum(1, keepdim=True) + padded.amax((1, 2), keepdim=True)


class Tagger(nn.Module):
    """An embedding, and recurrent layers in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(10, 6), nn.LSTM(6, 4, bidirectional=True)
        self.gru, self.out = nn.GRU(8, 5), nn.Linear(5, 3)

    def forward(self, words: Any) -> Any:
        return torch.log_softmax(self.out(self.gru(self.lstm(self.embedding(words))[0])[0]), -1)


def _images() -> Any:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
        nn.InstanceNorm2d(8, affine=True), nn.PReLU(8), nn.MaxPool2d(3, 2, ceil_mode=True), nn.Conv2d(8, 4, 1),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1), nn.ELU(),
        nn.AvgPool2d(2), nn.GroupNorm(2, 6), nn.PixelShuffle(1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5),
        nn.Softmax(1),
    )  # fmt: skip


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "images": (_images, lambda: torch.randn(2, 3, 20, 24)),
    "signals": (
        lambda: nn.Sequential(nn.Conv1d(4, 6, 5, 2, 2, 1, 2), nn.SELU(), nn.AvgPool1d(3), nn.ConvTranspose1d(6, 4, 3)),
        lambda: torch.randn(2, 4, 30),
    ),
    "volumes": (
        lambda: nn.Sequential(nn.Conv3d(2, 3, 2), nn.LeakyReLU(), nn.MaxPool3d(2), nn.BatchNorm3d(3)),
        lambda: torch.randn(1, 2, 6, 7, 8),
    ),
    "attention": (Attention, lambda: torch.randn(2, 5, 16)),
    "shapes": (Shapes, lambda: torch.randn(2, 3, 10)),
    "resnet": (networks.resnet, lambda: torch.randn(2, 3, 40, 40)),
    "mobilenet": (networks.mobilenet, lambda: torch.randn(2, 3, 32, 32)),
    "unet": (networks.Unet, lambda: torch.randn(1, 3, 24, 24)),
    "tagger": (Tagger, lambda: torch.randint(0, 10, (7, 2))),
}


@pytest.mark.parametrize("opset", [14, 21])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_what_onnx_runtime_computes(name: str, opset: int) -> None:
    torch.manual_seed(opset)
    make, draw = MODELS[name]
    x = draw()
    data = exported(make().eval(), x, opset)
    model = decode(f"{name}.onnx", data, None)
    walk = Walk(model, {"x": tuple(x.shape)})
    assert [visit.node.operator for visit in walk.all() if visit.fate == "unknown"] == []
    assert [
        one.violation.message for one in lint(model, "6_4", {"x": tuple(x.shape)}).findings if not one.warning
    ] == []
    session = ort.InferenceSession(data, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x.numpy()})
    found = CompiledModel(model, {})(x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


def exported(net: Any, x: Any, opset: int) -> bytes:
    """The model of a network, whose first input has a free batch."""
    stream = io.BytesIO()
    axes = {"x": {0: "batch"}} if opset > 14 else None
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(
            net, (x,), stream, opset_version=opset, dynamo=False, input_names=["x"], dynamic_axes=axes, verbose=False
        )
    return stream.getvalue()
