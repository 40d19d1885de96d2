"""Random calls of every operator, valid and broken ones, each tensor at the very end of its memory.

``python -m tests.reliability.random_calls --calls 200000 --seed 1`` makes them in two processes, one for each set of
instructions; ``python -m tests.reliability.sanitized -m tests.reliability.random_calls`` does so where a single byte
beyond a tensor ends the process. A valid call gives the bits of the same call with contiguous tensors and one thread,
changes nothing but its result, and some are compared with the definition. A broken one raises a DmlError and writes
nothing. What fails is shown with the options that repeat it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("operators", "reliability"):
    sys.path.insert(0, str(TESTS / folder))

from checks import assert_defined, assert_same_values, attributes, requests  # noqa: E402
from random_arrays import Array, Placed, placed, regions  # noqa: E402
from random_descs import Walk  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._check.checker import Check  # noqa: E402
from dmlcy._desc.operator_desc import OperatorDesc  # noqa: E402
from dmlcy._facts.tables import FAST, LEVELS  # noqa: E402
from dmlcy._runtime.stream import set_stream_limit, stream_limit  # noqa: E402

ISAS: Final = ("wide", "baseline")
STEPS: Final = 15
"""Descs of one walk."""
WAYS: Final = 3
"""Ways in which a call is repeated."""
WRONG: Final = (
    None, True, "", "NONE", (), (1,) * 9, [None], b"\0", -1, 0.5, np.nan, np.inf, 1j, object(), np.zeros(2),
    2**31, 2**32 - 1, 2**32, 2**64, -(2**63),
)  # fmt: skip


class Failed(AssertionError):
    """A call that did what it must not."""


def several(result: Any) -> tuple[Any, ...]:
    """The results of a call."""
    return result if isinstance(result, tuple) else (result,)


def together(outs: list[Placed]) -> Any:
    """What a call is given as out."""
    return outs[0].view if len(outs) == 1 else tuple(out.view for out in outs)


class Caller:
    """Makes the calls of a process, and counts them."""

    def __init__(self, seed: int, isa: str) -> None:
        self.seed = seed
        self.isa = isa
        self.walk = 0
        self.now: tuple[str, tuple[Any, ...], dict[str, Any]] = ("", (), {})
        self.made: Counter[str] = Counter()
        self.stream_limit = stream_limit()

    @property
    def calls(self) -> int:
        return self.made["valid"] + self.made["broken"]

    def about(self) -> str:
        """The call at hand, and how to come back to it."""
        name, tensors, others = self.now
        seen = [
            f"{one.dtype}{list(one.shape)} strides {list(one.strides)} at {one.ctypes.data % 64} of 64"
            if isinstance(one, np.ndarray)
            else repr(one)[:200]
            for one in (*tensors, *several(others.get("out")))
        ]
        rest = {key: value for key, value in others.items() if key != "out"}
        threads, limit = dml.get_num_threads(), stream_limit()
        return (
            f"--isa {self.isa} --seed {self.seed} --first {self.walk}: {name}({', '.join(seen)}, {rest!r}), "
            f"threads {threads}, streams from {limit} bytes"
        )

    def run(self, first: int, until: Callable[[Caller], bool]) -> None:
        """Walks through the domain of one operator after the other."""
        names = list(FAST)
        for self.walk in range(first, sys.maxsize):
            if until(self):
                return
            self.chance = random.Random(f"{self.seed} {self.isa} {self.walk}")
            walk = Walk(self.chance, FAST[names[self.walk % len(names)]])
            with dml.feature_level(LEVELS[walk.level].name):
                for _ in range(STEPS):
                    walk.step()
                    self.made["descs"] += 1
                    self.step(walk.desc())

    def step(self, desc: OperatorDesc) -> None:
        """The calls of one desc."""
        try:
            self.valid(desc)
            tensors = self.valid(desc)
            if self.chance.random() < 0.4:
                self.chance.choice([self.broken_attribute, self.broken_input, self.broken_out])(desc, tensors)
        except Exception as error:
            raise Failed(self.about()) from error
        finally:
            dml.set_num_threads(1)
            set_stream_limit(self.stream_limit)

    # Valid calls

    def inputs(self, desc: OperatorDesc) -> dict[str, Placed]:
        """A tensor for each input; what a rule looks at is what it takes."""
        ruled = {rule.about for rule in desc.operator.rules if rule.data}
        found = {}
        for field in desc.operator.fields:
            if field.kind == "input":
                tensor, values = getattr(desc, field.python), None
                dtype = np.dtype(tensor.dtype.name.lower())
                if field.python in ruled:
                    image = desc.input.sizes  # type: ignore[attr-defined]
                    scale = desc.spatial_scale  # type: ignore[attr-defined]
                    values = regions(self.chance, tensor.sizes[2], image[0], max(image[2:]), scale, dtype)
                shared = len(tensor.sizes) - (values is not None)
                found[field.python] = placed(self.chance, tensor.sizes, dtype, shared, values)
        return found

    def call(self, name: str, function: Any, tensors: Any, others: dict[str, Any]) -> Any:
        self.now = name, tuple(tensors), others
        return function(*tensors, **others)

    def valid(self, desc: OperatorDesc) -> list[Array]:
        """The same call in several ways. Returns its inputs as contiguous arrays."""
        chance, name, given = self.chance, desc.operator.python, attributes(desc)
        function, inputs = getattr(dml, name), self.inputs(desc)
        views = [one.view for one in inputs.values()]
        plain = [np.array(view, order="C") for view in views]
        expected = several(self.call(name, function, plain, given))
        self.made["valid"] += 1
        operator = dml.compile(desc) if chance.random() < 0.5 else None
        for _ in range(WAYS):
            dml.set_num_threads(chance.randint(1, 2))
            set_stream_limit(0 if chance.random() < 0.3 else self.stream_limit)
            outs = [placed(chance, one.shape, one.dtype) for one in expected] if chance.random() < 0.6 else []
            others = {"out": together(outs)} if outs else {}
            if operator is not None and chance.random() < 0.6:
                result = self.call(f"compiled {name}", operator, views, others)
            elif chance.random() < 0.05:
                with dml.record():
                    result = self.call(f"recorded {name}", function, views, given | others)
            else:
                result = self.call(name, function, views, given | others)
            self.made["valid"] += 1
            assert all(one.unchanged for one in inputs.values()), "an input was written"
            if outs and len(outs) > 1:
                assert result is others["out"]
            for number, (found, wanted) in enumerate(zip(several(result), expected, strict=True)):
                self.same(found, wanted, outs[number] if outs else None)
        if expected[0].size < 400 and chance.random() < 0.05:
            found = expected if len(expected) > 1 else expected[0]
            assert_defined(found, desc, dict(zip(inputs, plain, strict=True)))
            self.made["compared with the definition"] += 1
        return plain

    def same(self, result: Any, expected: Array, out: Placed | None) -> None:
        """Whether the result is the one expected, and nothing around it was written."""
        if out is None:
            assert type(result) is np.ndarray and result.flags.c_contiguous
            if result.tobytes() != expected.tobytes():
                assert_same_values(result, expected)
        else:
            assert result is out.view
            if out.block.tobytes() != out.after(expected).block.tobytes():
                assert_same_values(out.view, expected)
                assert out.block.tobytes() == out.after(out.view).block.tobytes(), "written beside out"

    # Broken calls

    def refused(self, name: str, function: Any, tensors: Any, others: dict[str, Any], memory: list[Array]) -> None:
        """The call raises a DmlError and writes nothing."""
        before = [one.tobytes() for one in memory]
        try:
            self.call(name, function, tensors, others)
        except dml.DmlError:
            self.made["broken"] += 1
        else:
            raise AssertionError("not refused")
        assert [one.tobytes() for one in memory] == before, "a call that was refused wrote"

    def broken_attribute(self, desc: OperatorDesc, tensors: list[Array]) -> None:
        chance, operator, given = self.chance, desc.operator, attributes(desc)
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
        asked = {key: others[key] for key in requests(desc)}
        members = {field.python for field in operator.fields if field.kind != "output" and field.value is None}
        values = {key: member for key, member in {**desc._values(), **others}.items() if key not in asked}
        values = {key: values[key] for key in (*members, *(field.python for field in operator.chosen))}
        if not Check(operator, values, self.level(), call=True, asked=asked).violations:
            return
        outs = self.outs(desc)
        if chance.random() < 0.7:
            others["out"] = together(outs)
        memory = [*(out.block for out in outs), *tensors]
        self.refused(operator.python, getattr(dml, operator.python), tensors, others, memory)
        if name in members and chance.random() < 0.3:
            opened = {field.python: getattr(desc, field.python) for field in operator.fields if operator.is_open(field)}
            broken = type(desc)(**{key: values[key] for key in members}, **opened)
            self.refused("compile", dml.compile, [broken], {}, [])

    def broken_input(self, desc: OperatorDesc, tensors: list[Array]) -> None:
        chance, operator = self.chance, desc.operator
        at = chance.randrange(len(tensors))
        x = tensors[at]
        wrong: list[Any] = [
            None, x.tolist(), "text", 1.5, object(), np.void(3), b"", np.ma.masked_array(x), x[..., None],
            x[:0], x[(None,) * (9 - x.ndim)], x[(0,) * x.ndim], *(np.zeros(x.shape, other) for other in "?ODS"),
        ]  # fmt: skip
        if x.itemsize > 1:
            wrong.append(x.astype(x.dtype.newbyteorder()))
        fields = [field.python for field in operator.fields if field.kind == "input"]
        ruled = any(rule.data and rule.about == fields[at] for rule in operator.rules)
        if ruled and chance.random() < 0.5:
            value = chance.choice([np.nan, np.inf, -np.inf])
            wrong = [x.copy()]
            wrong[0][..., chance.randrange(x.shape[-2]), chance.randrange(x.shape[-1])] = value
        given = [*tensors[:at], chance.choice(wrong), *tensors[at + 1 :]]
        outs = self.outs(desc)
        memory = [*(out.block for out in outs), *tensors]
        self.refuse_tensors(desc, given, chance.choice([None, together(outs)]), memory)

    def broken_out(self, desc: OperatorDesc, tensors: list[Array]) -> None:
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
        if chance.random() < 0.3:  # both in one block
            block = np.frombuffer(chance.randbytes(max(out.nbytes, given[0].nbytes)), np.uint8).copy()
            wrong = np.ndarray(out.shape, out.dtype, block)
            given[0] = np.ndarray(given[0].shape, given[0].dtype, block)
        memory = [*(one.block for one in outs), *tensors]
        memory += [one for one in (wrong, given[0]) if isinstance(one, np.ndarray)]
        whole: Any = tuple(wrong if number == at else one.view for number, one in enumerate(outs))
        if len(outs) > 1 and chance.random() < 0.2:
            whole = chance.choice([list(whole), whole[:1], (*whole, None), outs[0].view])
        self.refuse_tensors(desc, given, whole if len(outs) > 1 else wrong, memory)

    def refuse_tensors(self, desc: OperatorDesc, tensors: list[Any], out: Any, memory: list[Array]) -> None:
        name = desc.operator.python
        if self.chance.random() < 0.5:
            others = {**attributes(desc), "out": out}
            self.refused(name, getattr(dml, name), tensors, others, memory)
        else:
            self.refused(f"compiled {name}", dml.compile(desc), tensors, {"out": out}, memory)

    def outs(self, desc: OperatorDesc) -> list[Placed]:
        """An array for each output."""
        outputs = [getattr(desc, field.python) for field in desc.operator.fields if field.kind == "output"]
        there = [tensor for tensor in outputs if tensor is not None]
        return [placed(self.chance, tensor.sizes, tensor.dtype.name.lower()) for tensor in there]

    def level(self) -> int:
        """The position of the feature level in force."""
        return [level.name for level in LEVELS].index(dml.current_level())


def tell_on_death(caller: Caller) -> None:
    """Where the sanitizers are, the last thing said is the call that they stopped."""

    def say() -> None:
        print(caller.about(), file=sys.stderr, flush=True)

    caller.say = ctypes.CFUNCTYPE(None)(say)  # type: ignore[attr-defined]
    for path in os.environ.get("LD_PRELOAD", "").split():
        register = getattr(ctypes.CDLL(path), "__sanitizer_set_death_callback", None)
        if register is not None:
            register(caller.say)  # type: ignore[attr-defined]


def work(seed: int, isa: str, first: int, calls: int, minutes: float) -> None:
    """The calls of one process."""
    caller, begin = Caller(seed, isa), time.monotonic()
    tell_on_death(caller)
    end = begin + 60 * minutes
    try:
        caller.run(first, lambda caller: caller.calls >= calls or time.monotonic() > end)
    except Failed as failed:
        raise SystemExit(f"{failed}\n{failed.__cause__!r}") from failed
    made = ", ".join(f"{count:,} {what}" for what, count in sorted(caller.made.items()))
    print(f"{isa}: {caller.calls:,} calls in {time.monotonic() - begin:.0f} s ({made}), walks up to {caller.walk}")


def main() -> None:
    """Start a process for each set of instructions, or be one."""
    parser = argparse.ArgumentParser(description="Random calls of every operator.")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0, help="the walk to begin with")
    parser.add_argument("--isa", choices=ISAS, help="only with these instructions")
    options = parser.parse_args()
    if options.isa is not None and os.environ.get("DMLCY_ISA") == options.isa:
        work(options.seed, options.isa, options.first, options.calls, options.minutes)
        return
    isas = ISAS if options.isa is None else (options.isa,)
    command = [sys.executable, "-m", "tests.reliability.random_calls", *sys.argv[1:]]
    command += ["--calls", str(-(-options.calls // len(isas)))]
    children = [subprocess.Popen([*command, "--isa", isa], env={**os.environ, "DMLCY_ISA": isa}) for isa in isas]
    raise SystemExit(max(child.wait() != 0 for child in children))


if __name__ == "__main__":
    main()
