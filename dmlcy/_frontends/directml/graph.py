"""Graphs of the newer API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from dmlcy._frontends.directml.buffers import Buffer, array_of, count_fits, element_type, must_convert
from dmlcy._frontends.directml.device import Device
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.expressions import Expression, Scope
from dmlcy._frontends.directml.operator import CompiledOperator, Input, expressions_of
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._frontends.directml.tensors import TensorDesc, TensorPolicy, data_type_of
from dmlcy._generated.directml.enums import ExecutionFlags, TensorDataType, TensorFlags
from dmlcy._graph.check import unlike_a_tensor
from dmlcy._words.values import show


class Graph(Scope):
    """A graph that is being built: inputs, constants, and functions of expressions.

    Parameters
    ----------
    device
        The device that it runs on.
    tensor_policy
        How its inputs lie in memory; None: packed. Outputs are always packed.
    """

    _sum = "element_wise_add1"
    _remainder = "element_wise_modulus_floor"
    _divides_a_number = True

    def __init__(self, device: Device, *, tensor_policy: TensorPolicy | None = None) -> None:
        if not isinstance(device, Device):
            raise TypeError(f"Graph() takes a Device, not {show(device)}")
        if tensor_policy is not None and not isinstance(tensor_policy, TensorPolicy):
            raise TypeError(f"Graph(): tensor_policy must be a TensorPolicy, not {show(tensor_policy)}")
        super().__init__(device)
        self._policy = tensor_policy or TensorPolicy.default
        self._inputs: list[Input] = []
        self._compiled = False

    def input(
        self,
        sizes: Sequence[int] | None = None,
        dtype: TensorDataType | npt.DTypeLike | None = None,
        *,
        owned: bool = False,
        strides: Sequence[int] | None = None,
        desc: TensorDesc | None = None,
        name: str | None = None,
    ) -> Expression:
        """An input.

        Parameters
        ----------
        sizes
            The size of each axis.
        dtype
            The data type; None: FLOAT32.
        owned
            Whether it is given once, to ``initialize``.
        strides
            In elements; None: those of the policy.
        desc
            The tensor, in place of the others.
        name
            A name, under which calls may give it.

        Raises
        ------
        TypeError
            There are neither sizes nor a desc, or both; the name is no str.
        ValueError
            Another input has the name (DML-GRAPH-input-name), or there is no such tensor (DML-GRAPH-desc).
        """
        if desc is None:
            if sizes is None:
                raise TypeError("input() takes sizes or a desc")
            desc = self._desc(sizes, "float32" if dtype is None else dtype, owned, strides, "input")
        elif sizes is not None or dtype is not None or owned or strides is not None:
            raise TypeError("input() takes a desc, or sizes, dtype, owned and strides, not both")
        elif not isinstance(desc, TensorDesc):
            raise TypeError(f"input(): desc must be a TensorDesc, not {show(desc)}")
        return self._added(desc, name, "input")

    def constant(
        self,
        array: Any,
        dtype: TensorDataType | npt.DTypeLike | None = None,
        *,
        sizes: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Expression:
        """An owned input whose elements are known. The array is read when the operator is initialized.

        Parameters
        ----------
        array
            Anything that ``numpy.asarray`` takes, or a Buffer.
        dtype
            The data type; None: that of the array.
        sizes
            Other sizes, of as many elements.
        name
            A name, under which ``initialize`` may give other elements.

        Raises
        ------
        ValueError
            The conversion is not safe (DML-GRAPH-bound-kind), or the number of elements is another one
            (DML-GRAPH-bound-count).
        """
        if current().is_unknown(array):
            known = self._desc(array.shape if sizes is None else sizes, dtype or "float32", True, None, "constant")
            return self._added(known, name, "constant", array)
        label = "the constant" if name is None else f'the constant "{name}"'
        given = array._data if isinstance(array, Buffer) else array_of(array)
        target = element_type(given, dtype, "constant", label)
        if isinstance(array, Buffer) and given.dtype != target:
            refuse("constant", "bound-type", label=label, actual=str(given.dtype), expected=str(target))
        must_convert(given, target, "constant", label)
        shape = given.shape or (1,)
        desc = self._desc(shape if sizes is None else sizes, target, True, None, "constant")
        count_fits(given, tuple(desc.sizes), "constant", label)
        return self._added(desc, name, "constant", array if isinstance(array, Buffer) else given)

    def compile(
        self, outputs: Iterable[Expression], *, flags: ExecutionFlags = ExecutionFlags.NONE
    ) -> CompiledOperator:
        """Checks and compiles the graph. If all owned inputs are constants, the result is initialized, too.

        Parameters
        ----------
        outputs
            The expressions that a call computes, in their order.
        flags
            The CPU has no use for them.

        Raises
        ------
        DmlError
            The graph is not valid.
        ValueError
            The graph was compiled before (DML-GRAPH-compiled).
        """
        found = expressions_of(outputs, self)
        if not isinstance(flags, ExecutionFlags):
            raise TypeError(f"compile(): flags must be of ExecutionFlags, not {show(flags)}")
        if self._compiled:
            refuse("compile", "compiled")
        compiled = current().compiled(self._graph.build(*(one._value for one in found)))
        operator = CompiledOperator(compiled, [*self._inputs], len(found), self.device)
        self._compiled = True
        return operator

    def _desc(
        self, sizes: Sequence[int], dtype: object, owned: bool, strides: Sequence[int] | None, function: str
    ) -> TensorDesc:
        """The desc of an input, laid out as the policy says."""
        data_type = TensorDataType[data_type_of(dtype, function, "dtype")]
        flags = TensorFlags.OWNED_BY_DML if owned else TensorFlags.NONE
        if not hasattr(sizes, "__len__") or isinstance(sizes, str):
            raise TypeError(f"{function}() takes a sequence of int as sizes, not {show(sizes)}")
        strides = self._policy.strides([*sizes]) if strides is None else strides
        return TensorDesc(data_type, [*sizes], flags=flags, strides=strides)

    def _added(self, desc: TensorDesc, name: object, function: str, known: object = None) -> Expression:
        """A new input."""
        if name is not None and not isinstance(name, str):
            raise TypeError(f"{function}(): name must be a str, not {show(name)}")
        if name is not None and any(one.name == name for one in self._inputs):
            refuse(function, "input-name", name=repr(name))
        index = len(self._inputs)
        why = unlike_a_tensor(desc._desc)
        if why:
            refuse(function, "desc", of=f"input {index}", why=why)
        found = Expression(self, self._graph.input(desc._desc, name=f"input{index}"), index)
        owned = desc.flags == TensorFlags.OWNED_BY_DML
        self._inputs.append(Input(found, name, owned, known))
        return found
