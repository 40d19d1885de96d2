"""Equations of Einsum: which operator of DirectML one is, as ONNX Runtime's provider recognises it."""

from __future__ import annotations

from typing import Final, NamedTuple

LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Turns(NamedTuple):
    """How a product of matrices reads its operands."""

    a: str = "NONE"
    b: str = "NONE"
    swapped: bool = False  # the two axes in the middle change places
    is_column: bool = False  # the vector on the left is a column


PRODUCTS: Final = {
    "ab,bc->ac": Turns(),
    "abc,acd->abd": Turns(),
    "abcd,abde->abce": Turns(),
    "ab,ac->bc": Turns(a="TRANSPOSE"),
    "abc,abd->acd": Turns(a="TRANSPOSE"),
    "abcd,abce->abde": Turns(a="TRANSPOSE"),
    "ab,cb->ac": Turns(b="TRANSPOSE"),
    "abc,adc->abd": Turns(b="TRANSPOSE"),
    "abcd,abed->abce": Turns(b="TRANSPOSE"),
    "a,b->ab": Turns(is_column=True),
    "a,a->": Turns(b="TRANSPOSE"),
    "abcd,adce->abce": Turns(swapped=True),
    "abcd,abce->adce": Turns(a="TRANSPOSE", swapped=True),
    "abcd,aecd->abce": Turns(b="TRANSPOSE", swapped=True),
}
"""The equations that are products of matrices, with their labels in alphabetical order."""


class Equation(NamedTuple):
    """An equation: the labels of each input, and those of the output."""

    inputs: tuple[str, ...]
    output: str

    @property
    def is_identity(self) -> bool:
        return self.inputs == (self.output,)

    @property
    def is_transpose(self) -> bool:
        return len(self.inputs) == 1 and sorted(self.inputs[0]) == sorted(self.output)

    @property
    def is_sum(self) -> bool:
        """Whether all axes are added, or one of two."""
        return len(self.inputs) == 1 and len(self.output) <= (len(self.inputs[0]) == 2)

    @property
    def is_multiply(self) -> bool:
        return self.inputs == (self.output, self.output)

    @property
    def is_recognised(self) -> bool:
        """Whether an operator of DirectML computes it."""
        known = self.is_identity or self.is_transpose or self.is_sum or self.is_multiply
        return known or self.product is not None

    @property
    def product(self) -> Turns | None:
        """How it is a product of matrices; None for another equation."""
        names = dict(zip(dict.fromkeys("".join(self.inputs)), "abcdefgh", strict=False))
        text = "".join(names.get(one, one) for one in f"{','.join(self.inputs)}->{self.output}")
        return PRODUCTS.get(text)


def recognised(text: str) -> Equation | None:
    """The equation; None for one that has no operator."""
    found = parse(text)
    ways = () if found is None else (found.is_transpose, found.is_multiply, found.is_sum, found.product)
    return found if any(one not in (False, None) for one in ways) else None


def parse(text: str) -> Equation | None:
    """The labels of an equation; None for one with other characters, or with a label twice in a tensor."""
    left, arrow, output = text.replace(" ", "").partition("->")
    inputs = tuple(left.split(","))
    labels = "".join(inputs)
    if not arrow:
        output = "".join(sorted(one for one in {*labels} if labels.count(one) == 1))
    if not {*labels, *output} <= LETTERS or not {*output} <= {*labels}:
        return None
    return Equation(inputs, output) if all(len({*one}) == len(one) for one in (*inputs, output)) else None
