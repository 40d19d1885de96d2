"""Recurrent layers beside PyTorch and ONNX Runtime, and by hand where those say nothing."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of

import dmlcy as dml
from dmlcy._families.recurrent import family, numbers

Array = np.ndarray[Any, Any]
random = np.random.default_rng(23)
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
SIGMOID, TANH, RELU = dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh(), dml.desc.ActivationRelu()
ACTIVATIONS = {"rnn": [TANH], "gru": [SIGMOID, TANH], "lstm": [SIGMOID, TANH, TANH]}
DIRECTIONS = ("FORWARD", "BACKWARD", "BIDIRECTIONAL")


def normal(*sizes: int) -> Array:
    return random.standard_normal(sizes).astype(np.float32)


def layer(name: str, directions: int, steps: int = 5, batch: int = 3, inputs: int = 4, hidden: int = 2) -> list[Array]:
    """Input, weight, recurrence, bias, state (and cell state) before the first step."""
    rows = GATES[name] * hidden
    states = [normal(1, directions, batch, hidden) for _ in range(2 if name == "lstm" else 1)]
    matrices = [normal(1, directions, rows, inputs), normal(1, directions, rows, hidden)]
    return [normal(1, steps, batch, inputs), *matrices, normal(1, 1, directions, 2 * rows), *states]


def call(
    name: str, arrays: list[Array], lengths: Array | None = None, peephole: Array | None = None, **more: Any
) -> Any:
    """The outputs, all that there are."""
    directions = arrays[1].shape[1]
    more.setdefault("activation_descs", ACTIVATIONS[name] * directions)
    more |= {"output_sequence": True, "output_single": True}
    if name == "lstm":
        return dml.lstm(*arrays, lengths, peephole, **more, output_cell_single=True)
    return getattr(dml, name)(*arrays, lengths, **more)


def assert_near(result: Array, expected: Any, wide: bool = True) -> None:
    """The numbers of a library in float64, or in FLOAT32, rounded in each of its steps, too."""
    expected = np.asarray(expected).reshape(result.shape)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=2e-6 if wide else 3e-5, atol=5e-7 if wide else 3e-6)


def of_pytorch(name: str, rows: Array) -> Array:
    """The gates in the order of PyTorch: i, f, g, o in place of i, o, f, c; r, z, n in place of z, r, h."""
    parts = np.split(rows, GATES[name])
    order = {"rnn": [0], "gru": [1, 0, 2], "lstm": [0, 2, 3, 1]}[name]
    return np.concatenate([parts[number] for number in order])


@each_of("name, direction", itertools.product(GATES, ("FORWARD", "BIDIRECTIONAL")))
def test_pytorch_agrees(name: str, direction: str) -> None:
    """In float64, with the same weights; the reset gate of PyTorch applies to the product of the state."""
    torch = pytest.importorskip("torch")
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    arrays = layer(name, directions)
    both = directions == 2
    peer = getattr(torch.nn, name.upper())(4, 2, bidirectional=both, dtype=torch.float64)
    with torch.no_grad():
        for number, suffix in enumerate(("", "_reverse")[:directions]):
            bias = np.split(arrays[3][0, 0, number], 2)
            values = [arrays[1][0, number], arrays[2][0, number], *bias]
            for kind, rows in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), values, strict=True):
                getattr(peer, f"{kind}_l0{suffix}").copy_(torch.from_numpy(of_pytorch(name, rows)))
        states = [torch.from_numpy(one[0].astype(np.float64)) for one in arrays[4:]]
        x = torch.from_numpy(arrays[0][0].astype(np.float64))
        sequence, last = peer(x, tuple(states) if name == "lstm" else states[0])
    more = {"linear_before_reset": True} if name == "gru" else {}
    found = call(name, arrays, direction=direction, **more)
    assert_near(found[0], sequence.numpy().reshape(5, 3, directions, 2).swapaxes(1, 2))
    for result, expected in zip(found[1:], last if name == "lstm" else [last], strict=True):
        assert_near(result, expected.numpy())


def runtime(name: str, given: dict[str, Array | None], **attributes: Any) -> list[Array]:
    """The operator of ONNX Runtime, whose outputs are of the same kinds."""
    helper = pytest.importorskip("onnx").helper
    ready = pytest.importorskip("onnxruntime")
    there = {key: value for key, value in given.items() if value is not None}
    outputs = ["sequence", "single", "cell"][: 3 if name == "lstm" else 2]
    node = helper.make_node(name.upper(), [key if key in there else "" for key in given], outputs, **attributes)
    kinds = {key: helper.np_dtype_to_tensor_dtype(value.dtype) for key, value in there.items()}
    inputs = [helper.make_tensor_value_info(key, kinds[key], value.shape) for key, value in there.items()]
    results = [helper.make_tensor_value_info(key, 1, None) for key in outputs]
    model = helper.make_model(
        helper.make_graph([node], "graph", inputs, results),
        opset_imports=[helper.make_opsetid("", 14)], ir_version=8,
    )  # fmt: skip
    options = ready.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    run = ready.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[Array] = run.run(None, there)
    return found


ACTIVE = {
    "Sigmoid": SIGMOID, "Tanh": TANH, "Relu": RELU, "Softsign": dml.desc.ActivationSoftsign(),
    "HardSigmoid": dml.desc.ActivationHardSigmoid(alpha=0.2, beta=0.5),
}  # fmt: skip


@each_of("name, direction, option", itertools.product(GATES, DIRECTIONS, range(4)))
def test_onnx_runtime_agrees(name: str, direction: str, option: int) -> None:
    """Every direction, with and without lengths, bias, states, peepholes, clip, coupling; other activations."""
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    x, weight, recurrence, bias, hidden, *cell = layer(name, directions)
    lengths = np.array([5, 2, 0], np.int32) if option % 2 else None
    given: dict[str, Array | None] = {"x": x[0], "w": weight[0], "r": recurrence[0]}
    given["b"] = bias[0, 0] if option != 2 else None
    given |= {"lengths": lengths, "h": hidden[0] if option != 3 else None}
    attributes: dict[str, Any] = {"hidden_size": 2, "direction": direction.lower().replace("backward", "reverse")}
    own: dict[str, Any] = {"direction": direction}
    arrays = [x, weight, recurrence, bias if option != 2 else None, hidden if option != 3 else None]
    peephole = None
    if option > 1:
        names = {"rnn": ["Relu"], "gru": ["HardSigmoid", "Softsign"], "lstm": ["HardSigmoid", "Softsign", "Relu"]}[name]
        own["activation_descs"] = [ACTIVE[one] for one in names] * directions
        attributes["activations"] = names * directions
        alphas = [value for one in names * directions for value in ((0.2, 0.5) if one == "HardSigmoid" else ())]
        if alphas:
            attributes |= {"activation_alpha": alphas[::2], "activation_beta": alphas[1::2]}
    if name == "gru":
        attributes["linear_before_reset"] = option % 2
        own["linear_before_reset"] = bool(option % 2)
    if name == "lstm":
        peephole = normal(1, 1, directions, 6) if option else None
        given |= {"c": cell[0][0] if option != 3 else None, "p": None if peephole is None else peephole[0, 0]}
        arrays.append(cell[0] if option != 3 else None)
        own["couple_input_forget"] = option == 2
        attributes["input_forget"] = int(option == 2)
        if option == 1:
            attributes["clip"] = 0.7
            own |= {"clip_threshold": 0.7, "use_clip_threshold": True}
    wide = None if lengths is None else lengths.astype(np.uint32).reshape(1, 1, 1, 3)
    found = call(name, arrays, wide, peephole, **own)
    expected = runtime(name, given, **attributes)
    for result, one in zip(found, expected, strict=True):
        assert_near(result, one, wide=False)


@each_of("name", GATES)
def test_what_is_behind_the_end_of_a_sequence_does_not_count(name: str) -> None:
    """Whatever its values are; and each output alone is what it is beside others."""
    arrays = layer(name, 2)
    lengths = np.array([4, 1, 5], np.uint32).reshape(1, 1, 1, 3)
    found = call(name, arrays, lengths, direction="BIDIRECTIONAL")
    arrays[0] = arrays[0].copy()
    arrays[0][0, 4:, 0] = np.nan
    arrays[0][0, 1:, 1] = np.inf
    for result, again in zip(found, call(name, arrays, lengths, direction="BIDIRECTIONAL"), strict=True):
        assert_same_bits(again, result)
    given = {"direction": "BIDIRECTIONAL", "activation_descs": ACTIVATIONS[name] * 2}
    outputs = ["output_sequence", "output_single", "output_cell_single"][: len(found)]
    inputs = [*arrays, lengths]
    for output, result in zip(outputs, found, strict=True):
        assert_same_bits(getattr(dml, name)(*inputs, **given, **{output: True}), result)
    assert (found[0][4:, :, 0] == 0).all() and (found[0][1:, :, 1] == 0).all()
    np.testing.assert_array_equal(found[0][0, 1], found[1][0, 1])


def test_lengths_beyond_the_steps_are_refused() -> None:
    """With the place of the length, before anything is written."""
    arrays = layer("rnn", 1)
    lengths = np.array([5, 6, 1], np.uint32).reshape(1, 1, 1, 3)
    out = np.full((1, 1, 3, 2), 77, np.float32)
    with pytest.raises(dml.InvalidDataError, match=r"sequence_lengths\[0, 0, 0, 1\]") as refused:
        dml.rnn(*arrays, lengths, activation_descs=[TANH], output_single=True, out=out)
    assert refused.value.id == "DML-RNN-sequence_lengths-inside"
    assert (out == 77).all()


def test_a_call_that_asks_for_no_output_is_refused() -> None:
    """Whatever ``out`` is."""
    arrays = layer("gru", 1)
    for out in (None, (), np.zeros(3, np.float32)):
        with pytest.raises(dml.InvalidDescError, match="output_single is left out") as refused:
            dml.gru(*arrays, activation_descs=ACTIVATIONS["gru"], out=out)  # type: ignore[call-overload]
        assert refused.value.id == "DML-GRU-output_single-some"


def test_special_values() -> None:
    """NaN goes through a clip; what is infinite, into activations that end."""
    one = np.ones((1, 1, 1, 1), np.float32)
    gates = np.ones((1, 1, 4, 1), np.float32)
    said = {"activation_descs": [SIGMOID, RELU, RELU], "output_cell_single": True}
    for limit in (False, True):
        clip = {"clip_threshold": 0.5, "use_clip_threshold": limit}
        assert np.isnan(dml.lstm(one * np.nan, gates, gates, **said, **clip)).all()
    assert dml.lstm(one * np.inf, gates, gates * 0, **said).item() == np.inf
    assert dml.lstm(-one * np.inf, gates, gates * 0, **said).item() == 0
    limited = dml.lstm(one * np.inf, gates, gates * 0, **said, clip_threshold=2, use_clip_threshold=True)
    assert limited.item() == np.float32(2 / (1 + np.exp(-2)))
    large = np.full((1, 1, 1, 1), 60000, np.float16)
    found = dml.rnn(
        large, one.astype("f2"), one.astype("f2"), hidden_init=large, activation_descs=[RELU], output_single=True
    )
    assert found.item() == np.inf


def test_parts_give_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small integers without an activation, so that any order of the sums is exact."""
    for name, gates in GATES.items():
        arrays = [np.round(array) for array in layer(name, 2, steps=3)]
        said = {
            "direction": "BIDIRECTIONAL",
            "activation_descs": [dml.desc.ActivationIdentity()] * len(ACTIVATIONS[name]) * 2,
        }
        expected = call(name, arrays, **said)
        for limit in (1, gates * 6, gates * 13):
            monkeypatch.setattr(numbers, "LIMIT", limit)
            monkeypatch.setattr(family, "RESULTS", limit)
            for result, one in zip(call(name, arrays, **said), expected, strict=True):
                assert_same_bits(result, one)
        monkeypatch.undo()


def test_the_memory_of_a_call() -> None:
    """The results, and parts of what is computed: some steps, and some rows of large weights."""
    for steps, batch, inputs, hidden in ((300, 64, 512, 8), (2, 1, 6000, 1000)):
        arrays = layer("lstm", 1, steps, batch, inputs, hidden)
        tracemalloc.start()
        try:
            call("lstm", arrays)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        tensors = sum(x.nbytes for x in arrays)
        assert tensors >= 37 << 20
        assert peak <= 72 << 20 < 2 * tensors, peak >> 20
