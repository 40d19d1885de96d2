"""The content of a figure: examples of an operator, and the elements of their tensors that have a colour."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Diagnostics, SpecError
from ..families import FAMILIES
from ..families.base import Picture, Place
from ..model import Example
from ..plan import OperatorPlan
from .evaluate import Evaluated
from .tiles import COLOURS

MOST = 400  # elements of a tensor that can be drawn


@dataclass(frozen=True, slots=True)
class Group:
    """Elements of the input and of the output that have one colour."""

    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    beside: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)  # of other tensors


@dataclass(frozen=True, slots=True)
class Shown:
    """An example, and what is coloured in it."""

    example: Example
    use: Evaluated
    picture: Picture
    groups: tuple[Group, ...]

    @property
    def before(self) -> tuple[Any, ...]:
        """The side of the inputs: examples that share it are drawn together."""
        tensors = [(name, tensor.sizes, repr(tensor.data)) for name, tensor in self.example.inputs.items()]
        return tensors, [(group.inputs, group.beside) for group in self.groups], self.picture.padding


def examples(op: OperatorPlan) -> tuple[Shown, ...]:
    """The examples that the spec marks for the figure."""
    return tuple(follow(op, example) for example in op.operator.examples if example.figure is not None)


def elements(example: Example) -> int:
    """How many elements the largest tensor has."""
    return max(math.prod(tensor.sizes) for tensor in (*example.inputs.values(), *example.outputs.values()))


def follow(op: OperatorPlan, example: Example) -> Shown:
    """Finds where the elements of the output come from."""
    if elements(example) > MOST:
        message = f"a figure shows at most {MOST} elements of a tensor: this example has {elements(example)}"
        raise problem(example, message, "mark a smaller one: figure = []")
    try:
        use = Evaluated(op, example)
        picture = FAMILIES[op.operator.family].picture(op.kernel, use)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise problem(example, f"the example does not fit its operator ({type(error).__name__}: {error})") from error
    if picture is None:
        raise problem(example, f"family {op.operator.family} has no figures: its elements do not move", "remove figure")
    use.input, use.output = picture.tensor or use.input, picture.output or use.output
    keys = dict.fromkeys(picture.keys[place] for place in example.figure or ())
    groups = [group(picture, key) for key in keys] or some(picture)
    return Shown(example, use, picture, tuple(sorted(groups, key=lambda found: (not found.inputs, found.inputs))))


def problem(example: Example, message: str, hint: str | None = None) -> SpecError:
    """The fault of an example."""
    diagnostics = Diagnostics()
    diagnostics.error(example.span, message, hint)
    return SpecError(diagnostics)


def group(picture: Picture, key: Hashable) -> Group:
    """The examples that are shown together."""
    outputs = tuple(place for place, own in picture.keys.items() if own == key)
    beside = {name: places.get(key, ()) for name, places in picture.beside.items()}
    others = beside.pop(picture.tensor, ())  # of outputs other than the first
    sources = (source for place in outputs for source in picture.sources[place])
    return Group((*dict.fromkeys((*sources, *others)),), outputs, beside)


def some(picture: Picture) -> list[Group]:
    """All groups if there are as many colours, else three; none that shares an element of the input with another."""
    beside = (key for places in picture.beside.values() for key in places)
    keys: Sequence[Hashable] = tuple(dict.fromkeys((*picture.keys.values(), *beside)))
    found: list[Group] = []
    for key in keys if len(keys) <= COLOURS else (keys[0], keys[-1], keys[len(keys) // 2]):
        one = group(picture, key)
        if not any(set(one.inputs) & set(other.inputs) for other in found):
            found.append(one)
    return found
