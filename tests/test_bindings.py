"""docs/bindings.md and `dmlcy explain`: the numbers of bindings are those of the specs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from each import each_of

from dmlcy import specs
from dmlcy._desc.classes import desc_class
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types.tensor_desc import described
from dmlcy._graph.model import Node, inputs_of, outputs_of
from dmlcy._show.explain.find import find
from dmlcy._show.explain.text import lay_out

PAGE = (Path(__file__).parents[1] / "docs" / "bindings.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([A-Z_0-9]+)` \| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)


def tensors(operator: str, role: str) -> list[dict[str, object]]:
    """The tensors of an operator's struct, as the catalogue declares it."""
    return [field for field in specs.catalogue()[operator]["fields"] if field["kind"] == role]


def test_the_table_has_operators_of_all_kinds() -> None:
    assert len(ROWS) > 8 and {"JOIN", "SPLIT", "FILL_VALUE_CONSTANT", "CONVOLUTION"} <= {name for name, _, _ in ROWS}


@pytest.mark.parametrize(("name", "inputs", "outputs"), ROWS)
def test_the_numbers_of_the_page_are_those_of_the_struct(name: str, inputs: str, outputs: str) -> None:
    for said, role in ((inputs, "input"), (outputs, "output")):
        fields = tensors(name, role)
        count, _, optional = said.partition(", ")
        if any(field["type"] == "tensor_array" for field in fields):
            assert count.strip("`") in {field["name"] for field in specs.catalogue()[name]["fields"]}
            assert len(fields) == 1
        else:
            assert int(count) == len(fields)
        left_out = [field["name"] for field in fields if field.get("optional")]
        assert re.findall(r"`(\w+)`", optional) == left_out and optional.endswith("optional") == bool(left_out)


@each_of("operator", OPERATORS.values())
def test_explain_says_the_numbers(operator: Operator) -> None:
    (facts,) = [one for one in find(operator.name) if one["kind"] == "operator"]
    text = " ".join(lay_out([facts], 100).split())
    said = re.search(r" Bindings (.*?); (.*?) Family ", text)
    assert said is not None
    for part, role in ((said[1], "input"), (said[2], "output")):
        fields = tensors(operator.name, role)
        arrays = [field["name"] for field in fields if field["type"] == "tensor_array"]
        single = len(fields) - len(arrays)
        assert part.startswith(f"{single} {role}" if single or not arrays else f"one {role} for each tensor of")
        assert all(f"each tensor of {name}" in part for name in arrays)
        for field in fields:
            assert (f"{field['name']}" in part.partition("DML_BINDING_TYPE_NONE for ")[2]) == bool(
                field.get("optional")
            )


def test_explain_says_which_inputs_the_caller_must_own() -> None:
    for operator in OPERATORS.values():
        (facts,) = [one for one in find(operator.name) if one["kind"] == "operator"]
        said = re.search(r" OWNED_BY_DML not allowed for (.*?) Family ", " ".join(lay_out([facts], 100).split()))
        unowned = [field.name for field in operator.fields if field.kind == "input" and not field.owned]
        assert (re.findall(r"\w+Tensor", said[1]) if said else []) == unowned
    assert unowned == [] and not OPERATORS["LSTM"].field("weight").owned


@each_of("operator", OPERATORS.values())
def test_a_node_of_a_graph_has_as_many_tensors(operator: Operator) -> None:
    """Optional tensors count where they are left out, and arrays with each of their tensors."""
    for example in operator.examples:
        given = described({**example.inputs, **example.outputs})
        node = Node(desc_class(operator.name)(**given, **example.attributes))
        for role, found in (("input", inputs_of(node)), ("output", outputs_of(node))):
            fields = [field for field in operator.fields if field.kind == role]
            arrays = [field for field in fields if field.type == "tensor_array"]
            several = sum(len(one) for field in arrays if isinstance(one := given.get(field.python), tuple))
            assert len(found) == len(fields) - len(arrays) + several


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("DML_BINDING_TYPE_NONE", "docs/bindings.md#use-of-dml_binding_type_none"),
        ("BindInputs", "docs/bindings.md"),
        ("persistent resource", "docs/bindings.md#temporary-and-persistent-resources"),
        ("TemporaryResourceSize", "docs/bindings.md#temporary-and-persistent-resources"),
        ("initializer", "docs/bindings.md#the-initializer-and-the-flag-owned_by_dml"),
        ("OWNED_BY_DML", "docs/bindings.md#the-initializer-and-the-flag-owned_by_dml"),
        ("number of bindings", "docs/bindings.md"),
    ],
)
def test_the_words_lead_to_the_page(word: str, place: str) -> None:
    assert place in [facts["page"] for facts in find(word) if facts["kind"] == "term"]
