"""The weights of Stable Diffusion XL by their names, with the sizes that the sample takes, and drawn values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Sizes = dict[str, tuple[int, ...]]
Weights = dict[str, np.ndarray[Any, Any]]
TEXT = "text_model"
CHANNELS = (128, 256, 512, 512)
"""Of the blocks of the VAE."""


def convolution(name: str, filters: int, channels: int, window: int) -> Sizes:
    return {f"{name}.weight": (filters, channels, window, window), f"{name}.bias": (filters,)}


def norm(name: str, channels: int) -> Sizes:
    return {f"{name}.weight": (channels,), f"{name}.bias": (channels,)}


def linear(name: str, out: int, width: int, bias: bool = True) -> Sizes:
    return {f"{name}.weight": (out, width)} | ({f"{name}.bias": (out,)} if bias else {})


def resnet(name: str, channels: int, out: int, time: int = 0) -> Sizes:
    found = norm(f"{name}.norm1", channels) | convolution(f"{name}.conv1", out, channels, 3)
    found |= norm(f"{name}.norm2", out) | convolution(f"{name}.conv2", out, out, 3)
    found |= convolution(f"{name}.conv_shortcut", out, channels, 1) if channels != out else {}
    return found | (linear(f"{name}.time_emb_proj", out, time) if time else {})


def middle_of_vae(name: str, width: int) -> Sizes:
    found = resnet(f"{name}.resnets.0", width, width) | resnet(f"{name}.resnets.1", width, width)
    found |= norm(f"{name}.attentions.0.group_norm", width)
    for one in ("to_q", "to_k", "to_v", "to_out.0"):
        found |= linear(f"{name}.attentions.0.{one}", width, width)
    return found


def decoder() -> Sizes:
    """The part of the VAE that makes images."""
    last = CHANNELS[-1]
    found = convolution("post_quant_conv", 4, 4, 1) | convolution("decoder.conv_in", last, 4, 3)
    found |= middle_of_vae("decoder.mid_block", last)
    for block, channels in enumerate(reversed(CHANNELS)):
        name = f"decoder.up_blocks.{block}"
        for number in range(3):
            found |= resnet(f"{name}.resnets.{number}", last, channels)
            last = channels
        found |= convolution(f"{name}.upsamplers.0.conv", last, last, 3) if block < len(CHANNELS) - 1 else {}
    return found | norm("decoder.conv_norm_out", last) | convolution("decoder.conv_out", 3, last, 3)


def encoder() -> Sizes:
    """The part of the VAE that reads images."""
    last = CHANNELS[0]
    found = convolution("encoder.conv_in", last, 3, 3)
    for block, channels in enumerate(CHANNELS):
        name = f"encoder.down_blocks.{block}"
        for number in range(2):
            found |= resnet(f"{name}.resnets.{number}", last, channels)
            last = channels
        found |= convolution(f"{name}.downsamplers.0.conv", last, last, 3) if block < len(CHANNELS) - 1 else {}
    found |= middle_of_vae("encoder.mid_block", last) | norm("encoder.conv_norm_out", last)
    return found | convolution("encoder.conv_out", 8, last, 3) | convolution("quant_conv", 8, 8, 1)


def text_encoder(width: int, layers: int, words: int, tokens: int = 77) -> Sizes:
    """A tower of CLIP."""
    found: Sizes = {
        f"{TEXT}.embeddings.token_embedding.weight": (words, width),
        f"{TEXT}.embeddings.position_embedding.weight": (tokens, width),
    }
    for layer in range(layers):
        name = f"{TEXT}.encoder.layers.{layer}"
        found |= norm(f"{name}.layer_norm1", width) | norm(f"{name}.layer_norm2", width)
        for one in ("q_proj", "k_proj", "v_proj", "out_proj"):
            found |= linear(f"{name}.self_attn.{one}", width, width)
        found |= linear(f"{name}.mlp.fc1", 4 * width, width) | linear(f"{name}.mlp.fc2", width, 4 * width)
    return found | norm(f"{TEXT}.final_layer_norm", width)


def transformers(name: str, width: int, layers: int, context: int) -> Sizes:
    """Blocks of attention to the image and to the text; none without layers."""
    if not layers:
        return {}
    found = norm(f"{name}.norm", width) | linear(f"{name}.proj_in", width, width)
    found |= linear(f"{name}.proj_out", width, width)
    for layer in range(layers):
        block = f"{name}.transformer_blocks.{layer}"
        for number in (1, 2, 3):
            found |= norm(f"{block}.norm{number}", width)
        for one, source in (("attn1", width), ("attn2", context)):
            found |= linear(f"{block}.{one}.to_q", width, width, False)
            found |= linear(f"{block}.{one}.to_k", width, source, False)
            found |= linear(f"{block}.{one}.to_v", width, source, False)
            found |= linear(f"{block}.{one}.to_out.0", width, width)
        found |= linear(f"{block}.ff.net.0.proj", 8 * width, width) | linear(f"{block}.ff.net.2", width, 4 * width)
    return found


def down_block(name: str, channels: int, out: int, layers: int, context: int, time: int, last: bool = False) -> Sizes:
    """A block of the UNet on its way down."""
    found: Sizes = {}
    for number, width in enumerate((channels, out)):
        found |= resnet(f"{name}.resnets.{number}", width, out, time)
        found |= transformers(f"{name}.attentions.{number}", out, layers, context)
    return found if last else found | convolution(f"{name}.downsamplers.0.conv", out, out, 3)


def unet(channels: Sequence[int], layers: Sequence[int], context: int, time: int, added: int) -> Sizes:
    """The UNet, with three blocks each way."""
    first, last = channels[0], channels[-1]
    found = convolution("conv_in", first, 4, 3) | norm("conv_norm_out", first) | convolution("conv_out", 4, first, 3)
    for name, width in (("time_embedding", first), ("add_embedding", added)):
        found |= linear(f"{name}.linear_1", time, width) | linear(f"{name}.linear_2", time, time)
    skips, width = [first], first
    for block, out in enumerate(channels):
        bottom = block == len(channels) - 1
        found |= down_block(f"down_blocks.{block}", width, out, layers[block], context, time, bottom)
        skips += [out, out] if bottom else [out, out, out]
        width = out
    for number in (0, 1):
        found |= resnet(f"mid_block.resnets.{number}", last, last, time)
    found |= transformers("mid_block.attentions.0", last, layers[-1], context)
    for block, (out, depth) in enumerate(zip(reversed(channels), reversed(layers), strict=True)):
        name = f"up_blocks.{block}"
        for number in range(3):
            found |= resnet(f"{name}.resnets.{number}", width + skips.pop(), out, time)
            found |= transformers(f"{name}.attentions.{number}", out, depth, context)
            width = out
        found |= convolution(f"{name}.upsamplers.0.conv", out, out, 3) if block < len(channels) - 1 else {}
    return found


def drawn(sizes: Sizes, seed: int = 1) -> Weights:
    """Values with which each layer gives numbers about as large as it takes."""
    rng, found = np.random.default_rng(seed), {}
    for name, shape in sizes.items():
        values = rng.standard_normal(shape, dtype=np.float32)
        if "norm" in name:
            values = values * np.float32(0.1) + np.float32(name.endswith("weight"))
        elif len(shape) == 1:
            values *= np.float32(0.05)
        else:
            values *= np.float32(0.5 if "embedding.weight" in name else 0.8 / np.sqrt(np.prod(shape[1:])))
        found[name] = values
    return found
