"""Random calls of every operator, valid and broken ones, each tensor at the very end of its memory.

``python -m tests.reliability.random_calls --calls 200000 --seed 1`` makes them in two processes, one for each set of
instructions; ``python -m tests.reliability.sanitized -m tests.reliability.random_calls`` does so where a single byte
beyond a tensor ends the process. A valid call gives the bits of the same call with contiguous tensors and one thread,
changes nothing but its result, and a small result is compared with exact arithmetic. A broken one raises a DmlError and
writes nothing. A failure is shown with the options that repeat it.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("", "operators", "reliability"):
    sys.path.insert(0, str(TESTS / folder))

from checks import assert_defined, assert_same_values  # noqa: E402
from example_descs import attributes, each_part  # noqa: E402
from random_arrays import Array, Placed, inputs_of, placed  # noqa: E402
from random_breaks import Breaker, has_several, together  # noqa: E402
from random_cases import STEPS, cases, exact_steps, flat, of_examples  # noqa: E402
from random_descs import Walk, level_of, walks  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._desc.operator_desc import OperatorDesc  # noqa: E402
from dmlcy._facts.rows import Operator  # noqa: E402
from dmlcy._facts.tables import FAST, LEVELS, OPERATORS, RUNNABLE  # noqa: E402
from dmlcy._field_types.tensor_array import by_path  # noqa: E402
from dmlcy._runtime import isa  # noqa: E402
from dmlcy._runtime.processor import set_stream_limit, stream_limit  # noqa: E402
from dmlcy.testing import assert_result  # noqa: E402

WALKED: Final = 8
"""Descs of an operator with loops, in one walk."""
DRAWN: Final = 3
"""Descs of another operator, one after the other: to draw one costs more."""
AGAIN: Final = 2
"""Further calls of such a desc, each with a broken one after it."""
WAYS: Final = 3
"""Ways in which a call is repeated."""
COMPARED: Final = 0.5
"""The part of the calls that is compared with exact arithmetic where the operator has loops, or makes an example;
elsewhere all small ones are."""


class Failed(AssertionError):
    """A call that did what it must not."""


def several(result: Any) -> tuple[Any, ...]:
    """The results of a call."""
    return result if isinstance(result, tuple) else (result,)


class Caller:
    """Makes the calls of a process, and counts them."""

    def __init__(self, seed: int, isa: str, examples: bool = False) -> None:
        self.seed = seed
        self.isa = isa
        self.examples = examples
        self.walk = 0
        self.now: tuple[str, tuple[Any, ...], dict[str, Any]] = ("", (), {})
        self.made: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.stream_limit = stream_limit()
        self.chance = random.Random(seed)
        self.breaker = Breaker(self)

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
            for one in flat([*tensors, others.get("out")])
        ]
        rest = {key: value for key, value in others.items() if key != "out"}
        threads, limit = dml.get_num_threads(), stream_limit()
        options = "--examples " * self.examples
        return (
            f"{options}--isa {self.isa} --seed {self.seed} --first {self.walk}: {name}({', '.join(seen)}, {rest!r}), "
            f"threads {threads}, streams from {limit} bytes"
        )

    def run(self, first: int, until: Callable[[Caller], bool]) -> None:
        """Calls of one operator after the other."""
        names = list(RUNNABLE)
        for self.walk in range(first, sys.maxsize):
            if until(self):
                return
            self.chance = random.Random(f"{self.seed} {self.isa} {self.walk}")
            operator = OPERATORS[names[self.walk % len(names)]]
            self.met[operator.name] += 1
            if walks(operator):
                self.walked(Walk(self.chance, operator))
            else:
                self.drawn(operator)

    def walked(self, walk: Walk) -> None:
        """Calls of descs of which each is a change of the last one."""
        with dml.feature_level(LEVELS[walk.level].name):
            for _ in range(WALKED):
                walk.step()
                desc = walk.desc()
                with self.told():
                    self.valid(desc)
                    tensors = self.valid(desc)
                    if self.chance.random() < 0.7:
                        self.breaker.one(desc, tensors)

    def drawn(self, operator: Operator) -> None:
        """Calls of descs that dmlcy.testing draws."""
        level = len(LEVELS) - 1 if self.examples else level_of(self.chance, operator)
        free = not any(rule.data for rule in operator.rules)
        some = of_examples if self.examples else cases
        with dml.feature_level(LEVELS[level].name):
            for desc, arrays in some(self.chance, operator, level, DRAWN):
                with self.told():
                    tensors = self.valid(desc, arrays)
                    for _ in range(AGAIN):
                        tensors = self.valid(desc) if free else self.valid(desc, arrays)
                        self.breaker.one(desc, tensors)
            with self.told():
                if not self.examples and self.chance.random() < 0.25:
                    self.breaker.drawn(operator, level)

    @contextmanager
    def told(self) -> Iterator[None]:
        """A failure inside says how to repeat it; the settings of the process are as before."""
        self.made["descs"] += 1
        try:
            yield
        except Exception as error:
            raise Failed(self.about()) from error
        finally:
            dml.set_num_threads(1)
            set_stream_limit(self.stream_limit)

    # Valid calls

    def given(self, desc: OperatorDesc, arrays: dict[str, Any] | None) -> list[Any]:
        """The argument for each input, as it is placed: of these values, or of any."""
        if arrays is None and walks(desc.operator):
            return list(inputs_of(self.chance, desc).values())
        values: list[Any] = []
        for field in desc.operator.fields:
            if field.kind != "input":
                continue
            if arrays is not None:
                values.append(each_part(arrays.get(field.python), self.as_it_is))
            else:
                values.append(each_part(getattr(desc, field.python), self.any_values))
        return values

    def as_it_is(self, values: Array) -> Placed:
        """These values in any layout."""
        return placed(self.chance, values.shape, values.dtype, 0, values)

    def any_values(self, tensor: dml.TensorDesc) -> Placed:
        """Any values for a tensor."""
        return placed(self.chance, tensor.sizes, tensor.dtype.name.lower(), len(tensor.sizes))

    def call(self, name: str, function: Any, tensors: Any, others: dict[str, Any]) -> Any:
        self.now = name, tuple(tensors), others
        return function(*tensors, **others)

    def valid(self, desc: OperatorDesc, arrays: dict[str, Any] | None = None) -> list[Any]:
        """The same call in several ways. Returns its inputs as contiguous arrays."""
        chance, name, given = self.chance, desc.operator.python, attributes(desc)
        function, inputs = getattr(dml, name), self.given(desc, arrays)
        views = [each_part(value, lambda one: one.view) for value in inputs]
        plain = [each_part(value, lambda one: np.array(one, order="C")) for value in views]
        whole = self.call(name, function, plain, given)
        expected = several(whole)
        self.made["valid"] += 1
        assert isinstance(whole, tuple) == has_several(desc)
        # A desc may have ones in front of the sizes that a call infers.
        sizes = [tensor.sizes for _, tensor in by_path(desc.operator.fields, "output", desc._values())]
        alike = sizes == [one.shape for one in expected]
        operator = dml.compile(desc) if chance.random() < 0.5 and alike else None
        for _ in range(WAYS):
            dml.set_num_threads(chance.randint(1, 2))
            set_stream_limit(0 if chance.random() < 0.3 else self.stream_limit)
            outs = [placed(chance, one.shape, one.dtype) for one in expected] if chance.random() < 0.6 else []
            others = {"out": together(outs, desc)} if outs else {}
            if operator is not None and chance.random() < 0.6:
                result = self.call(f"compiled {name}", operator, views, others)
            elif chance.random() < 0.05:
                with dml.record():
                    result = self.call(f"recorded {name}", function, views, given | others)
            else:
                result = self.call(name, function, views, given | others)
            self.made["valid"] += 1
            assert all(one.unchanged for one in flat(inputs)), "an input was written"
            if outs:
                assert result is others["out"]
            for number, (found, wanted) in enumerate(zip(several(result), expected, strict=True)):
                self.same(found, wanted, outs[number] if outs else None)
        self.compare(desc, plain, whole)
        return plain

    def compare(self, desc: OperatorDesc, tensors: list[Any], result: Any) -> None:
        """The result is that of exact arithmetic; of an operator with loops, of the independent definition, too."""
        fast = desc.operator.name in FAST
        rarely = fast or self.examples
        if exact_steps(desc) > STEPS * (16 if fast else 1) or (rarely and self.chance.random() > COMPARED):
            return
        names = [field.python for field in desc.operator.fields if field.kind == "input"]
        arrays = {key: one for key, one in zip(names, tensors, strict=True) if one is not None}
        assert_result(desc, arrays, result, bound="own")
        if fast:
            assert_defined(result, desc, arrays)
        self.made["compared with exact arithmetic"] += 1

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


def tell_on_death(caller: Caller) -> None:
    """Where the sanitizers are, the last thing said is the call that they stopped."""

    def say() -> None:
        print(caller.about(), file=sys.stderr, flush=True)

    caller.say = ctypes.CFUNCTYPE(None)(say)  # type: ignore[attr-defined]
    for path in os.environ.get("LD_PRELOAD", "").split():
        register = getattr(ctypes.CDLL(path), "__sanitizer_set_death_callback", None)
        if register is not None:
            register(caller.say)  # type: ignore[attr-defined]


def work(caller: Caller, first: int, calls: int, minutes: float) -> None:
    """The calls of one process."""
    begin = time.monotonic()
    tell_on_death(caller)
    end = begin + 60 * minutes
    try:
        caller.run(first, lambda caller: caller.calls >= calls or time.monotonic() > end)
    except Failed as failed:
        raise SystemExit(f"{failed}\n{failed.__cause__!r}") from failed
    made = ", ".join(f"{count:,} {what}" for what, count in sorted(caller.made.items()))
    seconds = time.monotonic() - begin
    met = f"{len(caller.met)} of {len(RUNNABLE)} operators"
    print(f"{caller.isa}: {caller.calls:,} calls of {met} in {seconds:.0f} s ({made}), walks up to {caller.walk}")


def main() -> None:
    """Start a process for each level of instructions, or be one."""
    parser = argparse.ArgumentParser(description="Random calls of every operator.")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0, help="the walk to begin with")
    parser.add_argument("--isa", choices=isa.levels(), help="only at this level of instructions")
    parser.add_argument("--examples", action="store_true", help="examples in place of draws, which take long")
    options = parser.parse_args()
    if options.isa is not None and os.environ.get("DMLCY_ISA") == options.isa:
        caller = Caller(options.seed, options.isa, options.examples)
        work(caller, options.first, options.calls, options.minutes)
        return
    isas = isa.levels() if options.isa is None else [options.isa]
    command = [sys.executable, "-m", "tests.reliability.random_calls", *sys.argv[1:]]
    command += ["--calls", str(-(-options.calls // len(isas)))]
    children = [subprocess.Popen([*command, "--isa", one], env={**os.environ, "DMLCY_ISA": one}) for one in isas]
    raise SystemExit(max(child.wait() != 0 for child in children))


if __name__ == "__main__":
    main()
