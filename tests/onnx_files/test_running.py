"""``dmlcy.onnx.load``: sizes of each call, values by name, nodes that the CPU computes; and ``dmlcy run``."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import seeds_of
from random_nodes import Nodes
from small_models import Node, small

import dmlcy as dml
import dmlcy.onnx
from dmlcy._cli import main
from dmlcy._frontends.onnx import loading, reader
from dmlcy._frontends.onnx.inputs import arrays_for
from dmlcy._frontends.onnx.loading import KEPT, CompiledModel
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.stages import Stage

DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"


def images(count: int) -> Any:
    return np.random.default_rng(count).standard_normal((count, 1, 8, 8)).astype(np.float32)


def model_of(nodes: list[Node], inputs: dict[str, Any], **outputs: Any) -> CompiledModel:
    return CompiledModel(decode("m.onnx", small(nodes, inputs, outputs=outputs), None), {})


def test_sizes_are_those_of_the_call() -> None:
    model = dmlcy.onnx.load(DIGITS)
    assert [(one.name, one.element, one.sizes) for one in model.inputs] == [("image", "FLOAT", ("batch", 1, 8, 8))]
    assert [one.name for one in model.outputs] == ["shares"]
    several = model(images(3))
    assert several.shape == (3, 10) and np.allclose(several.sum(1), 1, atol=1e-6)
    for one, row in zip(images(3), several, strict=True):
        assert np.allclose(model(image=one[np.newaxis]), row, atol=1e-6)
    fixed = dmlcy.onnx.load(DIGITS, shapes={"batch": 3})
    assert np.array_equal(fixed(images(3)), several)
    with pytest.raises(dml.ModelError, match="DML-ONNX-shape-sizes"):
        fixed(images(2))


def test_a_refusal_of_an_empty_input_names_it() -> None:
    """The node is taken for one of constants, which is converted apart."""
    x, y = ("FLOAT", ("batch", 1, 3, 3)), ("FLOAT", ("other", 1, 3, 3))
    made = small([Node("Conv", "x w", "y")], {"x": x}, {"w": np.ones((1, 1, 1, 1), np.float32)}, outputs={"y": y})
    with pytest.raises(dml.ModelError, match=r'\(Conv\): "x" has no elements'):
        CompiledModel(decode("m.onnx", made, None), {})(np.empty((0, 1, 3, 3), np.float32))


def test_a_model_that_nothing_needs_is_gone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file stays mapped as long as the model is there, and no longer: nothing waits for the garbage collector."""
    mapped: list[weakref.ref[mmap]] = []

    class Mapped(mmap):
        def __init__(self, *_: object, **__: object) -> None:
            mapped.append(weakref.ref(self))

    monkeypatch.setattr(reader, "mmap", Mapped)
    gc.disable()
    try:
        model = dmlcy.onnx.load(DIGITS)
        model(images(2))
        assert mapped[0]() is not None
        del model
        dmlcy.onnx.report(DIGITS, shapes={"batch": 1}, optimize="extended")
        assert [one() for one in mapped] == [None, None]
    finally:
        gc.enable()


def test_every_value_has_its_name() -> None:
    model = dmlcy.onnx.load(DIGITS)
    found = model.run({"image": images(2)}, model.names)
    assert {*found} == {*model.names} and found["shape"].tolist() == [2, 4, 4, 4]
    assert np.array_equal(found["image"], images(2)) and found["flat"].shape == (2, 64)
    assert np.array_equal(found["shares"], model(images(2)))
    graph = model.graph({"image": images(2)})
    assert graph is not None and {"relu", "shares"} <= {*graph.value_names.values()}
    assert [one.name for one in graph.inputs] == ["image"]


def test_graphs_are_kept_for_the_last_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def stage(*given: Any) -> Stage:
        made.append(given)
        return Stage(*given)

    monkeypatch.setattr(loading, "Stage", stage)
    model = dmlcy.onnx.load(DIGITS)
    for count in (1, 2, 1, 2):
        model(images(count))
    assert len(made) == 2
    for count in range(3, 3 + KEPT):
        model(images(count))
    model(images(1))
    assert len(made) == 2 + KEPT + 1


