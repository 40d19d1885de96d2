"""A call of a function of PyDirectML: its arguments are taken here, and the operator of a graph is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from functools import wraps
from typing import Final, TypeVar

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._field_types.size_2d import Size2D as HeightWidth
from dmlcy._frontends.directml.activations import Activation
from dmlcy._frontends.directml.expressions import Expression, Scope, expression_of, is_number, must_be_alike, use
from dmlcy._frontends.directml.tensors import Size2D, data_type_of
from dmlcy._words.values import show

Result = TypeVar("Result")


class LeftOut(Enum):
    LEFT_OUT = "left out"


LEFT_OUT: Final = LeftOut.LEFT_OUT
"""In place of an argument: the operator has its default."""


class Call:
    """A call of a function: its name, its tensors, the graph that they are of.

    Parameters
    ----------
    function
        The function, which errors name.
    tensors
        Its expressions and lists of expressions, by parameter.
    optional, several, numbers
        The parameters that may be None, that are lists, and that may be numbers.
    graph
        The graph, where there are no tensors.
    names
        Arguments of dmlcy's function that PyDirectML has other names for, with these.
    """

    __slots__ = ("function", "names", "scope", "tensors")

    def __init__(
        self,
        function: str,
        tensors: dict[str, object],
        optional: Sequence[str] = (),
        several: Sequence[str] = (),
        numbers: Sequence[str] = (),
        graph: object = None,
        **names: str,
    ) -> None:
        self.function, self.tensors, self.names = function, tensors, names
        scope: Scope | None = None if graph is None else _graph(function, graph)
        for name, given in tensors.items():
            if (given is None and name in optional) or (name in numbers and is_number(given)):
                continue
            for one in self._list(name, given) if name in several else (given,):
                found = expression_of(one, function, scope, name)
                scope = scope or found._builder
        assert scope is not None  # a function has a tensor or a graph
        self.scope: Scope = scope

    def _list(self, name: str, given: object) -> Sequence[object]:
        """The entries of a list; TypeError for what is none."""
        if not isinstance(given, list | tuple) or hasattr(given, "_fields") or not given:
            raise self._wrong(name, "a list of expressions", given)
        return given

    def use(self, python: str, /, **values: object) -> Expression | tuple[Expression, ...]:
        """Adds the operator: an expression, or a tuple of them."""
        given = {name: one for name, one in values.items() if one is not LEFT_OUT}
        return use((self.function, python), self.scope, given, self.names)

    def alike(self, *names: str) -> None:
        """Refuses tensors whose sizes or data types differ."""
        self._compare(names, types=True)

    def same_sizes(self, *names: str) -> None:
        """Refuses tensors whose sizes differ."""
        self._compare(names, types=False)

    def _compare(self, names: tuple[str, ...], types: bool) -> None:
        given = {name: self.tensors[name] for name in names}
        must_be_alike(self.function, {k: one for k, one in given.items() if isinstance(one, Expression)}, types)

    def entries(self, name: str, given: object, empty: object = None) -> object:
        """The entries of a sequence; ``empty``: in place of none."""
        if isinstance(given, str | bytes | dict) or not hasattr(given, "__len__") or not hasattr(given, "__iter__"):
            raise self._wrong(name, "a sequence of numbers", given)
        return tuple(given) if len(given) or empty is None else empty

    def member(self, name: str, given: object, of: type[IntEnum]) -> str:
        """The name of a member of an enum."""
        if not isinstance(given, of):
            raise self._wrong(name, f"a member of {of.__name__}", given)
        return given.name

    def data_type(self, name: str, given: object, absent: object = None) -> object:
        """The name of a data type; ``absent``: in place of None."""
        if given is None and absent is not None:
            return absent
        return data_type_of(given, self.function, name)

    def activation(self, name: str, given: object) -> OperatorDesc | None:
        """The desc of an activation; None for none."""
        if given is None:
            return None
        if not isinstance(given, Activation):
            what = "a FusedActivation, such as FusedActivation(OperatorType.ACTIVATION_RELU),"
            raise TypeError(f"{name} of {self.function}() must be {what} not {show(given)}")
        return given._desc()

    def activations(self, name: str, given: object) -> tuple[OperatorDesc | None, ...]:
        """The descs of activations."""
        if not isinstance(given, list | tuple):
            raise self._wrong(name, "a list of FusedActivation", given)
        return tuple(self.activation(name, one) for one in given)

    def size(self, name: str, given: object) -> HeightWidth:
        """A size from a width and a height."""
        if isinstance(given, Size2D):
            given = given.width, given.height
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise self._wrong(name, "a width and a height", given)
        width, height = given
        return HeightWidth(height, width)

    def options(self, name: str, given: object, of: type[IntEnum], outputs: tuple[str, ...]) -> tuple[bool, ...]:
        """Which outputs are asked for: all, or the one that the member names."""
        asked = self.member(name, given, of).lower()
        return tuple(asked in (output, "both") for output in outputs)

    def _wrong(self, name: str, what: str, given: object) -> TypeError:
        return TypeError(f"{self.function}() takes {what} for {name}, not {show(given)}")


def _graph(function: str, given: object) -> Scope:
    if not isinstance(given, Scope):
        raise TypeError(f"{function}() takes a Graph, not {show(given)}")
    return given


def apart(found: object, asked: tuple[object, ...]) -> list[object]:
    """The outputs of an operator in their places, with None where one was not asked for."""
    there = iter(found if type(found) is tuple else (found,))
    return [next(there) if one else None for one in asked]


def older(
    lacks: tuple[str, Callable[[object], bool], object] | None = None, **also: str
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Lets the calls of the older API through: all parameters by position, and other names of some.

    ``lacks``: a parameter that an even older version lacks, what its values are, and its default: a value of another
    kind in its place is the next argument. ``also``: older names of parameters, by the newer ones.
    """

    def decorated(function: Callable[..., Result]) -> Callable[..., Result]:
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def called(*arguments: object, **named: object) -> Result:
            for new, old in also.items():
                if old in named:
                    named.setdefault(new, named.pop(old))
            if lacks is not None:
                arguments = _with_the_lacking(arguments, names.index(lacks[0]), *lacks[1:])
            more = dict(zip(names[len(positional) :], arguments[len(positional) :], strict=False))
            if len(arguments) > len(names):
                raise TypeError(f"{function.__name__}() takes at most {len(names)} arguments, not {len(arguments)}")
            for name in more:
                if name in named:
                    raise TypeError(f"{function.__name__}() got multiple values for argument {name!r}")
            return function(*arguments[: len(positional)], **more, **named)

        return called

    return decorated


def _with_the_lacking(
    arguments: tuple[object, ...], place: int, fits: Callable[[object], bool], default: object
) -> tuple[object, ...]:
    """The arguments with the default of a parameter that an older version lacks, where it is lacking."""
    if len(arguments) <= place or fits(arguments[place]):
        return arguments
    return (*arguments[:place], default, *arguments[place:])
