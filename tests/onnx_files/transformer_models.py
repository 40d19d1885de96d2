"""ONNX models of transformers with drawn weights, small for tests, and in sizes that are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch
from forms import exported
from llama import Llama
from transformer_networks import Bert, Gpt, Swin, Vit, Whisper

Inputs = Mapping[str, Any]
Free = dict[str, dict[int, str]]


def _floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes).astype(np.float32)


def _words(count: int, length: int) -> Any:
    return np.random.default_rng(0).integers(0, count, (1, length))


def _image(net: Callable[[], Any], *sizes: int) -> tuple[bytes, Inputs]:
    inputs = {"x": _floats(1, *sizes)}
    return _made(net, inputs, {})


def _made(net: Callable[[], Any], inputs: Inputs, free: Free) -> tuple[bytes, Inputs]:
    torch.manual_seed(0)
    return exported(net(), inputs, free), inputs


def bert(width: int, heads: int, layers: int, words: int, length: int) -> tuple[bytes, Inputs]:
    """BERT, for a sequence whose last quarter is padding."""
    mask = np.ones((1, length), np.int64)
    mask[:, length * 3 // 4 :] = 0
    inputs = {"ids": _words(words, length), "kinds": _words(2, length), "mask": mask}
    free = {name: {0: "batch", 1: "length"} for name in inputs}
    return _made(lambda: Bert(width, heads, layers, words, 2 * length), inputs, free)


def gpt(width: int, heads: int, layers: int, words: int, places: int, length: int, past: int) -> tuple[bytes, Inputs]:
    """GPT, for so many tokens behind so many earlier ones."""
    inputs: dict[str, Any] = {"ids": _words(words, length)}
    free: Free = {"ids": {0: "batch", 1: "length"}}
    for name in (f"past.{layer}.{one}" for layer in range(layers) for one in ("key", "value")):
        inputs[name] = _floats(1, heads, past, width // heads)
        free[name] = {0: "batch", 2: "past"}
    return _made(lambda: Gpt(width, heads, layers, words, places), inputs, free)


def llama(length: int, past: int, bits: int, *sizes: int) -> tuple[bytes, Inputs]:
    """A Llama, for so many tokens behind so many earlier ones."""
    width, inner, heads, shared, layers, words, places = sizes
    found = Llama(width, inner, heads, shared, layers, words, places, bits)
    return found.model().SerializeToString(), found.inputs(length, past)


_LLAMA: Final = (768, 2048, 12, 4, 4, 4000, 512)
_TINY: Final = (64, 96, 4, 2, 2, 50, 32)
SMALL: Final[Mapping[str, Callable[[], tuple[bytes, Inputs]]]] = {
    "vit": lambda: _image(lambda: Vit(16, 2, 2, 16, 4), 3, 16, 16),
    "swin": lambda: _image(lambda: Swin(8, (1, 2), (2, 2), 32, 4), 3, 32, 32),
    "bert": lambda: bert(16, 2, 2, 50, 12),
    "gpt": lambda: gpt(16, 2, 2, 50, 32, 3, 4),
    "whisper": lambda: _image(lambda: Whisper(16, 2, 2, 20, 8), 8, 20),
    "llama": lambda: llama(5, 0, 4, *_TINY),
}
"""Small models."""
USED: Final[Mapping[str, Callable[[], tuple[bytes, Inputs]]]] = {
    "ViT-tiny, 224x224": lambda: _image(lambda: Vit(192, 3, 12, 224, 16, 1000), 3, 224, 224),
    "Swin-tiny, 224x224": lambda: _image(lambda: Swin(96, (3, 6, 12, 24), (2, 2, 6, 2), 224, 7), 3, 224, 224),
    "BERT-mini, 128 tokens": lambda: bert(256, 4, 4, 30522, 128),
    "GPT-2, 4 layers, 64 behind 64": lambda: gpt(768, 12, 4, 5000, 1024, 64, 64),
    "GPT-2, 4 layers, 1 behind 127": lambda: gpt(768, 12, 4, 5000, 1024, 1, 127),
    "Whisper-tiny, encoder": lambda: _image(lambda: Whisper(384, 6, 4, 3000), 80, 3000),
    "Llama, 4 layers, 64": lambda: llama(64, 0, 32, *_LLAMA),
    "Llama, 4 layers, 1 behind 64": lambda: llama(1, 64, 32, *_LLAMA),
    "Llama, 4 bits, 64": lambda: llama(64, 0, 4, *_LLAMA),
    "Llama, 4 bits, 1 behind 64": lambda: llama(1, 64, 4, *_LLAMA),
}
"""Models in the sizes of published ones, the large ones with fewer layers."""
