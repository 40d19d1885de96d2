"""Recurrent layers beside PyTorch and ONNX Runtime, and by hand where those say nothing."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of

import dmlcy as dml
from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import OPERATORS
from dmlcy._families.recurrent import family, numbers
from dmlcy._reference.expected import expected as expected_of

Array = np.ndarray[Any, Any]
random = np.random.default_rng(23)
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
SIGMOID, TANH, RELU = dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh(), dml.desc.ActivationRelu()
ACTIVATIONS: dict[str, list[Any]] = {"rnn": [TANH], "gru": [SIGMOID, TANH], "lstm": [SIGMOID, TANH, TANH]}
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
    name: str, arrays: Sequence[Array | None], lengths: Array | None = None, peephole: Array | None = None, **more: Any
) -> Any:
    """The outputs, all that there are."""
    assert arrays[1] is not None
    directions = arrays[1].shape[1]
    more.setdefault("activation_descs", ACTIVATIONS[name] * directions)
    more |= {"output_sequence": True, "output_single": True}
    if name == "lstm":
        return getattr(dml, name)(*arrays, lengths, peephole, **more, output_cell_single=True)
    return getattr(dml, name)(*arrays, lengths, **more)


def by_reference(name: str, arrays: list[Array], **more: Any) -> tuple[Array, ...]:
    """The outputs that the reference computes."""
    names = ["input", "weight", "recurrence", "bias", "hidden_init", "cell_mem_init"][: len(arrays)]
    tensors = {one: dml.TensorDesc.from_array(array) for one, array in zip(names, arrays, strict=True)}
    (_, steps, batch, _), (_, directions, _, hidden) = arrays[0].shape, arrays[2].shape
    ends = ["output_single", "output_cell_single"][: len(arrays) - 4]
    sizes = {"output_sequence": (steps, directions, batch, hidden)} | dict.fromkeys(
        ends, (1, directions, batch, hidden)
    )
    outputs = {one: dml.TensorDesc("FLOAT32", own) for one, own in sizes.items()}
    more.setdefault("activation_descs", ACTIVATIONS[name] * directions)
    desc = getattr(dml.desc, name.capitalize())(**tensors, **outputs, **more)
    found: tuple[Array, ...] = dml.compile(desc, path="reference")(*arrays)
    return found


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
    more: dict[str, Any] = {"linear_before_reset": True} if name == "gru" else {}
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
    """The values there make no difference, and each output alone is the same as beside others."""
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
        call_of: Any = dml.rnn
        call_of(*arrays, lengths, activation_descs=[TANH], output_single=True, out=out)
    assert refused.value.id == "DML-RNN-sequence_lengths-inside"
    assert (out == 77).all()


def test_a_call_that_asks_for_no_output_is_refused() -> None:
    """The call is refused with any ``out``."""
    arrays = layer("gru", 1)
    for out in (None, (), np.zeros(3, np.float32)):
        with pytest.raises(dml.InvalidDescError, match="output_single is left out") as refused:
            dml.gru(*arrays, activation_descs=ACTIVATIONS["gru"], out=out)  # type: ignore[call-overload]
        assert refused.value.id == "DML-GRU-output_single-some"


def test_special_values() -> None:
    """NaN goes through a clip; what is infinite, into activations that end."""
    one = np.ones((1, 1, 1, 1), np.float32)
    gates = np.ones((1, 1, 4, 1), np.float32)
    said: dict[str, Any] = {"activation_descs": [SIGMOID, RELU, RELU], "output_cell_single": True}
    for limit in (False, True):
        clip: dict[str, Any] = {"clip_threshold": 0.5, "use_clip_threshold": limit}
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
        expected = by_reference(name, arrays, **said)
        for limit in (1, gates * 6, gates * 13):
            monkeypatch.setattr(numbers, "LIMIT", limit)
            monkeypatch.setattr(family, "RESULTS", limit)
            for result, one in zip(by_reference(name, arrays, **said), expected, strict=True):
                assert_same_bits(result, one)
        monkeypatch.undo()


def test_the_memory_of_the_reference() -> None:
    """The results, and parts of what is computed: some steps, and some rows of large weights."""
    for steps, batch, inputs, hidden in ((300, 64, 512, 8), (2, 1, 6000, 1000)):
        arrays = layer("lstm", 1, steps, batch, inputs, hidden)
        tracemalloc.start()
        try:
            by_reference("lstm", arrays)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        tensors = sum(x.nbytes for x in arrays)
        assert tensors >= 37 << 20
        assert peak <= 72 << 20 < 2 * tensors, peak >> 20


def activations_of(name: str) -> list[OperatorDesc]:
    """The activations that can be fused, each with the attributes of its example."""
    among = [one for one, _ in OPERATORS[name].field("activation_descs").among]
    return [desc_class(one)(**OPERATORS[one].examples[0].attributes) for one in among]


def test_every_activation() -> None:
    """A step without a state before it is the activation of a sum, by the activation's own loops."""
    assert len(activations_of("RNN")) >= 17
    x, weight, recurrence, bias, _ = layer("rnn", 1, steps=1, batch=5, inputs=9, hidden=37)
    for dtype in ("f4", "f2"):
        arrays = [one.astype(dtype) for one in (x, weight, recurrence, bias)]
        sums = dml.rnn(*arrays, activation_descs=[dml.desc.ActivationIdentity()], output_single=True)
        for desc in activations_of("RNN"):
            found = dml.rnn(*arrays, activation_descs=[desc], output_single=True)
            if dtype == "f4":
                expected = getattr(dml, desc.operator.python)(sums, **desc.operator.arguments(desc))
                assert_same_bits(np.where(found == 0, 0, found), np.where(expected == 0, 0, expected))
            else:
                assert_same_bits(found, dml.rnn(*(one.astype("f4") for one in arrays), activation_descs=[desc],
                                                output_single=True).astype("f2"))  # fmt: skip


