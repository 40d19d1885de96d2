"""What messages name: each tensor and field of a ``says`` or a hint is one of the operator, also of a shared one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

KNOWN: Final = tuple(OPERATORS.values())  # before tests add to them
PYTHON: Final = {field.python for one in KNOWN for field in (*one.fields, *one.chosen)}
DIRECTML: Final = {field.name for one in KNOWN for field in one.fields}
OF: Final = re.compile(r"\b(?:sizes|axes|rows|columns|channels|elements|number|steps|size) of ([a-z]\w*)")
"""A tensor follows, without an article: the sizes of input."""
OTHERS: Final = {
    "the", "a", "one", "its", "those", "what", "each", "dimensions", "axes", "channels", "rows", "columns", "heads",
    "matrices", "tensors", "keys", "earlier", "regions", "size",
}  # fmt: skip
"""Words that may follow instead."""
ARTICLE: Final = re.compile(r"\bthe (input|filter|indices|bias|mean|variance|query|key|value|updates|mask)\b")


def texts(operator: Operator) -> Iterator[str]:
    """What messages of an operator say of its tensors and fields in words."""
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
