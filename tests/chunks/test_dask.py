"""The operators on dask arrays: what NumPy arrays give, chunk by chunk, and nothing before it is asked for."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from call_arguments import attributes
from depth import draws_of, in_turn, of_each_family
from each import each_of
from example_descs import arrays_of, desc_of_example
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy import testing
from dmlcy._compile import function
from dmlcy._facts.tables import FAST, IN_CHUNKS, OPERATORS, RUNNABLE
from dmlcy._facts.tables import NAMES as FUNCTIONS
from dmlcy._field_types.tensor_array import by_path
from dmlcy._runtime.threads import one_thread, threads_available

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
dml_dask: Any = pytest.importorskip("dmlcy.dask", reason="dask is not installed")
graph: Any = pytest.importorskip("dmlcy._dask.graph", reason="dask is not installed")

NAMES = [
    *(FUNCTIONS[name] for name in FAST if name in IN_CHUNKS),
    *of_each_family(FUNCTIONS[name] for name in IN_CHUNKS if name not in FAST),
]


@pytest.fixture(autouse=True)
def one_after_the_other() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def parts(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Ways to cut a size, sometimes with an empty chunk."""
    cuts = st.lists(st.integers(0, size), max_size=4).map(lambda ends: [0, *sorted(ends), size])
    return cuts.map(lambda ends: tuple(end - begin for begin, end in itertools.pairwise(ends)))


def chunked(data: st.DataObject, array: Any) -> Any:
    if array is None or isinstance(array, tuple):
        return None if array is None else tuple(chunked(data, one) for one in array)
    return da.from_array(array, chunks=-1).rechunk(tuple(data.draw(parts(size)) for size in array.shape))


def whole_where_needed(function: Any, arrays: dict[str, Any], given: dict[str, Any]) -> Any:
    """The result, after what the refusals say has been done."""
    for _ in range(40):
        try:
            return function(**arrays, **given)
        except ValueError as error:
            _, _, advice = str(error).partition("Pass ")
            path, _, call = advice.rstrip(".").partition(".")
            assert call.startswith("rechunk({"), error
            name, several, place = path.partition("[")
            if several:
                entries = list(arrays[name])
                entries[int(place[:-1])] = eval(f"x.{call}", {"x": entries[int(place[:-1])]})
                arrays = arrays | {name: entries}
            else:
                arrays = arrays | {name: eval(f"x.{call}", {"x": arrays[name]})}
    raise AssertionError("the advice does not help")


def look_at_blocks(result: Any) -> None:
    """Each block has the sizes and the data type that dask says."""
    assert isinstance(result, da.Array)
    blocks = [block.compute() for block in result.to_delayed().ravel()]
    places = np.ndindex(result.numblocks)
    sizes = [tuple(sizes[at] for at, sizes in zip(place, result.chunks, strict=True)) for place in places]
    assert [block.shape for block in blocks] == sizes
    assert {block.dtype for block in blocks} == {result.dtype}


def look_at_a_call(name: str, desc: Any, arrays: dict[str, Any], chunk: Callable[[Any], Any]) -> None:
    """The results for dask arrays are those for NumPy arrays; sums in another order are within the accuracy."""
    fields, given = desc.operator.fields, attributes(desc)
    optional = {field.python for field in fields if field.kind == "output" and field.optional}
    paths = [path for path, _ in by_path(fields, "output", desc._values()) if path not in optional - given.keys()]
    if not paths:  # a desc of outputs that pieces cannot make
        return
    inputs = {field.python: arrays.get(field.python) for field in fields if field.kind == "input"}
    chunks = {key: chunk(array) for key, array in inputs.items()}
    results = several(whole_where_needed(getattr(dml_dask, name), chunks, given))
    whole = several(getattr(dml, name)(**inputs, **given))
    for path, result, expected in zip(paths, results, whole, strict=True):
        look_at_blocks(result)
        actual = result.compute()
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        if not np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f"):
            found = testing.expected(desc, arrays, path)
            assert not (found.errors(actual) > found.ulp).any()


