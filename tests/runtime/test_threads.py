"""Threads and the feature level: the same work whatever the number of threads, in every kind of process."""

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dmlcy._runtime import cpus
from dmlcy._runtime.context import LEVEL
from dmlcy._runtime.threads import get_num_threads, set_num_threads, threads_available

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = get_num_threads()
    yield
    set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("total", "grain"), [(0, 1), (-5, 1), (1, 1), (100, 1), (100, 7), (99, 100), (1000, 64), (5, 0)]
)
def test_every_item_once_in_fixed_chunks(probe: ModuleType, threads: int, total: int, grain: int) -> None:
    set_num_threads(threads)
    status, begins, visits = probe.parallel_for(total, grain)
    items = np.arange(max(total, 0))
    assert status == 0 and np.all(visits == 1)
    assert np.array_equal(begins, items - items % max(grain, 1))


@pytest.mark.parametrize("threads", [1, 4])
def test_failure_is_reported(probe: ModuleType, threads: int) -> None:
    set_num_threads(threads)
    assert [probe.parallel_for(100, 10, fail)[0] for fail in (-1, 0, 55, 99)] == [0, -1, -1, -1]


def test_chunks_at_the_limits(probe: ModuleType) -> None:
    set_num_threads(1)
    most = 2**63 - 1
    assert probe.chunks(most, most) == (1, 0, most)
    assert probe.chunks(most, most - 1) == (2, most - 1, most)
    assert probe.chunks(10, most) == (1, 0, 10)


def test_inside_a_parallel_region(probe: ModuleType) -> None:
    set_num_threads(4)
    status, begins, visits = probe.parallel_for(1000, 10, nested=True)
    assert status == 0 and np.all(visits == 1) and np.array_equal(begins, np.arange(1000) % 10)


def test_grain(probe: ModuleType) -> None:
    assert [probe.grain_of(size) for size in (1, 4, 2**18, 2**40, 0, -1)] == [2**18, 2**16, 1, 1, 2**18, 2**18]


def test_from_many_python_threads(probe: ModuleType) -> None:
    set_num_threads(2)
    failures: list[Any] = []

    def run() -> None:
        for _ in range(20):
            if not np.all(probe.parallel_for(1000, 10)[2] == 1):
                failures.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("number", [1, 2, 5])
def test_held(probe: ModuleType, number: int) -> None:
    set_num_threads(number)
    assert probe.parallel_for_held(100, 7, 20) == 20
    assert np.all(probe.parallel_for(100, 7)[2] == 1)


def test_less_work_is_enough_for_threads_that_are_awake(probe: ModuleType) -> None:
    set_num_threads(2)
    probe.parallel_for(2, 1)
    assert probe.enough(800) in (100, 800)
    set_num_threads(1)
    assert probe.enough(800) == 800


