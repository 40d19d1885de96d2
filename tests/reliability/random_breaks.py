"""Calls that are refused, made of a valid one: another attribute, input or ``out``, a value, a desc with a mistake."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from example_descs import attributes, each_part
from random_arrays import Array, Placed, placed
from random_cases import broken_cases, broken_descs, flat

import dmlcy as dml
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import level_index
from dmlcy._reference.call import check_of, faces_of
from dmlcy._reference.expected import outputs_of
from dmlcy._testing.starts import tensors_of

if TYPE_CHECKING:
    from random_calls import Caller

WRONG: Final = (
    None, True, "", "NONE", (), (1,) * 9, [None], b"\0", -1, 0.5, np.nan, np.inf, 1j, object(), np.zeros(2),
    2**31, 2**32 - 1, 2**32, 2**64, -(2**63),
)  # fmt: skip


def together(outs: list[Placed], desc: OperatorDesc) -> Any:
    """The argument ``out`` of a call."""
    return tuple(out.view for out in outs) if has_several(desc) else outs[0].view


def has_several(desc: OperatorDesc) -> bool:
    """Whether a result is a tuple of arrays."""
    return len(outputs_of(desc)) > 1 or faces_of(desc.operator.name).array


class Breaker:
    """Breaks calls, and looks whether they are refused with a DmlError, and write nothing."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    @property
    def chance(self) -> random.Random:
        """The source of random decisions."""
        return self.caller.chance

    def one(self, desc: OperatorDesc, tensors: list[Any]) -> None:
        """One broken call beside a valid one with these inputs."""
        ways: list[Callable[[OperatorDesc, list[Any]], None]] = [self.attribute, self.out]
        ways += [self.input] * any(one is not None for one in tensors)
        self.chance.choice(ways)(desc, tensors)

    def refused(self, name: str, function: Any, tensors: Any, others: dict[str, Any], memory: list[Array]) -> None:
        """The call raises a DmlError and writes nothing."""
        before = [one.tobytes() for one in memory]
        try:
            self.caller.call(name, function, tensors, others)
        except dml.DmlError as error:
            assert error.violations and all(one.id and one.text for one in error.violations)
            self.caller.made["broken"] += 1
        else:
            raise AssertionError("not refused")
        assert [one.tobytes() for one in memory] == before, "a call that was refused wrote"

    def attribute(self, desc: OperatorDesc, tensors: list[Any]) -> None:
        """Another value of an attribute, or of what a call says of its outputs, where the exact checks refuse it."""
        chance, operator, given = self.chance, desc.operator, attributes(desc)
        if not given:
            return
        name = chance.choice(list(given))
        value = chance.choice(WRONG)
        if isinstance(given[name], tuple) and chance.random() < 0.7:
            entries = list(given[name])
            if entries and chance.random() < 0.7:
                entries[chance.randrange(len(entries))] = value
            else:
                entries = chance.choice([[*entries, 1], entries[:-1]])
            value = chance.choice([tuple, list])(entries)
        others: dict[str, Any] = {**given, name: value}
        names = [field.python for field in operator.fields if field.kind == "input"]
        present = {key: one for key, one in zip(names, tensors, strict=True) if one is not None}
        descs = {key: each_part(one, dml.TensorDesc.from_array) for key, one in present.items()}
        if not check_of(faces_of(operator.name), descs, others, level_index(dml.current_level())).violations:
            return
        outs = self.outs(desc)
        says_sizes = name in faces_of(operator.name).sized and value is None  # out would: the call may be valid then
        if chance.random() < 0.7 and not says_sizes:
            others["out"] = together(outs, desc)
        memory = [*(out.block for out in outs), *flat(tensors)]
        self.refused(operator.python, getattr(dml, operator.python), tensors, others, memory)
        members = [field.python for field in operator.fields if field.kind == "attribute" and field.value is None]
        if name in members and chance.random() < 0.3:
            self.compiled(desc, name, value)

    def compiled(self, desc: OperatorDesc, name: str, value: Any) -> None:
        """compile refuses a desc with this value where check does."""
        operator = desc.operator
        fields = [field for field in operator.fields if field.kind != "output" or operator.is_open(field)]
        given = {field.python: getattr(desc, field.python) for field in fields if field.value is None}
        broken = type(desc)(**{**given, name: value})
        if dml.check(broken):
            self.refused("compile", dml.compile, [broken], {}, [])

    def input(self, desc: OperatorDesc, tensors: list[Any]) -> None:
        """Something else in place of an input, or of one array of an input that is several."""
        chance = self.chance
        at = chance.choice([place for place, one in enumerate(tensors) if one is not None])
        entry = chance.randrange(len(tensors[at])) if isinstance(tensors[at], tuple) else None
        x = tensors[at] if entry is None else tensors[at][entry]
        field = [one for one in desc.operator.fields if one.kind == "input"][at]
        takes_bytes = any("UINT8" in row.dtypes for row in field.dtypes)  # as which those of bool are read
        wrong: list[Any] = [
            x.tolist(), "text", 1.5, object(), np.void(3), b"", np.ma.masked_array(x), x[:0], x[(None,) * (9 - x.ndim)],
            x[(0,) * x.ndim], *(np.zeros(x.shape, other) for other in ("ODS" if takes_bytes else "?ODS")),
        ]  # fmt: skip
        if x.itemsize > 1:
            wrong.append(x.astype(x.dtype.newbyteorder()))
        compiled = chance.random() < 0.5
        if compiled:  # a call of other sizes may be valid
            wrong += [None, x[..., None], x[None], np.zeros((*x.shape[:-1], x.shape[-1] + 1), x.dtype)]
        value = chance.choice(wrong)
        changed = value if entry is None else (*tensors[at][:entry], value, *tensors[at][entry + 1 :])
        if entry is not None and chance.random() < 0.2:
            changed = chance.choice(["text", 1.5, {}, (None,), *([tensors[at][:-1]] if compiled else [])])
        given = [*tensors[:at], changed, *tensors[at + 1 :]]
        outs = self.outs(desc)
        memory = [*(out.block for out in outs), *flat(tensors)]
        self.refuse_tensors(desc, given, chance.choice([None, together(outs, desc)]), memory, compiled)

    def out(self, desc: OperatorDesc, tensors: list[Any]) -> None:
        """Something else as out, or as one of several."""
        chance, outs, given = self.chance, self.outs(desc), list(tensors)
        at = chance.randrange(len(outs))
        out = outs[at].view
        kinds: list[Any] = [
            out[..., None], out[None], out[:0], out.tolist(), out.tobytes(), "text", object(), 1,
            np.zeros((*out.shape[:-1], out.shape[-1] + 1), out.dtype), *(np.zeros(out.shape, other) for other in "?OD"),
        ]  # fmt: skip
        locked = out.view()
        locked.flags.writeable = False
        kinds += [locked, np.ma.masked_array(out)]
        if out.itemsize > 1:
            kinds.append(np.zeros(out.shape, out.dtype.newbyteorder()))
        if out.size > 1:
            kinds += [np.lib.stride_tricks.as_strided(out, out.shape, (0,) * out.ndim)] * 2
        wrong = chance.choice(kinds)
        several = has_several(desc)
        if chance.random() < 0.3:
            wrong = self.shared(desc, given, out, wrong)
        memory = [*(one.block for one in outs), *flat(tensors)]
        memory += [one for one in (wrong, *flat(given)) if isinstance(one, np.ndarray)]
        whole: Any = tuple(wrong if number == at else one.view for number, one in enumerate(outs))
        if several and chance.random() < 0.2:
            whole = chance.choice([whole[:-1], (*whole, None), "text"])
        self.refuse_tensors(desc, given, whole if several else wrong, memory, chance.random() < 0.5)

    def shared(self, desc: OperatorDesc, given: list[Any], out: Array, otherwise: Any) -> Any:
        """An out in one block with an input, which is changed; another one where it may be the input itself."""
        inputs = [field.python for field in desc.operator.fields if field.kind == "input"]
        at = next((place for place, one in enumerate(given) if isinstance(one, np.ndarray)), None)
        if at is None:
            return otherwise
        x = given[at]
        if inputs[at] in desc.operator.in_place and (x.shape, x.dtype) == (out.shape, out.dtype):
            return otherwise
        block = np.frombuffer(self.chance.randbytes(max(out.nbytes, x.nbytes)), np.uint8).copy()
        given[at] = np.ndarray(x.shape, x.dtype, block)
        return np.ndarray(out.shape, out.dtype, block)

    def refuse_tensors(
        self, desc: OperatorDesc, tensors: list[Any], out: Any, memory: list[Array], compiled: bool
    ) -> None:
        """The compiled call refuses these, or the functional one."""
        name = desc.operator.python
        if compiled:
            self.refused(f"compiled {name}", dml.compile(desc), tensors, {"out": out}, memory)
        else:
            self.refused(name, getattr(dml, name), tensors, {**attributes(desc), "out": out}, memory)

    def outs(self, desc: OperatorDesc) -> list[Placed]:
        """An array for each output."""
        outputs = [getattr(desc, field.python) for field in desc.operator.fields if field.kind == "output"]
        tensors = [tensor for value in outputs for tensor in tensors_of(value)]
        return [placed(self.chance, tensor.sizes, tensor.dtype.name.lower()) for tensor in tensors]

    # Cases that dmlcy.testing draws

    def drawn(self, operator: Any, level: int) -> None:
        """A desc with one mistake, and inputs with a value that a rule refuses."""
        for broken, violation in broken_descs(self.chance, operator, level, 1):
            assert dml.check(broken) == [violation]
            self.refused("compile", dml.compile, [broken], {}, [])
        for desc, arrays, violation in broken_cases(self.chance, operator, level, 1):
            names = [field.python for field in operator.fields if field.kind == "input"]
            tensors = [each_part(arrays.get(name), lambda one: np.array(one, order="C")) for name in names]
            outs = self.outs(desc)
            memory = [*(one.block for one in outs), *flat(tensors)]
            try:
                self.refuse_tensors(desc, tensors, together(outs, desc), memory, self.chance.random() < 0.5)
            except AssertionError as error:
                error.add_note(f"{violation.id} of {desc!r}")
                raise