def several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@in_turn
@draws_of(6, 60)
@pytest.mark.parametrize("name", NAMES)
def test_what_numpy_arrays_give(name: str, draws: int) -> None:
    @settings(max_examples=draws, deadline=None)
    @given(data=st.data())
    def look(data: st.DataObject) -> None:
        desc, arrays = data.draw(testing.cases(name, most_elements=300))
        look_at_a_call(name, desc, arrays, lambda array: chunked(data, array))

    look()


@each_of("name", IN_CHUNKS)
def test_every_operator_in_chunks_of_any_size(name: str) -> None:
    """The examples of the specs and a few small draws: each function, at little cost."""
    operator, rng = OPERATORS[name], np.random.default_rng(5)

    def chunk(array: Any) -> Any:
        if array is None or isinstance(array, tuple):
            return None if array is None else tuple(map(chunk, array))
        return da.from_array(array, chunks=tuple(int(rng.integers(1, size + 1)) for size in array.shape))

    @seed(1)
    @settings(
        max_examples=1, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(testing.cases(name, most_elements=40))
    def draw(case: Any) -> None:
        desc, arrays = case
        look_at_a_call(operator.python, desc, arrays, chunk)

    for example in operator.examples:
        look_at_a_call(operator.python, desc_of_example(operator, example), arrays_of(example.inputs), chunk)
    draw()


@pytest.mark.parametrize("mode", dml.PaddingMode.__members__)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_padding_mode(mode: str, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    x = np.arange(np.prod(sizes), dtype=np.int16).reshape(sizes)
    widths = st.lists(st.integers(0, 10), min_size=len(sizes), max_size=len(sizes))
    given: dict[str, Any] = {"start_padding": data.draw(widths), "end_padding": data.draw(widths), "padding_mode": mode}
    result = dml_dask.padding1(chunked(data, x), **given, padding_value=-1)
    np.testing.assert_array_equal(result.compute(), dml.padding1(x, **given, padding_value=-1))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_columns_of_unfold_are_in_order(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    x = np.arange(2 * 3 * np.prod(sizes), dtype=np.float64).reshape(2, 3, *sizes)
    many = st.lists(st.integers(1, 3), min_size=len(sizes), max_size=len(sizes))
    given: dict[str, Any] = {"window_sizes": data.draw(many), "strides": data.draw(many), "dilations": data.draw(many)}
    given |= {"start_padding": data.draw(many), "end_padding": [6] * len(sizes)}
    result = dml_dask.unfold(chunked(data, x), **given)
    np.testing.assert_array_equal(result.compute(), dml.unfold(x, **given))


def image(*chunks: Any, dtype: Any = "f4") -> Any:
    return da.zeros((2, 8, 6, 6), chunks=chunks, dtype=dtype)


REFUSED = {
    "axis of a block": (lambda: dml_dask.depth_to_space1(image(1, 4, 2, 2), block_size=2),
                        "depth_to_space1(): input has 2 chunks along axis 1, and must have one chunk there. "
                        "Pass input.rechunk({1: -1})."),
    "batch of regions": (lambda: dml_dask.roi_pooling(image(1, 4, 6, 6), np.zeros((1, 5), "f4"), spatial_scale=1.0,
                                                      pooled_size=1),
                         "roi_pooling(): input has 2 chunks along axis 0, and must have one chunk there. "
                         "Pass input.rechunk({0: -1})."),
    "entries of a region": (lambda: dml_dask.roi_pooling(image(2, 4, 6, 6), da.zeros((2, 5), chunks=(1, 3), dtype="f4"),
                                                         spatial_scale=1.0, pooled_size=1),
                            "roi_pooling(): roi has 2 chunks along axis 1, and must have one chunk there. "
                            "Pass roi.rechunk({1: -1})."),
    "unknown sizes": (lambda: dml_dask.padding1((lambda x: x[x > 0])(da.ones(4, chunks=2)), start_padding=1,
                                                end_padding=1),
                      "padding1(): input has chunks of unknown size along axis 0. "
                      "Call input.compute_chunk_sizes() first."),
    "huge chunks": (lambda: dml_dask.unfold(da.zeros((1, 1, 10**5, 10**5), chunks=-1, dtype="u1"), window_sizes=3),
                    "unfold(): a chunk of input would have 10000000000 elements, and a tensor has at most 4294967295. "
                    "Rechunk input into smaller chunks."),
    "huge chunks of the result": (lambda: dml_dask.unfold(da.zeros((1, 1, 10**5, 10**5), chunks=(1, 1, 10**4, 10**5),
                                                                   dtype="u1"), window_sizes=3),
                                  "unfold(): a chunk of the result would have 8999820000 elements, and a tensor has at "
                                  "most 4294967295. Rechunk input into smaller chunks."),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_chunks(call: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message


def test_a_wrong_call_is_refused_as_that_of_arrays_is() -> None:
    x = np.zeros((2, 8, 6, 6), "f4")
    for wrong in ({"window_sizes": 9}, {"window_sizes": (1, 2, 3)}, {"window_sizes": 1, "strides": 0}):
        with pytest.raises(dml.DmlError) as expected:
            dml.unfold(x, **wrong)
        with pytest.raises(dml.DmlError) as caught:
            dml_dask.unfold(image(1, 4, 2, 2), **wrong)
        assert str(caught.value) == str(expected.value)
    for other in (
        [1.0],
        None,
        image(1, 4, 2, 2, dtype=complex),
        image(1, 4, 2, 2, dtype=">f4"),
        np.ma.zeros((1, 1, 2, 2)),
    ):
        with pytest.raises(dml.DmlError) as caught:
            dml_dask.unfold(other, window_sizes=1)
        assert caught.value.field == "input"


def test_what_would_be_computed_or_lost_is_refused() -> None:
    x = da.zeros(4, chunks=2, dtype="f4")
    with pytest.raises(TypeError, match=r"start_padding is a dask array. Pass start_padding.compute\(\)."):
        dml_dask.padding1(x, start_padding=da.ones(1, dtype="i8"), end_padding=0)
    with pytest.raises(TypeError, match="input is masked"):
        dml_dask.padding1(da.ma.masked_equal(x, 1), start_padding=1, end_padding=0)


def test_the_feature_level_is_that_of_the_graph() -> None:
    with dml.feature_level("4_1"), pytest.raises(dml.FeatureLevelError):
        dml_dask.padding1(da.ones(4, chunks=2), start_padding=1, end_padding=0)
    with dml.feature_level("5_0"):
        result = dml_dask.padding1(da.ones(4, chunks=2), start_padding=1, end_padding=0)
    with dml.feature_level("1_0"):
        assert result.compute().tolist() == [0, 1, 1, 1, 1]


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed")

    x = da.map_blocks(refuse, chunks=((1, 1), (4, 4), (3, 3), (6,)), dtype="f4", meta=np.empty((0,) * 4, "f4"))
    with dask.config.set(scheduler=refuse):
        for result in (
            dml_dask.unfold(x, window_sizes=3, start_padding=1, end_padding=1),
            dml_dask.average_pooling(x, window_size=2),
            dml_dask.padding1(x, start_padding=1, end_padding=1, padding_mode="REFLECTION"),
            dml_dask.depth_to_space1(x.rechunk({1: -1}), block_size=2),
            dml_dask.roi_pooling(
                x.rechunk({0: -1, 2: -1}), da.zeros((1, 5), dtype="f4"), spatial_scale=1.0, pooled_size=1
            ),
        ):
            assert result.dtype == np.float32 and type(result._meta) is np.ndarray and result._meta.ndim == result.ndim


def test_the_same_call_has_the_same_name() -> None:
    x = image(1, 4, 2, 2)
    assert dml_dask.unfold(x, window_sizes=3).name == dml_dask.unfold(x, window_sizes=(3, 3)).name
    assert dml_dask.unfold(x, window_sizes=3).name != dml_dask.unfold(x, window_sizes=2).name


def test_an_activation_over_an_axis_needs_it_whole() -> None:
    """Rows of a product are independent, unless a softmax is made of them; columns likewise."""
    a, b = (np.random.default_rng(3).standard_normal((1, 1, 6, 6)).astype("f4") for _ in range(2))
    for axis in (2, 3):
        softmax = dml.desc.ActivationSoftmax1(axes=[axis])
        chunks = {"a": da.from_array(a, chunks=(1, 1, 2, 6)), "b": da.from_array(b, chunks=(1, 1, 6, 2))}
        with pytest.raises(ValueError, match="must have one chunk there"):
            dml_dask.gemm(**chunks, fused_activation=softmax)
        name = "ab"[axis - 2]
        chunks[name] = chunks[name].rechunk(-1)
        result = dml_dask.gemm(**chunks, fused_activation=softmax)
        assert result.npartitions == 3
        np.testing.assert_array_equal(result, dml.gemm(a, b, fused_activation=softmax))
        assert result.name == dml_dask.gemm(**chunks, fused_activation=softmax).name


def test_several_results_are_computed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece is computed once, if all results are computed at once."""
    calls: list[str] = []

    def counted(name: str) -> Any:
        calls.append(name)
        return function(name)

    monkeypatch.setattr(graph, "function", counted)
    x = np.random.default_rng(3).standard_normal((4, 6)).astype("f4")
    values, places = dml_dask.top_k(da.from_array(x, chunks=(2, 3)).rechunk({1: -1}), axis=1, k=2)
    whole = dml.top_k(x, axis=1, k=2)
    found = dask.compute(values, places)
    assert calls == ["TOP_K"] * 2
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)
    alone = dml_dask.gru(
        da.ones((1, 2, 4, 3), chunks=(1, 2, 3, 3), dtype="f4"),
        np.ones((1, 1, 6, 3), "f4"), np.ones((1, 1, 6, 2), "f4"),
        activation_descs=[dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh()], output_single=True,
    )  # fmt: skip
    assert isinstance(alone, da.Array) and alone.chunks == ((1,), (1,), (3, 1), (2,))


def test_a_scale_of_blocks_is_cut_with_its_blocks() -> None:
    x = np.arange(24, dtype="f4").reshape(2, 12)
    scale, zero = np.array([[1, 2, 3, 4]], "f4"), np.array([[1, 2], [3, 4]], "u1")
    given: dict[str, Any] = {"quantization_type": "SCALE_ZERO_POINT", "output_dtype": "UINT8"}
    result = dml_dask.quantize(da.from_array(x, chunks=(1, 5)), (scale, zero), **given)
    assert result.chunks == ((1, 1), (6, 6))
    np.testing.assert_array_equal(result, dml.quantize(x, (scale, zero), **given))
    result = dml_dask.dequantize(da.from_array(x.astype("u1"), chunks=(1, 5)), [scale], quantization_type="SCALE")
    assert result.chunks == ((1, 1), (3, 6, 3))


def test_the_chunks_of_one_tensor_cut_the_others() -> None:
    result = dml_dask.element_wise_add(np.ones((4, 4), "f4"), da.ones((4, 4), chunks=(1, 2), dtype="f4"))
    assert result.chunks == ((1, 1, 1, 1), (2, 2))


def test_chunks_stay_as_small_as_they_were() -> None:
    x = da.zeros((1, 1, 4096, 4096), chunks=(1, 1, 512, 512), dtype="f4")
    result = dml_dask.unfold(x, window_sizes=3, start_padding=1, end_padding=1)
    assert max(result.chunks[2]) <= 65 * 4096 and result.chunks[1] == (9,)
    pooled = dml_dask.average_pooling(x, window_size=3, start_padding=1, end_padding=1)
    assert pooled.shape == x.shape and max(pooled.chunks[2]) <= 514


def test_a_tensor_of_more_elements_than_directml_has() -> None:
    result = dml_dask.unfold(
        da.zeros((1, 1, 2**16, 2**16), chunks=4096, dtype="u1"), window_sizes=3, start_padding=1, end_padding=1
    )
    assert result.shape == (1, 9, 2**32)
    assert result[0, 0, -3:].compute().tolist() == [0, 0, 0]


def test_pieces_do_not_use_threads_of_their_own() -> None:
    """Chunks run side by side, each on the thread of its worker; a result of one chunk is a call like any other."""
    program = """
import os, numpy as np, dask, dask.array as da, dmlcy as dml, dmlcy.dask
def threads():
    return len(os.listdir("/proc/self/task"))
dml.set_num_threads(4)
x = np.zeros((4, 64, 128, 128), np.float32)
with dask.config.set(scheduler="synchronous"):
    before = threads()
    dmlcy.dask.padding1(da.from_array(x, chunks=(1, 64, 128, 128)), start_padding=1, end_padding=1).compute()
    pieces = threads() - before
    g = dml.Graph()
    given = g.input(dml.TensorDesc("FLOAT32", (1, 64, 128, 128)), name="x")
    graph = g.build(y=g.activation_relu(g.padding1(given, start_padding=1, end_padding=1)))
    dmlcy.dask.run(graph, {"x": da.from_array(x, chunks=(1, 64, 128, 128))})["y"].compute()
    blocks = threads() - before
    dmlcy.dask.padding1(da.from_array(x, chunks=-1), start_padding=1, end_padding=1).compute()
    print(pieces, blocks, threads() - before)
"""
    if not sys.platform.startswith("linux") or not threads_available():
        pytest.skip("needs threads and /proc")
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pieces, blocks, whole = map(int, done.stdout.split())
    assert pieces == blocks == 0 and whole > 0


def test_one_thread_is_of_the_python_thread() -> None:
    expected, found = dml.padding1(np.ones((8, 1000, 1000)), start_padding=1, end_padding=1), []

    def work() -> None:
        with one_thread():
            found.append(dml.padding1(np.ones((8, 1000, 1000)), start_padding=1, end_padding=1))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, expected) for one in found) and len(found) == 2
    with pytest.raises(RuntimeError), one_thread():
        raise RuntimeError


def test_without_dask_the_import_says_what_to_do() -> None:
    program = "import sys; sys.modules['dask'] = None; import dmlcy.dask"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert "ImportError: dmlcy.dask needs dask: pip install 'dmlcy[dask]'" in done.stderr


def test_an_operator_that_cannot_be_cut_says_so() -> None:
    missing = [name for name in RUNNABLE if name not in IN_CHUNKS]
    assert {"RANDOM_GENERATOR", "NONZERO_COORDINATES"} <= {*missing}
    for name in missing:
        with pytest.raises(AttributeError) as caught:
            getattr(dml_dask, FUNCTIONS[name])
        assert f"Pass arrays, such as x.compute(), to dmlcy.{FUNCTIONS[name]}." in str(caught.value)
    with pytest.raises(AttributeError, match=r"module 'dmlcy\.dask' has no attribute 'nothing'"):
        _ = dml_dask.nothing


NO_FUNCTION = {
    "diagonal_matrix": "no input",
    "fill_value_constant": "no input",
    "fill_value_sequence": "no input",
    "dynamic_quantize_linear": "each element of the output depends on the extremes of the whole input",
    "max_unpooling": "an index is a position in the whole output",
    "nonzero_coordinates": "the coordinates of all elements are one list",
    "random_generator": "the input is the state of the generator, and every element of the output depends on all of it",
}


def test_the_operators_without_a_function_have_a_reason() -> None:
    """And no axis that the spec declares; each of the others is called in chunks above."""
    assert {FUNCTIONS[name] for name in RUNNABLE if name not in IN_CHUNKS} == {*NO_FUNCTION}
    page = (Path(__file__).parents[2] / "docs" / "dask.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"\| operator \| why \|\n(.*?)\n\n", page, re.DOTALL)
    assert {*re.findall(r"`(\w+)`", table)} == {*NO_FUNCTION}
    for name, reason in NO_FUNCTION.items():
        operator = next(one for one in OPERATORS.values() if one.python == name)
        assert not operator.independent
        assert (reason == "no input") == (not any(field.kind == "input" for field in operator.fields))
