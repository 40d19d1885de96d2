"""Forked, spawned and nested processes: the same results, and nobody waits for threads that are gone."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from ctypes.util import find_library
from pathlib import Path

import pytest
from depth import deep, draws_of

from dmlcy._runtime.threads import threads_available

HERE = Path(__file__).parent
HANGS = 600  # seconds; only what hangs takes as long
LARGE = pytest.mark.parametrize("large", ["1", pytest.param("7", marks=deep)])
"""Large calls of each family, at most."""

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(program: str, *arguments: str, **environment: str) -> str:
    """The output of a program that can import `calls` and succeeds."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        env=os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore"} | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "method", [pytest.param("fork", marks=forks), pytest.param("forkserver", marks=[forks, deep]), "preloaded", "spawn"]
)
@LARGE
def test_processes_of_multiprocessing(method: str, large: str) -> None:
    program = """
        import multiprocessing, sys
        import calls, dmlcy as dml

        method = sys.argv[1]
        context = multiprocessing.get_context("forkserver" if method == "preloaded" else method)
        if method == "preloaded":
            context.set_forkserver_preload(["calls"])
        expected = calls.all_digests(4)
        with context.Pool(1 if method == "spawn" else 2) as pool:  # one alone has nothing of another, and starts long
            print(pool.map(calls.all_same, [expected] * 2), set(pool.starmap(dml.get_num_threads, [()] * 4)))
        assert calls.all_same(expected)
    """
    if method == "preloaded" and not hasattr(os, "fork"):
        pytest.skip("needs fork")
    same, threads = run(program, method, OMP_NUM_THREADS="2", DMLCY_CALLS_OF_A_FAMILY=large).strip().split("] ")
    assert same == "[True, True"
    assert method not in ("fork", "preloaded") or threads == "{1}"


@forks
@draws_of(1, 4)
@LARGE
def test_a_fork_while_other_threads_are_in_calls(large: str, draws: int) -> None:
    program = """
        import os, sys, threading
        import calls, dmlcy as dml

        expected = calls.all_digests(4)
        running = True
        def work():
            while running:
                assert calls.all_same(expected)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(int(sys.argv[1])):
            child = os.fork()
            if child == 0:
                grandchild = os.fork()
                if grandchild == 0:
                    os._exit(not calls.all_same(expected))
                os._exit(not (os.waitpid(grandchild, 0)[1] == 0 and calls.all_same(expected)))
            assert os.waitpid(child, 0)[1] == 0
        running = False
        for thread in threads:
            thread.join()
        print("done")
    """
    assert run(program, str(draws), DMLCY_CALLS_OF_A_FAMILY=large) == "done\n"


@forks
def test_import_in_the_child_of_a_process_with_threads_of_openmp() -> None:
    """As in a data loader: the parent has used a library of threads, and not us. The library has no threads in the
    child; dmlcy has.
    """
    if not threads_available() or find_library("gomp") is None:
        pytest.skip("needs threads, and libgomp")
    program = """
        import ctypes, os, sys

        openmp = ctypes.CDLL("libgomp.so.1")
        openmp.GOMP_parallel(openmp.omp_get_thread_num, None, 4, 0)
        assert "dmlcy" not in sys.modules
        child = os.fork()
        if child == 0:
            import calls, dmlcy as dml
            dml.set_num_threads(4)
            os._exit(not (dml.get_num_threads() == 4 and calls.same(calls.digests(4))))
        assert os.waitpid(child, 0)[1] == 0
        import calls, dmlcy as dml
        dml.set_num_threads(4)
        print(dml.get_num_threads())
    """
    assert run(program) == "4\n"


@LARGE
def test_fewer_threads_where_the_system_has_no_more(large: str) -> None:
    """A library that cannot start a thread would end the process."""
    pytest.importorskip("resource", reason="needs limits on memory")
    program = """
        import resource
        import calls, dmlcy as dml

        ways = calls.ways(large=True)[::2]  # of each call the three layouts of a result, functional or compiled
        dml.set_num_threads(1)
        expected = [calls.as_bytes(way()) for way in ways]
        dml.set_num_threads(64)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        for room in (48, 128):      # megabytes: for the results, and for a few stacks of threads
            resource.setrlimit(resource.RLIMIT_AS, (used + room * 2**20, before[1]))
            assert [calls.as_bytes(way()) == e for way, e in zip(ways, expected)] == [True] * len(ways)
        resource.setrlimit(resource.RLIMIT_AS, before)
        assert [calls.as_bytes(way()) == e for way, e in zip(ways, expected)] == [True] * len(ways)
        print("done")
    """
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    assert run(program, DMLCY_CALLS_OF_A_FAMILY=large) == "done\n"


# Libraries of processes and threads


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_of_joblib(backend: str) -> None:
    pytest.importorskip("joblib", reason="needs joblib: pip install '.[parallel]'")
    program = """
        import sys
        import joblib
        import calls

        expected = calls.digests(2)
        def nested(inner):
            task = joblib.delayed(calls.same)
            return all(joblib.Parallel(n_jobs=2, backend=inner)(task(expected) for _ in range(2)))
        if sys.argv[1] == "threading":
            task = joblib.delayed(calls.same)
            print(joblib.Parallel(n_jobs=3, backend="threading")(task(expected) for _ in range(4)))
        else:
            task = joblib.delayed(nested)
            print(joblib.Parallel(n_jobs=2, backend=sys.argv[1])(task("threading") for _ in range(4)))
        assert calls.same(expected)
    """
    assert run(program, backend) == "[True, True, True, True]\n"


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_workers_of_dask(scheduler: str) -> None:
    pytest.importorskip("dask", reason="needs dask: pip install '.[parallel]'")
    program = """
        import sys
        import dask
        import calls

        expected = calls.digests(2)
        tasks = [dask.delayed(calls.same)(expected) for _ in range(4)]
        print(list(dask.compute(*tasks, scheduler=sys.argv[1], num_workers=2)))
    """
    assert run(program, scheduler) == "[True, True, True, True]\n"


def test_workers_of_a_dask_cluster() -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install '.[parallel]'")
    program = """
        import distributed
        import calls

        expected = calls.digests(2)
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None, host="127.0.0.1"
        ) as cluster, distributed.Client(cluster) as client:
            futures = [client.submit(calls.same, expected, pure=False) for _ in range(6)]
            print(client.gather(futures))
    """
    assert run(program) == f"{[True] * 6}\n"
