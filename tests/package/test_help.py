"""The texts of ``help()``, ``inspect`` and notebooks about operators, descs and compiled operators."""

from __future__ import annotations

import doctest
import inspect
import pickle
import pydoc
import re
import typing

import pytest
from each import each_of
from example_descs import desc_of

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "References", "Examples")
TERMINAL = 80
KNOWN = tuple(OPERATORS.values())  # before tests add to them
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")
EACH = each_of("operator", KNOWN)
EACH_THAT_RUNS = each_of("operator", [operator for operator in KNOWN if operator.runs])

PLAIN: pydoc.TextDoc = vars(pydoc)["plaintext"]
"""Typeshed does not have it."""


def texts(thing: object) -> list[str]:
    return pydoc.render_doc(thing, renderer=PLAIN).splitlines()


@EACH
def test_help_of_an_operator(operator: Operator) -> None:
    function = getattr(dml, operator.python)
    lines = texts(function)
    assert lines[0].endswith("in module dmlcy")
    inputs = [field.python for field in operator.fields if field.kind == "input"]
    first = inputs[0] if inputs else "*"
    assert re.match(rf"{operator.python}\({re.escape(first)}(=None)?[,:] ", lines[2])
    assert lines[3].strip() and lines[3].strip() in operator.summary
    wide = [line for line in lines[3:] if len(line) > TERMINAL]
    code = (">>> ", "... ", "``")  # code does not break
    assert not [line for line in wide if "https://" not in line and not line.strip().startswith(code)], wide
    stripped = [line.strip() for line in lines]
    positions = [stripped.index(section) for section in SECTIONS if operator.runs or section != "Examples"]
    assert positions == sorted(positions)
    for name, parameter in inspect.signature(function).parameters.items():
        shown = "" if parameter.default in (None, parameter.empty) else f", default {parameter.default!r}"
        assert any(line.startswith(f"{name} : ") and line.endswith(shown) for line in stripped), name
    for rule in operator.rules if operator.runs else ():
        if rule.severity == "warning":
            continue
        assert f"``{rule.id}``" in stripped
    assert ("OperatorNotRunnableError" in stripped) == (not operator.runs)


class Near(doctest.OutputChecker):
    """The same text, except for the last digits of numbers: an example shows the nearest ones."""

    def check_output(self, want: str, got: str, flags: int) -> bool:
        if super().check_output(want, got, flags):
            return True
        texts, numbers = zip(*((NUMBER.split(text), NUMBER.findall(text)) for text in (want, got)), strict=True)
        plain = [[part.split() for part in text] for text in texts]
        return plain[0] == plain[1] and [*map(float, numbers[1])] == pytest.approx([*map(float, numbers[0])], rel=1e-6)


@EACH_THAT_RUNS
def test_the_example_in_the_docstring_of_an_operator(operator: Operator) -> None:
    (test,) = doctest.DocTestFinder(recurse=False).find(getattr(dml, operator.python), operator.python, globs={})
    runner = doctest.DocTestRunner(Near(), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert test.examples and runner.run(test).failed == 0


@EACH
def test_help_of_a_desc(operator: Operator) -> None:
    cls = getattr(dml.desc, operator.desc)
    lines = texts(cls)
    assert lines[0].endswith(f"class {operator.desc} in module dmlcy.desc")
    assert f" |  {operator.desc}(*, " in lines[3]
    for name in inspect.signature(cls).parameters:
        assert f" |  {name}" in lines
        assert typing.get_type_hints(cls)[name]
    assert pickle.loads(pickle.dumps(desc_of(operator))) == desc_of(operator)


@EACH_THAT_RUNS
def test_signature_of_a_compiled_operator(operator: Operator) -> None:
    compiled = dml.compile(desc_of(operator))
    names = [field.python for field in operator.fields if field.kind == "input"]
    assert str(inspect.signature(compiled)) == f"({', '.join([*names, '*', 'out=None'])})"
    assert operator.name in "\n".join(texts(compiled))
    assert isinstance(compiled, dml.CompiledOperator)


def test_functions_are_pickled_by_their_public_name() -> None:
    for operator in KNOWN:
        function = getattr(dml, operator.python)
        assert function.__module__ == "dmlcy"
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_compiled_operator_has_one_of_the_generated_classes() -> None:
    with pytest.raises(NotImplementedError):
        dml.CompiledOperator()(b"")
