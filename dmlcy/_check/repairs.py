"""The search for repairs of a desc that is refused: single changes of its fields with which the check finds nothing.

The search is made when somebody reads its results, never where the desc is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, islice
from typing import Final, cast

from dmlcy._check.changes import Change, changed, changes
from dmlcy._check.search import Checked, Found
from dmlcy._errors import Repair, Violation
from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._words.values import show

MOST: Final = 64
"""Checks of one search."""
NAMED: Final = 4
"""Repairs that a sentence names."""
MENDED: Final = frozenset({"sizes", "rank", "length", "range", "strides", "overlap"})
"""The errors of the fields themselves that a search looks into, beside rules."""


@dataclass(eq=False)
class Asked:
    """The values of a desc or of a call that were refused.

    ``follow``: the fields that nobody gave, so that they have their default, or follow from others; ``check``: a pass
    over other values; ``labels``: what a call names its outputs.
    """

    operator: Operator
    fields: Mapping[str, Field]
    resolved: Mapping[str, object]
    follow: Set[str]
    check: Callable[[dict[str, object]], Checked]
    labels: Mapping[str, str]
    literal: bool
    call: bool
    arrays: bool = True

    @cached_property
    def given(self) -> dict[str, object]:
        """The values, except values that follow from others."""
        free = {name for name, field in self.fields.items() if field.kind == "attribute" and field.value is None}
        names = (name for name in self.fields if name in free or name not in self.follow)
        return {name: value for name in names if (value := self.resolved.get(name)) is not None}

    def search(self) -> Found:
        """Tries the changes."""
        wrong = self.check(dict(self.given)).violations
        fields = self._relevant(wrong)
        if any(self._is_miscounted(one) for one in wrong):
            fields = [field for field in fields if field.kind not in ("input", "output")]
        tensors = [field for field in self.operator.fields if field.kind != "attribute"]
        expected = {
            str(one.field): cast("tuple[int, ...]", one.values["expected"])
            for one in wrong
            if one.id == f"{self._id(one.field)}-sizes"
        }
        ranks = (one for one in wrong if one.id == f"{self._id(one.field)}-rank")
        expected |= {str(one.field): one.fix for one in ranks if type(one.fix) is tuple}
        nearest = (Change(field.python, field, one.fix) for one in wrong for field in fields if self._nears(one, field))
        tried = islice(chain(nearest, changes(self.given, fields, expected, tensors)), MOST - 1)
        made = [one for one in tried if not self.check(changed(self.given, one)).violations]
        repairs = tuple({repair.text: repair for repair in map(self._repair, made)}.values())
        near = {(field.python, one.fix) for one in wrong for field in fields if self._nears(one, field)}
        return Found(repairs, self._sentence(repairs, near))

    def _is_miscounted(self, wrong: Violation) -> bool:
        """Whether an attribute has too few or too many entries, which another tensor would only fit by chance."""
        field = self.fields.get(_root(wrong))
        return field is not None and field.kind == "attribute" and wrong.id == f"{self._id(wrong.field)}-length"

    def _nears(self, wrong: Violation, field: Field) -> bool:
        """Whether a rule about a number says its nearest valid value, which a message names too."""
        one = wrong.rule is not None and wrong.field == field.python and not type_of(field.type).several
        return one and type(wrong.fix) is int

    def _id(self, path: str | None) -> str:
        return f"DML-{self.operator.name}-{(path or '').partition('[')[0]}"

    def _relevant(self, wrong: Sequence[Violation]) -> list[Field]:
        """The fields that every broken condition reads, first the fields that it is about; no other field mends all."""
        names = [self._read(one) for one in wrong]
        common = frozenset.intersection(*names) if names else frozenset()
        fields = [field for name, field in self.fields.items() if name in common and name in self.given]
        own = {_root(one) for one in wrong}
        return sorted(fields, key=lambda field: field.python not in own)

    def _read(self, wrong: Violation) -> frozenset[str]:
        """The fields that a condition reads; none where no change of a field mends it."""
        root = _root(wrong)
        rule = next((rule for rule in self.operator.rules if rule.id == wrong.id), None)
        if rule is not None:
            return self._given(rule.reads)
        field = self.fields.get(root)
        if field is None:
            return frozenset()
        return self._given({root}) | {root} | self._given(_reads(field))

    def _given(self, facets: Iterable[str]) -> frozenset[str]:
        """The fields of these facets that are given, and in place of the others the fields that they follow from."""
        held = {one.python: one.part.tensor for one in self.operator.chosen if one.part and not self.call}
        found: set[str] = set()
        waiting = list(facets)
        while waiting:
            name = waiting.pop().partition(".")[0]
            name = held.get(name, name)
            if name in self.fields and name not in found:
                found.add(name)
                waiting += () if name in self.given else _reads(self.fields[name])
        return frozenset(found)

    # Words

    def _repair(self, change: Change) -> Repair:
        value = _in_json(change) if self.literal else change.value
        return Repair(change.path, value, self._text(change))

    def _text(self, change: Change) -> str:
        """The change as it is written where the desc is."""
        name = self.labels.get(change.path, change.path)
        if self.literal:
            return self._member(change)
        if self.call and (self.arrays or not change.array):
            value = change.array.format(name) if change.array else _in_python(change.value)
            return f"{name} = {value}" if "[" in name else f"{name}={value}"
        if type(change.value) is not TensorDesc:
            return f"{name} = {show(change.value)}"
        new, old = change.value, self._old(change)
        parts = [(one, getattr(new, one)) for one in ("sizes", "strides") if getattr(new, one) != getattr(old, one)]
        return " and ".join(f"{name}.{one} = {show(value)}" for one, value in parts)

    def _member(self, change: Change) -> str:
        """The change as a member of JSON: of a tensor the members that differ."""
        head, _, inner = change.path.partition(".")
        root = head.partition("[")[0]
        value = _in_json(change)
        if type(change.value) is TensorDesc:
            new, old = change.value.to_dict(), self._old(change).to_dict()
            value = {one: new[one] for one in ("Sizes", "Strides") if new[one] != old[one]}
        owner = self.operator.field(root).name + head[len(root) :]
        name = f"{owner}.{change.field.name}" if inner else owner
        return f'"{name}": {json.dumps(value)}'

    def _old(self, change: Change) -> TensorDesc:
        name, _, entry = change.path.partition("[")
        value = self.given[name]
        return cast(TensorDesc, value[int(entry[:-1])] if entry and isinstance(value, tuple) else value)

    def _sentence(self, repairs: Sequence[Repair], near: Set[tuple[str, object]]) -> str:
        """The repairs in words; of a number, the nearest value alone, where a rule says it."""
        what = "call" if self.call else "desc"
        nearest = {one.field for one in repairs if type(one.value) is int and (one.field, one.value) in near}
        least = [one for one in repairs if one.field not in nearest or (one.field, one.value) in near]
        if len(least) == 1:
            is_nearest = "is the nearest value that " if len(repairs) > 1 else ""
            return f"{least[0].text} {is_nearest}makes this {what} valid."
        repairs = least
        named = "; ".join(repair.text for repair in repairs[:NAMED])
        more = f"; and {len(repairs) - NAMED} more" if len(repairs) > NAMED else ""
        return f"Each of these makes this {what} valid: {named}{more}." if repairs else ""


def _root(wrong: Violation) -> str:
    """The field that a violation is about."""
    return (wrong.field or "").partition(".")[0].partition("[")[0]


def _reads(field: Field) -> Iterator[str]:
    """The facets from which the value, the length or the sizes of a field follow."""
    formulas: tuple[Formula | None, ...] = (field.value, field.length, field.max_length, field.sizes)
    for formula in formulas:
        yield from () if formula is None else formula.reads
    if field.same_dtype_as is not None and field.kind == "output":
        yield f"{field.same_dtype_as}.dtype"


def _in_json(change: Change) -> object:
    """The value in DirectML's spelling."""
    if type(change.value) is TensorDesc:
        return change.value.to_dict()
    return type_of(change.field.type).to_json(change.value)


def _in_python(value: object) -> str:
    """The value as the source text of a call."""
    return json.dumps(value.name) if isinstance(value, Enum) else repr(value)


def can_be_mended(wrong: Iterable[Violation]) -> bool:
    """Whether a change of a field may mend all of these. Then each value has its type, and is short."""
    return all(one.rule is not None or one.id.rpartition("-")[2] in MENDED for one in wrong)


def kept(sizes: object) -> object:
    """Sizes of one or of several outputs as tuples; None for sizes that may be part of something large."""
    if type(sizes) not in (tuple, list):
        return sizes if type(sizes) is int else None
    entries = [kept(entry) for entry in cast("Iterable[object]", sizes)]
    return None if None in entries else tuple(entries)
