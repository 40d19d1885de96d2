"""Takes typed values out of a document and collects what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from dmlcy._errors import Violation
from dmlcy._facts.dtypes import has_four_bits
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._frontends.dxdispatch.json import Document, Kind, Node
from dmlcy._frontends.dxdispatch.problems import Place, Problem, did_you_mean, make, refuse
from dmlcy._words.alike import misspelt
from dmlcy._words.values import quote

UINT32: Final = 2**32 - 1
UINT64: Final = 2**64 - 1

MOST: Final = 1000
"""Problems, and warnings, of one document that are reported."""
_SEARCHES: Final = 100
_WORDS: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "true": "true",
    "false": "false",
    "null": "null",
}


class Reader:
    """Problems and warnings of one document, and the ways to find them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._searches = 0
        self._unknown: dict[Node, dict[str, Problem]] = {}  # the warnings of unknown members, by their object

    def report(self, identifier: str, node: Node, *, key: bool = False, hint: str = "", **values: object) -> None:
        """Record a problem of this value or its key; an endless list of them helps nobody."""
        if len(self.problems) < MOST:
            self.problems.append(make(identifier, self.document.place(node, key=key), values, hint=hint))
        elif len(self.problems) == MOST:
            self.problems.append(more(self.document.place(node, key=key)))

    def add(self, node: Node, violation: Violation) -> None:
        """Record a violation of a desc at the value that it is about."""
        self.problems.append(Problem(self.document.place(node), violation))

    def finish(self) -> None:
        """Raise what has been collected."""
        if self.problems:
            refuse(self.problems)

    def expect(self, node: Node, *kinds: Kind) -> bool:
        """Whether the value is of one of these kinds; a problem where it is not."""
        if node.kind in kinds:
            return True
        wanted = " or ".join(_WORDS[kind] for kind in kinds if kind != "false").replace("true", "true or false")
        self.report("DML-MODEL-type", node, wanted=wanted, found=_WORDS[node.kind])
        return False

    def required(self, parent: Node, name: str, *kinds: Kind) -> Node | None:
        """The member, when it is there and of one of these kinds; a problem otherwise."""
        if parent.get(name) is None:
            self.missing("DML-MODEL-missing", parent, name, name=name)
            return None
        return self.optional(parent, name, *kinds)

    def missing(self, identifier: str, parent: Node, member: str, hint: str = "", **values: object) -> None:
        """Record that a member is not there: at the one that is misspelt, where there is one; else with the hint."""
        meant = self.misspelt(parent, [member]).get(member)
        if meant is None:
            self.report(identifier, parent, key=False, hint=hint, **values)
        else:
            self.report(identifier, meant, key=True, hint=renaming(meant, member), **values)

    def misspelt(self, parent: Node, missing: Sequence[str]) -> dict[str, Node]:
        """Members that are missing, each with the unknown one that was meant for it, of which nobody is warned."""
        found = misspelt(list(self._unknown.get(parent, ())), missing)
        self.forget(parent, found.values())
        return {name: parent.value[given] for name, given in found.items()}

    def forget(self, parent: Node, names: Iterable[str]) -> None:
        """Take back the warnings of unknown members."""
        warned = self._unknown.get(parent, {})
        for name in names:
            if name in warned:
                self.warnings.remove(warned.pop(name))

    def optional(self, parent: Node, name: str, *kinds: Kind) -> Node | None:
        """The member, when it is of one of these kinds; a problem when it is of another."""
        node = parent.get(name)
        return node if node is not None and self.expect(node, *kinds) else None

    def members(self, parent: Node | None) -> Iterator[tuple[str, Node]]:
        """The members that are objects; a problem for each that is not."""
        for name, node in parent.value.items() if parent else ():
            if self.expect(node, "object"):
                yield name, node

    def integer(self, node: Node | None, minimum: int = 0, maximum: int = UINT32) -> int | None:
        """The value as an integer in a range."""
        if node is None or not self.expect(node, "number"):
            return None
        if type(node.value) is not int:
            self.report("DML-MODEL-integer", node, value=node.value)
            return None
        if not minimum <= node.value <= maximum:
            self.report("DML-MODEL-range", node, value=node.value, minimum=minimum, maximum=maximum)
            return None
        return node.value

    def dtype(self, node: Node, *, packed: bool = True) -> Dtype | None:
        """The data type that a string names, short or full; None where it names none.

        ``packed``: it may be one of which two elements are in a byte.
        """
        name = node.value.removeprefix("DML_TENSOR_DATA_TYPE_")
        dtype: Dtype | None = DTYPES.get(name)
        if dtype is None or (has_four_bits(dtype) and not packed):
            known = [d.name for d in DTYPES.values() if packed or not has_four_bits(d)]
            self.report("DML-MODEL-data-type", node, value=node.value, hint=self.suggestion(name, known))
            return None
        return dtype

    def reference(self, node: Node, known: Collection[str], what: str) -> str | None:
        """The name that a string refers to."""
        name: str = node.value
        if name in known:
            return name
        self.report("DML-MODEL-reference", node, what=what, name=name, hint=self.suggestion(name, known))
        return None

    def suggestion(self, name: str, known: Collection[str]) -> str:
        """The name that was probably meant; nothing after many searches, which would take longer than all the rest."""
        self._searches += 1
        return did_you_mean(name, known) if self._searches <= _SEARCHES else ""

    def ignore_others(
        self, parent: Node, known: Collection[str], hint: Callable[[str, list[str]], str] = did_you_mean
    ) -> None:
        """Warn of the members that nobody reads; ``hint`` is given each, and those known that are not there."""
        if all(name in known for name in parent.value):
            return
        absent = [name for name in known if name not in parent.value]
        for name in parent.value:
            if len(self.warnings) > MOST:
                return
            if name not in known:
                self.ignore(parent, name, hint(name, absent))

    def warn(self, identifier: str, node: Node, hint: str = "", **values: object) -> None:
        """Record a warning at the place of the node."""
        place = self.document.place(node)
        if len(self.warnings) < MOST:
            self.warnings.append(make(identifier, place, values, warning=True, hint=hint))
        elif len(self.warnings) == MOST:
            self.warnings.append(more(place))

    def ignore(self, parent: Node, name: str, hint: str) -> None:
        """Warn of a member that is not read."""
        place = self.document.place(parent.value[name], key=True)
        if len(self.warnings) < MOST:
            warning = make("DML-MODEL-unknown", place, {"name": name}, warning=True, hint=hint)
            self.warnings.append(warning)
            self._unknown.setdefault(parent, {})[name] = warning
        elif len(self.warnings) == MOST:
            self.warnings.append(more(place))


def more(place: Place) -> Problem:
    """The warning at the end of a report that is cut."""
    return make("DML-MODEL-more", place, {"most": MOST}, warning=True)


def renaming(node: Node, name: str) -> str:
    """A hint about a misspelt member."""
    return f"Rename {quote(str(node.key))} to {quote(name)}."
