"""Recurrent layers beside ONNX Runtime: directions, lengths, states, activations and their numbers."""

from __future__ import annotations

from typing import Any

import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import Single, floats, ints, must_be_refused, must_pass

STEPS, BATCH, SIZE, HIDDEN = 4, 3, 2, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}


def layer(operator: str, directions: int = 1, *, lengths: bool = False, states: bool = False, **more: Any) -> Single:
    gates = GATES[operator] * HIDDEN
    inputs = [
        floats(STEPS, BATCH, SIZE),
        floats(directions, gates, SIZE),
        floats(directions, gates, HIDDEN),
        floats(directions, 2 * gates),
        ints(4, 2, 3) if lengths else None,
    ]
    if states:
        inputs += [floats(directions, BATCH, HIDDEN) for _ in range(STATES[operator])]
    outputs = 1 + STATES[operator]
    return Single(operator, inputs, {"hidden_size": HIDDEN, **more}, outputs=outputs, opset=14)


@each_of(
    "single",
    [
        *(layer(one, lengths=True, direction="reverse") for one in GATES),
        *(layer(one, 2, states=True, direction="bidirectional") for one in GATES),
        layer("GRU", linear_before_reset=1, activations=["HardSigmoid", "LeakyRelu"], activation_alpha=[0.3, 0.02]),
        layer("RNN", 2, direction="bidirectional", activations=["Elu", "Affine"], activation_alpha=[0.7, 2.0]),
        layer(
            "LSTM", clip=0.5, activations=["Sigmoid", "ScaledTanh", "Softsign"], activation_alpha=[0.9],
            activation_beta=[0.8],
        ),
    ],
)  # fmt: skip
def test_layers(single: Single) -> None:
    must_pass(single, single.operator)


@each_of(
    "single, identifier",
    [
        (layer("LSTM", layout=1), "DML-ONNX-unsupported"),
        (layer("GRU", clip=1.0), "DML-ONNX-unsupported"),
        (layer("LSTM", direction="back"), "DML-ONNX-attribute-value"),
        (layer("LSTM", hidden_size=HIDDEN + 1), "DML-ONNX-attribute-value"),
        (layer("LSTM", activations=["Tanh"]), "DML-ONNX-attribute-value"),
        (layer("RNN", activations=["Softmax"]), "DML-ONNX-unsupported"),
        (layer("RNN", activations=["Fold"]), "DML-ONNX-unsupported"),
    ],
)
def test_refused(single: Single, identifier: str) -> None:
    must_be_refused(single, identifier)
