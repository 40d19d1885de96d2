"""A Llama as tools for ONNX Runtime write it, with weights of 4 bits, or of FLOAT32 with the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
"""Columns of the weights that share a scale."""


@dataclass
class Llama:
    """Makes the model of these sizes.

    Attributes
    ----------
    width, inner
        The elements of a token, and of the middle of each MLP.
    heads, shared
        The heads of queries, and of keys and values.
    layers, words, places
        How many layers, tokens and positions there are.
    bits
        4, or 32: the numbers that the 4 bits stand for.
    zeros
        Whether the weights have zero points.
    """

    width: int
    inner: int
    heads: int
    shared: int
    layers: int
    words: int
    places: int
    bits: int = 4
    zeros: bool = True
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(0)

    @property
    def head(self) -> int:
        return self.width // self.heads

    def _add(self, name: str, array: Any) -> str:
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def _node(self, operator: str, inputs: list[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        names = [*outputs] or [f"v{len(self.nodes)}"]
        self.nodes.append(
            helper.make_node(operator, inputs, names, domain=domain, name=f"/{names[0]}/{operator}", **attributes)
        )
        return names[0]

    def _product(self, x: str, rows: int, columns: int, name: str) -> str:
        """A product with weights of so many rows of results."""
        blocks = columns // BLOCK
        packed = self.random.integers(0, 256, (rows, blocks, BLOCK // 2), np.uint8)
        scales = self.random.uniform(0.5, 1.5, (rows, blocks)).astype(np.float32) / np.float32(6 * columns**0.5)
        zeros = self.random.integers(0, 256, (rows, -(-blocks // 2)), np.uint8) & 0x11 | 0x66
        if self.bits == 4:
            names = [self._add(f"{name}.q", packed), self._add(f"{name}.s", scales.reshape(-1))]
            names += [self._add(f"{name}.z", zeros.reshape(-1))] if self.zeros else []
            fields = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
            return self._node("MatMulNBits", [x, *names], domain="com.microsoft", **fields)
        whole = np.stack([packed & 15, packed >> 4], -1).reshape(rows, blocks, BLOCK).astype(np.float32)
        middle = np.stack([zeros & 15, zeros >> 4], -1).reshape(rows, -1)[:, :blocks] if self.zeros else np.uint8(8)
        numbers = (whole - np.float32(middle).reshape(*np.shape(middle), 1)) * scales[..., None]
        weights = np.ascontiguousarray(numbers.reshape(rows, columns).T)
        return self._node("MatMul", [x, self._add(f"{name}.w", weights)])

    def _weights(self, name: str) -> str:
        return self._add(name, self.random.uniform(0.5, 1.5, self.width).astype(np.float32))

    def _layer(self, x: str, normal: str, number: int, last: str) -> tuple[str, str]:
        """The sum of the layer, and the sum normalized for what comes next."""
        keys, name = self.head * self.shared, f"l{number}"
        q = self._product(normal, self.width, self.width, f"{name}.q")
        k, v = (self._product(normal, keys, self.width, f"{name}.{one}") for one in "kv")
        turned = [
            self._node(
                "RotaryEmbedding", [one, "positions", "cos", "sin"], domain="com.microsoft", num_heads=0, interleaved=0
            )
            for one in (q, k)
        ]
        pasts = [f"past.{number}.{one}" for one in ("key", "value")]
        found = self._node(
            "GroupQueryAttention", [*turned, v, *pasts, "ends", "total"], f"a{number}",
            *(one.replace("past", "present") for one in pasts), domain="com.microsoft", num_heads=self.heads,
            kv_num_heads=self.shared,
        )  # fmt: skip
        x, normal = self._skip(x, self._product(found, self.width, self.width, f"{name}.o"), f"{name}.n")
        gate, up = (self._product(normal, self.inner, self.width, f"{name}.{one}") for one in ("gate", "up"))
        inner = self._node("Mul", [self._node("Mul", [gate, self._node("Sigmoid", [gate])]), up])
        return self._skip(x, self._product(inner, self.width, self.inner, f"{name}.down"), last)

    def _skip(self, x: str, more: str, name: str) -> tuple[str, str]:
        inputs = [x, more, self._weights(name)]
        outputs = [f"{name}.normal", "", "", f"{name}.sum"]
        self._node("SkipSimplifiedLayerNormalization", inputs, *outputs, domain="com.microsoft", epsilon=1e-5)
        return outputs[3], outputs[0]

    def model(self) -> Any:
        """The model."""
        angles = np.arange(self.places)[:, None] / 10000 ** (np.arange(self.head // 2) * 2 / self.head)
        self._add("cos", np.cos(angles).astype(np.float32))
        self._add("sin", np.sin(angles).astype(np.float32))
        words = self.random.standard_normal((self.words, self.width)).astype(np.float32)
        x = self._node("Gather", [self._add("words", words), "ids"], axis=0)
        normal = self._node(
            "SimplifiedLayerNormalization", [x, self._weights("first")], axis=-1, epsilon=1e-5, stash_type=1
        )
        for number in range(self.layers):
            x, normal = self._layer(x, normal, number, f"l{number}.last")
        logits = self._product(normal, self.words, self.width, "head")
        self.nodes[-1].output[0] = "logits"
        del logits
        caches = [(one, number) for number in range(self.layers) for one in ("key", "value")]
        sizes = {when: ["batch", self.shared, f"{when}_length", self.head] for when in ("past", "present")}
        floats, longs, whole = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
        inputs = [
            helper.make_tensor_value_info("ids", longs, ["batch", "length"]),
            helper.make_tensor_value_info("positions", longs, ["batch", "length"]),
            helper.make_tensor_value_info("ends", whole, ["batch"]),
            helper.make_tensor_value_info("total", whole, []),
        ]
        inputs += [
            helper.make_tensor_value_info(f"past.{number}.{one}", floats, sizes["past"]) for one, number in caches
        ]
        outputs = [helper.make_tensor_value_info("logits", floats, ["batch", "length", self.words])]
        outputs += [
            helper.make_tensor_value_info(f"present.{number}.{one}", floats, sizes["present"]) for one, number in caches
        ]
        graph = helper.make_graph(self.nodes, "llama", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def inputs(self, length: int, past: int) -> Mapping[str, Any]:
        """Tokens behind so many earlier ones."""
        random = np.random.default_rng(length)
        found = {
            "ids": random.integers(0, self.words, (1, length)),
            "positions": np.arange(past, past + length)[None],
            "ends": np.array([past + length - 1], np.int32),
            "total": np.array(past + length, np.int32),
        }
        for number in range(self.layers):
            for one in ("key", "value"):
                drawn = random.standard_normal((1, self.shared, past, self.head))
                found[f"past.{number}.{one}"] = drawn.astype(np.float32)
        return found
