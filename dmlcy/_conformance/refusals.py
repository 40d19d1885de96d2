"""Descs that a driver must refuse: for each rule of an operator one desc that breaks it and no other rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from dmlcy._conformance.source import drawn
from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.rows import Operator
from dmlcy._testing.broken import broken_from, valid_examples, ways_of

TRIES: Final = 2
ONLY_IN_PYTHON: Final = ("-type", "-unknown", "-length", "-byteorder")
"""The ends of ids whose descs no struct of C can be: values of another kind, members that the struct does not have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A desc as JSON, and the violation that ``check`` reports of it."""

    operator: dict[str, Any]
    violation: Violation

    def to_json(self, level: str) -> dict[str, object]:
        """The entry of a file."""
        return {
            "id": self.violation.id,
            "message": self.violation.message,
            "feature_level": level,
            "operator": self.operator,
        }


def refusals_of(operator: Operator, level: int, seed: int) -> list[Refusal]:
    """A desc for each id, in the order of the ids: an example that is broken in one way."""
    valid = valid_examples(operator.name, level)
    if not valid:
        return []
    found: dict[str, Refusal] = {}
    for id_ in sorted(ways_of(operator.name, level)):
        if id_.endswith(ONLY_IN_PYTHON):
            continue
        strategy = broken_from([id_], operator, level, st.sampled_from(valid))
        for desc, _ in drawn(strategy, TRIES, seed):
            found |= {one.violation.id: one for one in _of(desc, level) if one.violation.id not in found}
    return [found[id_] for id_ in sorted(found)]


def _of(desc: OperatorDesc, level: int) -> Iterator[Refusal]:
    """The desc, if a struct can be as it is, and if its JSON has the same violation."""
    try:
        text = json.dumps(desc.to_dict(), allow_nan=False)
    except (TypeError, ValueError):  # a value that JSON has not
        return
    again = json.loads(text)
    violations = desc_class(desc.operator.name).from_dict(again)._violations(level)
    if len(violations) != 1 or violations[0].id.endswith(ONLY_IN_PYTHON):
        return
    if violations[0].id.endswith("-required") and violations[0].member is not None:  # a struct has all of its members
        return
    yield Refusal(again, violations[0])
