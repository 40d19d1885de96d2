"""Transformers of PyTorch, in any size: ViT, Swin, BERT, GPT with a cache, and Whisper's encoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional


def _heads(x: Any, heads: int) -> Any:
    """The axes {batch, heads, sequence, head} of {batch, sequence, elements}."""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def _joined(x: Any) -> Any:
    """The axes {batch, sequence, elements} of {batch, heads, sequence, head}."""
    batch, heads, length, head = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * head)


def _mlp(width: int, inner: int, activation: type[nn.Module] = nn.GELU) -> Any:
    return nn.Sequential(nn.Linear(width, inner), activation(), nn.Linear(inner, width))


class Attention(nn.Module):
    """Attention of a sequence to itself, as models write it: with products and a softmax."""

    def __init__(self, width: int, heads: int, key_bias: bool = True) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.q, self.k, self.v = (
            nn.Linear(width, width),
            nn.Linear(width, width, bias=key_bias),
            nn.Linear(width, width),
        )
        self.out = nn.Linear(width, width)

    def forward(self, x: Any, mask: Any = None) -> Any:
        q, k, v = (_heads(one(x), self.heads) for one in (self.q, self.k, self.v))
        scores = (q * self.scale) @ k.transpose(-1, -2)
        scores = scores if mask is None else scores + mask
        return self.out(_joined(torch.softmax(scores, -1) @ v))


class Block(nn.Module):
    """A layer that normalizes what its parts read, as ViT and Whisper have it, or, as BERT, what they give."""

    def __init__(self, width: int, heads: int, *, after: bool = False, key_bias: bool = True) -> None:
        super().__init__()
        self.after = after
        self.attention, self.mlp = Attention(width, heads, key_bias), _mlp(width, 4 * width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Any, mask: Any = None) -> Any:
        if self.after:
            x = self.first(x + self.attention(x, mask))
            return self.second(x + self.mlp(x))
        x = x + self.attention(self.first(x), mask)
        return x + self.mlp(self.second(x))


class Vit(nn.Module):
    """ViT: patches of an image, and a token for the class."""

    def __init__(self, width: int, heads: int, layers: int, image: int, patch: int, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.1)
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


class Window(nn.Module):
    """A layer of Swin: attention inside windows, which every second layer shifts."""

    def __init__(self, width: int, heads: int, size: int, window: int, shift: int) -> None:
        super().__init__()
        self.size, self.window, self.shift, self.heads = size, window, shift, heads
        self.first, self.second, self.mlp = nn.LayerNorm(width), nn.LayerNorm(width), _mlp(width, 4 * width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.1)
        places = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = places[:, :, None] - places[:, None] + window - 1
        self.register_buffer("index", (apart[0] * (2 * window - 1) + apart[1]).flatten())
        self.register_buffer("mask", self._mask() if shift else None)

    def _mask(self) -> Any:
        """The mask between parts of a window that are apart in the image."""
        parts = (torch.arange(self.size) >= self.size - self.window).long()
        parts = parts + (torch.arange(self.size) >= self.size - self.shift)
        regions = self._cut((parts[:, None] * 3 + parts)[None, :, :, None]).squeeze(-1)
        return torch.where(regions[:, None] == regions[:, :, None], 0.0, -100.0)

    def _cut(self, x: Any) -> Any:
        """The windows of an image, as items of a batch."""
        batch, size, _, width = x.shape
        count = size // self.window
        x = x.reshape(batch, count, self.window, count, self.window, width).transpose(2, 3)
        return x.reshape(batch * count * count, self.window**2, width)

    def _joined(self, x: Any, batch: int) -> Any:
        count = self.size // self.window
        x = x.reshape(batch, count, count, self.window, self.window, x.shape[-1]).transpose(2, 3)
        return x.reshape(batch, self.size, self.size, x.shape[-1])

    def _attention(self, x: Any) -> Any:
        count, length, width = x.shape
        qkv = self.qkv(x).reshape(count, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-1, -2)
        scores = scores + self.table[self.index].reshape(length, length, -1).permute(2, 0, 1)
        if self.shift:
            apart = scores.reshape(-1, self.mask.shape[0], self.heads, length, length) + self.mask[:, None]
            scores = apart.reshape(-1, self.heads, length, length)
        return self.out(_joined(torch.softmax(scores, -1) @ v))

    def forward(self, x: Any) -> Any:
        inner = torch.roll(self.first(x), (-self.shift, -self.shift), (1, 2)) if self.shift else self.first(x)
        inner = self._joined(self._attention(self._cut(inner)), x.shape[0])
        x = x + (torch.roll(inner, (self.shift, self.shift), (1, 2)) if self.shift else inner)
        return x + self.mlp(self.second(x))


class Merging(nn.Module):
    """Four neighbours become one place of twice the width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.out = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Any) -> Any:
        parts = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.out(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    """Swin: stages of layers with windows; a stage has half of the rows and twice the width of the one before."""

    def __init__(self, width: int, heads: tuple[int, ...], layers: tuple[int, ...], image: int, window: int) -> None:
        super().__init__()
        self.patches, self.first, size = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width), image // 4
        stages: list[nn.Module] = []
        for stage, (count, depth) in enumerate(zip(heads, layers, strict=True)):
            if stage:
                stages.append(Merging(width))
                width, size = 2 * width, size // 2
            for layer in range(depth):
                shift = window // 2 if layer % 2 and size > window else 0
                stages.append(Window(width, count, size, window, shift))
        self.stages, self.norm, self.head = nn.Sequential(*stages), nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: Any) -> Any:
        x = self.stages(self.first(self.patches(x).permute(0, 2, 3, 1)))
        return self.head(self.norm(x).mean((1, 2)))