SHARED = """
import importlib.util, os, sys, threading
from pathlib import Path
files = {"/proc/self/cgroup": "0::/\\n", "/sys/fs/cgroup/cpu.max": "300000 100000\\n"}
read = Path.read_text
Path.read_text = lambda path: files[str(path)] if str(path) in files else read(path)
os.sched_getaffinity = lambda process: {*range(64)}
os.environ.pop("OMP_NUM_THREADS", None)
spec = importlib.util.spec_from_file_location("runtime_probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
from dmlcy._runtime.threads import get_num_threads
assert get_num_threads() == 3
before = {*os.listdir("/proc/self/task")}
callers = []
def call():
    callers.append(str(threading.get_native_id()))
    start.wait()
    assert probe.parallel_for_held(1000, 1, 20) == 20
sys.setswitchinterval(1e-6)
start = threading.Barrier(4)
python = [threading.Thread(target=call) for _ in range(4)]
for one in python:
    one.start()
for one in python:
    one.join()
helpers = {*os.listdir("/proc/self/task")} - before - {*callers}
assert 0 < len(helpers) < 3, helpers
for one in helpers:
    (blocked,) = (line for line in Path("/proc/self/task", one, "status").read_text().split("\\n") if "SigBlk" in line)
    assert int(blocked.split()[1], 16) & 0b110, blocked     # SIGINT is the second one
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_python_threads_share_threads_that_get_no_signals(probe: ModuleType) -> None:
    """On a machine with 64 processors, a cgroup that may use three of them has two threads besides those of Python."""
    if not threads_available():
        pytest.skip("needs threads")
    subprocess.run([sys.executable, "-P", "-c", SHARED, str(probe.__file__)], timeout=300, check=True)


def test_number_of_threads() -> None:
    for number in (1, 3, 1024, np.int8(2)):
        set_num_threads(number)
        assert get_num_threads() == (number if threads_available() else 1)
    for wrong in (0, -1, 1025, 2**70):
        with pytest.raises(ValueError, match="from 1 to 1024"):
            set_num_threads(wrong)
    for bad in (True, 1.0, "2", None, np.True_):
        with pytest.raises(TypeError, match="must be an int"):
            set_num_threads(bad)  # type: ignore[arg-type]


FORK = """
import importlib.util, os, sys, threading
spec = importlib.util.spec_from_file_location("runtime_probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
from dmlcy._runtime.threads import get_num_threads, set_num_threads
set_num_threads(4)
done = []
def call():
    while not done:
        assert (probe.parallel_for(1000, 1)[2] == 1).all()
other = threading.Thread(target=call)
other.start()
assert (probe.parallel_for(1000, 1)[2] == 1).all()
child = os.fork()
if child == 0:
    ok = get_num_threads() == 1
    set_num_threads(4)
    ok = ok and get_num_threads() == 1 and (probe.parallel_for(1000, 1)[2] == 1).all()
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
assert (probe.parallel_for(1000, 1)[2] == 1).all()
done.append(True)
other.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_run_serially(probe: ModuleType) -> None:
    """Also where another Python thread computes at the time of the fork, and others wait for work."""
    command = [sys.executable, "-P", "-c", FORK, str(probe.__file__)]
    subprocess.run(command, timeout=300, check=True)


# How many by default


def test_omp_wait_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, lingers in [("PASSIVE", False), (" passive ", False), ("ACTIVE", True), ("", True)]:
        monkeypatch.setenv("OMP_WAIT_POLICY", text)
        assert cpus.lingers() is lingers


def test_omp_num_threads() -> None:
    texts = ["4", " 3 ,2", "", "0", "-1", "many", "²", "9" * 5000, "0" * 5000 + "2"]
    assert [list(cpus.omp_threads(text)) for text in texts] == [[4], [3], [], [], [], [], [], [1024], [2]]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def quotas(folder: Path, cgroup: str) -> list[int]:
    write(folder / "proc", cgroup)
    return list(cpus.cgroup_cpus(folder / "proc", folder / "sys"))


def test_cgroup_version_2(tmp_path: Path) -> None:
    write(tmp_path / "sys/a/b/cpu.max", "150000 100000\n")
    write(tmp_path / "sys/a/cpu.max", "max 100000\n")
    write(tmp_path / "sys/cpu.max", "400000 100000\n")
    assert quotas(tmp_path, "0::/a/b\n") == [2, 4]
    assert quotas(tmp_path, "0::/not/here\n") == [4]
    assert quotas(tmp_path, "0::/\n") == [4]


def test_cgroup_version_1(tmp_path: Path) -> None:
    write(tmp_path / "sys/cpu/job/cpu.cfs_quota_us", "50000\n")
    write(tmp_path / "sys/cpu/job/cpu.cfs_period_us", "100000\n")
    write(tmp_path / "sys/cpu/cpu.cfs_quota_us", "-1\n")
    write(tmp_path / "sys/cpu/cpu.cfs_period_us", "100000\n")
    assert quotas(tmp_path, "5:cpuset:/x\n4:cpu,cpuacct:/job\n") == [1]


def test_cgroups_that_make_no_sense(tmp_path: Path) -> None:
    write(tmp_path / "sys/cpu.max", "1 0")
    assert quotas(tmp_path, "garbage\n\n0::/\n") == []
    assert list(cpus.cgroup_cpus(tmp_path / "none", tmp_path)) == []


def test_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "available_cpus", lambda: 8)
    monkeypatch.setattr(cpus, "cgroup_cpus", lambda: iter([9, 6]))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert cpus.default_threads() == cpus.usable_cpus() == 6
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert cpus.default_threads() == 2
    monkeypatch.setattr(cpus, "cgroup_cpus", lambda: iter([]))
    assert cpus.usable_cpus() == 8
    monkeypatch.undo()
    assert 1 <= cpus.available_cpus() <= (os.cpu_count() or 1)


# Feature level


def test_level(probe: ModuleType) -> None:
    assert probe.current_level() == 14
    token = LEVEL.set(3)
    assert probe.current_level() == 3
    assert contextvars.Context().run(probe.current_level) == 14
    LEVEL.reset(token)
    assert probe.current_level() == 14


def test_level_of_tasks_and_threads(probe: ModuleType) -> None:
    async def task(level: int) -> int:
        LEVEL.set(level)
        await asyncio.sleep(0)
        return int(probe.current_level())

    async def tasks() -> list[int]:
        return await asyncio.gather(*map(task, range(15)))

    assert asyncio.run(tasks()) == list(range(15))
    seen: list[int] = []
    token = LEVEL.set(2)
    thread = threading.Thread(target=lambda: seen.append(contextvars.Context().run(probe.current_level)))
    thread.start()
    thread.join()
    LEVEL.reset(token)
    assert seen == [14]
