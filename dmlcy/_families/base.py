"""The interface that the package asks of every family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dmlcy._arithmetic import Arithmetic
from dmlcy._arithmetic.counted import COUNTING, element, operations
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import is_float
from dmlcy._facts.rows import Formula, Operator, Rules
from dmlcy._families import conditions
from dmlcy._families.blocks import BLOCK
from dmlcy._families.given import Given, Kernel
from dmlcy._families.pieces import Cut, Cutting
from dmlcy._families.windows import WindowRoles
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._types import Array, Number


class Scaled(NamedTuple):
    """The paths of inputs of which each element is (integer - zero) * scale; ``zero`` may be an integer, for all."""

    integers: str
    scale: str
    zero: str | int


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the reference for one output.

    Attributes
    ----------
    values
        The elements, as numbers of the arithmetic; or, if they are ``moved``, in the data type of the output.
    accumulators
        The sums of which the elements are made, where [kernel] says in which data type the loops add; else None.
    moved
        The elements are elements of an input, bit for bit.
    magnitudes
        The function gives the sizes of the terms of which each element is the sum. If the accuracy is of magnitudes,
        its unit is one in the last place of these sizes. Where they are NaN, the accuracy promises nothing. None: of
        the results for the absolute values of the inputs.
    """

    values: Number
    accumulators: Number = None
    moved: bool = False
    magnitudes: Callable[[], Number] | None = None


class Part(NamedTuple):
    """Elements of an input that are an output, bit for bit, in the same order of axes.

    Attributes
    ----------
    first
        The place of the first one: an index for each axis of the input.
    steps
        How many elements of the input a step of the output takes along each axis; it may be 0 or negative.
    """

    first: tuple[int, ...]
    steps: tuple[int, ...]

    @staticmethod
    def whole(rank: int) -> Part:
        """All elements."""
        return Part((0,) * rank, (1,) * rank)


