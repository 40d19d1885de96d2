"""The reference: calls of operators without loops, and path="reference" of operators with loops."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from depth import draws_of, of_each_family
from drawing import draw_all
from each import each_of
from example_descs import attributes
from libraries import INTEGERS, TORCH

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import FAST, NAMES, OPERATORS, RUNNABLE
from dmlcy._runtime import memory

REFERENCE = [name for name in RUNNABLE if name not in FAST]
IN_PLACE = [name for name in REFERENCE if OPERATORS[name].in_place]
Array = np.ndarray[Any, Any]
Case = tuple[OperatorDesc, dict[str, Array]]


def inputs(desc: OperatorDesc, arrays: dict[str, Array]) -> list[Array | None]:
    return [arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"]


@draws_of(2, 12)
@each_of("name", REFERENCE)
def test_calls_give_what_exact_arithmetic_gives(name: str, draws: int) -> None:
    function = getattr(dml, NAMES[name])

    def compare(case: Case) -> None:
        desc, arrays = case
        given = inputs(desc, arrays)
        result = function(*given, **attributes(desc))
        testing.assert_result(desc, arrays, result, bound="own")
        for one, other in zip(several(function(*given, **attributes(desc))), several(result), strict=True):
            np.testing.assert_array_equal(one, other)
        compiled: Any = dml.compile(desc)
        for one, other in zip(several(compiled(*given)), several(result), strict=True):
            assert without_ones(one) == without_ones(other)  # a desc may have more of them in front
            np.testing.assert_array_equal(one.reshape(other.shape), other)
        assert all(one.flags.c_contiguous and one.flags.writeable for one in several(result))
        shared = [given for given in arrays.values() for one in several(result) if shares(one, given)]
        assert not shared
        outs = tuple(np.full_like(one, 77) for one in several(result))
        out = outs if isinstance(result, tuple) else outs[0]
        assert function(*given, **attributes(desc), out=out) is out
        for one, other in zip(several(out), several(result), strict=True):
            np.testing.assert_array_equal(one, other)

    draw_all(testing.cases(name, most_elements=40), draws, compare, 100)


def several(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


def without_ones(array: Array) -> tuple[int, ...]:
    """The sizes, without ones in front."""
    return tuple(itertools.dropwhile(lambda size: size == 1, array.shape))


def shares(result: Array, given: Any) -> bool:
    """Whether a result is memory of an input."""
    return any(np.may_share_memory(result, one) for one in several(given))


@pytest.mark.parametrize("name", of_each_family(FAST))
def test_the_reference_of_an_operator_with_loops(name: str) -> None:
    """The loops and the reference agree, each within the accuracy."""

    def compare(case: Case) -> None:
        desc, arrays = case
        compiled: Any = dml.compile(desc, path="reference")
        fast: Any = dml.compile(desc)
        result = compiled(*inputs(desc, arrays))
        testing.assert_result(desc, arrays, result, bound="own")
        assert [one.dtype for one in several(result)] == [one.dtype for one in several(fast(*inputs(desc, arrays)))]
        assert pickle.loads(pickle.dumps(compiled)).desc == desc

    draw_all(testing.cases(name, most_elements=100), 5, compare, 100, range(1))


def test_a_compiled_call_gives_a_tensor_that_the_desc_leaves_out() -> None:
    square = dml.TensorDesc("FLOAT32", (2, 2))
    one = np.ones((2, 2), np.float32)
    product: Any = dml.compile(dml.desc.Gemm(a=square, b=square))
    with pytest.raises(TypeError, match="takes no c: the compiled desc leaves it out"):
        product(one, one, one)
    assert product(one, one, None).tolist() == [[2, 2], [2, 2]]
    row = dml.TensorDesc("FLOAT32", (1, 1, 1))
    given: dict[str, Any] = {name: row for name in ("query", "key", "value", "relative_position_bias", "output")}
    given["relative_position_bias"] = dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    attention: Any = dml.compile(dml.desc.MultiheadAttention(**given, scale=1, head_count=1))
    x = np.ones((1, 1, 1), np.float32)
    with pytest.raises(TypeError, match=r"takes no stacked_query_key: .* by name"):
        attention(x, x, x, x[None])
    assert attention(x, x, x, relative_position_bias=x[None]).tolist() == [[[1]]]


def test_a_path_that_does_not_exist() -> None:
    x = dml.TensorDesc("FLOAT32", (2,))
    with pytest.raises(ValueError, match="path='reference' or None, not \"fast\""):
        dml.compile(dml.desc.ElementWiseExp(input=x), path="fast")  # type: ignore[call-overload]


@each_of("name", IN_PLACE)
def test_an_output_may_be_the_input_itself(name: str) -> None:
    """Where the catalogue allows it; another overlap is refused, and nothing is written."""
    operator = OPERATORS[name]
    example = next(one for one in operator.examples if one.inputs[operator.in_place[0]][0] != "FLOAT16")
    arrays = {key: np.array(data, dtype.lower()) for key, (dtype, _, data) in example.inputs.items()}
    attributes = operator.example_arguments(example)
    expected = getattr(dml, operator.python)(*arrays.values(), **attributes)
    if isinstance(expected, tuple):
        return
    target = arrays[operator.in_place[0]]
    if (target.dtype, target.shape) != (expected.dtype, expected.shape):
        return
    buffer = np.zeros(target.size + 1, target.dtype)
    arrays[operator.in_place[0]] = buffer[:-1].reshape(target.shape)
    arrays[operator.in_place[0]][...] = target
    with pytest.raises(dml.InvalidDescError, match="shares memory"):
        getattr(dml, operator.python)(*arrays.values(), **attributes, out=buffer[1:].reshape(target.shape))
    np.testing.assert_array_equal(arrays[operator.in_place[0]], target)
    result = getattr(dml, operator.python)(*arrays.values(), **attributes, out=arrays[operator.in_place[0]])
    np.testing.assert_array_equal(result, expected)


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    1e-30,
    -1e-20,
    1e20,
    -88.0,
    700.0,
    np.inf,
    -np.inf,
    np.nan,
]


@each_of("name", TORCH)
def test_pytorch_agrees(name: str) -> None:
    """In float64, on special values and random ones of many sizes; within what the spec says of FLOAT32."""
    torch = pytest.importorskip("torch")
    accuracy = OPERATORS[name.upper()].accuracy.get("FLOAT32")
    ulp = float(accuracy.ulp.text) if accuracy else 1
    peer = TORCH[name]
    random = np.random.default_rng(5)
    values = np.array([*SPECIAL, *random.standard_normal(60), *random.standard_normal(20) * 1e3], np.float32)
    arrays = [values, *(random.permutation(values) for _ in range(peer.tensors - 1))]
    result = getattr(dml, name)(*arrays, **peer.arguments)
    wide = peer.function(torch)(*(torch.from_numpy(array.astype(np.float64)) for array in arrays))
    with np.errstate(over="ignore"):
        expected = wide.to(torch.float64).numpy()
        rounded = expected.astype(np.float32)
    same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    with np.errstate(invalid="ignore"):
        near = np.abs(result.astype(np.float64) - expected) <= ulp * np.spacing(np.abs(rounded))
    wrong = ~(same | near) & ~peer.differs(*arrays)
    assert not wrong.any(), [(*(array[wrong][:3] for array in arrays), result[wrong][:3], expected[wrong][:3])]


@each_of("name, dtype", [*itertools.product(INTEGERS, ("INT32", "UINT32", "INT8", "UINT8", "INT64", "UINT64"))])
def test_python_agrees_on_integers(name: str, dtype: str) -> None:
    operator = OPERATORS[name.upper()]
    field = operator.field("a")
    if not any(dtype in row.dtypes for row in field.dtypes):
        return
    limits = np.iinfo(dtype.lower())
    values = [limits.min, limits.max, limits.max - 1, 0, 1, 2, 3, 7, limits.max // 2, limits.min // 2]
    pairs = [*itertools.product(values, values)]
    a, b = (np.array([pair[side] for pair in pairs], dtype.lower()) for side in (0, 1))
    expected = [INTEGERS[name](*map(int, pair)) % 2**limits.bits for pair in pairs]
    result = getattr(dml, name)(a, b)
    assert result.dtype == a.dtype
    assert [int(one) % 2**limits.bits for one in result] == expected


def test_large_tensors_are_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any layout, and a tensor that is stretched by a stride of 0."""
    from dmlcy._families.elementwise import family

    random = np.random.default_rng(3)
    a = random.standard_normal((5, 7, 11), np.float32).transpose(2, 0, 1)
    b = np.broadcast_to(random.standard_normal((5, 1), np.float32), (11, 5, 7))
    whole = dml.element_wise_add(a, b)
    np.testing.assert_array_equal(whole, a + b)
    for block in (1, 6, 7, 20, 100):
        monkeypatch.setattr(family, "BLOCK", block)
        assert_same_bits(dml.element_wise_add(a, b), whole)


