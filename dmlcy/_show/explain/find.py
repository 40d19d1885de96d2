"""A word to everything that it can mean: an id, a name of DirectML, a level or its version, a slug, a family."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from dmlcy import specs
from dmlcy._facts.ids import published
from dmlcy._facts.names import catalogue_name
from dmlcy._facts.rows import Field, Let, Operator
from dmlcy._facts.tables import (
    DTYPES,
    ENUMS,
    ERRORS,
    LEVELS,
    OPERATORS,
    EnumInfo,
    FeatureLevel,
    TensorDataType,
    names_elsewhere,
)
from dmlcy._facts.words import bare, fold, operators_called
from dmlcy._show.explain import facts, onnx, rules
from dmlcy._show.explain.codes import looks_like_code, number_of, numbers_in
from dmlcy._show.explain.facts import Facts, catalogue
from dmlcy._words.values import quote

LONGEST: Final = 100
"""Characters of a word that are looked at."""
SHOWN: Final = 3
"""Names that are proposed in place of an unknown one."""
ALIKE: Final = 0.75
"""Share of the letters that a proposed name and the unknown one have in common."""
ENUM_PREFIX: Final = "DML_"


def find(word: str) -> list[Facts]:
    """The meanings of the word, each as facts; empty when it means nothing. Capitals do not matter.

    A message that means nothing as a whole means the error codes in it.
    """
    return _named(word) or [facts.of_term(term) for value in numbers_in(word) for term in _with_value(value)]


def _named(word: str) -> list[Facts]:
    """The meanings of the word as a name."""
    wanted = word.strip()[: LONGEST + 1].lower()
    owner, dot, member = wanted.partition(".")
    if dot and not owner.isdigit():
        inside = [*_fields_of(owner, member), *_members_of(owner, member)]
        return inside or [*_onnx(wanted), *_terms(wanted), *_words(wanted)]
    if wanted in published().by_small_letters:
        return [*_ids(wanted)]
    return [
        *_ids(wanted), *_operators(wanted), *_interpretations(wanted), *_enums(wanted), *_members(wanted),
        *_levels(wanted), *_dtypes(wanted), *_onnx(wanted),
        *_quantities(wanted), *_fields(wanted), *_terms(wanted), *_words(wanted), *_slugs(wanted), *_families(wanted),
    ]  # fmt: skip


def suggestion(word: str) -> str:
    """The names that were perhaps meant, as a question, or nothing."""
    words = [quote(name) for name in suggested(word)]
    return f"Did you mean {', '.join(words[:-1])}{' or ' if words[:-1] else ''}{words[-1]}?" if words else ""


def suggested(word: str) -> list[str]:
    """The names that were perhaps meant; none of a number, for another error code is another error."""
    if looks_like_code(word):
        return []
    owner, dot, member = word.strip()[:LONGEST].partition(".")
    if dot and catalogue_name(owner) is not None:
        name = str(catalogue_name(owner))
        found = facts.of_operator(name)
        known, begin = [_python(field) for field in (*found["fields"], *found.get("chosen", ()))], f"{name}."
        near = _nearest(member, known) or known
    elif dot and (info := next(_enums_called(owner.lower()), None)) is not None:
        begin = f"{info.cls.__name__}."
        near = _nearest(member, list(info.members)) or list(info.members)
    else:
        whole = owner + dot + member if owner.isdigit() else owner
        near, begin = _nearest(whole, list(_names(whole))), ""
    return [begin + name for name in near]


def _nearest(word: str, known: list[str]) -> list[str]:
    folded = {name.lower(): name for name in reversed(known)}
    wanted = word.lower()
    begun = [name for name in folded if len(wanted) > 2 and name.startswith(wanted)]
    but_one = (len(wanted) - 1) / len(wanted) if wanted else 1  # all letters of a short word but one
    alike = max(0.6, min(ALIKE, but_one))
    close = difflib.get_close_matches(wanted, folded, SHOWN, alike)
    ended = [name for name, known in folded.items() if name.endswith(f"_{wanted}") and known.isupper()]
    found = [*sorted(ended, key=lambda name: (len(name), name)), *close, *sorted(begun)]  # relu: ACTIVATION_RELU
    return [folded[name] for name in dict.fromkeys(found)][:SHOWN]


def _names(word: str) -> Iterator[str]:
    """Every name that could have been meant."""
    if word.lower().startswith("dml-"):
        yield from (*published().in_force, *published().retired)
        return
    full = word.lower().startswith("dml_")
    yield from (f"DML_OPERATOR_{name}" if full else name for name in catalogue())
    for info in ENUMS.values():
        yield from (info.name, *(info.prefix + member for member in info.members)) if full else (
            info.cls.__name__, info.name.removeprefix(ENUM_PREFIX), *info.members,
        )  # fmt: skip
    for operator in OPERATORS.values():
        yield from (name for field in _all(operator) for name in (field.python, field.name))
        yield from (rule.id for rule in operator.rules)
        yield from (let.name for let in operator.lets)
        yield operator.family
    for entry in catalogue().values():
        yield from (field["name"] for field in entry["fields"])
    for term in specs.terms().values():
        yield from (term["name"], *term.get("also", ()))
    for also in names_elsewhere().ALSO.values():
        yield from also
    yield from (slug for slug in ERRORS if not slug.startswith("DML-"))
    yield from (level.directml for level in LEVELS)
    yield from onnx.names()


# Each function gives the facts of what the word, in small letters, names.


def _ids(wanted: str) -> Iterator[Facts]:
    known = published().by_small_letters
    for small in (wanted, f"dml-{wanted}"):
        if small in known:
            yield rules.of_id(known[small])


def _operators(wanted: str) -> Iterator[Facts]:
    name = catalogue_name(wanted.removeprefix("dml-"))  # DML-PADDING1, the beginning of its ids
    if name is not None:
        yield facts.of_operator(name)


def _onnx(wanted: str) -> Iterator[Facts]:
    """The operators of ONNX of a name that DirectML does not have."""
    if catalogue_name(wanted) is None:
        yield from onnx.of_word(wanted)


def _interpretations(wanted: str) -> Iterator[Facts]:
    """The interpretation that a report names: CAST-conversion."""
    operator, dash, identifier = wanted.partition("-")
    name = operator.upper()
    if dash and name in OPERATORS:
        for one in OPERATORS[name].interpretations:
            if one.id.lower() == identifier:
                found = facts.of_interpretation(OPERATORS[name], one)
                yield {"kind": "interpretation", "operator": name, **found, "source": OPERATORS[name].source}


def _enums_called(wanted: str) -> Iterator[EnumInfo]:
    for info in ENUMS.values():
        if wanted in (info.name.lower(), info.name.removeprefix(ENUM_PREFIX).lower(), info.cls.__name__.lower()):
            yield info


def _enums(wanted: str) -> Iterator[Facts]:
    for info in _enums_called(wanted):
        yield facts.of_enum(info)


def _members(wanted: str) -> Iterator[Facts]:
    for info in ENUMS.values():
        if info.cls not in (FeatureLevel, TensorDataType):
            for name in info.members:
                full = f"{info.prefix}{name}".lower()
                names = (name.lower(), full, full.removeprefix(ENUM_PREFIX.lower()))
                if wanted in names or info.also.get(wanted.upper()) == name:
                    yield facts.of_member(info, name)


def _members_of(enum: str, wanted: str) -> Iterator[Facts]:
    for info in _enums_called(enum):
        for name, (member, _) in info.members.items():
            names = (name.lower(), str(member.name).lower(), f"{info.prefix}{name}".lower())
            if wanted in names or info.also.get(wanted.upper()) == name:
                if info.cls is FeatureLevel:
                    yield from _levels(name.lower())
                elif info.cls is TensorDataType:
                    yield from _dtypes(name.lower())
                else:
                    yield facts.of_member(info, name)


def _levels(wanted: str) -> Iterator[Facts]:
    for level in LEVELS:
        names = (level.name, f"dml_feature_level_{level.name}", f"level_{level.name}")
        if wanted in (*names, f"0x{level.value:x}", f"{level.value}", level.directml):
            yield facts.of_level(level)


def _dtypes(wanted: str) -> Iterator[Facts]:
    for dtype in DTYPES.values():
        if wanted in (dtype.name.lower(), f"dml_tensor_data_type_{dtype.name}".lower()):
            yield facts.of_dtype(dtype)


def _fields(wanted: str) -> Iterator[Facts]:
    known = [(operator, field) for operator in _having(wanted) for field in _all(operator) if _is_called(field, wanted)]
    others = [
        (name, field)
        for name, entry in catalogue().items()
        if name not in OPERATORS
        for field in entry["fields"]
        if _folded(field["name"]) == _folded(wanted)
    ]
    if known or others:
        yield facts.of_fields(known, others)


def _quantities(wanted: str) -> Iterator[Facts]:
    named: dict[str, list[tuple[Operator, Let]]] = {}
    for operator in _having(wanted):
        for let in operator.lets:
            if let.name.lower() == wanted:
                named.setdefault(let.name, []).append((operator, let))
    for name, found in named.items():
        yield facts.of_quantity(name, found)


def _terms(wanted: str) -> Iterator[Facts]:
    for term in specs.terms().values():
        names = [fold(name) for name in (term["name"], *term.get("also", ()))]
        named = fold(wanted) in {*names, *map(bare, names)}
        if named or ("value" in term and term["value"] == number_of(wanted)):
            yield facts.of_term(term)


def _with_value(value: int) -> list[Facts]:
    """The error code of this value."""
    return [term for term in specs.terms().values() if term.get("value") == value]


def _words(wanted: str) -> Iterator[Facts]:
    """The operators that other libraries call so, beside operators that DirectML calls so, and the first one itself."""
    named = catalogue_name(wanted)
    called = tuple(name for name in operators_called(wanted) if name != named)
    if called:
        yield facts.of_word(wanted, called)
    if called and named is None:
        yield facts.of_operator(called[0])


def _slugs(wanted: str) -> Iterator[Facts]:
    if wanted in ERRORS and not wanted.startswith("dml-"):
        yield facts.of_slug(wanted)


def _families(wanted: str) -> Iterator[Facts]:
    if wanted in _known_families():
        yield facts.of_family(wanted)


@cache
def _known_families() -> frozenset[str]:
    return frozenset(operator.family for operator in OPERATORS.values())


def _fields_of(owner: str, wanted: str) -> Iterator[Facts]:
    name = catalogue_name(owner)
    if name is not None and name in OPERATORS:
        known: list[tuple[Operator, Field]] = [
            (OPERATORS[name], field) for field in _all(OPERATORS[name]) if _is_called(field, wanted)
        ]
        if known:
            yield facts.of_fields(known, [])
    elif name is not None:
        others = [(name, field) for field in catalogue()[name]["fields"] if _folded(field["name"]) == _folded(wanted)]
        if others:
            yield facts.of_fields([], others)


def _having(wanted: str) -> list[Operator]:
    """The operators that may have a field or a quantity of this name, in their order."""
    names = {*_owners().get(wanted, ()), *_owners().get(_folded(wanted), ())}
    return [OPERATORS[name] for name in OPERATORS if name in names]


@cache
def _owners() -> dict[str, set[str]]:
    """The operators, by what a word can call their fields and quantities."""
    found: dict[str, set[str]] = {}
    for operator in OPERATORS.values():
        fields = (name for field in _all(operator) for name in (field.python, _folded(field.name)))
        for name in (*fields, *(let.name.lower() for let in operator.lets)):
            found.setdefault(name, set()).add(operator.name)
    return found


def _all(operator: Operator) -> tuple[Field, ...]:
    """The fields, and what a call is given in their place."""
    return (*operator.fields, *operator.chosen)


def _is_called(field: Field, wanted: str) -> bool:
    return wanted == field.python or _folded(wanted) == _folded(field.name)


@lru_cache(5000)
def _folded(name: str) -> str:
    """Small letters without underscores and without the word tensor at the end: InputTensor, input_tensor and input."""
    plain = name.replace("_", "").lower()
    for end in ("tensors", "tensor"):
        if plain.endswith(end) and plain != end:
            return plain.removesuffix(end)
    return plain


def _python(field: Facts) -> str:
    return str(field.get("python", field["name"]))
