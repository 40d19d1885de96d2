"""Properties of elementwise beside tests/operators/test_reference.py: quantized blocks, special numbers."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
import reference
import reference.elementwise
from checks import assert_same_bits, assert_same_values
from depth import deep
from each import each_of
from instruction_levels import assert_same_lines
from strategies import any_bits
from uses import USES

import dmlcy as dml
from dmlcy import testing
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import FAST
from dmlcy._families.elementwise import family

Array = np.ndarray[Any, Any]


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def blocks(random: np.random.Generator) -> tuple[list[int], list[int]]:
    """Sizes of blocks, and how many there are, along each axis."""
    rank = int(random.integers(1, 4))
    return random.integers(1, 4, rank).tolist(), random.integers(1, 4, rank).tolist()


def repeated(x: Array, times: list[int]) -> Array:
    for axis, count in enumerate(times):
        x = x.repeat(count, axis)
    return x


def test_quantization_by_blocks_against_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    random = np.random.default_rng(1)
    for number in range(60):
        monkeypatch.setattr(family, "BLOCK", (1 << 16, 5)[number % 2])
        times, counts = blocks(random)
        sizes = [one * count for one, count in zip(times, counts, strict=True)]
        axis = int(random.integers(len(sizes)))
        counts = [count if d == axis else size for d, (count, size) in enumerate(zip(counts, sizes, strict=True))]
        x = (random.standard_normal(sizes) * 100).astype(np.float32)
        scale = random.choice([0.5, 0.1, 3, 0.01], counts).astype(np.float32)
        low, dtype = (0, np.uint8) if number % 4 < 2 else (-128, np.int8)
        zero = random.integers(low, low + 256, counts).astype(dtype)
        for forward in (True, False):
            name = "QuantizeLinear" if forward else "DequantizeLinear"
            given = x if forward else random.integers(low, low + 256, sizes).astype(dtype)
            node = helper.make_node(name, ["x", "s", "z"], ["y"], axis=axis, block_size=times[axis])
            types = {"x": given, "s": scale, "z": zero}
            inputs = [
                helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
                for key, one in types.items()
            ]
            outputs = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
            model = helper.make_model(
                helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)]
            )
            (expected,) = ReferenceEvaluator(model).run(None, types)
            more: Any = {"output_dtype": dtype} if forward else {}
            function: Any = dml.quantize if forward else dml.dequantize
            found = function(given, [scale, zero], quantization_type="SCALE_ZERO_POINT", **more)
            assert_same_bits(found, expected)


def test_blocks_of_several_axes_are_repeated_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    for number in range(40):
        monkeypatch.setattr(family, "BLOCK", (1 << 16, 4)[number % 2])
        times, counts = blocks(random)
        scale = random.standard_normal(counts).astype(np.float32)
        small = [count if number % 3 else 1 for count in counts]
        zero = random.integers(-128, 128, small).astype(np.int8)
        sizes = [one * count for one, count in zip(times, counts, strict=True)]
        x = (random.standard_normal(sizes) * 100).astype(np.float32)
        whole = [repeated(scale, times), np.broadcast_to(repeated(zero, times if number % 3 else small), sizes)]
        kind: Any = {"quantization_type": "SCALE_ZERO_POINT"}
        quantized = dml.quantize(x, [scale, zero], **kind)
        assert_same_bits(quantized, dml.quantize(x, whole, **kind))
        assert_same_bits(quantized, dml.element_wise_quantize_linear(x, *whole, output_dtype="INT8"))
        numbers = dml.dequantize(quantized, [scale, zero], **kind)
        assert_same_bits(numbers, dml.element_wise_dequantize_linear(quantized, *whole))


def test_the_terms_of_a_step_of_adam_may_cancel() -> None:
    """The parameter and its change are 2 and almost 2: float64 has few digits of the difference."""
    one = dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    inputs = [field.python for field in dml.desc.AdamOptimizer.operator.fields if field.kind == "input"]
    values = dict(zip(inputs, (2.0, 0.0, 3.0, 1.1865879e12, 1.0), strict=True))
    arrays = {name: np.full((1, 1, 1, 1), value, np.float32) for name, value in values.items()}
    desc = dml.desc.AdamOptimizer(**dict.fromkeys(inputs, one), learning_rate=2, beta1=0, beta2=0, epsilon=1)
    result = dml.compile(desc)(*arrays.values())
    testing.assert_result(desc, arrays, result, bound="own")
    assert testing.expected(desc, arrays).errors(result[0]).item() > 0
    for place in range(3):
        wrong = [np.array(one) for one in result]
        wrong[place] += np.spacing(np.maximum(np.float32(2), wrong[place])) * 3
        with pytest.raises(AssertionError, match="1 of 1 elements are wrong"):
            testing.assert_result(desc, arrays, tuple(wrong), bound="own")


@pytest.mark.parametrize(("bias", "expected"), [(-1e-10, 25165826), (0, 25165828), (1e-10, 25165828)])
def test_scale_and_bias_are_rounded_once(bias: float, expected: int) -> None:
    """1.5 * 16777218 lies between two numbers of FLOAT32: the bias decides, though FLOAT64 does not hold the sum."""
    result = dml.element_wise_identity(np.array([1.5], np.float32), scale_bias=(16777218, bias))
    assert result.tolist() == [expected]


FUNCTIONS = [
    one.python for one in FAST.values() if "FLOAT32" in one.accuracy and one.accuracy["FLOAT32"].ulp.text == "2"
]
"""Operators that compute one function in FLOAT32."""


@each_of("name", FUNCTIONS)
def test_functions_of_special_numbers(name: str) -> None:
    """Zeros, infinities, NaN, denormal numbers, ends of domains; alone, and among so many that registers are full."""
    operator = FAST[name.upper()]
    ends = [
        one for size in (0.5, 1, 2**-126, 2**17) for one in (size, np.nextafter(np.float32(size), np.float32(np.inf)))
    ]
    numbers = np.concatenate([testing.specials("float32"), np.array([*ends, *np.negative(ends)], np.float32)])
    inputs = sum(one.kind == "input" for one in operator.fields)
    given = {one.python: 3 for one in operator.fields if one.kind == "attribute" and one.python != "scale_bias"}
    arrays = [one.ravel() for one in np.meshgrid(*[numbers] * inputs)]
    expected = reference.defined(operator, *arrays, **given)
    assert_same_values(getattr(dml, name)(*arrays, **given), expected)
    for at in range(0, arrays[0].size, 7):
        one = [np.array([array[at]]) for array in arrays]
        assert_same_values(getattr(dml, name)(*one, **given), reference.defined(operator, *one, **given))


@each_of("name", [f"element_wise_{one}" for one in ("abs", "negate", "sign", "round", "floor")] + ["activation_relu"])
def test_all_elements_of_float16(name: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    desc = getattr(dml.desc, FAST[name.upper()].desc)(input=dml.TensorDesc.from_array(x))
    assert_same_values(dml.compile(desc)(x), dml.compile(desc, path="reference")(x))


@each_of("mode", ["HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY"])
@each_of("dtype", ["float32", "float16"])
def test_rounded_numbers_keep_their_sign(mode: Any, dtype: str) -> None:
    x = np.array([-0.0, 0.0, -0.4, 0.4, -0.0625, -1.0, np.inf, -np.inf], dtype)
    assert np.array_equal(np.signbit(dml.element_wise_round(x, rounding_mode=mode)), np.signbit(x))


@each_of("name", ["element_wise_exp", "element_wise_pow", "element_wise_add", "element_wise_logical_equals"])
@each_of("dtype", ["float32", "float16"])
def test_rows_of_any_length_give_the_same_bits(name: str, dtype: str) -> None:
    """Of the last elements the engine makes a block. No element behind them changes, and an output may be an input."""
    random = np.random.default_rng(6)
    function, inputs = getattr(dml, name), 1 if name == "element_wise_exp" else 2
    arrays = [random.uniform(0.5, 2, 40).astype(dtype) for _ in range(inputs)]
    whole = function(*arrays)
    for n in range(1, 40):
        out = np.full_like(whole, 7)
        function(*(one[:n] for one in arrays), out=out[:n])
        assert_same_bits(out, np.concatenate([whole[:n], np.full_like(whole[n:], 7)]))
        if whole.dtype == dtype:
            first = arrays[0].copy()
            function(first[:n], *(one[:n] for one in arrays[1:]), out=first[:n])
            assert_same_bits(first, np.concatenate([whole[:n], arrays[0][n:]]))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_and_remainders_of_integers(dtype: str) -> None:
    """All pairs of bytes; of others, pairs of numbers beside 0, the ends of the range and powers of two."""
    info = np.iinfo(dtype)
    known = {value + step for value in (0, info.min, info.max, 1 << 7, 1 << 15, 1 << 24, 1 << 31, -(1 << 31), 1 << 53)
             for step in range(-2, 3)}  # fmt: skip
    numbers = range(info.min, info.max + 1) if info.bits == 8 else sorted(known)
    held = np.array([value for value in numbers if info.min <= value <= info.max], dtype)
    a, b = (np.ascontiguousarray(one).reshape(1, -1) for one in np.meshgrid(held, held))
    for name in ("element_wise_divide", "element_wise_modulus_floor", "element_wise_modulus_truncate"):
        assert_same_bits(getattr(dml, name)(a, b), getattr(reference.elementwise, name)(a, b))


def test_remainders_of_large_quotients_and_of_multiples() -> None:
    """A block of elements with a quotient from 2^29 on is computed in another way: the last dividends have none."""
    random = np.random.default_rng(4)
    b = (random.standard_normal((1, 20000)) * 2.0 ** random.integers(-60, 60, 20000)).astype(np.float32)
    multiples = (b * np.trunc(2.0 ** random.uniform(0, 40, 20000))).astype(np.float32)
    beside = np.nextafter(multiples, random.choice([-np.inf, np.inf], 20000).astype(np.float32))
    for a in (multiples, beside, b * np.float32(1000), b * np.float32(1000.5)):
        for name in ("element_wise_modulus_floor", "element_wise_modulus_truncate"):
            assert_same_values(getattr(dml, name)(a, b), getattr(reference.elementwise, name)(a, b))


@pytest.mark.parametrize("name", ["element_wise_modulus_truncate", "element_wise_modulus_floor"])
def test_remainders_of_special_numbers_beside_others(name: str) -> None:
    """With the sanitizers: the steps for ordinary numbers take no other ones."""
    for special in (np.nan, np.inf, -np.inf, 65504):
        a, b = np.full(40, 7.5, np.float16), np.full(40, -2, np.float16)
        a[7], b[30] = special, 0
        result = getattr(dml, name)(a, b)
        for place in range(a.size):
            assert_same_values(result[place : place + 1], getattr(dml, name)(a[place, None], b[place, None]))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_bounds_of_both_zeros_and_nan(dtype: str) -> None:
    x = np.array([[-0.0, 0.0, np.nan, 1, -1, np.inf, -np.inf, 2.0**-24, -(2.0**-24)]], dtype)
    desc = dml.TensorDesc(x.dtype, x.shape)
    ends = (-0.0, 0.0, float("nan"), float("inf"), float("-inf"), 0.5)
    for low in ends:
        for high in ends:
            clip = dml.desc.ElementWiseClip(input=desc, min=low, max=high)
            assert_same_values(dml.compile(clip)(x), dml.compile(clip, path="reference")(x))
        threshold = dml.desc.ElementWiseThreshold(input=desc, min=low)
        assert_same_values(dml.compile(threshold)(x), dml.compile(threshold, path="reference")(x))


DTYPES = ["float16", "float32", "float64", *INTEGERS]


def numbers_of(dtype: str) -> Array:
    """Any bits, and numbers beside the ends of all integers, and beside the numbers halfway between two floats."""
    ends = {sign * (1 << bits) + step for bits in range(66) for sign in (1, -1) for step in range(-2, 3)}
    ends |= {sign * ((1 << 61) + (1 << bits) + step) for bits in (37, 8) for sign in (1, -1) for step in (-1, 0, 1)}
    if dtype.startswith("float"):
        halves = [2.0**-25, 2.0**-24 * 1.5, 65519.996, 65520, 1.00048828125, 1 + 2.0**-24, 1e-310, 1e300, 1e-46]
        near = np.concatenate([np.array([*map(float, sorted(ends)), *halves]) * one for one in (1, 1 + 2.0**-40, -0.5)])
        with np.errstate(all="ignore"):
            held = near.astype(dtype)
    else:
        info = np.iinfo(dtype)
        held = np.array([value for value in sorted(ends) if info.min <= value <= info.max], dtype)
    return np.concatenate([any_bits(3, (1300,), dtype), held])


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_data_type_becomes_each(dtype: str) -> None:
    """As many as loops convert in blocks, and as few as are left of a register; from every other element, and back."""
    x = numbers_of(dtype)
    wide = np.zeros((x.size, 2), dtype)
    wide[:, 0] = x
    for other in DTYPES:
        expected = reference.elementwise.cast(x, other)
        assert_same_values(dml.cast(x, output_dtype=other.upper()), expected)
        assert_same_values(dml.cast(wide[:, 0], output_dtype=other.upper()), expected)
        for count in (1, 3, 13, 31):
            into = np.zeros(2 * count, other)
            dml.cast(x[-count:][::-1], output_dtype=other.upper(), out=into[1::2])
            assert_same_values(into[1::2].copy(), expected[-count:][::-1].copy())
            assert not into[::2].copy().view(np.uint8).any()


@pytest.mark.parametrize("level", ["baseline", pytest.param("wide", marks=deep)])
def test_levels_convert_alike(level: str) -> None:
    program = f"""
        import hashlib
        import numpy as np
        import dmlcy as dml
        room = np.random.default_rng(1).bytes(1 << 15)
        for dtype in {DTYPES}:
            x = np.frombuffer(room, dtype)
            x = x * np.exp2(np.arange(x.size) % 80 - 40).astype(dtype) if x.dtype.kind == "f" else x
            for other in {DTYPES}:
                found = np.nan_to_num(dml.cast(x, output_dtype=other.upper()))
                print(f"CAST-{{dtype}}-{{other}}", hashlib.sha256(found.tobytes()).hexdigest())
    """
    assert_same_lines(level, "-P", "-c", "import warnings; warnings.simplefilter('ignore')" + textwrap.dedent(program))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_scaled_integers_are_cut_to_the_range(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([[info.min, info.max, 0, 1]], dtype)
    found = dml.element_wise_identity(x, scale_bias=(3, -1))
    assert found.tolist() == [[info.min, info.max, -1 if info.min else 0, 2]]


def test_the_last_tile_of_transposed_rows_is_narrower() -> None:
    """An operand that repeats an element in each row is loaded for as many elements as the tile has."""
    random = np.random.default_rng(5)
    a = random.standard_normal((3, 100, 32)).astype(np.float32).swapaxes(1, 2)
    b = np.broadcast_to(random.standard_normal((3, 32, 1)).astype(np.float32), a.shape)
    np.testing.assert_array_equal(dml.element_wise_add(a, b), a + b)


def test_bases_of_powers_are_scaled_in_float32() -> None:
    """Powers with exponents of 32 bits are computed in FLOAT64; the scaled base is a number of FLOAT32 all the same."""
    x, exponent = np.array([[1.2, 0.3]], np.float32), np.array([[100, -77]], np.int32)
    descs = [dml.TensorDesc.from_array(one) for one in (x, exponent)]
    power = dml.desc.ElementWisePow(input=descs[0], exponent=descs[1], output=descs[0], scale_bias=(0.1, 0.7))
    testing.assert_result(power, {"input": x, "exponent": exponent}, dml.compile(power)(x, exponent), bound="own")


def test_a_factor_below_the_normal_numbers() -> None:
    x = np.array([[358.47333, -7.0, 3e38]], np.float32)
    desc = dml.desc.ActivationHardSwish(input=dml.TensorDesc.from_array(x), alpha=1e-45, beta=1e-45)
    testing.assert_result(desc, {"input": x}, dml.compile(desc)(x), bound="own")


def test_threads_with_many_activations() -> None:
    """More descs than are kept, whose comparison lets other threads run."""
    program = """
        import sys, threading
        import numpy as np
        import dmlcy as dml
        sys.setswitchinterval(1e-5)
        x = np.ones((1, 1, 1, 70), np.float32)
        descs = [dml.desc.ActivationLinear(alpha=i, beta=0) for i in range(400)]
        def call(step):
            for i in range(400):
                at = i * step % 400
                assert dml.element_wise_add1(x, x, fused_activation=descs[at])[0, 0, 0, 69] == 2 * at
        threads = [threading.Thread(target=call, args=(step,)) for step in (1, 3, 7, 9)]
        [one.start() for one in threads]
        [one.join() for one in threads]
        print("done")
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


