"""Graphs and ONNX models over blocks: what a call on each block gives, in bits, and what is refused."""

from __future__ import annotations

import math
import pickle
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
import dmlcy.onnx

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
pytest.importorskip("onnx", reason="needs onnx: pip install '.[compare]'")
run: Any = pytest.importorskip("dmlcy.dask", reason="dask is not installed").run

from batch_models import APART, MIXED, SIZES, N, saved  # noqa: E402

from dmlcy._dask.models import OfModel  # noqa: E402
from dmlcy._dask.source import FromGraph, Source, loaded  # noqa: E402

X = np.random.default_rng(5).standard_normal((23, *SIZES)).astype(np.float32)
DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
IMAGES = np.random.default_rng(6).random((23, 1, 8, 8), np.float32)


@pytest.fixture(autouse=True)
def one_after_the_other() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(array: Any, *sizes: int) -> Any:
    return da.from_array(array, chunks=((*sizes, len(array) - sum(sizes)), *((size,) for size in array.shape[1:])))


def digits(**shapes: int) -> dml.onnx.CompiledModel:
    return dml.onnx.load(DIGITS, shapes=shapes)


def source_of(result: Any) -> Source:
    """Where the blocks of a result find the model: one value of its graph."""
    (found,) = {id(one): one for one in map(_value, dict(result.dask).values()) if isinstance(one, Source)}.values()
    assert isinstance(found, Source)
    return found


def _value(task: Any) -> Any:
    return getattr(task, "value", task)


@each_of("name", APART)
def test_each_block_is_what_a_call_gives_and_all_are_the_model(name: str, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[compare]'")
    nodes, outputs, constants = APART[name]
    path = saved(tmp_path / "m.onnx", nodes, outputs, constants)
    model = dml.onnx.load(path)
    found = run(path, {"x": cut(X, 7, 1, 9)})
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    whole = dict(zip(outputs, session.run(outputs, {"x": X}), strict=True))
    assert [*found] == outputs
    for one, result in found.items():
        blocks = [block.compute() for block in result.to_delayed().ravel()]
        calls = [model.run({"x": X[begin:end]}, [one])[one] for begin, end in ((0, 7), (7, 8), (8, 17), (17, 23))]
        assert [block.tobytes() for block in blocks] == [call.tobytes() for call in calls]
        assert (result.shape, result.dtype) == (whole[one].shape, whole[one].dtype)
        np.testing.assert_allclose(result.compute(), whole[one], rtol=2e-5, atol=1e-5)


@each_of("name", MIXED)
def test_items_that_do_not_stay_apart_are_refused(name: str, tmp_path: Path) -> None:
    nodes, constants, wanted = MIXED[name]
    path = saved(tmp_path / "m.onnx", nodes, ["y"], constants)
    with pytest.raises(dml.InvalidDescError) as caught:
        run(path, {"x": cut(X, 12)})
    identifier, _, text = wanted.partition(" ")
    assert caught.value.id == identifier and text in str(caught.value), caught.value


def test_the_caller_may_know_better(tmp_path: Path) -> None:
    nodes, constants, _ = MIXED["four by four"]
    path = saved(tmp_path / "m.onnx", nodes, ["y"], constants)
    result = run(path, {"x": cut(X[:20], 12)}, independent=True)["y"]
    assert result.compute().tobytes() == dml.onnx.load(path)(X[:20]).tobytes()
    nodes, constants, _ = MIXED["mean of the batch"]
    path = saved(tmp_path / "n.onnx", nodes, ["y"], constants)
    result = run(path, {"x": cut(X, 12)}, independent=True)["y"]
    want = np.concatenate([X[:12] - X[:12].mean(0, keepdims=True), X[12:] - X[12:].mean(0, keepdims=True)])
    np.testing.assert_allclose(result.compute(), want, atol=1e-6)
    nodes, constants, _ = MIXED["nonzero"]
    path = saved(tmp_path / "o.onnx", nodes, ["y"], constants)
    with pytest.raises(dml.InvalidDescError, match="equal part along axis 0 for each of 12 items") as caught:
        run(path, {"x": cut(X, 12)}, independent=True)
    assert caught.value.id == "DML-GRAPH-batch-output"


# A fixed number of items ----------------------------------------------------------------------------------------------


@each_of("batch", [1, 2, 4, 9, 40])
def test_a_fixed_number_of_items_takes_blocks_of_any_size(batch: int) -> None:
    fixed, x = digits(batch=batch), cut(IMAGES, 8, 1, 5)
    padded = np.concatenate([IMAGES, np.repeat(IMAGES[-1:], 40, 0)])
    axis = {"shares": -2}  # nothing tells the axis for one item
    graph = fixed.graph()
    assert graph is not None
    for model in (fixed, graph, dml.compile(graph)):
        result = run(model, {"image": x}, axis=axis)["shares"]
        assert result.chunks[-2] == (8, 1, 5, 9)
        want = []
        for begin, end in ((0, 8), (8, 9), (9, 14), (14, 23)):
            for at in range(begin, end, batch):
                places = np.minimum(np.arange(at, at + batch), end - 1)
                want.append(fixed(padded[places])[: min(batch, end - at)])
        assert result.compute().tobytes() == np.concatenate(want).tobytes()


def test_a_graph_that_mixes_its_items_is_refused() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (4, 3)), name="x")
    total = g.reduce(x, function="SUM", axes=(0,), name="total")
    graph = g.build(y=g.activation_relu(x), total=total)
    x = da.ones((10, 3), chunks=(4, 3), dtype="f4")
    with pytest.raises(
        dml.InvalidDescError, match=r'node 0 "total" \(REDUCE\) mixes those of its input input'
    ) as caught:
        run(graph, {"x": x})
    assert caught.value.id == "DML-GRAPH-batch-mixed"
    assert run(graph, {"x": x}, outputs=["y"])["y"].compute().tolist() == [[1] * 3] * 10


