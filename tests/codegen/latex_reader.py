"""Reads formulas as mathematicians do: the LaTeX of codegen.expr.latex to its value, without a look at the tree."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

TOKEN = re.compile(r"\\(?:left|right)(?=[\\(\[])|\\[A-Za-z]+|\\.|\d+|[A-Za-z]|\S")
WORD = re.compile(r"\\(mathrm|mathtt|operatorname|text)\{((?:\\.|[^{}])*)\}")
COMPARE = {
    "=": lambda a, b: a == b, r"\ne": lambda a, b: a != b, "<": lambda a, b: a < b,
    r"\le": lambda a, b: a <= b, ">": lambda a, b: a > b, r"\ge": lambda a, b: a >= b,
}  # fmt: skip
BIG: dict[str, Callable[[Any], Any]] = {r"\sum": sum, r"\prod": math.prod, r"\min": min, r"\max": max}


def tokens(text: str) -> list[str]:
    """The words and signs of a formula; fences of any size are the same, spaces and `,;` too."""
    found, at = [], 0
    for word in WORD.finditer(text):
        found += TOKEN.findall(text[at : word.start()])
        found.append(f"{word[1]}:{word[2].replace(chr(92), '')}")
        at = word.end()
    found += TOKEN.findall(text[at:])
    return [token for token in found if token not in (r"\left", r"\right", r"\;")]


class Reader:
    """Computes while it reads; ``names`` are the values of the words."""

    def __init__(self, text: str, names: dict[str, Any]) -> None:
        self.tokens = [*tokens(text), ""]
        self.names = names
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at]

    def take(self, *wanted: str) -> str:
        token = self.next
        assert not wanted or token in wanted, (token, wanted, self.tokens)
        self.at += 1
        return token

    def whole(self) -> Any:
        value = self.value()
        self.take("")
        return value

    def value(self) -> Any:
        """``or`` of ``and`` of comparisons."""
        return self.chain(r"\lor", lambda: self.chain(r"\land", self.comparison, all), any)

    def chain(self, sign: str, part: Any, join: Any) -> Any:
        found = [part()]
        while self.next == sign:
            self.take()
            found.append(part())
        return found[0] if len(found) == 1 else join(found)

    def comparison(self) -> Any:
        if self.next in (r"\forall", r"\exists"):
            return self.quantified()
        left = self.total()
        if self.next in COMPARE:
            return COMPARE[self.take()](left, self.total())
        if self.next == r"\in":
            self.take()
            return left in self.listed(r"\{", r"\}")
        return left

    def quantified(self) -> bool:
        join = all if self.take() == r"\forall" else any
        index = self.take()
        self.take(r"\in")
        values = self.listed(r"\{", r"\}")
        self.take(":")
        return join(self.repeated(index, range(values[-1] + 1), self.value))

    def repeated(self, index: str, values: Any, part: Any) -> list[Any]:
        """The value of a part for each value of an index."""
        start, outer, found = self.at, self.names, []
        for value in values:
            self.at, self.names = start, {**outer, index: value}
            found.append(part())
        self.names = outer
        return found

    def total(self) -> Any:
        value = self.product()
        while self.next in ("+", "-", r"\bmod"):
            sign, other = self.take(), self.product()
            value = value + other if sign == "+" else value - other if sign == "-" else value % other
        return value

    def product(self) -> Any:
        value = self.signed()
        while self.next == r"\cdot":
            self.take()
            value = value * self.signed()
        return value

    def signed(self) -> Any:
        if self.next in ("-", r"\lnot"):
            return -self.signed() if self.take() == "-" else not self.signed()
        if self.next in BIG and self.tokens[self.at + 1] == "_":
            function = BIG[self.take()]
            self.take("_")
            index, entries = self.braced(), self.atom()
            self.take("_")
            assert self.braced() == index
            return function(entries)
        return self.subscripted(self.atom())

    def braced(self) -> list[str]:
        self.take("{")
        found = []
        while self.next != "}":
            found.append(self.take())
        self.take("}")
        return found

    def group(self) -> Any:
        self.take("{")
        value = self.value()
        self.take("}")
        return value

    def listed(self, begin: str, end: str) -> list[Any]:
        self.take(begin)
        found = [self.value()]
        while self.next != end:
            self.take(",")
            if self.next == r"\ldots":
                self.take()
            else:
                found.append(self.value())
        self.take(end)
        return found

    def subscripted(self, value: Any) -> Any:
        while self.next == "_":
            self.take()
            value = value[self.group()]
        return value

    def atom(self) -> Any:
        token = self.take()
        match token:
            case "(":
                value = self.value()
                self.take(")")
                return value
            case r"\lfloor" | r"\lceil":
                self.take(r"\frac")
                left, right = self.group(), self.group()
                self.take(r"\rfloor", r"\rceil")
                return left // right if token == r"\lfloor" else -(-left // right)
            case r"\lvert":
                value = self.value()
                self.take(r"\rvert")
                return abs(value)
            case r"\min" | r"\max":
                return BIG[token](self.listed("(", ")"))
            case r"\begin":
                return self.cases()
        kind, _, word = token.rpartition(":")
        if kind == "operatorname":
            (argument,) = self.listed("(", ")")
            return len(argument) if word in ("rank", "len") else argument
        return int(word) if word.isdigit() else word if kind == "mathtt" else self.names[word]

    def cases(self) -> Any:
        self.braced()
        rows = []
        while True:
            value = self.value()
            self.take("&")
            otherwise = self.take() == "text:otherwise"
            rows.append((value, True if otherwise else self.value()))
            if self.take(r"\\", r"\end") == r"\end":
                self.braced()
                return next(value for value, test in rows if test)
