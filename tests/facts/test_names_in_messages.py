"""Each tensor and field that a ``says`` or a hint names is one of the operator, also in shared texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import dmlcy as dml
from dmlcy._check.rules import _counted
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

KNOWN: Final = tuple(OPERATORS.values())  # before tests add to them
PYTHON: Final = {field.python for one in KNOWN for field in (*one.fields, *one.chosen)}
DIRECTML: Final = {field.name for one in KNOWN for field in one.fields}
OF: Final = re.compile(r"\b(?:sizes|axes|rows|columns|channels|elements|number|steps|size) of ([a-z]\w*)")
"""A tensor follows, without an article: the sizes of input."""
OTHERS: Final = {
    "the", "a", "one", "its", "those", "what", "each", "dimensions", "axes", "channels", "rows", "columns", "heads",
    "matrices", "tensors", "keys", "earlier", "regions", "size", "elements", "steps", "whole", "axis",
}  # fmt: skip
"""Words that may follow instead."""
ARTICLE: Final = re.compile(r"\bthe (input|filter|indices|bias|mean|variance|query|key|value|updates|mask)\b")


def texts(operator: Operator) -> Iterator[str]:
    """The texts of an operator's messages about its tensors and fields."""
    for rule in operator.rules:
        yield from (rule.says, rule.hint, *(term.said for term in rule.terms))
    for field in operator.fields:
        formulas = (field.sizes, field.length, field.max_length, field.value)
        yield from (formula.said for formula in formulas if formula is not None)


def strangers(operator: Operator) -> Iterator[str]:
    """Names in these texts of which the operator has no field."""
    own = {field.python for field in (*operator.fields, *operator.chosen)}
    parts = {part for name in own for part in (*name.split("_"), name.removesuffix("s"))}
    for text in texts(operator):
        for word in re.findall(r"\w+", text):
            elsewhere = ("_" in word and word in PYTHON) or (re.search("[a-z][A-Z]", word) and word in DIRECTML)
            if elsewhere and word not in own | {field.name for field in operator.fields}:
                yield f"{operator.name}: {word} in {text!r}"
        yield from (f"{operator.name}: {word} in {text!r}" for word in OF.findall(text) if word not in own | OTHERS)
        yield from (f"{operator.name}: the {word} in {text!r}" for word in ARTICLE.findall(text) if word not in parts)


def test_messages_name_no_tensor_or_field_that_the_operator_has_not() -> None:
    assert [one for operator in KNOWN for one in strangers(operator)] == []


def test_many_texts_name_tensors() -> None:
    found = [word for one in KNOWN for text in texts(one) for word in OF.findall(text) if word not in OTHERS]
    assert len(found) > 150 and {"input", "condition", "input_parameters"} <= {*found}


def test_no_text_has_a_place_of_a_template_left() -> None:
    assert not [text for one in KNOWN for text in texts(one) if re.search(r"\{[a-z_]*!|\{\}|\{\w+\.|%s", text)]


def test_messages_show_no_functions_and_choices_of_formulas() -> None:
    """Of a rule with an index, the text at the index 1."""
    found = {
        text
        for one in KNOWN
        for rule in one.rules
        for term in rule.terms
        for text in (_counted(term.words.format(**{rule.index or "": 1})),)
        if re.search(r"\b(min|max|prod|present)\(| if |==|\[\d+ \+", text)
    }
    assert found == set()


def test_messages_say_indices_as_numbers_and_counts_in_words() -> None:
    def tensor(*sizes: int, dtype: Any = "FLOAT32") -> dml.TensorDesc:
        return dml.TensorDesc(dtype, sizes)

    gathered = dml.desc.GatherNd1(
        input=tensor(1, 3, 2, 2), indices=tensor(1, 2, 2, 2, dtype="UINT32"), input_dimension_count=3,
        indices_dimension_count=3, batch_dimension_count=1,
    )  # fmt: skip
    attended = dml.desc.MultiheadAttention1(
        query=tensor(1, 2, 4), key=tensor(1, 2, 4), value=tensor(1, 2, 4), past_key=tensor(1, 2, 1, 2),
        output=tensor(1, 2, 4), query_head_count=2, key_value_head_count=2, scale=1.0,
    )  # fmt: skip
    said = [one.message for one in (*dml.check(gathered), *dml.check(attended))]
    assert any("batch sizes of indices[0] = 2 must be batch sizes of input[0] = 3." in one for one in said), said
    assert "past_value is not given together with past_key." in said
