"""Runs the tests once per mutant, each time in a fork of the process that collected them."""

from __future__ import annotations

import gc
import os
import re
import resource
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from .mutant_build import BUILD, Mutant

OPERATORS = "dmlcy/_generated/operators"
FIRST = (
    "test_examples.py",
    "test_limits.py",
    "test_the_compiled_checks_agree",
    "test_ids.py",
    "test_levels.py",
    "test_bad_input.py",
    "test_garbage.py",
)
FACTS = ("minimum", "maximum", "ranks")  # of a Field: what is no code, and changes with an edit
CPU_SECONDS, MEMORY = 240, 2 << 30


def apply(mutant: Mutant) -> None:
    """Gives the living functions of the changed modules their changed code, and the fields their changed facts."""
    for path, text in mutant.python.items():
        import_module(path.removesuffix(".py").replace("/", "."))
        old = compile((BUILD / path).read_text(), path, "exec", dont_inherit=True)
        new = compile(text, path, "exec", dont_inherit=True)
        swaps = list(differing(old, new))
        living = [one for one in gc.get_objects() if type(one) is FunctionType]
        for one in living:
            for before, after in swaps:
                if one.__code__ == before:
                    one.__code__ = after
        if path.startswith(OPERATORS):
            change_facts(new)


def differing(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code objects inside that are not the same."""
    pairs = zip(old.co_consts, new.co_consts, strict=False)
    for before, after in pairs:
        if isinstance(before, CodeType) and isinstance(after, CodeType) and before != after:
            yield before, after
            yield from differing(before, after)


def change_facts(code: CodeType) -> None:
    from dmlcy._facts.tables import OPERATORS as LIVING

    names: dict[str, Any] = {"__name__": "dmlcy._generated.changed"}
    exec(code, names)
    changed = names["OPERATOR"]
    for ours, theirs in zip(LIVING[changed.name].fields, changed.fields, strict=True):
        for fact in FACTS:
            if getattr(ours, fact) != getattr(theirs, fact):
                object.__setattr__(ours, fact, getattr(theirs, fact))


class Runner:
    """Runs the collected tests once per mutant, each time in a fork that ends with the first failure."""

    def __init__(self, mutants: list[Mutant], jobs: int) -> None:
        self.mutants = mutants
        self.jobs = jobs
        self.killers: dict[int, str] = {}
        self.survivors: list[int] = []

    def pytest_configure(self) -> None:
        """Failures are not made smaller."""
        from hypothesis import Phase, settings

        settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate], deadline=None, database=None)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests."""
        waiting = [0, *range(1, len(self.mutants) + 1), 0]  # without a change, before and after: nothing may fail
        running: dict[int, tuple[int, Any]] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                number = waiting.pop(0)
                process, pipe = self.start(session, number)
                running[process] = (number, pipe)
            process, status = os.wait()
            number, pipe = running.pop(process)
            with pipe:
                self.note(number, status, pipe.read().decode())
        return True

    def start(self, session: pytest.Session, number: int) -> tuple[int, Any]:
        """A process that runs the tests on a mutant, and what it writes."""
        reader, writer = os.pipe()
        process = os.fork()
        if process:
            os.close(writer)
            return process, os.fdopen(reader, "rb")
        os.close(reader)
        status = 1
        try:
            os.environ["DMLCY_MUTANT"] = str(number)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number:
                apply(self.mutants[number - 1])
            operator = self.mutants[max(number - 1, 0)].operator
            failed = first_failure(session, relevant(session.items, operator))
            os.write(writer, failed.encode())
            status = 1 if failed else 0
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(status)

    def note(self, number: int, status: int, said: str) -> None:
        """Keeps the result and shows it."""
        if number == 0 and status:
            raise SystemExit(f"without a change there fails {said}")
        if number == 0:
            return
        mutant = self.mutants[number - 1]
        signal = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else ""
        if status == 0:
            self.survivors.append(number)
        else:
            self.killers[number] = said or signal
        print(f"{number:4} {'SURVIVES' if status == 0 else said or signal}  |  {mutant}", flush=True)


def relevant(items: list[pytest.Item], operator: str) -> list[pytest.Item]:
    """The tests of an operator and those of none, the quickest to notice first."""

    def order(item: pytest.Item) -> int:
        return next((at for at, name in enumerate(FIRST) if name in item.nodeid), len(FIRST)) + 10 * (not about(item))

    chosen = [item for item in items if not operator or about(item) in (operator, "")]
    return sorted(chosen, key=order) if operator else sorted(chosen, key=lambda item: order(item) % 10)


def about(item: pytest.Item) -> str:
    """The operator that a test is about; empty for all."""
    from dmlcy._facts.tables import OPERATORS as TABLE

    for name in TABLE:
        stem = name.lower().rstrip("0123456789")
        if re.search(rf"(?<![A-Z_]){name}(?![A-Z0-9_])", item.nodeid) or f"test_{stem}.py" in item.nodeid:
            return name
    return ""


def first_failure(session: pytest.Session, items: list[pytest.Item]) -> str:
    """Runs tests until one fails."""
    failed: list[str] = []

    class Reports:
        @staticmethod
        def pytest_runtest_logreport(report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    session.config.pluginmanager.register(Reports())
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            return failed[0]
    return ""
