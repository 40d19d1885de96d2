"""The lowest feature level that a desc needs, and what in it needs that level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dmlcy._desc.check import known_desc
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._desc.whole import Whole
from dmlcy._errors import Violation, raise_violations
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, FeatureLevelName

__all__ = ["LevelReason", "MinimumLevel", "minimum_feature_level"]

SHOWN: Final = 8
"""Reasons that the text of a level names."""


@dataclass(frozen=True, slots=True)
class LevelReason:
    """The part of a desc that needs a feature level.

    Attributes
    ----------
    field
        Python name of the field; None: the operator itself.
    subject
        In words: ``"padding_mode WRAP"``, ``"input with 6 dimensions"``.
    """

    field: str | None
    subject: str


@dataclass(frozen=True, slots=True)
class MinimumLevel:
    """A feature level, and why no lower one will do.

    Attributes
    ----------
    level
        Such as ``"3_0"``.
    directml
        The DirectML version that brought the level, such as ``"1.4.0"``.
    forced_by
        The violations at the level before; empty at the first level.
    """

    level: FeatureLevelName
    directml: str
    forced_by: tuple[LevelReason, ...]

    def __str__(self) -> str:
        needed = f"{self.level} (DirectML {self.directml})"
        subjects = [one.subject for one in self.forced_by[:SHOWN]]
        subjects += [f"{len(self.forced_by) - SHOWN} more"] if len(self.forced_by) > SHOWN else []
        return f"{needed}, for {' and '.join(subjects)}" if subjects else needed


def minimum_feature_level(desc: OperatorDesc | Whole[object, Violation]) -> MinimumLevel:
    """The lowest feature level at which a desc is valid, with what forces it.

    Parameters
    ----------
    desc
        An object of a class of ``dmlcy.desc``, or a graph.

    Returns
    -------
    MinimumLevel

    Raises
    ------
    DmlError
        The desc is valid at no level: its violations at the newest one.
    TypeError
        Raised because the given object is no desc.

    Examples
    --------
    >>> import dmlcy as dml
    >>> matrix = dml.TensorDesc("FLOAT32", (4, 4))
    >>> padding = dml.desc.Padding1(input=matrix, start_padding=1, end_padding=1, padding_mode="WRAP")
    >>> print(dml.minimum_feature_level(padding))
    6_4 (DirectML 1.15.0), for padding_mode WRAP
    """
    known_desc(desc, "minimum_feature_level")
    if isinstance(desc, Whole):
        lowest: MinimumLevel = desc._minimum()
        return lowest
    newest = desc._violations(NEWEST)
    younger = {rule.id for rule in desc.operator.rules if LEVEL_INDEX[rule.since] > 0}
    if any(violation.id not in younger for violation in newest):  # all else is refused at every level before it too
        raise_violations(newest, "minimum_feature_level")
    before: list[Violation] = []
    for index, level in enumerate(LEVELS):
        found = desc._violations(index)
        if not found:
            return MinimumLevel(level.name, level.directml, tuple(dict.fromkeys(map(_reason, before))))
        before = found
    raise_violations(before, "minimum_feature_level")


def _reason(violation: Violation) -> LevelReason:
    subject = violation.values.get("subject") if violation.rule is None else None
    return LevelReason(violation.field, str(subject or f"{violation.field}, where {violation.rule} need not hold"))
