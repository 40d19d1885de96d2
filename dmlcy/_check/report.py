"""The violations that a pass over a desc finds, as messages say them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dmlcy._check.search import Search
from dmlcy._errors import Violation
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import ERRORS, LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.values import REPORTED, Refused
from dmlcy._words.values import in_json, plain, show


class Report:
    """The violations, in the order of the fields.

    ``labels``: the names in a call of the outputs that are given. ``literal``: the values come from JSON, which has no
    short forms. ``path``: where the desc is in that of another operator, which gives it its tensors.
    """

    def __init__(
        self,
        operator: Operator,
        fields: Mapping[str, Field],
        asked_level: int,
        labels: Mapping[str, str],
        literal: bool,
        path: str | None,
    ) -> None:
        self.path = path
        self.operator = operator
        self.fields = fields
        self.asked_level = asked_level
        self.labels = dict(labels)
        self.literal = literal
        self.cause: BaseException | None = None
        self.first: list[Violation] = []
        self.found: dict[str, list[Violation]] = {name: [] for name in fields}
        self.late: list[Violation] = []
        self.warnings: list[Violation] = []
        self.search = Search()

    @property
    def violations(self) -> list[Violation]:
        """All of them that are errors, in order."""
        if not any(self.found.values()):
            return [*self.first, *self.late]
        kinds = ("input", "chosen", "attribute", "output")
        order = sorted(self.fields.values(), key=lambda field: kinds.index(field.kind))
        return [*self.first, *(one for field in order for one in self.found[field.python]), *self.late]

    def written(self, value: object) -> str:
        """The value as a message says it: in the words of JSON, where the values come from JSON."""
        return in_json(value) if self.literal else show(value)

    def add(
        self,
        field: Field | None,
        slug: str,
        *,
        part: str = "",
        member: str | None = None,
        index: int | None = None,
        at: int | None = None,
        values: Mapping[str, object] | None = None,
        words: Mapping[str, str] | None = None,
        terms: Mapping[str, object] | None = None,
        called: Mapping[str, str] | None = None,
        note: str = "",
        hint: str = "",
        fix: object = None,
        level: str | None = None,
        label: str | None = None,
    ) -> None:
        """Notes an error of a field itself. ``part`` and ``index`` go into the sentence, ``member`` and ``at`` not.

        ``words`` go into the sentence as they are, also in place of a value. ``terms``: the values of the parts of a
        formula in ``words``; ``called``: the names of some of these parts in the sentence. ``note``: a sentence more.
        ``label``: the name of the field in the sentence, where it differs from the name of the argument of a call.
        """
        text = ERRORS[slug]
        name = "operator" if field is None else field.python.partition("[")[0]  # of inputs[2], inputs
        id_ = f"DML-{self.operator.name}-{name}-{slug}"
        into = self.first if field is None else self.found[name]
        if len([one for one in into if one.id == id_]) == REPORTED:
            return
        label = label or ((self.path or self.operator.name) if field is None else self.label(field))
        where = f"{label}{part}" + ("" if index is None else f"[{index}]")
        seen, written = {**(values or {}), **(terms or {})}, self.written
        shown = {key: written(value) for key, value in (values or {}).items()}
        where_from = ", ".join(
            f"{(called or {}).get(name, name)} = {written(value)}" for name, value in (terms or {}).items()
        )
        found = {key: plain(value) for key, value in seen.items()}
        shown["where"] = where_from and f", where {where_from}"
        into.append(Violation(
            id=id_,
            operator=self.operator.name,
            field=None if field is None else field.python,
            member=member or part.removeprefix(".") or None,
            index=at if index is None else index,
            message=" ".join(filter(None, (text.message.format(field=where, **{**shown, **(words or {})}), note))),
            rule=None,
            values=found | {key: one for key, one in (words or {}).items() if key not in found},
            hint=hint,
            fix=plain(fix),
            level=level,
            provenance=field.provenance if field is not None and slug == "range" and not part else "documented",
            error=text.error,
            _search=self.search.noted(),
        ))  # fmt: skip

    def refused(self, field: Field, refused: Refused, label: str | None = None) -> None:
        """Notes what a conversion refused, and the first error of a stranger's class that made it refuse."""
        self.cause = self.cause or refused.__cause__
        words = refused.words
        if self.literal and "expected" in words:
            words = words | {"expected": type_of(field.type).in_json(words["expected"])}
        self.add(
            field,
            refused.slug,
            part=refused.part,
            member=refused.member,
            index=refused.index,
            at=refused.at,
            values=refused.values,
            words=words,
            note=refused.note,
            hint=refused.hint,
            fix=refused.fix,
            label=label,
        )

    def label(self, field: Field) -> str:
        """The name of a field in a sentence."""
        return self.labels.get(field.python, f"{self.path}.{field.python}" if self.path else field.python)

    def inner(self, field: Field, path: str, found: Violation) -> None:
        """Notes an error of the desc that the field holds, under its path in this desc."""
        into = self.found[field.python.partition("[")[0]]
        if len([one for one in into if one.id == found.id]) < REPORTED:
            inside = path if found.field is None else f"{path}.{found.field}"
            into.append(replace(found, operator=self.operator.name, field=inside, _search=self.search.noted()))

    def too_new(
        self, field: Field | None, subject: str, needed: int, hint: str = "", member: str | None = None
    ) -> None:
        """Notes that something came at a later level."""
        level = LEVELS[needed]
        self.add(
            field,
            "level",
            member=member,
            words={
                "subject": subject,
                "needed": level.name,
                "directml": level.directml,
                "level": LEVELS[self.asked_level].name,
            },
            hint=hint,
            level=level.name,
        )