def test_items_under_other_sizes_are_followed_through_memory() -> None:
    """Two axes for one, strides of 0 for a bias, axes in another order; a table of which each item has its own."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 4, 2, 6), (48, 12, 6, 1)), name="x")
    bias = g.constant(np.arange(6, dtype=np.float32), name="bias")
    wide = g.reinterpret(bias, dml.TensorDesc("FLOAT32", (1, 1, 8, 6), (0, 0, 0, 1)))
    rows = g.reinterpret(x, dml.TensorDesc("FLOAT32", (1, 1, 8, 6)))
    y = g.element_wise_add(rows, wide)
    turned = g.reinterpret(y, dml.TensorDesc("FLOAT32", (1, 1, 6, 8), (48, 48, 1, 6)))
    table = g.constant(np.arange(8, dtype=np.float32).reshape(1, 1, 1, 8) // 8, name="same")
    column = g.reinterpret(table, dml.TensorDesc("FLOAT32", (1, 1, 6, 8), (0, 0, 0, 1)))
    graph = g.build(y=y, z=g.element_wise_multiply(turned, column))
    value = np.random.default_rng(1).random((1, 11, 2, 6), np.float32)
    x = da.from_array(value, chunks=(1, 4, 2, 6))
    found = run(graph, {"x": x}, axis=1)
    assert [found[name].chunks for name in ("y", "z")] == [
        ((1,), (1,), (8, 8, 6), (6,)), ((1,), (1,), (6,), (8, 8, 6)),
    ]  # fmt: skip
    want = value.reshape(1, 1, 22, 6) + np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(found["y"].compute(), want)
    np.testing.assert_array_equal(found["z"].compute(), 0 * want.swapaxes(2, 3))
    own = g.reinterpret(
        g.constant(np.arange(8, dtype=np.float32)), dml.TensorDesc("FLOAT32", (1, 1, 6, 8), (0, 0, 0, 1))
    )
    with pytest.raises(dml.InvalidDescError) as caught:
        run(g.build(z=g.element_wise_multiply(turned, own, name="own")), {"x": x}, axis=1)
    assert caught.value.id == "DML-GRAPH-batch-mixed" and '"own"' in str(caught.value)


# Arrays ---------------------------------------------------------------------------------------------------------------


def test_other_arrays_are_given_whole_to_each_block(tmp_path: Path) -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 5, 4)), name="x")
    w = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4, 3)), name="w")
    graph = g.build(y=g.gemm(x, w), copy=g.activation_identity(w))
    weights = np.random.default_rng(2).random((1, 1, 4, 3), np.float32)
    rows = np.random.default_rng(3).random((1, 1, 12, 4), np.float32)
    found = run(graph, {"x": da.from_array(rows, chunks=(1, 1, 5, 4)), "w": weights}, axis={"x": 2})
    assert found["y"].chunks == ((1,), (1,), (5, 5, 2), (3,)) and found["copy"].chunks == ((1,), (1,), (4,), (3,))
    np.testing.assert_allclose(found["y"].compute(), rows @ weights, rtol=1e-6)
    np.testing.assert_array_equal(found["copy"].compute(), weights)


def owned_weights() -> tuple[dml.graph.GraphDesc, Any]:
    """A graph whose input ``weights`` is given to ``initialize``, and its other input in blocks."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), name="x")
    w = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4, 3), flags="OWNED_BY_DML"), name="weights")
    rows = np.random.default_rng(3).random((3, 1, 4, 4), np.float32)
    return g.build(y=g.gemm(x, w)), da.from_array(rows, chunks=(1, 1, 4, 4))


