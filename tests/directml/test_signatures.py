"""Names, signatures and defaults of dmlcy.directml, compared with the facts about PyDirectML in tests/facts."""

from __future__ import annotations

import enum
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dmlcy
from dmlcy import directml as d

FACTS = tomllib.loads((Path(__file__).parents[1] / "facts" / "directml.toml").read_text(encoding="utf-8"))
FUNCTIONS = {one["name"]: one for one in FACTS["function"]}
OLDER_ONLY = (
    "Binding", "GraphBuilder", "Model", "OutputOptions", "Size2D", "TensorData", "input_tensor", "up_sample_2d",
)  # fmt: skip
CLASSES = (
    "Buffer",
    "CompiledOperator",
    "Device",
    "Expression",
    "FusedActivation",
    "Graph",
    "TensorDesc",
    "TensorPolicy",
)


def written(signature: inspect.Signature) -> str:
    """A signature as the facts write it: no types, members without their enum, numbers and lists in one form."""
    parts, keyword = [], False
    for one in signature.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not keyword:
            keyword = True
            parts.append("*")
        default = one.default
        shown = default.name if isinstance(default, enum.Enum) else repr(default)
        parts.append(one.name if default is one.empty else f"{one.name}={shown}")
    return ", ".join(parts)


def in_one_form(parameters: str) -> str:
    """Parameters of the facts, with numbers and empty lists as Python prints them here."""
    found = []
    for one in filter(None, parameters.split(", ")):
        name, _, default = one.partition("=")
        try:
            value: Any = eval(default, {}) if default else None
        except NameError:
            found.append(one)
            continue
        value = () if value == [] else value
        found.append(f"{name}={value!r}" if default else name)
    return ", ".join(found)


def same_numbers(text: str) -> str:
    return text.replace("=0.0", "=0").replace("=1.0,", "=1,").removesuffix(".0")


def compare(function: Any, parameters: str, what: str) -> None:
    ours, theirs = written(inspect.signature(function)), in_one_form(parameters)
    assert same_numbers(ours) == same_numbers(theirs), what


def test_all_names_are_there_and_no_others() -> None:
    named = {*FUNCTIONS, *(one["name"] for one in FACTS["enum"]), *FACTS["outputs"], *CLASSES, "OperatorType"}
    assert len(FUNCTIONS) == 128
    assert {*d.__all__} == named | {*OLDER_ONLY, "__version__"} and len(d.__all__) == len({*d.__all__})
    assert {name for name in vars(d) if not name.startswith("_")} - {*d.__all__} == set()
    assert d.__version__ == dmlcy.__version__


def test_functions_have_the_parameters_of_the_facts() -> None:
    for name, facts in FUNCTIONS.items():
        compare(getattr(d, name), facts["parameters"], name)
        assert getattr(d, name).__module__ == "dmlcy.directml" or name in ("broadcast", "reinterpret")
        assert "Returns\n" in (inspect.getdoc(getattr(d, name)) or ""), name


def test_scalars_by_position_are_for_the_older_functions_only() -> None:
    graph = d.Graph(d.Device())
    x = graph.input([1, 1, 2, 2])
    for name, facts in FUNCTIONS.items():
        tensors, _, rest = facts["parameters"].partition("*, ")
        if rest and not facts.get("older") and tensors == "input, ":
            with pytest.raises(TypeError, match="positional argument"):
                getattr(d, name)(x, 1)
    assert d.activation_linear(x, 2.0, 1.0).shape == x.shape


def test_enums_have_the_members_of_the_facts() -> None:
    for facts in FACTS["enum"]:
        found = getattr(d, facts["name"])
        assert [*found.__members__] == facts["members"] or {*found.__members__} == {*facts["members"]}, facts["name"]
        assert not {*found.__members__} & {*vars(d)}, "members are inside their enums only"
    assert (d.ExecutionFlags.NONE | d.ExecutionFlags.DISABLE_META_COMMANDS) == 2
    assert d.GRUOutputOptions.Sequence | d.GRUOutputOptions.Single == 3
    first: tuple[Any, ...] = (d.OperatorType.INVALID, d.OperatorType.ELEMENT_WISE_IDENTITY)
    assert first == (0, 1)
    assert str(d.TensorDataType.FLOAT32) == "TensorDataType.FLOAT32"
    assert {one.name for one in d.TensorDataType} & {"INT4", "UINT4"} == set()


def test_named_tuples_have_the_fields_of_the_facts() -> None:
    for name, fields in FACTS["outputs"].items():
        assert list(getattr(d, name)._fields) == fields and issubclass(getattr(d, name), tuple)


def test_factories_of_activations() -> None:
    factories = {name for name, one in vars(d.FusedActivation).items() if isinstance(one, staticmethod)}
    assert factories == {*FACTS["activations"]} and len(factories) == 18
    for name, parameters in FACTS["activations"].items():
        compare(getattr(d.FusedActivation, name), parameters, name)
        required = [2.0 for one in parameters.split(", ") if one and "=" not in one]
        made = getattr(d.FusedActivation, name)(*required)
        assert isinstance(made, d.FusedActivation) and (name == "none") == (made.activation == d.OperatorType.INVALID)


def test_classes_have_the_methods_and_members_of_the_facts() -> None:
    for name, parameters in FACTS["methods"].items():
        found: Any = d
        for part in name.split("."):
            found = getattr(found, part)
        compare(found, parameters, name)
    for name, members in FACTS["members"].items():
        for member in members:
            assert hasattr(getattr(d, name), member), (name, member)
    assert (
        written(inspect.signature(d.Device)) == "use_gpu=True, use_debug_layer=False"
    )  # by position too, as older ones
    for name in ("compute", "initialize", "dispatch"):  # of the older API
        assert hasattr(d.Device, name)


def test_functions_make_the_operators_of_the_facts() -> None:
    """The table of the generated functions is not read: the docstring names the operators that a call adds."""
    for name, facts in FUNCTIONS.items():
        for operator in facts["operators"]:
            assert operator in (inspect.getdoc(getattr(d, name)) or ""), (name, operator)