HOSTS = [
    (one, name)
    for one in FAST.values()
    if one.family == "elementwise"
    for field in one.fields
    for name, _ in field.among
]


def numbers_for(operator: Operator) -> dict[str, Any]:
    """A value of each attribute that is a number or a switch."""
    return {one.python: one.type == "float" and 0.5 for one in operator.fields if one.type in ("bool", "float")}


@each_of("host, activation", HOSTS)
def test_hosts_with_loops_apply_each_activation(host: Operator, activation: str) -> None:
    """A loop calls the loops of the activation, and does not ask whether there are any."""
    (field,) = (one for one in host.fields if one.among)
    numbers = USES[activation].attributes | numbers_for(FAST[activation])
    fused = getattr(dml.desc, FAST[activation].desc)(**numbers)
    inputs = [one.python for one in host.fields if one.kind == "input"]
    if host.family == "elementwise":
        x = np.linspace(0.5, 3, 2 * 5 * 7, dtype=np.float32).reshape(1, 2, 5, 7)
        arrays = dict.fromkeys(inputs, x)
        given = dict.fromkeys(inputs, dml.TensorDesc.from_array(x)) | numbers_for(host) | {field.python: fused}
        desc = getattr(dml.desc, host.desc)(**given)
    else:  # inputs of one size need not go together
        use = USES[host.name]
        arrays, desc = {one: use.arrays[one] for one in inputs}, use.make({**use.values(), field.python: fused})
    testing.assert_result(desc, arrays, dml.compile(desc)(*arrays.values()), bound="own")
