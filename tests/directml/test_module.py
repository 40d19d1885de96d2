"""Parts of dmlcy.directml beside its operators: descs, bindings, models, refusals, programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy
from dmlcy import directml as d

FLOAT32, OWNED = d.TensorDataType.FLOAT32, d.TensorFlags.OWNED_BY_DML
FLAGS = d.ExecutionFlags.NONE
ONES = np.ones((1, 1, 2, 2), np.float32)
ANY: Any = d
"""The module for calls that its types refuse, as they are wrong, or of an older version."""


def inputs(builder: d.GraphBuilder, count: int = 2, **named: Any) -> list[d.Expression]:
    desc = d.TensorDesc(FLOAT32, [1, 1, 2, 2], **named)
    return [d.input_tensor(builder, index, desc) for index in range(count)]


def test_forms_of_a_desc() -> None:
    packed = d.TensorDesc(FLOAT32, [1, 2, 3, 4])
    assert (packed.data_type, packed.flags, packed.sizes, packed.strides) == (
        FLOAT32, d.TensorFlags.NONE, [1, 2, 3, 4], None,
    )  # fmt: skip
    assert (packed.total_tensor_size_in_bytes, packed.guaranteed_base_offset_alignment) == (96, 0)
    assert repr(packed) == "dml.TensorDesc of type FLOAT32 and shape [1, 2, 3, 4] with flags NONE"
    assert d.TensorDesc(FLOAT32, OWNED, [4]).flags is OWNED
    assert d.TensorDesc(FLOAT32, [2, 3], [0, 1]).total_tensor_size_in_bytes == 12
    whole = d.TensorDesc(FLOAT32, OWNED, [2, 3], [3, 1], 32, 16)
    assert (whole.strides, whole.total_tensor_size_in_bytes, whole.guaranteed_base_offset_alignment) == ([3, 1], 32, 16)
    for one in (
        d.TensorDesc(FLOAT32, [2, 3, 4, 5], d.TensorPolicy.interleaved_channel),
        d.TensorDesc(FLOAT32, OWNED, [2, 3, 4, 5], tensor_policy=d.TensorPolicy.interleaved_channel),
    ):
        assert one.strides == [60, 1, 15, 3]
    with pytest.raises(TypeError, match="missing required argument 'sizes'"):
        ANY.TensorDesc(FLOAT32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        ANY.TensorDesc(FLOAT32, shape=[1])
    with pytest.raises(TypeError, match="multiple values for argument 'sizes'"):
        ANY.TensorDesc(FLOAT32, [1], sizes=[1])
    with pytest.raises(TypeError, match="at most"):
        ANY.TensorDesc(FLOAT32, OWNED, [1], None, 4, 0, 0)
    with pytest.raises(TypeError, match="tensor_policy must be a TensorPolicy"):
        ANY.TensorDesc(FLOAT32, [1], tensor_policy=1)
    with pytest.raises(TypeError, match="no constructor"):
        d.TensorPolicy()


def test_an_owned_input_is_read_once() -> None:
    device = d.Device()
    builder = d.GraphBuilder(device)
    (x,) = inputs(builder, 1)
    weight = d.input_tensor(builder, 1, d.TensorDesc(FLOAT32, OWNED, [1, 1, 2, 2]))
    total = d.convolution(x, weight)
    model = builder.build(FLAGS, [total])
    bindings = [d.Binding(x, ONES), d.Binding(weight, 2 * ONES)]
    with pytest.raises(dmlcy.InvalidDataError, match="DML-GRAPH-initialize"):
        device.dispatch(model, bindings, [total])
    assert np.asarray(device.compute(model, bindings, [total])[0]).item() == 8
    bindings[1].release_data()
    assert device.dispatch(model, [d.Binding(x, 3 * ONES), bindings[1]], [total])[0].item() == 24
    bindings[1] = d.Binding(weight, 5 * ONES)
    assert device.compute(model, bindings, [total])[0].item() == 8
    device.initialize(model, bindings)
    assert device.compute(model, bindings, [total])[0].item() == 20
    bindings[0].release_data()
    with pytest.raises(dmlcy.InvalidDescError, match="DML-GRAPH-binding-released"):
        device.dispatch(model, bindings, [total])


def test_a_smaller_array_is_the_begin_of_the_buffer() -> None:
    """Strides of 0 repeat its elements."""
    device = d.Device()
    builder = d.GraphBuilder(device)
    x = d.input_tensor(builder, 0, d.TensorDesc(FLOAT32, [1, 2, 2, 2], [2, 1, 0, 0]))
    y = d.activation_identity(x)
    model = builder.build(FLAGS, [y])
    (found,) = device.compute(model, [d.Binding(x, np.array([1.0, 2.0]))], [y])
    buffer: Any = found
    assert isinstance(found, d.TensorData) and np.asarray(memoryview(buffer)).tolist() == [
        [[[1, 1], [1, 1]], [[2, 2], [2, 2]]]
    ]
    (found,) = device.compute(model, [d.Binding(x, np.array([7.0]))], [y])
    assert found[0, :, 0, 0].tolist() == [7, 0]


def test_what_is_refused() -> None:
    device = d.Device()
    builder = d.GraphBuilder(device)
    x, y = inputs(builder)
    total = x + y
    model = builder.build(FLAGS, [total])
    right = [d.Binding(x, ONES), d.Binding(y, ONES)]
    wrong: dict[str, Any] = {
        "DML-GRAPH-binding-kind": lambda: d.Binding(x, np.ones(4, np.int32)),
        "DML-GRAPH-binding-size": lambda: d.Binding(x, np.ones(5)),
        "DML-GRAPH-binding-twice": lambda: d.input_tensor(builder, 1, d.TensorDesc(FLOAT32, [1])),
        "DML-GRAPH-binding-count": lambda: device.compute(model, right[:1], [total]),
        "DML-GRAPH-binding-order": lambda: device.compute(model, right[::-1], [total]),
        "DML-GRAPH-binding-output": lambda: device.compute(model, right, [x]),
    }
    for error, call in wrong.items():
        with pytest.raises(dmlcy.DmlError) as caught:
            call()
        assert [one.id for one in caught.value.violations] == [error]
    gap = d.GraphBuilder(device)
    only = d.input_tensor(gap, 1, d.TensorDesc(FLOAT32, [1]))
    with pytest.raises(dmlcy.InvalidDescError, match="DML-GRAPH-binding-index"):
        gap.build(FLAGS, [d.activation_relu(only)])
    with pytest.raises(dmlcy.InvalidDescError, match="DML-GEMM-"):
        d.gemm(x, d.input_tensor(builder, 2, d.TensorDesc(FLOAT32, [1, 1, 3, 3])))
    with pytest.raises(ValueError, match="another graph"):
        d.add(x, only)
    other: Any = ONES
    for call in (
        lambda: ANY.add(x, ONES), lambda: x + "1", lambda: ANY.join([x, 1], 0), lambda: ANY.join([], 0),
        lambda: x % 2.0,
        lambda: ANY.input_tensor(device, 0, d.TensorDesc(FLOAT32, [1])), lambda: ANY.input_tensor(builder, 9, [1]),
        lambda: ANY.input_tensor(builder, -1, d.TensorDesc(FLOAT32, [1])), lambda: builder.build(FLAGS, [other]),
        lambda: ANY.Binding(ONES, ONES), lambda: device.compute(model, [other, other], [total]),
        lambda: ANY.add(x, y, ANY.FusedActivation("RELU")), lambda: ANY.add(x, y, "RELU"),
        lambda: ANY.mean_variance_normalization(x), lambda: ANY.average_pooling(x, [1]), lambda: ANY.add(x, 2.0),
        lambda: ANY.gru(x, y, x),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("wrong", [None, 3, "x", ONES, {}])
def test_what_is_no_list_and_no_model_is_refused(wrong: Any) -> None:
    device = d.Device()
    builder = d.GraphBuilder(device)
    x, y = inputs(builder)
    total = x + y
    model, right = builder.build(FLAGS, [total]), [d.Binding(x, ONES), d.Binding(y, ONES)]
    refused: tuple[tuple[str, Callable[[], object]], ...] = (
        ("build", lambda: builder.build(FLAGS, wrong)),
        ("a Model", lambda: device.compute(wrong, right, [total])),
        ("a Model", lambda: device.initialize(wrong, right)),
        ("a Model", lambda: device.dispatch(wrong, right, [total])),
        ("a list of bindings", lambda: device.compute(model, wrong, [total])),
        ("a list of expressions", lambda: device.compute(model, right, wrong)),
        ("a list of expressions", lambda: d.join(wrong, 0)),
        ("a GraphBuilder", lambda: d.Model(wrong, [total])),
    )
    for what, call in refused:
        with pytest.raises(TypeError, match=f"{what}.* not "):
            call()
    strides: list[Callable[[], object]] = [lambda: d.convolution(x, y, strides=wrong), lambda: d.max_pooling(x, wrong)]
    for call in strides if wrong is None or type(wrong) is str else []:
        with pytest.raises((dmlcy.DmlError, TypeError), match=r"strides|window_size"):
            call()
    assert device.compute(model, right, [total])[0].tolist() == (2 * ONES).tolist()


def test_what_is_beside_an_expression_is_a_number() -> None:
    builder = d.GraphBuilder(d.Device())
    x, _ = inputs(builder)
    no_numbers: tuple[Callable[[], object], ...] = (
        lambda: x * ONES, lambda: ONES * x, lambda: x + None, lambda: True - x,
    )  # fmt: skip
    for call in no_numbers:
        with pytest.raises(TypeError):
            call()
    for call in (lambda: x * ONES, lambda: ONES * x, lambda: x + ONES, lambda: ONES - x, lambda: ANY.gemm(x, ONES)):
        with pytest.raises(TypeError, match=r"not an array of float32 .* Make it an input with input_tensor"):
            call()
    for call in (lambda: x + 10**400, lambda: x - float("nan"), lambda: x / 0):
        with pytest.raises(dmlcy.InvalidDescError, match="scale_bias-finite"):
            call()
    y = np.float32(2) * x + np.int64(1)
    model = builder.build(FLAGS, [y])
    bindings = [d.Binding(one, ONES) for one in builder._inputs.values()]
    assert d.Device().compute(model, bindings, [y])[0].tolist() == (3 * ONES).tolist()
    with pytest.raises(TypeError, match="FusedActivation takes an activation, not GEMM"):
        d.add(x, x, d.FusedActivation(d.OperatorType.GEMM))
    with pytest.raises(TypeError, match=r"such as FusedActivation\(OperatorType.ACTIVATION_RELU\), not"):
        ANY.add(x, x, d.OperatorType.ACTIVATION_RELU)


def test_the_outputs_of_an_operator_are_no_expression() -> None:
    builder = d.GraphBuilder(d.Device())
    x = d.input_tensor(builder, 0, d.TensorDesc(FLOAT32, [1, 1, 2, 2]))
    pooled = d.max_pooling(x, [2, 2])
    with pytest.raises(TypeError, match=r"Take one of its outputs: values\.$"):  # it has no indices
        ANY.activation_relu(pooled)
    assert d.activation_relu(pooled.values).get_output_desc().sizes == [1, 1, 1, 1]


def test_a_binding_of_another_graph_is_refused() -> None:
    device = d.Device()
    (first, second), total = inputs(d.GraphBuilder(device)), None
    builder = d.GraphBuilder(device)
    x, y = inputs(builder)
    total = x + y
    model = builder.build(FLAGS, [total])
    for one, said in ((first, "input 0 of another graph"), (total, "an expression that is no input")):
        with pytest.raises(dmlcy.InvalidDescError, match=f"Binding 0 is for {said}, and must be for input 0"):
            device.compute(model, [d.Binding(one, ONES), d.Binding(second, ONES)], [total])


def test_an_output_that_is_asked_for_twice_has_two_arrays() -> None:
    device = d.Device()
    builder = d.GraphBuilder(device)
    x, y = inputs(builder)
    total = x + y
    model = builder.build(FLAGS, [total])
    first, second = device.compute(model, [d.Binding(x, ONES), d.Binding(y, ONES)], [total, total])
    first[...] = 7
    assert second.tolist() == (2 * ONES).tolist()


def test_the_arguments_of_older_versions() -> None:
    """The older versions have no dilations of average_pooling and no normalize_mean."""
    device = d.Device()
    builder = d.GraphBuilder(device)
    x, y = inputs(builder)
    relu = d.FusedActivation(d.OperatorType.ACTIVATION_RELU)
    both = [
        ANY.average_pooling(x, [1, 1], [2, 2], [1, 1], [0, 0], True),
        d.average_pooling(x, [1, 1], [2, 2], [1, 1], [0, 0], [1, 1], True),
        ANY.mean_variance_normalization(x, None, None, [2, 3], True, 0.5, relu),
        d.mean_variance_normalization(x, None, None, [2, 3], True, True, 0.5, relu),
        d.mean_variance_normalization(x, axes=[2, 3], normalize_variance=True, epsilon=0.5),
        d.mean_variance_normalization(x, axes=[2, 3], normalize_variance=True, normalize_mean=True, epsilon=0.5),
    ]
    model = builder.build(FLAGS, both)
    values = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    found = device.compute(model, [d.Binding(x, values), d.Binding(y, values)], both)
    for one, other in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0].ravel()[0] == 0 and found[2].min() == 0 and found[4].min() < 0


def test_a_program_says_import_directml(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import sys, directml, pydirectml, helper\n"
        "print(directml is pydirectml, directml.__name__, sys.argv[1:], __name__, helper.x)\n"
    )
    (tmp_path / "helper.py").write_text("x = 3\n")
    command = [sys.executable, "-m", "dmlcy.directml"]
    done = subprocess.run([*command, str(script), "--a", "b"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "True dmlcy.directml ['--a', 'b'] __main__ 3\n"
    for arguments, status, words in (([], 2, "usage:"), (["--help"], 0, "usage:"), (["absent.py"], 2, "cannot read")):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == status and words in done.stdout + done.stderr


def test_an_error_of_a_program_has_no_frames_before_those_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import directml as dml\n\ndml.Graph(3)\n")
    command = [sys.executable, "-m", "dmlcy.directml", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    first, second = done.stderr.splitlines()[:2]
    assert first == "Traceback (most recent call last):" and second == '  File "program.py", line 3, in <module>'
    assert done.returncode == 1
