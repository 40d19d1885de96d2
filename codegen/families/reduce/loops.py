"""The loops of reduce: what fold_rows.h is included for, and the kernels of folds.pyx that are made of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from ...expr.c import C, Whole, has_functions, has_no_sign
from ...expr.nodes import Name, Node, NotCompiled
from ...model import Operator
from ..base import KernelTable

IS_FLOAT = "a.input.dtype == FLOAT32 or a.input.dtype == FLOAT16"
IS_LONG = "a.input.item == 8"
IS_SIGNED = "a.input.dtype == INT{bits}"
One = TypeVar("One")
JOINS = {"sum": ("DMLCY_SUM", "0"), "product": ("DMLCY_TIMES", "1")}


@dataclass(frozen=True, slots=True)
class Fold:
    """One way to reduce, as expressions; None: the element, and the reduction itself."""

    reduction: str
    step: Node | None
    finish: Node | None


@dataclass(frozen=True, slots=True)
class Case:
    """The code that computes the result where some tests hold, all in Cython."""

    tests: tuple[str, ...]
    call: str

    @property
    def test(self) -> str:
        """All tests."""
        return " and ".join(f"({test})" if " or " in test else test for test in self.tests)


@dataclass(frozen=True, slots=True)
class FoldLoop:
    """The macros of fold_rows.h. ``two`` joins accumulators, ``none`` is that of no elements.

    ``levels``: for how many levels of instructions; ``ordered``: other orders of the elements give other bits.
    """

    number: str
    work: str
    acc: str
    step: str
    two: str
    none: str
    tops: bool
    levels: int
    ordered: bool

    @property
    def common(self) -> bool:
        """Whether lines of common lengths have loops of their own, because the general loop waits for memory."""
        return self.acc == "double" and self.work == self.acc


@dataclass(frozen=True, slots=True)
class FoldKernel:
    """A kernel. ``loop`` and ``finish``: names; without a finish, the accumulators are results.

    ``takes`` and ``gives``: data types of numbers; ``bits``: bytes of the integers that are taken as they are.
    """

    loop: str
    finish: str | None
    acc: str
    takes: str
    gives: str
    bits: int
    tops: bool
    levels: int
    ordered: bool


@dataclass(frozen=True, slots=True)
class FoldFinish:
    """The macros of fold_finish.h."""

    acc: str
    value: str
    result: str
    tops: bool


class Sums(C):
    """Renders results of sums, which may be larger than a float."""

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        if function == "log":
            return f"dmlcy_log_of_double(DMLCY_FUSED, {args[0]})"
        return C.call(self, node, function, args)


class Unsigned(Whole):
    """Renders integers that are never negative."""

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        return args[0] if function == "abs" else Whole.call(self, node, function, args)


class Folds:
    """Collects the loops of an operator; each is made once."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.loops: dict[FoldLoop, str] = {}
        self.finishes: dict[FoldFinish, str] = {}
        self.kernels: dict[FoldKernel, str] = {}
        self.last = "False"

    def directions(self, field: str, kernel: KernelTable) -> None:
        """Says which of several places counts, by a field of the operator."""
        self.last = f"a.{field} == {kernel.members(field).get('DECREASING', '0')}"

    def place(self, extreme: str) -> str:
        """The call for the place of an extreme."""
        return f"find_place(&a.input, &a.output, {extreme == 'least'}, {self.last})"

    def cases(self, fold: Fold, tests: tuple[str, ...]) -> list[Case]:
        """The calls by the data types of the input; raises NotCompiled."""
        if fold.reduction not in JOINS:
            if fold.step is None and fold.finish is None:
                return [Case(tests, f"run_extreme(&a.input, &a.output, {fold.reduction == 'least'})")]
            raise NotCompiled("no loop changes the elements of extremes yet", 0, 0)
        found = [(IS_FLOAT, self.floats(fold))]
        if fold.finish is None:  # rules keep integers from others
            found += self.integers(fold)
        return [
            Case((*tests, test) if number < len(found) - 1 else tests, f"run_fold(&{name}, &a.input, &a.output)")
            for number, (test, name) in enumerate(found)
        ]

    def floats(self, fold: Fold) -> str:
        """The kernel of floats: sums and products are doubles, functions those of FLOAT32."""
        product = fold.reduction == "product"
        step = fold.step or Name("x")
        work = "float" if has_functions(step) else "double"
        tops = reads(step, "top")
        text = C({"x": "x", "top": "top"}, work, {}).expression(step)
        two, none = JOINS[fold.reduction]
        acc = "scaled_t" if product else "double"
        if product:
            two, text, none = "dmlcy_scaled_product", f"dmlcy_scaled_of({text}, 0)", "dmlcy_scaled_of(1.0, 0)"
        levels = 1 if product else 3
        loop = self.named(FoldLoop("float", work, acc, text, two, none, tops, levels, True), self.loops, "fold")
        finish = None
        if product or fold.finish is not None:
            names = {"acc": "acc", "count": "count", "top": "top"}
            result = Sums(names, "double", {}).expression(fold.finish or Name("acc"))
            value = "dmlcy_of_scaled" if product else ""
            tops_too = fold.finish is not None and reads(fold.finish, "top")
            finish = self.named(FoldFinish(acc, value, result, tops_too), self.finishes, "finish")
        tops = tops or (fold.finish is not None and reads(fold.finish, "top"))
        made = FoldKernel(loop, finish, acc, "FLOAT32", "FLOAT64", 0, tops, levels, True)
        return self.named(made, self.kernels, "kernel")

    def integers(self, fold: Fold) -> Iterator[tuple[str, str]]:
        """The kernels of integers, modulo a power of two, with the tests for them."""
        step = fold.step or Name("x")
        for bits in (64, 32):
            wide = f"uint{bits}_t"
            kinds = [(f"uint{bits}_t", IS_LONG)]
            if not has_no_sign(step):
                kinds.insert(0, (f"int{bits}_t", IS_SIGNED.format(bits=bits)))
            for kind, test in kinds:
                renderer = Unsigned if kind == wide else Whole
                text = f"({wide}){renderer({'x': 'x'}, kind, {}, wide=wide).expression(step)}"
                two, none = JOINS[fold.reduction]
                loop = self.named(FoldLoop(kind, kind, wide, text, two, none, False, 2, False), self.loops, "fold")
                dtype = kind.removesuffix("_t").upper()
                made = FoldKernel(loop, None, wide, dtype, dtype, bits // 8, False, 2, False)
                yield test, self.named(made, self.kernels, "kernel")

    def named(self, one: One, of: dict[One, str], kind: str) -> str:
        """The name of a part, which is made if it is new."""
        return of.setdefault(one, f"{self.operator.python}_{kind}_{len(of)}")


def reads(node: Node, name: str) -> bool:
    """Whether an expression has a name in it."""
    return any(isinstance(part, Name) and part.id == name for part in node.walk())
