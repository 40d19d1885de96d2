"""The rules of plain English that can be counted: they find sentences that readers read twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

LONGEST = 30
# Verbs and other words that a noun is not: "one needs", "each of them", "those with".
_VERB = (
    r"(?:is|are|was|were|has|have|had|does|do|did|can|may|might|must|will|would|should|cannot|could|also|only|then|never|"
    r"always|gives?|needs?|takes?|makes?|lets?|says?|means|comes?|follows|happens?|goes|go|keeps?|adds?|writes?|"
    r"computes?|belongs?|begins?|stays?|gets?|becomes?|allows?|refuses?|describes?|applies|apply|differs?|fails?|tells?|"
    r"which|that|who|whose|where|in|for|on|with|without|from|to|and|or|at|by|as|beyond|below|above)"
)
_ALONE = re.compile(
    r"(?:It|They|He|She|Them|What|Whatever|Whoever|Who)\b(?!['’])"
    rf"|(?:This|These|That|Those|Both|Each|Either|Neither|One|Ones|Others|Some|None|Any|All|Many|Few|Most)\s+{_VERB}\b"
    r"|(?:That|Those|The ones)\s+of\b"
)

# Names that follow each other are one word, also with numbers: a list of operators is no long sentence.
_NAME = r"(?:CODE(?: of CODE)?|[A-Z][A-Z0-9_]{2,})"
_NAMES = re.compile(rf"\b{_NAME}(?:, {_NAME})+\b|\b{_NAME} \d+(?: {_NAME} \d+)+\b")
_PRONOUN_THAT = r"\b(?:those|ones|that) (?:that|which|who)\b"

# A sentence may begin with a name: of a file, of a function of C.
_START = r"[A-Z0-9]|-\d|dmlcy\b|\w+\.(?:h|pxd|pyx|pxi|py)\b|[a-z]+_\w+"
_END = rf"(?<=[.!?:])[\"')]*\s+(?=[\"'(]*(?:{_START}))|;\s+(?=CODE\b)"


def sentences(words: str) -> Iterator[str]:
    """The sentences of a paragraph, in which code, formulas, addresses and lists of names are one word each."""
    words = re.sub(r"``.+?``|`[^`]*`", "CODE", words)
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
    words = re.sub(r":\w+:CODE|\$[^$]+\$|https?://\S+", "CODE", words)
    words = re.sub(r"(\*\*|__)(.+?)\1", r"\2", re.sub(r"\s+", " ", words)).strip()
    words = _NAMES.sub("CODE", re.sub(r"\*(\w+:)\*", r"\1", words))
    yield from (found for found in re.split(_END, words) if found)


def _long(sentence: str) -> bool:
    return len(re.findall(r"\b(?:[Aa]|(?:[^\W\d_]){2,}[\w'’/.-]*)", sentence)) > LONGEST


def _alone(sentence: str) -> bool:
    return _ALONE.match(sentence.lstrip("\"'(")) is not None and not sentence.endswith("?")


RULES: dict[str, Callable[[str], bool]] = {
    f"more than {LONGEST} words": _long,
    "begins with a pronoun without a noun": _alone,
    '"stands" for "is"': lambda sentence: re.search(r"\bst(?:ands?|ood|anding)\b(?!-| for\b)", sentence) is not None,
    '"but for" for "except"': lambda sentence: re.search(r"\bbut for\b", sentence, re.IGNORECASE) is not None,
    '"those that" for a noun': lambda sentence: re.search(_PRONOUN_THAT, sentence) is not None,
}


def faults(words: str) -> Iterator[tuple[str, str]]:
    """Each sentence of a paragraph that breaks a rule, after the rule."""
    for sentence in (found for found in sentences(words) if " " in found):
        yield from ((name, sentence) for name, broken in RULES.items() if broken(sentence))
