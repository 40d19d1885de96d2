"""Fused activations: descs of listed operators without tensors, alone and in arrays."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = dml.TensorDesc("FLOAT32", (1, 2, 3, 4))
C = dml.TensorDesc("FLOAT32", (1, 2, 1, 1))
HOST = "DML-BATCH_NORMALIZATION-fused_activation-"
Leaky, Relu, Celu = dml.desc.ActivationLeakyRelu, dml.desc.ActivationRelu, dml.desc.ActivationCelu


def host(activation: Any = None) -> Any:
    return dml.desc.BatchNormalization(input=X, mean=C, variance=C, scale=C, bias=C, fused_activation=activation)


def rnn(*activations: Any, direction: str = "FORWARD") -> Any:
    two = 2 if direction == "BIDIRECTIONAL" else 1
    x, w, r = ((1, 1, 8, 4), (1, two, 5, 4), (1, two, 5, 5))
    tensors = {n: dml.TensorDesc("FLOAT32", s) for n, s in (("input", x), ("weight", w), ("recurrence", r))}
    return dml.desc.Rnn(**tensors, activation_descs=activations, direction=direction)


def seen(desc: Any, level: Any = None) -> list[tuple[str, str | None]]:
    return [(one.id, one.field) for one in dml.check(desc, level)]


def again(desc: Any) -> Any:
    return dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))


def in_json(value: Any) -> Any:
    model = host().to_dict()
    model["desc"]["FusedActivation"] = value
    return dml.desc.OperatorDesc.from_dict(copy.deepcopy(model))


def test_an_activation_needs_no_tensors() -> None:
    assert Leaky().alpha == 0.01 and Leaky(alpha=0.5).input is None
    assert [one.id for one in dml.check(Leaky())][:1] == ["DML-ACTIVATION_LEAKY_RELU-input-required"]
    d = host(Leaky(alpha=0.5))
    assert dml.check(d) == [] and d.fused_activation == Leaky(alpha=0.5) and host().fused_activation is None
    assert dml.check(host()) == [] and d != host() and d == host(Leaky(alpha=0.5)) and hash(d) == hash(again(d))
    assert "fused_activation=ActivationLeakyRelu(input=None, output=None, alpha=0.5)" in repr(d)
    assert "alpha=0.5" in d._repr_html_()


def test_json_is_nested() -> None:
    d = host(Leaky(alpha=0.5))
    nested = {"InputTensor": None, "OutputTensor": None, "Alpha": 0.5}
    assert d.to_dict()["desc"]["FusedActivation"] == {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Desc": nested}
    assert again(d) == d and dml.check(again(d)) == [] and again(host()) == host()
    for value in (
        {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Desc": {"Alpha": 0.5}},
        {"Type": "ACTIVATION_LEAKY_RELU", "Desc": {"Alpha": 0.5, "InputTensor": None}},
        {"type": "ACTIVATION_LEAKY_RELU", "desc": {"Alpha": 0.5}},
        {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5},
    ):
        assert dml.check(in_json(value)) == [] and in_json(value) == d == host(value)


@pytest.mark.parametrize("value", ["ACTIVATION_RELU", 3, {}, [], {"Type": 3}, (Relu(),), X, Relu, {"Desc": {}}])
def test_something_else_is_no_desc(value: Any) -> None:
    assert seen(host(value)) == [(f"{HOST}type", "fused_activation")]
    assert dml.check(host(value))[0].message.startswith("fused_activation must be the desc of an operator, not ")
    assert repr(host(value)) and hash(host(value)) == hash(host(value)) and host(value)._repr_html_()


@pytest.mark.parametrize("value", ["ACTIVATION_RELU", 3, {}, [], {"Type": 3}, {"Desc": {}}])
def test_something_else_is_no_desc_in_json(value: Any) -> None:
    (found,) = dml.check(in_json(value))
    assert found.message.startswith('fused_activation must be an object with the members "Type" and "Desc", not ')


def test_an_operator_that_the_host_does_not_take() -> None:
    for value in (host(), {"Type": "DML_OPERATOR_BATCH_NORMALIZATION"}, {"Type": "ELEMENT_WISE_CLIP", "Min": 0}):
        (found,) = dml.check(host(value))
        assert found.id == f"{HOST}member" and "which is not among ACTIVATION_LINEAR, " in found.message
    (found,) = dml.check(in_json({"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RLU"}))
    assert found.hint == 'Did you mean "ACTIVATION_LEAKY_RELU"?' and found.fix == "ACTIVATION_LEAKY_RELU"


def test_an_activation_of_a_later_level() -> None:
    d = host(Celu())
    assert dml.check(d) == [] and seen(d, "2_0") == [(f"{HOST}level", "fused_activation")]
    (found,) = dml.check(d, "2_0")
    assert found.error == "FeatureLevelError" and found.level == "3_0"
    assert found.message.startswith("fused_activation ACTIVATION_CELU needs feature level 3_0 ")
    minimum = dml.minimum_feature_level(d)
    assert minimum.level == "3_0" and [one.subject for one in minimum.forced_by] == ["fused_activation ACTIVATION_CELU"]
    assert dml.minimum_feature_level(host(Leaky())).level == "1_0"


def test_an_activation_with_tensors() -> None:
    assert seen(host(Leaky(input=X))) == [(f"{HOST}tensors", "fused_activation")]
    found = dml.check(host(Leaky(input=X, output=X)))
    assert [one.member for one in found] == ["input"]
    assert found[0].message.startswith("fused_activation.input is given, and ")
    found = dml.check(in_json({"Type": "ACTIVATION_RELU", "InputTensor": X.to_dict()}))
    assert [one.id for one in found] == [f"{HOST}tensors"]


def test_a_wrong_member_inside() -> None:
    for value, slug in ((math.nan, "finite"), ("x", "type"), (2000, "small")):
        (found,) = dml.check(host(Leaky(alpha=value)))
        assert (found.id, found.field) == (f"DML-ACTIVATION_LEAKY_RELU-alpha-{slug}", "fused_activation.alpha")
        assert found.message.startswith("fused_activation.alpha ") and found.operator == "BATCH_NORMALIZATION"
    (found,) = dml.check(in_json({"Type": "ACTIVATION_LEAKY_RELU"}))
    assert (found.id, found.field) == ("DML-ACTIVATION_LEAKY_RELU-alpha-required", "fused_activation.alpha")
    (found,) = dml.check(in_json({"Type": "ACTIVATION_RELU", "Alpha": 1}))
    assert (found.id, found.field) == ("DML-ACTIVATION_RELU-operator-unknown", "fused_activation")
    assert found.message == 'fused_activation has no member "Alpha".'


def test_arrays_of_activations() -> None:
    d = rnn(Relu())
    assert dml.check(d) == [] and d.activation_desc_count == 1 and again(d) == d
    d = rnn(Leaky(alpha=0.5), {"Type": "ACTIVATION_CELU", "Alpha": 3.5}, direction="BIDIRECTIONAL")
    assert dml.check(d) == [] and d.activation_descs == (Leaky(alpha=0.5), Celu(alpha=3.5)) and again(d) == d
    begin = "DML-RNN-activation_descs-"
    assert seen(d, "2_0") == [(f"{begin}level", "activation_descs[1]")]
    assert seen(rnn(Relu(), Relu())) == [(f"{begin}length", "activation_descs")]
    assert seen(rnn(Leaky(alpha=math.inf))) == [("DML-ACTIVATION_LEAKY_RELU-alpha-finite", "activation_descs[0].alpha")]
    assert seen(rnn(None)) == [(f"{begin}type", "activation_descs[0]")]
    assert seen(rnn(Relu(output=X))) == [(f"{begin}tensors", "activation_descs[0]")]
    assert seen(rnn({"Type": "GEMM"})) == [(f"{begin}member", "activation_descs[0]")]
    for value in (Relu(), {"Type": "ACTIVATION_RELU"}, "x", 3, X):
        d = dml.desc.Rnn(**{**_values(rnn(Relu())), "activation_descs": value})
        assert seen(d) == [(f"{begin}type", "activation_descs")]
    found = dml.check(rnn(*[Leaky(alpha=math.nan)] * 4000))
    assert len(found) == 11 and all(len(one.message) < 500 for one in found)
    assert len(dml.check(rnn(*[Relu()] * 10**5))) == 1


def _values(desc: Any) -> dict[str, Any]:
    return {field.python: getattr(desc, field.python) for field in desc.operator.fields}


def test_nothing_is_nested_too_deep() -> None:
    d: Any = host()
    for _ in range(1100):
        d = host(d)
    assert seen(d) == [(f"{HOST}member", "fused_activation")]
    assert len(repr(d)) < 100_000 and isinstance(hash(d), int) and json.dumps(d.to_dict(), default=str) and d == d
    value: Any = {}
    for _ in range(1100):
        value = {"Type": "BATCH_NORMALIZATION", "Desc": {"FusedActivation": value}}
    assert seen(in_json_as_is(value)) == [(f"{HOST}member", "fused_activation")]


def in_json_as_is(value: Any) -> Any:
    model = host().to_dict()
    model["desc"]["FusedActivation"] = value
    return dml.desc.OperatorDesc.from_dict(model)


def test_formulas_ask_whether_there_is_one() -> None:
    half = {
        n: dml.TensorDesc("FLOAT16", getattr(host(), n).sizes) for n in ("input", "mean", "variance", "scale", "bias")
    }
    assert dml.check(dml.desc.BatchNormalization(**half)) == []
    for activation in (Leaky(), Leaky(alpha=math.nan), {"Type": "ACTIVATION_RELU"}):
        found = seen(dml.desc.BatchNormalization(**half, fused_activation=activation))
        assert found[-1] == (f"{HOST}of-float32", "fused_activation")
    assert dml.check(host(np.zeros(3)))[0].id == f"{HOST}type"