def test_activations_of_one_call_are_by_their_places() -> None:
    """Of both directions: six different ones, beside the reference."""
    arrays = layer("lstm", 2, steps=3)
    for seed in range(4):
        descs = [activations_of("LSTM")[at] for at in np.random.default_rng(seed).permutation(16)[:6]]
        said: dict[str, Any] = {"direction": "BIDIRECTIONAL", "activation_descs": descs}
        for result, one in zip(call("lstm", arrays, **said), by_reference("lstm", arrays, **said), strict=True):
            np.testing.assert_allclose(result, one, 1e-4, 1e-4)


@each_of(
    "name, batch, hidden",
    [("rnn", 50, 20), ("gru", 25, 65), ("lstm", 26, 230), ("lstm", 50, 230), ("lstm", 3, 430), ("gru", 1, 900)],
)
def test_bits_depend_on_sizes_only(name: str, batch: int, hidden: int) -> None:
    """Not on threads, layouts and the other sequences, whether a sequence is in a group or the units are in parts."""
    arrays = layer(name, 2, 4, batch, 33, hidden)
    for one in arrays[1:3]:
        one *= np.float32(0.1)
    said: dict[str, Any] = {
        "direction": "BIDIRECTIONAL",
        **({"linear_before_reset": batch == 1} if name == "gru" else {}),
    }
    expected, before = call(name, arrays, **said), dml.get_num_threads()
    for threads in (1, 3, 16):  # three make a team of few groups, sixteen cut the groups again
        dml.set_num_threads(threads)
        for found in (call(name, arrays, **said), call(name, [*map(np.asfortranarray, arrays)], **said)):
            for result, one in zip(found, expected, strict=True):
                assert_same_bits(result, one)
    dml.set_num_threads(before)
    axes = [2, None, None, None, 2, 2]
    last = [x if axis is None else x[:, :, -1:] for x, axis in zip(arrays, axes, strict=False)]
    for result, one in zip(call(name, last, **said), expected, strict=True):
        assert_same_bits(result, np.ascontiguousarray(one[:, :, -1:]))


def test_blocks_of_steps_are_as_one() -> None:
    """A long sequence: the states after the first steps go into the others, in both directions."""
    for direction in ("FORWARD", "BACKWARD"):
        arrays = layer("lstm", 1, 700, 6, 3, 40)
        whole = call("lstm", arrays, direction=direction)
        first, second = slice(0, 350), slice(350, 700)
        if direction == "BACKWARD":
            first, second = second, first
        _, *states = call("lstm", [arrays[0][:, first], *arrays[1:]], direction=direction)
        found = call("lstm", [arrays[0][:, second], *arrays[1:4], *states], direction=direction)
        assert_same_bits(found[0], whole[0][second])
        for result, one in zip(found[1:], whole[1:], strict=True):
            assert_same_bits(result, one)


IDENTITY = dml.desc.ActivationIdentity()


