"""Repairs of descs and calls that are refused: found by single changes of fields, when they are read."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from each import each_of
from example_descs import attributes
from mistakes import Mistake, mistakes

import dmlcy as dml
from dmlcy._check import repairs
from dmlcy._check.checker import Check
from dmlcy._check.repairs import MOST, Asked
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides

DRAWN = 40
"""Mistakes of each of five kinds: 200 in all."""
LEAST = 0.85
"""The part of them of which the right repair must be named."""

IMAGE = np.zeros((2, 4, 3, 3), np.float32)


def tensor(*sizes: int, **members: Any) -> dml.TensorDesc:
    return dml.TensorDesc("FLOAT32", sizes, **members)


def gemm(**changes: Any) -> dml.desc.Gemm:
    """A product whose second matrices are those of nn.Linear."""
    return dml.desc.Gemm(**{"a": tensor(1, 1, 2, 3), "b": tensor(1, 1, 4, 3), **changes})


def same(found: Any, right: Any) -> bool:
    """Whether two values are equal; strides of axes of one element make no difference."""
    if type(found) is not TensorDesc or type(right) is not TensorDesc:
        return bool(found == right)
    return _layout(found) == _layout(right)


def _layout(desc: dml.TensorDesc) -> list[tuple[int, int | None]]:
    strides = desc.strides or packed_strides(desc.sizes)
    return [(size, stride if size > 1 else None) for size, stride in zip(desc.sizes, strides, strict=True)]


def verdict(mistake: Mistake) -> str:
    """The outcome of a mistake's message. The message names the right repair, a wrong one alone, several wrong ones, or
    none.
    """
    found = dml.check(mistake.desc)[0]
    right = [one for one in found.repairs if one.field == mistake.field and same(one.value, mistake.right)]
    if right:
        named = len(found.repairs) <= repairs.NAMED or any(one.text in str(found) for one in right)
        return "right" if named else "not in the message"
    return {0: "none", 1: "wrong alone"}.get(len(found.repairs), "wrong ones")


@pytest.fixture(scope="module")
def made() -> dict[str, list[Mistake]]:
    return mistakes()


def test_the_right_repair_of_a_single_mistake_is_named(made: dict[str, list[Mistake]]) -> None:
    """Mistakes in enums, axes, counts of groups, orders of axes and strides, over the examples of all operators."""
    assert set(made) == {"axis", "count", "enum", "order", "strides"}
    drawn = [one for kind in sorted(made) for one in made[kind][:: len(made[kind]) // DRAWN][:DRAWN]]
    found = Counter(map(verdict, drawn))
    assert found.total() == 200
    assert found["right"] >= LEAST * 200, found
    assert not found["wrong alone"], found


@pytest.mark.deep
def test_no_mistake_has_a_wrong_repair_alone(made: dict[str, list[Mistake]]) -> None:
    every = [one for of_kind in made.values() for one in of_kind]
    found = {str(one): verdict(one) for one in every}
    assert [name for name, one in found.items() if one == "wrong alone"] == []
    assert Counter(found.values())["right"] >= LEAST * len(found)


def test_every_repair_makes_the_desc_valid(made: dict[str, list[Mistake]]) -> None:
    for kind in made.values():
        for one in kind[:: len(kind) // 5]:
            for repair in dml.check(one.desc)[0].repairs:
                name, _, entry = repair.field.partition("[")
                given = {field: getattr(one.desc, field) for field in one.desc._given}
                value = repair.value
                if entry:
                    place = int(entry[:-1])
                    value = (*given[name][:place], value, *given[name][place + 1 :])
                assert dml.check(type(one.desc)(**{**given, name: value})) == [], (str(one), repair)


def test_messages_speak_the_language_of_the_desc() -> None:
    (violation,) = dml.check(gemm())
    assert [(one.field, one.value, one.text) for one in violation.repairs] == [
        ("trans_b", dml.MatrixTransform.TRANSPOSE, "trans_b = TRANSPOSE"),
        ("b", tensor(1, 1, 3, 4), "b.sizes = (1, 1, 3, 4)"),
    ]
    end = "Each of these makes this desc valid: trans_b = TRANSPOSE; b.sizes = (1, 1, 3, 4). [DML-GEMM-b-rows]"
    assert str(violation).endswith(end)
    (violation,) = dml.check(gemm(output=tensor(1, 1, 2, 4), trans_a="TRANSPOSE", a=tensor(1, 1, 3, 2)))
    assert violation.repairs[0].text == "trans_b = TRANSPOSE"


def test_messages_speak_the_language_of_json() -> None:
    (violation,) = dml.check(dml.desc.OperatorDesc.from_dict(gemm(output=tensor(1, 1, 2, 4)).to_dict()))
    transpose, sizes = violation.repairs
    assert (transpose.field, transpose.value) == ("trans_b", "DML_MATRIX_TRANSFORM_TRANSPOSE")
    assert transpose.text == '"TransB": "DML_MATRIX_TRANSFORM_TRANSPOSE"'
    assert (sizes.field, sizes.value["Sizes"]) == ("b", [1, 1, 3, 4])
    assert sizes.text == '"BTensor": {"Sizes": [1, 1, 3, 4]}'
    assert violation.to_json()["repairs"][0] == {
        "field": "trans_b", "value": "DML_MATRIX_TRANSFORM_TRANSPOSE", "text": transpose.text,
    }  # fmt: skip
    shown = dml.check(gemm())[0].to_json()["repairs"]
    assert [one["value"] for one in shown] == ["TRANSPOSE", tensor(1, 1, 3, 4).to_dict()]


LINEAR = {"a": np.zeros((1, 1, 2, 3), np.float32), "b": np.zeros((1, 1, 4, 3), np.float32)}
FILTER = np.zeros((4, 4, 2, 2), np.float32)
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("gemm", LINEAR, 'trans_b="TRANSPOSE"'),
    ("gemm", LINEAR, "b=b.swapaxes(2, 3)"),
    (
        "gemm",
        {"a": LINEAR["a"], "b": LINEAR["a"], "trans_b": "TRANSPOSE", "c": np.zeros(2, np.float32)},
        "c=numpy.broadcast_to(c, (1, 1, 2, 2))",
    ),
    ("element_wise_add", {"a": IMAGE, "b": IMAGE[:1, :, :1, :1]}, "b=numpy.broadcast_to(b, (2, 4, 3, 3))"),
    (
        "element_wise_add",
        {"a": IMAGE, "b": IMAGE[0, :, 0, 0]},
        "b=numpy.broadcast_to(b.reshape(1, 4, 1, 1), (2, 4, 3, 3))",
    ),
    ("gemm", {"a": IMAGE[0], "b": IMAGE[0, 0]}, "b=numpy.broadcast_to(b, (4, 3, 3))"),
    ("gemm", {"a": IMAGE, "b": IMAGE[:1]}, "b=numpy.broadcast_to(b, (2, 4, 3, 3))"),
    ("gemm", {"a": IMAGE, "b": IMAGE[:1, :, :, :2]}, "b=numpy.broadcast_to(b, (2, 4, 3, 2))"),
    ("convolution", {"input": IMAGE, "filter": FILTER[:, :1]}, "group_count=4"),
    ("convolution", {"input": IMAGE, "filter": FILTER, "bias": IMAGE[0, :, 0, 0]}, "bias=bias.reshape(1, 4, 1, 1)"),
    ("convolution", {"input": np.moveaxis(IMAGE, 1, -1), "filter": FILTER}, "input=numpy.moveaxis(input, -1, 1)"),
    ("activation_softmax1", {"input": IMAGE, "axes": (-1, -2)}, "axes=(3, 2)"),
    ("join", {"inputs": (IMAGE, IMAGE[:, :2]), "axis": -3}, "axis=1"),
    ("cumulative_summation", {"input": IMAGE, "axis": -1}, "axis=3"),
)


@each_of("name, arguments, change", CALLS)
def test_the_text_of_a_repair_can_be_written_into_the_call(name: str, arguments: dict[str, Any], change: str) -> None:
    function = getattr(dml, name)
    with pytest.raises(dml.DmlError) as caught:
        function(**arguments)
    assert change in [one.text for one in caught.value.repairs]
    assert "this call valid" in str(caught.value)
    function(**{**arguments, **eval(f"dict({change})", {"numpy": np, **arguments})})


@pytest.mark.parametrize("every", [400, pytest.param(3, marks=pytest.mark.deep)])
def test_every_text_of_a_call_can_be_written_into_it(made: dict[str, list[Mistake]], every: int) -> None:
    drawn = [one for kind in sorted(made) for one in made[kind][:: min(every, len(made[kind]) // 5)]]
    tried = 0
    for mistake in drawn:
        function = getattr(dml, mistake.desc.operator.python)
        inputs = [field.python for field in mistake.desc.operator.fields if field.kind == "input"]
        arguments = {name: ones(getattr(mistake.desc, name)) for name in inputs} | attributes(mistake.desc)
        try:
            function(**arguments)
            continue  # the mistake was in an output, which a call does not have
        except dml.InvalidDataError:
            continue
        except dml.DmlError as caught:
            found = [one.text for one in caught.repairs if " = " not in one.text]
        for text in found:
            tried += 1
            with suppress(dml.InvalidDataError):  # elements that were 1 before
                function(**{**arguments, **eval(f"dict({text})", {"numpy": np, **arguments})})
    assert tried >= 20


def ones(desc: Any) -> Any:
    """Arrays for the inputs of a desc."""
    if type(desc) is tuple:
        return tuple(map(ones, desc))
    return None if desc is None else np.ones(desc.sizes, desc.dtype.name.lower())


def test_values_of_other_types_do_not_disturb_the_search() -> None:
    garbage = dml.TensorDesc("FLOAT32", (0, 1, 2, 3), strides=[1.5, "2"], flags=object())  # type: ignore[list-item, arg-type]
    (violation,) = dml.check(gemm(a=garbage))[:1]
    assert violation.repairs == () and "makes this" not in str(violation)


def test_axes_of_a_fused_activation_are_counted_from_the_end() -> None:
    softmax = dml.desc.ActivationSoftmax1(axes=(-1,))
    (violation,) = dml.check(gemm(b=tensor(1, 1, 3, 4), fused_activation=softmax))
    assert [(one.field, one.value) for one in violation.repairs] == [("fused_activation.axes", (3,))]
    given = dml.desc.OperatorDesc.from_dict(
        gemm(b=tensor(1, 1, 3, 4), output=tensor(1, 1, 2, 4), fused_activation=softmax).to_dict()
    )
    assert [one.text for one in dml.check(given)[0].repairs] == ['"FusedActivation.Axes": [3]']


def test_outputs_that_a_desc_infers_follow_the_change_and_those_it_says_stay() -> None:
    free = dml.check(dml.desc.Convolution(input=tensor(1, 8, 5, 5), filter=tensor(8, 1, 3, 3)))
    output = tensor(1, 8, 3, 3)
    said = dml.check(dml.desc.Convolution(input=tensor(1, 8, 5, 5), filter=tensor(8, 1, 3, 3), output=output))
    assert {one.field for one in free[0].repairs} > {"direction", "group_count"}
    assert [one.text for one in said[0].repairs] == ["group_count = 8"]


def test_the_search_is_made_when_a_message_is_read_and_never_before(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    search = Asked.search

    def counted(asked: Asked) -> Any:
        searches.append(asked)
        return search(asked)

    monkeypatch.setattr(Asked, "search", counted)
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.gemm(np.zeros((1, 1, 2, 3), np.float32), np.zeros((1, 1, 4, 3), np.float32))
    found = dml.check(gemm())
    assert (caught.value.id, caught.value.field, caught.value.hint != "") == ("DML-GEMM-b-rows", "b", True)
    assert repr(found) and found == dml.check(gemm()) and hash(found[0]) and not searches
    assert str(caught.value) == str(caught.value) and caught.value.repairs
    assert len(searches) == 1
    assert str(found[0]) and found[0].repairs and found[0].to_json()["repairs"]
    assert len(searches) == 2


def test_a_search_makes_few_checks_and_says_the_same_again(
    made: dict[str, list[Mistake]], monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = []
    start = Check._run

    def counted(check: Check) -> Any:
        passes.append(check.path)
        return start(check)

    monkeypatch.setattr(Check, "_run", counted)
    most = 0
    for one in (one for kind in made.values() for one in kind[:: len(kind) // 10]):
        first, again = dml.check(one.desc)[0], dml.check(one.desc)[0]
        passes.clear()
        text = str(first)
        most = max(most, passes.count(None))
        assert text == str(again)
    assert 20 < most <= MOST
    passes.clear()
    sizes = tensor(2, 3, 4, 5, 6, 7, 8, 9)
    (violation,) = dml.check(dml.desc.ElementWiseAdd(a=sizes, b=tensor(1, 1, 1, 1, 1, 1, 1, 2), output=sizes))
    assert violation.repairs == () and passes.count(None) - 3 <= MOST


def test_an_error_keeps_no_array_alive() -> None:
    arrays = [np.zeros((1, 1, 2, 3), np.float32), np.zeros((1, 1, 4, 3), np.float32)]
    alive = [weakref.ref(one) for one in arrays]
    error = None
    try:
        dml.gemm(*arrays)
    except dml.DmlError as caught:
        error = caught.with_traceback(None)
    arrays.clear()
    gc.collect()
    assert [one() for one in alive] == [None, None]
    assert error is not None and error.repairs[0].text == 'trans_b="TRANSPOSE"'
    window = np.full(2, 9)
    known = weakref.ref(window)
    (found, *_) = dml.check(dml.desc.AveragePooling(input=tensor(1, 1, 4, 4), window_size=window))
    del window
    gc.collect()
    assert known() is None and found.repairs == ()


def test_violations_and_errors_can_be_copied_and_pickled() -> None:
    (violation,) = dml.check(gemm())
    for again in (pickle.loads(pickle.dumps(violation)), copy.copy(violation), copy.deepcopy(violation)):
        assert (again, again.repairs, str(again)) == (violation, violation.repairs, str(violation))
    error = dml.InvalidDescError([violation], "gemm")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_nothing_is_proposed_for_what_no_other_field_mends() -> None:
    wrong = (
        gemm(b=None),  # not there
        gemm(trans_b="BOGUS"),
        gemm(b=dml.TensorDesc("UINT8", (1, 1, 4, 3))),
        gemm(alpha="2"),
        gemm(a=tensor(1, 1, 2, 5), trans_a="TRANSPOSE", b=tensor(1, 1, 4, 3)),  # no single change
    )
    for desc in wrong:
        found = dml.check(desc)
        assert found and all(one.repairs == () for one in found), found
        assert "valid:" not in str(found[0]) and "makes this" not in str(found[0])


def test_values_and_memory_are_no_matter_of_other_fields() -> None:
    indices = np.full((1, 1, 1, 1), 9, np.uint32)
    with pytest.raises(dml.InvalidDataError) as caught:
        dml.gather(np.zeros((1, 1, 4, 4), np.float32), indices, axis=3, index_dimensions=1)
    assert caught.value.repairs == ()
    a, b = np.zeros((1, 1, 3, 3), np.float32), np.zeros((1, 1, 3, 3), np.float32)
    a.flags.writeable = False
    with pytest.raises(dml.DmlError) as refused:
        dml.gemm(a, b, out=a)
    assert refused.value.repairs == ()


def test_the_nearest_valid_value_is_among_the_repairs() -> None:
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.top_k1(np.zeros((3, 4), np.float32), axis=1, k=9)
    assert caught.value.violations[0].fix == 4 and [one.value for one in caught.value.repairs] == [4, 1, 3, 2]
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.depth_to_space1(np.zeros((1, 8, 2, 2), np.float32), block_size=3)
    assert [one.value for one in caught.value.repairs] == [1, 2]
    outputs: dict[str, Any] = {"output_value": tensor(3, 2), "output_index": dml.TensorDesc("UINT32", (3, 2))}
    (found,) = dml.check(dml.desc.TopK1(input=tensor(3, 4), axis=1, k=9, **outputs))
    assert [one.value for one in found.repairs] == [2]


def test_repairs_come_from_the_level_that_was_asked() -> None:
    """An axis more is no repair at a level that does not have so many."""
    levels: tuple[Any, ...] = ("1_0", "3_0")
    sizes = tensor(2, 3, 4, 4)
    found = [
        dml.check(dml.desc.ElementWiseIdentity(input=sizes, output=tensor(1, 1, 2, 3, 4, 4)), one) for one in levels
    ]
    assert all(dml.check(dml.desc.ElementWiseIdentity(input=sizes, output=sizes), one) == [] for one in levels)
    texts = [[repair.text for one in at[:1] for repair in one.repairs] for at in found]
    assert "input.sizes = (1, 1, 2, 3, 4, 4)" not in texts[0]
    assert "input.sizes = (1, 1, 2, 3, 4, 4)" in texts[1]


def test_a_graph_names_the_repairs_of_a_node() -> None:
    graph = dml.Graph(collect=True)
    a, b = graph.input(tensor(1, 1, 2, 3)), graph.input(tensor(1, 1, 4, 3))
    found = dml.check(graph.build(graph.gemm(a, b, outputs=[tensor(1, 1, 2, 4)])))
    (violation,) = (one for one in found if one.id == "DML-GEMM-b-rows")
    assert [one.text for one in violation.repairs] == ['trans_b="TRANSPOSE"', "b.sizes = (1, 1, 3, 4)"]


def test_a_repair_of_ones_in_front_names_them() -> None:
    """No repair is the argument as it is."""
    with pytest.raises(dml.DmlError) as raised:
        dml.join([IMAGE, IMAGE[0]], axis=0)
    found = [text.split(" = ", 1)[1] for text in str(raised.value).split(": ")[-1].rstrip(".").split("; ")]
    assert "inputs[1].reshape(1, 4, 3, 3)" in found
    assert all(text.partition(" [")[0] != "inputs[1]" for text in found)
