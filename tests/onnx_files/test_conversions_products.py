"""Products of matrices beside ONNX Runtime: vectors, batches, transposed operands, quantized ones, equations."""

from __future__ import annotations

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import (
    DML,
    MICROSOFT,
    Single,
    bytes_,
    floats,
    ints,
    must_be_refused,
    must_pass,
    outcome_of,
    scale,
    signed,
    zero,
)

INTEGERS_TO_FLOAT = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"


@each_of(
    "single",
    [
        Single("MatMul", [floats(2, 1, 3, 4), floats(5, 4, 2)], {}),
        Single("MatMul", [floats(1, 3, 4), floats(2, 5, 4, 2)], {}),
        Single("MatMul", [floats(4), floats(2, 5, 4, 2)], {}),
        Single("MatMul", [floats(2, 5, 2, 4), floats(4)], {}),
        Single("Gemm", [floats(3, 4), floats(4, 2), floats(3, 1)], {"alpha": 0.5, "beta": 2.0}),
        Single("Gemm", [floats(3, 4), floats(2, 4), scale(3)], {"transB": 1}),
        Single("FusedMatMul", [floats(3, 2), floats(3, 4)], {"transA": 1, "alpha": 0.5}, MICROSOFT),
        Single("FusedMatMul", [floats(5, 2, 3), floats(3, 2, 4)], {"transBatchA": 1, "transBatchB": 1}, MICROSOFT),
        Single(
            "FusedMatMul",
            [floats(3, 2, 5), floats(3, 2, 4)],
            {"transBatchA": 1, "transBatchB": 1, "transA": 1},
            MICROSOFT,
        ),
        Single("FusedMatMul", [floats(3), floats(2, 3, 4)], {}, MICROSOFT),
    ],
)
def test_products(single: Single) -> None:
    must_pass(single, "GEMM")


def test_fused_activations() -> None:
    a, b = floats(3, 4), floats(4, 5)
    product = 0.5 * a @ b
    weights = np.exp(product) / np.exp(product).sum(-1, keepdims=True)
    given = {"activation": "Softmax", "alpha": 0.5}
    must_pass(Single("FusedMatMulActivation", [a, b], given, MICROSOFT, expected=[weights]), "GEMM")
    fused = {"fused_activation": "Tanh", "fused_activation_domain": "", "fused_activation_since_version": 6}
    must_pass(Single("DmlFusedMatMul", [a, b], fused, DML, expected=[np.tanh(a @ b)]), "GEMM")


@each_of(
    "single, operators",
    [
        (
            Single("MatMulInteger", [bytes_(2, 3, 4), signed(4, 2), zero(7), signed(2)], {}, opset=10),
            ["MATRIX_MULTIPLY_INTEGER"],
        ),
        (
            Single(
                "MatMulIntegerToFloat",
                [bytes_(2, 3, 4), bytes_(4, 2), scale(0.1), floats(2), None, bytes_(2), floats(2)],
                {},
                MICROSOFT,
            ),
            [INTEGERS_TO_FLOAT],
        ),
        (
            Single(
                "DynamicQuantizeMatMul",
                [floats(2, 3, 4), bytes_(4, 2), floats(2) ** 2, bytes_(2), floats(2)],
                {},
                MICROSOFT,
            ),
            ["DYNAMIC_QUANTIZE_LINEAR", INTEGERS_TO_FLOAT],
        ),
    ],
)
def test_products_of_integers(single: Single, operators: list[str]) -> None:
    must_pass(single, *operators)