class Family(ABC):
    """Operators that are computed alike. ``FAMILY`` in ``family.py`` of its folder is the only instance of a family.

    The reference works on parts of ``part`` elements. Beside the tensors, it keeps at most ``of_a_part`` numbers of 8
    bytes for each element of a part, and ``of_all`` numbers for each element of all tensors. ``keeps_state``: results
    are computed step by step, each from the one before.
    """

    part: ClassVar[int] = BLOCK
    of_a_part: ClassVar[int] = 8
    of_all: ClassVar[int] = 0
    keeps_state: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, given: Given, output: str) -> Result:
        """The reference: the elements of one output, by its Python name, over the arithmetic of ``given``."""

    def result(self, given: Given, output: str) -> Array:
        """The elements of one output in its data type."""
        found = self.evaluate(given, output)
        return found.values if found.moved else self.stored(given, found.values, output)

    def stored(self, given: Given, values: Number, output: str, sizes: tuple[int, ...] | None = None) -> Array:
        """Numbers in the data type of an output; ``sizes``: of the part of it that they are."""
        whole = tuple(given.values[output].sizes) if sizes is None else sizes
        return given.arithmetic.stored(values, given.dtype(output), whole)

    def applied(self, desc: OperatorDesc, kernel: Kernel, values: Number, arithmetic: Arithmetic) -> Number:
        """An operator of the family as an activation of the numbers that another operator computes."""
        raise NotImplementedError(f"{desc.operator.name} is no activation")

    def applied_along(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The axes along which an activation makes each result of several numbers."""
        raise NotImplementedError(f"{desc.operator.name} is no activation")

    def computes(self, desc: OperatorDesc) -> bool:
        """Whether results are numbers of the arithmetic, which a device may round."""
        return True

    def flushes(self, desc: OperatorDesc) -> bool:
        """Whether a device may take 0 in place of operands below the normal numbers: not where elements only move."""
        said = desc.operator.flushes
        return self.computes(desc) if said is None else said

    def window(self, operator: Operator) -> WindowRoles | None:
        """The names that say how a window slides over the first input; None if no window does."""
        return None

    def holds(self, condition: Formula, given: Given, output: str) -> Number:
        """Where the condition of an interpretation holds: for which elements of an output."""
        told: dict[str, Number] = {
            name: tell() for name, tell in self.told(given, output).items() if name in condition.reads
        }
        told |= conditions.of_elements(given, output, self.spread, self.idle)
        return conditions.holds(condition, given, output, told)

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Number]]:
        """The computed values of each element of an output that conditions may read, beside the elements of inputs."""
        return {}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """Which elements of an output are made of a marked element of the input of that name, among others."""
        raise NotImplementedError(f"{given.operator.name}: any() of {name}")

    def idle(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """For which elements of an output a marked element of the input of that name is multiplied by no element."""
        raise NotImplementedError(f"{given.operator.name}: idle() of {name}")

    def joined(self, desc: OperatorDesc) -> tuple[int, ...] | None:
        """Where each input begins in the output, in elements, if they follow each other there, and all are packed.

        None: they do not, or the elements are not just moved.
        """
        return None

    def operations(self, desc: OperatorDesc) -> int | None:
        """The arithmetic operations of a call, as docs/profiling.md counts them; 0 where elements only move.

        None: their number depends on the elements of the inputs.
        """
        return 0

    def applied_operations(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> int:
        """The same of an operator of the family as an activation of numbers of these sizes."""
        kernel = Kernel(desc.operator, Rules({}), COUNTING)
        return operations([self.applied(desc, kernel, element("x", sizes), COUNTING)])

    def pointwise(self, desc: OperatorDesc) -> bool:
        """Whether loops compute any part of the outputs from the elements of the inputs at the same places only."""
        return False

    def precedes(self, desc: OperatorDesc) -> bool:
        """Whether loops may let others work on each part of the output that they have just computed."""
        return False

    def stores(self, desc: OperatorDesc) -> bool:
        """Whether loops may let others change each FLOAT32 result as they store it."""
        return False

    def parts(self, desc: OperatorDesc) -> tuple[Part, ...] | None:
        """For each output the elements of the only input that it is; None: the outputs are no parts of it."""
        return None

    def keeps_bits(self, desc: OperatorDesc) -> bool:
        """Whether loops compute a slice of an output, which a desc of its own describes, as they compute the whole."""
        return False

    def scaled(self, desc: OperatorDesc) -> Scaled | None:
        """The parts of each element of the output, if it is (integer - zero) * scale; None: it is another formula."""
        return None

    def makes(self, desc: OperatorDesc) -> str | None:
        """The path of an input, a matrix of which loops need some rows or columns at a time, whatever makes these."""
        return None

    def rearranges(self, desc: OperatorDesc) -> bool:
        """Whether loops put all inputs into another order first, and so read any strides about as fast as none."""
        return False

    def workspace(self, desc: OperatorDesc) -> int:
        """Bytes that the reference takes at most for a use, beside its inputs and results; an estimate."""
        counts = [tensor.element_count for tensor in tensors_of(desc)]
        part = min(max(counts, default=0), self.part)
        return 8 * (self.numbers_of_a_part(desc) * part + self.of_all * sum(counts))

    def numbers_of_a_part(self, desc: OperatorDesc) -> int:
        """Numbers of 8 bytes that the reference keeps at most for each element of a part; an estimate."""
        return self.of_a_part

    def cuts(self, use: Cutting) -> Iterator[Cut]:
        """The axes that can be cut beside the independent ones, into pieces that read over their ends."""
        yield from ()


def tensors_of(desc: OperatorDesc) -> list[TensorDesc]:
    """The tensors of a desc, its inputs first."""
    values = desc._values()
    return [one for kind in ("input", "output") for _, one in by_path(desc.operator.fields, kind, values)]


def of_floats(desc: OperatorDesc) -> bool:
    """Whether all tensors of a desc have floating-point elements."""
    return all(is_float(dtype_of(tensor)) for tensor in tensors_of(desc))