class Bert(nn.Module):
    """BERT, with a mask of the words that are there."""

    def __init__(self, width: int, heads: int, layers: int, words: int, places: int) -> None:
        super().__init__()
        self.words, self.kinds = nn.Embedding(words, width), nn.Embedding(2, width)
        self.places, self.norm = nn.Embedding(places, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(Block(width, heads, after=True) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, ids: Any, kinds: Any, mask: Any) -> Any:
        places = torch.arange(ids.shape[1])[None]
        x = self.norm(self.words(ids) + self.kinds(kinds) + self.places(places))
        added = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, added)
        return x, torch.tanh(self.pooler(x[:, 0]))


class Remembering(nn.Module):
    """Attention to what was before, whose keys and values are inputs and outputs."""

    def __init__(self, width: int, heads: int, places: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("seen", torch.tril(torch.ones(places, places, dtype=torch.bool))[None, None])

    def forward(self, x: Any, past: Any) -> Any:
        q, k, v = (_heads(one, self.heads) for one in self.qkv(x).split(x.shape[-1], 2))
        k, v = (torch.cat([one, new], 2) for one, new in zip(past, (k, v), strict=True))
        scores = q @ k.transpose(-1, -2) / (q.shape[-1] ** 0.5)
        seen = self.seen[:, :, k.shape[2] - q.shape[2] : k.shape[2], : k.shape[2]]
        scores = torch.where(seen, scores, torch.tensor(torch.finfo(torch.float32).min))
        return self.out(_joined(torch.softmax(scores, -1) @ v)), (k, v)


class Tanh(nn.Module):
    """The GELU of GPT-2, with a tanh."""

    def forward(self, x: Any) -> Any:
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))


class Gpt(nn.Module):
    """GPT-2: the keys and values of each layer are given, and come back longer."""

    def __init__(self, width: int, heads: int, layers: int, words: int, places: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.first = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.attentions = nn.ModuleList(Remembering(width, heads, places) for _ in range(layers))
        self.second = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.mlps = nn.ModuleList(_mlp(width, 4 * width, Tanh) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids: Any, *past: Any) -> Any:
        earlier = past[0].shape[2]
        x = self.words(ids) + self.places(torch.arange(earlier, earlier + ids.shape[1])[None])
        present: list[Any] = []
        layers = zip(self.first, self.attentions, self.second, self.mlps, strict=True)
        for number, (first, attention, second, mlp) in enumerate(layers):
            given, pair = attention(first(x), past[2 * number : 2 * number + 2])
            x = x + given
            x = x + mlp(second(x))
            present += pair
        return (self.head(self.norm(x)), *present)


class Whisper(nn.Module):
    """Whisper's encoder: two convolutions over time, and layers whose keys have no bias."""

    def __init__(self, width: int, heads: int, layers: int, frames: int, bands: int = 80) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(bands, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        self.places = nn.Parameter(torch.randn(frames // 2, width) * 0.1)
        self.layers = nn.ModuleList(Block(width, heads, key_bias=False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        x = functional.gelu(self.second(functional.gelu(self.first(x))))
        x = x.transpose(1, 2) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)
