"""Messages about sizes, counts and data types are right, and their advice works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each_of
from example_descs import inputs_of

import dmlcy as dml
from dmlcy._facts.tables import OPERATORS, RUNNABLE
from dmlcy._field_types.wording import nearest_dtype
from dmlcy._show.explain.find import find
from dmlcy._words.values import show

Array = np.ndarray[Any, Any]


def ones(*sizes: int, dtype: str = "float32") -> Array:
    return np.ones(sizes, dtype)


ANY: Any = dml
"""The package without its types, for a call that they refuse."""
CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "the names of the axes": (
        lambda: dml.average_pooling(ones(8, 8, 3), window_size=2),
        "input has 3 dimensions, and must have 4 or 5. The axes of input are {N, C, H, W} or {N, C, D, H, W}. "
        "Add a missing axis with input[numpy.newaxis].",
    ),
    "one dimension": (
        lambda: dml.space_to_depth(ones(2), block_size=2),
        "input has 1 dimension, and must have 4. The axes of input are {N, C, H, W}.",
    ),
    "an entry for each axis": (
        lambda: dml.padding1(ones(2, 3, 4), start_padding=(1, 1), end_padding=0),
        "start_padding has 2 entries and needs 3, one for each axis of input. input is (2, 3, 4).",
    ),
    "an entry for each spatial axis": (
        lambda: dml.unfold(ones(3, 224, 224), window_sizes=(16, 16)),
        "window_sizes has 2 entries and needs 1, one for each spatial axis of input. "
        "input is (3, 224, 224), read as {N, C, S...}.",
    ),
    "a single entry": (
        lambda: dml.average_pooling(ones(1, 2, 3, 4), window_size=(1,)),
        "window_size has 1 entry and needs 2, one for each spatial axis of input. "
        "input is (1, 2, 3, 4), read as {N, C, H, W}.",
    ),
    "spatial axes that a call chooses": (
        lambda: dml.fold(ones(1, 9, 4), output_sizes=(4, 4), window_sizes=(3, 3, 3)),
        "window_sizes has 3 entries and needs 2, one for each spatial axis of output. output_sizes is (4, 4).",
    ),
    "channels last": (
        lambda: dml.unfold(ones(224, 224, 3), window_sizes=16),
        "window_sizes[0] does not fit: span of the window[0] = 16 must be <= padded size[0] = 3. "
        "input is (224, 224, 3), read as {N, C, S...}. "
        "Increase the padding, or reduce window_sizes or dilations. Nearest valid value: 3.",
    ),
    "channels last of a block": (
        lambda: dml.space_to_depth(ones(1, 4, 4, 3), block_size=2),
        "block_size does not divide the height and the width: H = 4, block_size = 2, W = 3. "
        "input is (1, 4, 4, 3), read as {N, C, H, W}. "
        "The height and the width must be multiples of block_size. Pad the input to such sizes.",
    ),
    "the axis that is read as the batch": (
        lambda: dml.multihead_attention(*[ones(2, 8, 5, 64)] * 3, head_count=8, scale=0.125),
        "query has sizes (2, 8, 5, 64), and must have (1, 8, 5, 64): [1, batch, sequence, query hidden]. "
        "The axes are {batch, sequence, heads * size}. "
        "If x has PyTorch's axes {batch, heads, sequence, size}, pass "
        "x.transpose(0, 2, 1, 3).reshape(batch, sequence, -1).",
    ),
    "sizes of a call without batch and channels": (
        lambda: dml.max_pooling2(ones(1, 1, 6, 6), window_size=3, output_sizes=(4, 4)),
        "output has 2 dimensions, and must have 4 or 5. output_sizes are the sizes of all axes of the output.",
    ),
    "a stride that does not divide": (
        lambda: dml.max_pooling2(ones(1, 1, 6, 6), window_size=3, strides=2, output_sizes=(1, 1, 4, 4)),
        "output has sizes (1, 1, 4, 4), and must have (1, 1, 3, 3): "
        "[sizes(input)[0], sizes(input)[1], *positions of the window]. "
        "Each spatial axis has one element for each whole window. "
        "The axis may have one element more: then the last window reaches past the padding.",
    ),
    "a stride that divides": (
        lambda: dml.max_pooling2(ones(1, 1, 7, 7), window_size=3, strides=2, output_sizes=(1, 1, 4, 4)),
        "output has sizes (1, 1, 4, 4), and must have (1, 1, 3, 3): "
        "[sizes(input)[0], sizes(input)[1], *positions of the window].",
    ),
    "a number that depends on an enum": (
        lambda: dml.dequantize(ones(4, dtype="uint8"), [ones(4)], quantization_type="SCALE_ZERO_POINT"),
        "quantizations does not have the number of tensors that quantization_type needs: "
        "count(quantizations) = 1 must be tensors needed = 2. SCALE needs one tensor: the scale. "
        "SCALE_ZERO_POINT needs two tensors: the scale, then the zero point.",
    ),
    "three spatial axes": (
        lambda: dml.max_pooling(ones(1, 2, 3, 4, 5), window_size=9),
        "window_size[0] does not fit: span of the window[0] = 9 must be <= padded size[0] = 3. "
        "input is (1, 2, 3, 4, 5), read as {N, C, D, H, W}. Increase the padding, or reduce window_size. "
        "Nearest valid value: 3.",
    ),
    "regions of two dimensions": (
        lambda: dml.roi_pooling(ones(1, 1, 8, 8), ones(7, 4), spatial_scale=1.0, pooled_size=2),
        "roi has sizes (7, 4), and must have (7, 5): [regions, 5].",
    ),
    "regions of four dimensions": (
        lambda: dml.roi_pooling(ones(1, 1, 8, 8), ones(1, 1, 7, 4), spatial_scale=1.0, pooled_size=2),
        "roi has sizes (1, 1, 7, 4), and must have (1, 1, 7, 5): [1, 1, regions, 5].",
    ),
    "a region of a batch that is not there": (
        lambda: dml.roi_pooling(ones(1, 1, 8, 8), ones(7, 5), spatial_scale=1.0, pooled_size=2),
        "roi[0] is not the index of an item of the batch: roi[0, 0, 0, 0] = 1.0, N = 1. "
        "The first entry of a region must be a whole number from 0 to N - 1.",
    ),
    "a data type": (
        lambda: dml.average_pooling(ones(1, 1, 4, 4, dtype="float64"), window_size=2),
        "input has data type FLOAT64, which is not among FLOAT32, FLOAT16. Pass input.astype(numpy.float32).",
    ),
    "out of a data type that follows from an input": (
        lambda: dml.element_wise_add(ones(2), ones(2), out=ones(2, dtype="float64")),
        "out has data type FLOAT64, which is not among FLOAT32, FLOAT16, INT32, UINT32, INT64, UINT64, INT16, INT8, "
        "UINT16, UINT8. The output has the data type of a: FLOAT32.",
    ),
    "a name that is no data type": (
        lambda: dml.quantize(ones(4), [ones(4)], quantization_type="SCALE", output_dtype="INT3"),
        'output has data type "INT3", which is not among INT8, INT4, UINT8, UINT4.',
    ),
    "elements of 4 bits as bytes": (
        lambda: dml.quantize(
            ones(4), [ones(4), ones(4, dtype="int8")], quantization_type="SCALE_ZERO_POINT", output_dtype="INT4"
        ),
        "quantizations[1] has a data type that does not fit input and output: "
        "dtype(quantizations[1]) = INT8, dtype(input) = FLOAT32, dtype(output) = INT4. "
        "The scale must have the data type of the input. The zero point must have the data type of the output. "
        'dmlcy.packed(array, "INT4", sizes) makes a tensor of INT4.',
    ),
    "a scale of another data type beside elements of 4 bits": (
        lambda: dml.quantize(ones(4), [ones(4, dtype="float16")], quantization_type="SCALE", output_dtype="INT4"),
        "quantizations[0] has a data type that does not fit input and output: "
        "dtype(quantizations[0]) = FLOAT16, dtype(input) = FLOAT32, dtype(output) = INT4. "
        "The scale must have the data type of the input. The zero point must have the data type of the output.",
    ),
    "no sizes of several outputs": (
        lambda: dml.split(ones(1, 1, 4, 4), axis=3),
        "output_sizes is missing. Pass the sizes of each tensor of outputs, or out.",
    ),
    "no sizes of an output": (
        lambda: dml.one_hot(ones(1, 1, 4, 1, dtype="uint32"), ones(1, 1, 1, 2), axis=3),
        "output_sizes is missing. Pass the sizes of output, or out.",
    ),
    "a piece that is too low": (
        lambda: dml.split(ones(1, 1, 4, 4), axis=3, output_sizes=[(1, 1, 4, 3), (1, 1, 3, 1)]),
        "outputs[1] differs in size from the input in a dimension other than Axis: axis = 3, "
        "the sizes of outputs[1] = (1, 1, 3, 1), the sizes of input = (1, 1, 4, 4). input is (1, 1, 4, 4).",
    ),
    "no output": (
        lambda: ANY.gru(
            ones(1, 2, 1, 3),
            ones(1, 1, 12, 3),
            ones(1, 1, 12, 4),
            activation_descs=[dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh()],
        ),
        "output_single is left out, and output_sequence is left out, too. Give at least one of the two outputs: "
        "output_sequence or output_single. "
        "A call asks for an output by its name, such as output_single=True.",
    ),
    "entries of channels": (
        lambda: dml.batch_normalization(ones(1, 3, 4, 4), ones(3), *[ones(1, 3, 1, 1)] * 3, spatial=True, epsilon=1e-5),
        "mean has a different number of dimensions from the input: rank(mean) = 1 must be rank(input) = 4. "
        "input is (1, 3, 4, 4). mean is (3,). "
        "Give the tensor as many dimensions as the input: {1, C, 1, 1} has one element for each of C channels.",
    ),
}


@each_of("name", CALLS)
def test_the_message_of_a_call(name: str) -> None:
    call, text = CALLS[name]
    with pytest.raises(dml.DmlError) as caught:
        call()
    assert caught.value.violations[0].text == text


def test_a_repair_says_the_nearest_valid_value_in_its_place() -> None:
    with pytest.raises(dml.DmlError) as caught:
        dml.top_k(ones(1, 1, 4, 4), k=9, axis=3)
    told = (
        "k is more than the number of elements along the axis: k = 9 must be <= sizes(input)[axis] = 4. "
        "input is (1, 1, 4, 4)."
    )
    (violation,) = caught.value.violations
    assert violation.text == f"{told} Nearest valid value: 4."
    assert str(violation) == f"{told} k=4 is the nearest value that makes this call valid. [DML-TOP_K-k-fits]"


def test_a_count_says_what_it_counts() -> None:
    image = dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    (violation,) = dml.check(dml.desc.AveragePooling(input=image, window_size=2, dimension_count=4))
    assert violation.text == (
        "dimension_count is 4 and must be 2, one for each spatial axis of input. "
        "input is (1, 1, 4, 4), read as {N, C, H, W}."
    )
    assert violation.values["actual"] == 4 and violation.fix == 2


def test_every_count_of_entries_has_words() -> None:
    for operator in OPERATORS.values():
        known = {let.name for let in operator.lets if let.each}
        lengths = [field.length.text for field in (*operator.fields, *operator.chosen) if field.length is not None]
        used = {text for text in lengths if text.isidentifier()}
        assert used <= known, operator


def test_other_sizes_are_not_read_from_sizes_that_are_refused() -> None:
    image = dml.TensorDesc("FLOAT32", (1, 1, "x", 4))  # type: ignore[arg-type]
    found = dml.check(dml.desc.AveragePooling(input=image, window_size=(1, 2, 3)))
    assert [one.text for one in found if one.field == "window_size"] == [
        "window_size has 3 entries and needs 2, one for each spatial axis of input."
    ]


@each_of("given", ["float64", "int64", "bool", "uint8", "float16"])
@each_of("name", RUNNABLE)
def test_the_advice_on_a_data_type_works(name: str, given: str) -> None:
    operator = OPERATORS[name]
    example = operator.examples[0]
    call, arguments = getattr(dml, operator.python), operator.example_arguments(example)
    optional = [field.python for field in operator.fields if field.kind == "output" and field.optional]
    arguments |= {key: example.outputs[key][0] for key in optional if key in example.outputs}
    arrays = inputs_of(operator, example)
    for key, array in arrays.items():
        if array is None or isinstance(array, tuple):  # an array in one of its places
            continue
        changed = {**arrays, key: np.where(np.isfinite(array), array, 0).astype(given)}
        try:
            call(**changed, **arguments)
        except dml.DmlError as error:
            advice = [one.hint for one in error.violations if one.id.endswith(f"-{key}-dtype")]
            for hint in filter(None, advice):
                expression = hint.removeprefix("Pass ").removesuffix(".")
                following = eval(expression, {"numpy": np, **changed})
                try:
                    call(**{**arrays, key: following}, **arguments)
                except dml.DmlError as left:  # other tensors have to follow
                    assert not any(one.id.endswith(f"-{key}-dtype") for one in left.violations)


def test_a_desc_is_told_the_allowed_data_types_only() -> None:
    image = dml.TensorDesc("FLOAT64", (1, 1, 4, 4))
    (violation,) = dml.check(dml.desc.AveragePooling(input=image, window_size=2))
    assert violation.text == "input has data type FLOAT64, which is not among FLOAT32, FLOAT16."


@each_of(
    "dtype, allowed, nearest",
    [
        ("float64", ["FLOAT32", "FLOAT16"], "float32"),
        ("bool", ["FLOAT32", "UINT8"], "uint8"),
        ("bool", ["FLOAT32", "FLOAT16"], "float32"),
        ("uint8", ["FLOAT32", "INT32"], "int32"),
        ("int64", ["FLOAT32", "FLOAT16"], "float32"),
        ("int64", ["INT32", "INT8"], "int32"),
        ("float64", ["INT32"], None),
        ("complex64", ["FLOAT32"], None),
        ("U3", ["FLOAT32"], None),
        ("float64", [], None),
    ],
)
def test_the_nearest_data_type(dtype: str, allowed: list[str], nearest: str | None) -> None:
    assert nearest_dtype(np.dtype(dtype), allowed) == nearest


@each_of("word", sorted({let.name for operator in OPERATORS.values() for let in operator.lets}))
def test_a_quantity_is_explained(word: str) -> None:
    (found,) = [facts for facts in find(word) if facts["kind"] == "quantity" and facts["name"] == word]
    owners = [name for meaning in found["meanings"] for name in meaning["operators"]]
    assert sorted(owners) == sorted(
        operator.name for operator in OPERATORS.values() for let in operator.lets if let.name == word
    )


def test_messages_agree_in_all_ways_to_ask() -> None:
    """A call, its desc, compile and JSON report the same ids; the message of a rule is one text."""
    x = ones(1, 1, 6, 7)
    desc = dml.desc.AveragePooling(input=dml.TensorDesc.from_array(x), window_size=(3, 9))
    (checked,) = dml.check(desc)
    read = dml.desc.OperatorDesc.from_dict(desc.to_dict())
    with pytest.raises(dml.InvalidDescError) as called:
        dml.average_pooling(x, window_size=(3, 9))
    with pytest.raises(dml.InvalidDescError) as compiled:
        dml.compile(desc)
    assert {checked.text, called.value.violations[0].text, compiled.value.violations[0].text} == {checked.text}
    assert checked.text in [one.text for one in dml.check(read)] and show(x.shape) in checked.text


def test_a_value_that_does_not_exist_is_called_unknown() -> None:
    desc = dml.desc.SpaceToDepth(input=dml.TensorDesc("FLOAT32", (1, 1, 2, 0)), block_size=3)
    messages = " ".join(violation.message for violation in dml.check(desc))
    assert "W = unknown" in messages and "None" not in messages
