"""Many Python threads at once: the results are those of one, and kernels let others go on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from calls import Call, as_bytes, large_calls, ways
from depth import deep
from few import few_of_each_family

import dmlcy as dml
from dmlcy._facts.tables import FAST

CALLERS = 4
CALLS = 1400
MANY_CALLS = 10_000
LARGE_EVERY = 250  # calls
PAUSE = 1e-4  # seconds, of which a large call takes many
SWITCHES = 1e-5  # seconds after which another thread may go on: the reference is Python


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before, interval = dml.get_num_threads(), sys.getswitchinterval()
    yield
    dml.set_num_threads(before)
    sys.setswitchinterval(interval)


def run_all(targets: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def serial(calls: list[Callable[[], Any]]) -> list[bytes]:
    """The results of each call on one thread."""
    dml.set_num_threads(1)
    return [as_bytes(call()) for call in calls]


def large_ways() -> list[Callable[[], Any]]:
    """One way of each large call."""
    return [call.way(number) for number, call in enumerate(large_calls())]


@pytest.mark.parametrize(
    ("threads", "calls", "callers"),
    [(8, CALLS, CALLERS), *(pytest.param(threads, MANY_CALLS, 2 * CALLERS, marks=deep) for threads in (1, 2, 8))],
)
def test_mixed_calls_of_many_threads(threads: int, calls: int, callers: int) -> None:
    """Each way of each operator is called by several threads, and a large call now and then."""
    small, large = serial(ways(large=False)), serial(large_ways())
    assert calls > len(small)
    dml.set_num_threads(threads)
    sys.setswitchinterval(SWITCHES)
    done = [0] * callers
    wrong: list[tuple[bool, int]] = []

    def caller(number: int) -> Callable[[], None]:
        own = ways(large=False)

        def run() -> None:
            for step in range(calls):
                position = number * 997 + step
                is_large = step % LARGE_EVERY == number
                expected = large if is_large else small
                chosen = position % len(expected)
                way = large_calls()[chosen].way(chosen) if is_large else own[chosen]
                if as_bytes(way()) != expected[chosen]:
                    wrong.append((is_large, chosen))
                done[number] += 1

        return run

    run_all([caller(number) for number in range(callers)])
    assert done == [calls] * callers and not wrong


@pytest.mark.parametrize(("callers", "every"), [(2, False), pytest.param(4, True, marks=deep)])
def test_the_number_of_threads_changes_during_calls(callers: int, every: bool) -> None:
    """Of each large call one way, or each."""

    def made() -> list[Callable[[], Any]]:
        return ways(large=True) if every else large_ways()

    large = serial(made())
    running = threading.Event()
    wrong: list[int] = []
    running.set()

    def call() -> None:
        for number, (way, expected) in enumerate(zip(made(), large, strict=True)):
            if as_bytes(way()) != expected:
                wrong.append(number)

    def change() -> None:
        while running.is_set():
            for number in (1, 8, 3, 2):
                dml.set_num_threads(number)
                time.sleep(PAUSE)

    changing = threading.Thread(target=change)
    changing.start()
    run_all([call] * callers)
    running.clear()
    changing.join()
    assert not wrong


@cache
def large() -> dict[str, Call]:
    """The large calls by name; made when the first test runs, for each worker collects all tests."""
    return {call.name: call for call in large_calls()}


def test_each_operator_with_loops_has_a_large_call() -> None:
    assert {FAST[name].python for name in few_of_each_family()} == {*large()}


@pytest.mark.parametrize(
    ("compiled", "threads"),
    [(False, 1), (True, 2), pytest.param(False, 2, marks=deep), pytest.param(True, 1, marks=deep)],
)
@pytest.mark.parametrize("name", [FAST[name].python for name in few_of_each_family()])
def test_another_thread_goes_on_during_a_call(name: str, compiled: bool, threads: int) -> None:
    """Threads switch only where the one that runs gives way: what the other one does, it does inside of the call."""
    call = large()[name]
    function: Any = call.compiled() if compiled else lambda *inputs: getattr(dml, call.name)(*inputs, **call.attributes)
    dml.set_num_threads(threads)
    inside = False
    steps = 0
    turn = threading.Semaphore(0)

    def other() -> None:
        nonlocal steps
        turn.acquire()
        for _ in range(1000):
            steps += inside

    function(*call.inputs)
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=other)
    thread.start()
    turn.release()
    for _ in range(1000):  # the other thread may be late for one call, not for all
        inside = True
        function(*call.inputs)
        inside = False
        if steps:
            break
    sys.setswitchinterval(0.005)
    thread.join()
    assert steps == 1000


def test_calls_of_a_thread_see_its_level() -> None:
    x = np.ones((1, 4, 5, 5), np.float32)
    wrong: list[str] = []

    def at(level: Any, accepted: bool) -> Callable[[], None]:
        def run() -> None:
            with dml.feature_level(level):
                for _ in range(2000):
                    try:
                        dml.padding1(x, start_padding=1, end_padding=1)
                        taken = True
                    except dml.FeatureLevelError:
                        taken = False
                    if taken is not accepted:
                        wrong.append(level)

        return run

    run_all([at("5_0", True), at("4_1", False), at("6_4", True), at("1_0", False)])
    assert not wrong
