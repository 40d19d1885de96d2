"""Networks of PyTorch in small: the blocks of ResNet, MobileNetV3 and U-Net."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def _normal(inputs: int, outputs: int, window: int, stride: int = 1, groups: int = 1) -> Any:
    """A convolution with a batch normalization, whose statistics are not those of a new layer."""
    norm = nn.BatchNorm2d(outputs)
    for one in (norm.running_mean, norm.bias):
        nn.init.normal_(one, std=0.1)
    for one in (norm.running_var, norm.weight):
        nn.init.uniform_(one, 0.5, 1.5)
    return nn.Sequential(nn.Conv2d(inputs, outputs, window, stride, window // 2, groups=groups, bias=False), norm)


class Residual(nn.Module):
    """A block of ResNet."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_normal(inputs, outputs, 3, stride), nn.ReLU(), _normal(outputs, outputs, 3))
        self.skip = _normal(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x: Any) -> Any:
        return torch.relu(self.body(x) + self.skip(x))


class Inverted(nn.Module):
    """A block of MobileNetV3, with squeeze and excitation."""

    def __init__(self, inputs: int, inner: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.expand = nn.Sequential(_normal(inputs, inner, 1), nn.Hardswish())
        self.depthwise = nn.Sequential(_normal(inner, inner, 5, stride, inner), nn.Hardswish())
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, 8, 1), nn.ReLU(), nn.Conv2d(8, inner, 1), nn.Hardsigmoid()
        )
        self.project, self.skips = _normal(inner, outputs, 1), stride == 1 and inputs == outputs

    def forward(self, x: Any) -> Any:
        inner = self.depthwise(self.expand(x))
        found = self.project(inner * self.squeeze(inner))
        return x + found if self.skips else found


class Unet(nn.Module):
    """Two levels of U-Net."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = self._double(3, 8), self._double(8, 16)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), self._double(16, 8)
        self.out = nn.Conv2d(8, 2, 1)

    def _double(self, inputs: int, outputs: int) -> Any:
        return nn.Sequential(_normal(inputs, outputs, 3), nn.ReLU(), _normal(outputs, outputs, 3), nn.ReLU())

    def forward(self, x: Any) -> Any:
        first = self.first(x)
        second = self.up(self.second(nn.functional.max_pool2d(first, 2)))
        return torch.sigmoid(self.out(self.last(torch.cat([first, second], 1))))


def resnet() -> Any:
    return nn.Sequential(
        _normal(3, 8, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Residual(8, 8, 1), Residual(8, 16, 2),
        Residual(16, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip


def mobilenet() -> Any:
    return nn.Sequential(
        _normal(3, 16, 3, 2), nn.Hardswish(), Inverted(16, 32, 16, 1), Inverted(16, 48, 24, 2), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(24, 32), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(32, 10),
    )  # fmt: skip