@each_of("units", (1, 70))
def test_no_partial_sum_overflows(units: int) -> None:
    """Sums beyond the range of FLOAT32 come back: of the input, of the state, of both and a peephole."""
    large, ones = np.float32(3e38), np.ones((1, 1, units, 5), np.float32)
    x = np.array([large, large, -large, -large, 0.5], np.float32).reshape(1, 1, 1, 5)
    none = np.zeros((1, 1, units, units), np.float32)
    said: dict[str, Any] = {"activation_descs": [TANH], "output_single": True}
    expected = np.full((1, 1, 1, units), np.tanh(0.5))
    np.testing.assert_allclose(dml.rnn(x, ones, none, **said), expected, 1e-6)
    bias = np.concatenate([np.full(units, large), np.full(units, large)]).astype(np.float32).reshape(1, 1, 1, -1)
    low = np.array([-large, -large, 0, 0, 0], np.float32).reshape(1, 1, 1, 5)
    np.testing.assert_array_equal(dml.rnn(low, ones, none, bias, **said), 0)
    state, twice = np.full((1, 1, 1, units), large), none.copy()
    twice[..., 0] = 2
    for sign in (1, -1):
        np.testing.assert_array_equal(dml.rnn(sign * low, ones, twice, hidden_init=sign * state, **said), 0)
    for after in (False, True):
        gates = np.concatenate([ones * 0, ones * 0, ones], 2)
        given: dict[str, Any] = {
            "activation_descs": [IDENTITY, TANH],
            "linear_before_reset": after,
            "output_single": True,
        }
        found = dml.gru(x, gates, np.concatenate([none] * 3, 2), **given)
        np.testing.assert_allclose(found, expected, 1e-6)
    gates = np.concatenate([ones, ones * 0, ones * 0, ones * 0], 2)
    row = np.array([large, large, 0, 0, 0], np.float32).reshape(1, 1, 1, 5)
    peephole = np.concatenate([np.full(units, -2.0), np.zeros(2 * units)]).astype(np.float32).reshape(1, 1, 1, -1)
    found = dml.lstm(
        row, gates, np.concatenate([none] * 4, 2), None, None, state, None, peephole,
        activation_descs=[SIGMOID, TANH, TANH], output_cell_single=True,
    )  # fmt: skip
    np.testing.assert_allclose(found, 0.5 * state, 1e-6)


def test_states_beyond_the_range_are_infinite() -> None:
    """So are gates; what multiplies them by 0 gives NaN."""
    one, large = np.ones((1, 1, 1, 1), np.float32), np.full((1, 2, 1, 1), 3e38, np.float32)
    said: dict[str, Any] = {"activation_descs": [IDENTITY], "output_sequence": True}
    np.testing.assert_array_equal(dml.rnn(large, one, one, **said).ravel(), [large.flat[0], np.inf])
    large[0, 0] *= 1
    found = dml.rnn(np.concatenate([large, large * 0], 1), one, one, **said).ravel()
    np.testing.assert_array_equal(found[1:], np.inf)
    found = dml.rnn(large, one * 2, one * 0, **said).ravel()
    np.testing.assert_array_equal(np.isnan(found), [False, True])


def test_one_nan_is_in_its_own_sequence() -> None:
    """From its step on."""
    for name in GATES:
        arrays = layer(name, 1, 6, 30, 5, 20)
        expected = call(name, arrays)[0]
        arrays[0][0, 2, 7, 1] = np.nan
        found = call(name, arrays)[0]
        others = np.arange(30) != 7
        assert_same_bits(found[:, :, others], expected[:, :, others])
        assert_same_bits(found[:2], expected[:2])
        assert np.isnan(found[2:, :, 7]).all()


@each_of("name", GATES)
def test_the_bound_is_beyond_the_worst_error(name: str) -> None:
    """A search among terms that are lost beside the first one, step after step."""
    steps, inputs, hidden = 4, 600, 3
    gates = GATES[name]
    x = np.full((1, steps, 1, inputs), 2.0**-24 * 1.4, np.float32)
    x[..., 0] = 1
    weight = np.ones((1, 1, gates * hidden, inputs), np.float32)
    recurrence = np.full((1, 1, gates * hidden, hidden), 0.25, np.float32)
    said = {"activation_descs": [IDENTITY] * len(ACTIVATIONS[name]), "output_sequence": True}
    found = getattr(dml, name)(x, weight, recurrence, **said)
    arrays = {"input": x, "weight": weight, "recurrence": recurrence}
    tensors = {one: dml.TensorDesc.from_array(array) for one, array in arrays.items()}
    desc = getattr(dml.desc, name.capitalize())(
        **tensors, output_sequence=dml.TensorDesc.from_array(found), activation_descs=said["activation_descs"]
    )
    exact = expected_of(desc, arrays)
    errors = exact.errors(found)
    assert 0 < errors.max() <= exact.ulp
    assert errors.max() > exact.ulp / 40 or name != "rnn"