def n_bits(bits: int, blocks: int, *batches: int, zeros: bool = True, kind: str = "float32") -> Single:
    """Six rows of blocks of 16 columns."""
    attributes = {"K": 16 * blocks, "N": 6, "bits": bits, "block_size": 16}
    a, scales = floats(*batches, 3, 16 * blocks).astype(kind), floats(6, blocks).astype(kind)
    inputs = [a, bytes_(6, blocks, 2 * bits), scales, *([bytes_(6, -(-blocks * bits // 8))] if zeros else [])]
    return Single("MatMulNBits", inputs, attributes, MICROSOFT, constants=range(1, len(inputs)))


@each_of(
    "single",
    [
        n_bits(4, 2),
        n_bits(8, 2),
        n_bits(4, 3, 2),
        n_bits(8, 3, 2, 2),
        n_bits(4, 3, zeros=False),
        n_bits(8, 2, 2, zeros=False),
        n_bits(4, 3, 2, kind="float16"),
        n_bits(4, 2, 2)._replace(constants=()),
    ],
)
def test_products_with_packed_weights(single: Single) -> None:
    """Rows of zero points of 4 bits begin with a byte; without any, the middle of the range is the zero point."""
    must_pass(single, "DEQUANTIZE", "GEMM")


def test_packed_weights_that_are_refused() -> None:
    single = n_bits(4, 2)
    a, weights, scales, _ = single.inputs
    assert weights is not None
    for inputs, identifier in (
        ([a, weights, scales, floats(6, 2)], "DML-ONNX-input-type"),
        ([a, weights, scales, bytes_(5)], "DML-ONNX-sizes"),
        ([a, weights, floats(5, 2)], "DML-ONNX-sizes"),
        ([a, weights[:5], scales], "DML-ONNX-sizes"),
        ([a, weights, scales, None, ints(*range(32))], "DML-ONNX-unsupported"),
        ([a, weights, scales, None, None, floats(6)], "DML-ONNX-unsupported"),
    ):
        must_be_refused(single._replace(inputs=inputs, constants=(1, 2)), identifier)
    must_be_refused(single._replace(attributes={**single.attributes, "weight_prepacked": 1}), "DML-ONNX-unsupported")


SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6}
PRODUCTS = (
    "ab,bc->ac", "abc,acd->abd", "abcd,abde->abce", "a,b->ab", "ab,ac->bc", "abc,abd->acd", "abcd,abce->abde",
    "ab,cb->ac", "abc,adc->abd", "abcd,abed->abce", "a,a->", "abcd,adce->abce", "abcd,abce->adce",
    "abcd,aecd->abce", "ab,bc",
)  # fmt: skip
EQUATIONS = {
    "GEMM": PRODUCTS,
    "REDUCE": ("ab->a", "ab->b", "abc->"),
    "ELEMENT_WISE_IDENTITY": ("ab->ba", "abc -> cab", "ab->ab"),
    "ELEMENT_WISE_MULTIPLY": ("ab,ab->ab",),
}
"""Equations that ONNX Runtime recognises, by the operator of DirectML."""


@each_of("operator, equation", [(operator, one) for operator, several in EQUATIONS.items() for one in several])
def test_equations(operator: str, equation: str) -> None:
    left, _, _ = equation.replace(" ", "").partition("->")
    inputs = [floats(*(SIZES[label] for label in labels)) for labels in left.split(",")]
    must_pass(Single("Einsum", inputs, {"equation": equation}), operator)


@each_of("equation", ["abc,c->ab", "aa->a", "...a->a", "ab->c", "ab,bc->ac,", "ab,ab,ab->ab"])
def test_other_equations(equation: str) -> None:
    must_be_refused(Single("Einsum", [floats(2, 2), floats(2, 2)], {"equation": equation}), "DML-ONNX-unsupported")


def test_labels_of_two_sizes() -> None:
    single = Single("Einsum", [floats(2, 3), floats(4, 2)], {"equation": "ij,jk->ik"})
    must_be_refused(single, "DML-ONNX-broadcast")


def test_refused_products() -> None:
    blocks = {"K": 32, "N": 6, "bits": 4, "block_size": 16}
    weights = [floats(3, 32), bytes_(6, 2, 8), floats(12)]
    for single, identifier in (
        (Single("MatMul", [floats(2, 3, 4), floats(3, 4, 5)], {}), "DML-ONNX-broadcast"),
        (Single("MatMul", [floats(2, 3), scale(1)], {}), "DML-ONNX-rank"),
        (Single("Gemm", [floats(2, 3, 4), floats(4, 5)], {}), "DML-ONNX-rank"),
        (Single("MatMulNBits", weights, {**blocks, "bits": 2}, MICROSOFT), "DML-ONNX-attribute-value"),
        (Single("MatMulNBits", weights, {**blocks, "block_size": 5}, MICROSOFT), "DML-ONNX-unsupported"),
    ):
        must_be_refused(single, identifier)


def test_other_numbers_of_columns_are_refused_by_the_rule_of_the_operator() -> None:
    found = outcome_of(Single("MatMul", [floats(2, 3), floats(4, 5)], {}, expected=[floats(2, 5)]))
    assert (found.verdict, found.why) == ("violations", "DML-GEMM-b-rows")
