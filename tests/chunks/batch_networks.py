"""Small networks of PyTorch, whose items stay apart or do not."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Patches(nn.Module):
    """A vision transformer: its layers flatten the rows of all items, time first."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, 8)
        self.first = nn.Parameter(torch.randn(1, 1, 32))
        self.places = nn.Parameter(torch.randn(1, 17, 32))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(2))
        self.head = nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


class Sequences(nn.Module):
    """Recurrent layers of both directions, whose first states have the size of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True)

    def forward(self, x: Any) -> Any:
        return self.cells(x.flatten(1)[:, :96].reshape(-1, 12, 8))[0]


class Batches(nn.Module):
    """A layer that normalizes over the batch, as in training."""

    def forward(self, x: Any) -> Any:
        return (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True)