def test_a_graph_that_is_not_initialized_is_refused_at_once() -> None:
    graph, rows = owned_weights()
    for given in ({"x": rows}, {"x": rows, "weights": np.ones((1, 1, 4, 3), np.float32)}):
        for model in (graph, dml.compile(graph)):
            with pytest.raises(
                dml.InvalidDataError, match=r"'weights' must be given to initialize\(\)\. Call"
            ) as caught:
                run(model, given)
            assert caught.value.id == "DML-GRAPH-initialize" and "block" not in str(caught.value)


def test_blocks_keep_the_weights_of_their_call() -> None:
    graph, rows = owned_weights()
    compiled, lazy = dml.compile(graph), []
    for number in (1, 2):
        compiled.initialize(weights=np.full((1, 1, 4, 3), number, np.float32))
        lazy.append(run(compiled, {"x": rows})["y"])
    one, two = dask.compute(*lazy)
    assert one.any() and two.tobytes() == (2 * one).tobytes()


REFUSED: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "no dask array": ({"image": IMAGES}, {}, TypeError, "no input is a dask array. Call the model."),
    "unknown": ({"image": cut(IMAGES, 5), "other": IMAGES}, {}, TypeError, "there is no input 'other'"),
    "missing": ({"other": cut(IMAGES, 5)}, {}, TypeError, "there is no input 'other'"),
    "chunks": ({"image": da.from_array(IMAGES, chunks=(9, 1, 4, 8))}, {}, ValueError,
               r"image has 2 chunks along axis 2, and must have one chunk there. Pass image.rechunk\({2: -1}\)."),
    "unknown sizes": ({"image": cut(IMAGES, 5)[da.from_array(IMAGES[:, 0, 0, 0], chunks=23) > 0.5]}, {}, ValueError,
                      "chunks of unknown size along axis 0"),
    "data type": ({"image": cut(IMAGES, 5).astype("f8")}, {}, dml.ModelError, "DML-ONNX-run-type"),
    "sizes": ({"image": cut(IMAGES[:, :, :5], 5)}, {}, dml.ModelError, "DML-ONNX-shape-sizes"),
    "axis": ({"image": cut(IMAGES, 5)}, {"axis": 4}, ValueError, "image has 4 axes, and no axis 4"),
    "axis of another name": ({"image": cut(IMAGES, 5)}, {"axis": {"picture": 1}}, TypeError,
                             "axis has 'picture', but the call has 'image', 'shares'"),
    "no axis": ({"image": cut(IMAGES, 5)}, {"axis": "image"}, TypeError, 'axis is an int, or a dict of ints by names'),
    "no items": ({"image": cut(IMAGES, 5)[:0]}, {}, ValueError, "image has no items along axis 0"),
    "output": ({"image": cut(IMAGES, 5)}, {"outputs": ["share"]}, dml.ModelError, "DML-ONNX-run-value"),
    "outputs": ({"image": cut(IMAGES, 5)}, {"outputs": "shares"}, TypeError, "outputs is a sequence of names"),
    "no dict": (cut(IMAGES, 5), {}, TypeError, "inputs is a dict of arrays by the names of inputs, not an Array"),
    "threads": ({"image": cut(IMAGES, 5)}, {"threads": 2}, ValueError, "threads is 1 or None, not 2"),
    "a list": ([cut(IMAGES, 5)], {}, TypeError, "inputs is a dict of arrays by the names of inputs"),
    "huge": ({"image": da.zeros((10**8, 1, 8, 8), chunks=-1, dtype="f4")}, {}, ValueError,
             "a block of image would have 6400000000 elements, and a tensor has at most 4294967295"),
}  # fmt: skip


@each_of("name", REFUSED)
def test_a_wrong_call_is_refused_at_once(name: str) -> None:
    inputs, options, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        run(DIGITS, inputs, **options)


def test_no_model() -> None:
    with pytest.raises(TypeError, match="takes a graph, a compiled graph, an ONNX model"):
        run(3, {"x": cut(X, 5)})
    with pytest.raises(dml.ModelError, match="DML-MODEL-file"):
        run("nowhere.onnx", {"x": cut(X, 5)})


# Blocks ---------------------------------------------------------------------------------------------------------------


def test_an_error_names_the_block_and_the_node(tmp_path: Path) -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (2, 4)), name="x")
    rows = g.input(dml.TensorDesc("FLOAT32", (3, 5)), name="rows")
    maps = g.reinterpret(x, dml.TensorDesc("FLOAT32", (1, 1, 2, 4)))
    graph = g.build(y=g.roi_pooling(maps, rows, spatial_scale=1.0, pooled_size=1, name="pool"))
    values = np.zeros((9, 5), np.float32)
    values[7, 2] = np.nan
    found = run(graph, {"x": np.zeros((2, 4), np.float32), "rows": da.from_array(values, chunks=(3, 5))})["y"]
    assert found.chunks[0] == (3, 3, 3) and found.blocks[0].compute().shape == (3, 1, 1, 1)
    with pytest.raises(dml.InvalidDataError) as caught:
        found.compute()
    assert str(caught.value).startswith('graph(): block 2, items 6 to 8: node 0 "pool" (ROI_POOLING): ')
    assert caught.value.id == "DML-ROI_POOLING-roi-finite"