def test_threads_may_call_it_with_different_sizes() -> None:
    model = dmlcy.onnx.load(DIGITS)
    counts = [1, 2, 3, 4] * 4
    with ThreadPoolExecutor(4) as pool:
        for count, found in zip(counts, pool.map(lambda count: model(images(count)), counts), strict=True):
            assert np.array_equal(found, dmlcy.onnx.load(DIGITS)(images(count)))


def test_nodes_that_directml_leaves_to_the_cpu() -> None:
    """The elements of NonZero say the sizes that follow; their sum with float64 is no DirectML operator."""
    nodes = [
        Node("Relu", "x", "r"),
        Node("NonZero", "r", "places"),
        Node("Cast", "places", "wide", {"to": 11}),
        Node("Add", "wide d", "sum"),
        Node("ReduceSum", "sum", "y", {"keepdims": 0}),
    ]
    said = {"places": ("INT64", (2, "count")), "y": ("DOUBLE", ())}
    model = model_of(nodes, {"x": ("FLOAT", (2, 3)), "d": ("DOUBLE", (1,))}, **said)
    x = np.array([[-1, 2, 0], [3, -4, 5]], np.float32)
    for data, count in ((x, 3), (-x, 2)):
        places, y = model(data, np.array([0.5]))
        assert np.array_equal(places, np.nonzero(np.maximum(data, 0))) and places.dtype == np.int64
        assert y.dtype == np.float64 and y == places.sum() + 0.5 * 2 * count


def test_large_constants_that_are_computed_are_not_mixed_up() -> None:
    """More than 65,536 elements are computed when they are asked for."""
    random = np.random.default_rng(0)
    first, second = (random.standard_normal((300, 300)).astype(np.float32) for _ in range(2))
    nodes = [
        Node("Sqrt", "a", "b"),
        Node("Transpose", "c", "d"),
        Node("MatMul", "x b", "h"),
        Node("MatMul", "h d", "y"),
    ]
    data = small(nodes, {"x": ("FLOAT", (2, 300))}, {"a": first**2, "c": second}, outputs={"y": ("FLOAT", (2, 300))})
    x = random.standard_normal((2, 300)).astype(np.float32)
    expected = x.astype(np.float64) @ np.abs(first) @ second.T
    assert np.allclose(CompiledModel(decode("m.onnx", data, None), {})(x), expected, rtol=0, atol=0.02)


def test_values_that_must_be_known_are_computed_first() -> None:
    nodes = [Node("Abs", "s", "sizes"), Node("Reshape", "x sizes", "y")]
    model = model_of(nodes, {"x": ("FLOAT", (2, 6)), "s": ("INT64", (2,))}, y=("FLOAT", ("a", "b")))
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    for sizes in ([3, -4], [4, 3], [12, 1]):
        assert np.array_equal(model(x, np.array(sizes, np.int64)), x.reshape(np.abs(sizes)))
    with pytest.raises(dml.ModelError, match=r"node 1 \(Reshape\).*DML-ONNX-reshape"):
        model(x, np.array([5, 5], np.int64))


def test_an_operator_is_named_without_what_a_terminal_obeys() -> None:
    node, like = Node("\x1b[31mFoo\u202e\n::error::", "x", "y"), ("FLOAT", (2,))
    with pytest.raises(dml.ModelError, match="DML-ONNX-run-unknown") as refused:
        model_of([node], {"x": like}, y=like)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("before", [[], [Node("Reshape", "x s", "h")]])
@pytest.mark.parametrize("after", [[], [Node("Reshape", "t q", "y")]])
def test_a_transpose_of_nine_axes_is_named(before: list[Node], after: list[Node]) -> None:
    turned = Node("Transpose", "h" if before else "x", "t" if after else "y", {"perm": [8, 0, 1, 2, 3, 4, 5, 6, 7]})
    nine, flat = ("FLOAT", (2,) * 9), ("FLOAT", (512,))
    sizes = {"s": np.full(9, 2, np.int64), "q": np.array([512])}
    made = small(
        [*before, turned, *after], {"x": flat if before else nine}, sizes, outputs={"y": flat if after else nine}
    )
    with pytest.raises(dml.DmlError, match=r"from Transpose|\(Transpose\): ") as refused:
        CompiledModel(decode("m.onnx", made, None), {})(np.zeros((512,) if before else (2,) * 9, np.float32))
    assert "Transpose" in str(refused.value).splitlines()[0]