def test_a_use_is_kept_by_all_that_tells_it_from_others() -> None:
    """Numbers that are equal and are not the same: 1, 1.0 and True, 0.0 and -0.0."""
    x = np.array([-2.0, 2.0], np.float32)
    for low, expected in ((-1, [-1, 1]), (0, [0, 1]), (-0.5, [-0.5, 1])):
        np.testing.assert_array_equal(dml.element_wise_clip(x, min=low, max=1), expected)
    with pytest.raises(dml.InvalidDataTypeError):
        dml.element_wise_clip(x, min=0, max=True)


def test_a_result_that_cannot_fit_is_refused_before_it_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PHYSICAL", 4 * 64 - 1)
    x = np.zeros((1, 1, 4, 4), np.float32)
    tensors = {"input": dml.TensorDesc("FLOAT32", x.shape), "output": dml.TensorDesc("FLOAT32", (1, 1, 8, 8))}
    desc = dml.desc.Upsample2d(**tensors, scale_size=(2, 2), interpolation_mode="NEAREST_NEIGHBOR")
    compute = dml.compile(desc, path="reference")
    with pytest.raises(MemoryError, match=r"upsample_2d\(\): the result takes 256 bytes, and the machine has 255\."):
        compute(x)
    out = np.ones((1, 1, 8, 8), np.float32)
    compute(x, out=out)
    assert not out.any()