def test_a_process_compiles_once_for_each_size_of_blocks() -> None:
    x = cut(IMAGES, 6, 6, 6)
    results = [run(one, {"image": x})["shares"] for one in (digits(), DIGITS)]
    assert len({source_of(one).key for one in results}) == 1
    with dask.config.set(scheduler="threads", num_workers=4):
        for one in results:
            one.compute()
    made: Iterable[Any] = loaded()[source_of(results[0]).key].made
    sizes = [dict(one)["image"][0] for one in made]
    assert sizes.count(6) == sizes.count(5) == 1


def test_a_graph_travels_as_bytes_and_a_file_as_its_path(tmp_path: Path) -> None:
    graph = digits(batch=4).graph()
    assert graph is not None
    compiled = dml.compile(graph)
    assert isinstance(compiled.graph, dml.graph.GraphDesc)
    source = FromGraph(compiled)
    sent = pickle.dumps(source)
    again = pickle.loads(sent)
    assert again.key == source.key == FromGraph(dml.compile(compiled.graph)).key and len(sent) < 3e5
    np.testing.assert_array_equal(again.load().run({"image": IMAGES[:4].reshape(4, 1, 8, 8)}, ["shares"])[0],
                                  compiled(IMAGES[:4]))  # fmt: skip
    path = Path(shutil.copy(DIGITS, tmp_path / "m.onnx"))
    result = run(path, {"image": cut(IMAGES, 12)})["shares"]
    assert len(pickle.dumps(source_of(result))) < 500 < path.stat().st_size
    contents = path.read_bytes()
    kept = run(path, {"image": cut(IMAGES, 12)}, send=True)["shares"]
    source, other = (pickle.loads(pickle.dumps(source_of(one))) for one in (kept, result))
    path.write_bytes(contents + b"\x00")
    assert source.load().outputs == ("shares",)
    with pytest.raises(dml.ModelError) as caught:
        other.load()
    assert caught.value.id == "DML-GRAPH-batch-file"


def test_a_file_with_weights_elsewhere_is_not_sent(tmp_path: Path) -> None:
    nodes, outputs, constants = APART["product"]
    path = saved(tmp_path / "m.onnx", nodes, outputs, constants, weights="w.bin")
    want = run(path, {"x": cut(X, 12)})["y"].compute()
    np.testing.assert_allclose(want, X @ constants["w"], rtol=1e-5, atol=1e-5)
    with pytest.raises(dml.ModelError, match="the model is not in a folder"):
        run(path, {"x": cut(X, 12)}, send=True)


def test_blocks_run_in_any_order_and_results_are_made_together() -> None:
    found = run(DIGITS, {"image": cut(IMAGES, 5, 5, 5)}, outputs=["relu", "shares"])
    order = [3, 0, 2, 1]
    blocks = {number: found["relu"].blocks[number].compute() for number in order}
    relu, shares = dask.compute(found["relu"], found["shares"])
    assert np.concatenate([blocks[number] for number in range(4)]).tobytes() == relu.tobytes()
    assert math.isclose(float(shares.sum()), 23, rel_tol=1e-5)


def test_a_block_of_other_sizes_than_promised_is_named(tmp_path: Path) -> None:
    """How many numbers are not 0 is found out by a run of zeros, to which the model adds 1."""
    nodes = [N("Add", "x one", "s"), N("Relu", "s", "r"), N("NonZero", "r", "z"), N("Transpose", "z", "t"),
             N("Cast", "t", "y", to=1)]  # fmt: skip
    path = saved(tmp_path / "m.onnx", nodes, ["y"], {"one": np.float32(1)})
    x = np.zeros((6, *SIZES), np.float32)
    x[4, 2, 3] = -1
    result = run(path, {"x": cut(x, 4)}, independent=True)["y"]
    assert result.chunks == ((192, 96), (3,)) and result.blocks[0].compute().shape == (192, 3)
    with pytest.raises(dml.InvalidDescError, match=r"block 1, items 4 to 5: The output \"y\" has the sizes \(95, 3\)"):
        result.compute()


def test_any_other_error_of_a_block_has_its_place_in_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(DIGITS, {"image": cut(IMAGES, 12)})["shares"]

    def fails(*_: object) -> None:
        raise MemoryError("none left")

    monkeypatch.setattr(OfModel, "run", fails)
    with pytest.raises(MemoryError) as caught:
        result.blocks[1].compute()
    assert caught.value.__notes__ == ["dmlcy.dask.run(): block 1, items 12 to 22"]