def test_what_does_not_run_is_named() -> None:
    nodes, y = [Node("Relu", "x", "h"), Node("Det", "h", "y")], ("FLOAT", ())
    with pytest.raises(dml.ModelError, match=r"node 1 \(Det\): .*DML-ONNX-run-unknown"):
        model_of(nodes, {"x": ("FLOAT", (3, 3))}, y=y)
    with pytest.raises(dml.InvalidDescError, match="MatMul"):
        model_of([Node("MatMul", "x x", "y")], {"x": ("FLOAT", (1, 1, 1, 2, 2))}, y=y)
    # The requested outputs do not need the node.
    model = model_of(nodes, {"x": ("FLOAT", (2, 2))}, h=("FLOAT", (2, 2)))
    assert np.array_equal(model(-np.eye(2, dtype=np.float32)), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "image.*missing"),
        ({"image": images(1), "x": 1}, "no input 'x'"),
        ({"imag": images(1)}, "no input 'imag'"),
        ({"image": [[1.0]]}, "is an array"),
        ({"image": images(1).astype(np.float64)}, "DML-ONNX-run-type"),
        ({"image": images(1)[0]}, "DML-ONNX-shape-sizes"),
    ],
)
def test_arguments_that_do_not_fit(given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, dml.ModelError), match=error):
        dmlcy.onnx.load(DIGITS).run(given)


def test_a_name_that_no_value_has() -> None:
    with pytest.raises(dml.ModelError, match='Did you mean "shares"'):
        dmlcy.onnx.load(DIGITS).run({"image": images(1)}, ["share"])


@seeds_of(10)
def test_random_nodes_run_or_are_refused(seeds: range) -> None:
    found: Counter[str] = Counter()
    for seed in seeds:
        nodes = Nodes(1000 + seed)
        for number in range(300):
            model = nodes.model()
            try:
                with warnings.catch_warnings(action="error"):
                    compiled = CompiledModel(model, {})
                    compiled.run(arrays_for(compiled, {}, seed))
                found["ran"] += 1
            except dml.DmlError:
                found["refused"] += 1
            except Exception as error:
                error.add_note(f"seed {seed}, number {number}: {model.graph.nodes[0]} of {model.opsets}")
                raise
    assert found["ran"] > 30 * len(seeds)


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_runs_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "image.npy", images(2))
    given = ["--input", f"image={tmp_path / 'image.npy'}"]
    assert main(["run", str(DIGITS), *given, "--output", "shares", "--output", f"flat={tmp_path / 'flat.npy'}"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Model 'digits': 1 iteration, ") and "Output 'flat' written to" in said
    model = dmlcy.onnx.load(DIGITS)
    shown = said.partition("Output 'shares', FLOAT32 2x10: ")[2].splitlines()[0].split(", ")
    assert np.allclose([float(one) for one in shown], model(images(2)).reshape(-1), rtol=1e-5)
    assert np.array_equal(np.load(tmp_path / "flat.npy"), model.run({"image": images(2)}, ["flat"])["flat"])


@pytest.mark.parametrize(
    ("options", "said", "status"),
    [
        ([], "DML-ONNX-run-shape", 1),
        (["--shape", "batch=1", "--output", "none"], "DML-ONNX-run-value", 1),
        (["--shape", "batch=1", "--input", "x=x.npy"], "DML-MODEL-reference", 1),
        (["--shape", "batch=1", "--input", "image=none.npy"], "DML-MODEL-source", 2),
        (["--shape", "batch=1", "--dump", "values"], "--expose-edges", 2),
    ],
)
def test_the_command_says_what_is_wrong(
    options: list[str], said: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(DIGITS), *options]) == status
    assert said in capsys.readouterr().err
