"""Ctrl-C and other signals that end a command: at once, without a traceback, and without half of a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcy._frontends.dxdispatch import files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")

SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]
HANGS = 300  # seconds; only what hangs takes as long


def dispatched(name: str) -> dict[str, Any]:
    bindings = {"InputTensor": "input", "ROITensor": name, "OutputTensor": f"{name} output"}
    return {"type": "dispatch", "dispatchable": name, "bindings": bindings}


def model(folder: Path, regions: int, commands: Sequence[dict[str, Any]]) -> Path:
    """A model with a pooling of one region, and a pooling of many, each of which takes in a whole image."""
    image = [1, 16, 512, 512]
    resources: dict[str, Any] = {
        "input": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16 * 512 * 512, "value": 1}}
    }
    dispatchables = {}
    for name, count in (("one", 1), ("many", regions)):
        np.tile(np.array([0, 0, 0, 511, 511], "f4"), (count, 1)).tofile(folder / f"{name}.bin")
        resources[name] = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": f"{name}.bin"}}
        values = {"valueCount": 16 * count, "value": 0}
        resources[f"{name} output"] = {"initialValuesDataType": "FLOAT32", "initialValues": values}
        sizes = {"InputTensor": image, "ROITensor": [1, 1, count, 5], "OutputTensor": [count, 16, 1, 1]}
        desc: dict[str, Any] = {
            field: {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": size} for field, size in sizes.items()
        }
        desc |= {"SpatialScale": 1.0, "PooledSize": {"Width": 1, "Height": 1}}
        dispatchables[name] = {"type": "DML_OPERATOR_ROI_POOLING", "desc": desc}
    path = folder / "model.json"
    path.write_text(json.dumps({"resources": resources, "dispatchables": dispatchables, "commands": [*commands]}))
    return path


# A shell that runs the tests in the background ignores SIGINT, and so would all processes that the tests start.
AS_FROM_A_TERMINAL = """
import os, signal, sys
ignored, *command = sys.argv[1:]
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_IGN if name == ignored else signal.SIG_DFL)
os.execv(command[0], command)
"""


def start(path: Path, ignored: str = "") -> subprocess.Popen[str]:
    """A run that writes into the folder `out`, beside the model."""
    command = [sys.executable, "-P", "-m", "dmlcy", "run", str(path), "--output-path", str(path.parent / "out")]
    return subprocess.Popen(
        [sys.executable, "-c", AS_FROM_A_TERMINAL, ignored, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


WRITE = {"type": "writeFile", "resource": "one output", "targetPath": "one.npy"}
LATER = {"type": "writeFile", "resource": "many output", "targetPath": "many.npy"}


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_during_a_long_call(tmp_path: Path, name: str) -> None:
    """The call would take many minutes."""
    path = model(tmp_path, 1_000_000, [dispatched("one"), WRITE, dispatched("many"), LATER])
    with start(path) as process:
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(2)]
        assert printed[0].startswith("Dispatch 'one'") and "written to" in printed[1]
        time.sleep(1)  # into the second call
        process.send_signal(getattr(signal, name))
        out, error = process.communicate(timeout=HANGS)
    assert process.returncode == -getattr(signal, name)
    assert (out, error) == ("", "")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["one.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "one.npy"), np.ones(16, "f4"))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_of_a_long_call(threads: int) -> None:
    """In a program it is a KeyboardInterrupt. The call would take many minutes."""
    program = f"""
        import os, signal, threading
        import numpy as np
        import dmlcy as dml
        signal.signal(signal.SIGINT, signal.default_int_handler)
        dml.set_num_threads({threads})
        image, regions = np.ones((1, 16, 512, 512), "f4"), np.tile(np.float32([0, 0, 0, 511, 511]), (1_000_000, 1))
        try:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            dml.roi_pooling(image, regions, spatial_scale=1, pooled_size=1)
        except KeyboardInterrupt:
            print("interrupted")
        print(dml.roi_pooling(image, regions[:1], spatial_scale=1, pooled_size=1).sum())
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.stdout, done.stderr) == ("interrupted\n16.0\n", "")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_of_many_short_steps(threads: int) -> None:
    """No step takes long. The call would take many minutes."""
    program = f"""
        import os, signal, threading
        import numpy as np
        import dmlcy as dml
        signal.signal(signal.SIGINT, signal.default_int_handler)
        dml.set_num_threads({threads})
        steps = np.broadcast_to(np.float32(1), (1, 10_000_000, 1, 1))
        weight, recurrence = np.zeros((1, 2, 1024, 1), "f4"), np.zeros((1, 2, 1024, 1024), "f4")
        tanh = dml.desc.ActivationTanh()
        try:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            dml.rnn(
                steps, weight, recurrence, activation_descs=[tanh, tanh], direction="BIDIRECTIONAL", output_single=True
            )
        except KeyboardInterrupt:
            print("interrupted")
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.deep
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_of_a_chain(threads: int) -> None:
    """No block takes long. The chain takes seconds of the processor, as many on a busy machine, and ends early."""
    program = f"""
        import signal, time
        import numpy as np
        import dmlcy as dml
        signal.signal(signal.SIGPROF, signal.default_int_handler)
        dml.set_num_threads({threads})
        g = dml.Graph()
        x = value = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4096, 4096)))
        for _ in range(31):
            value = g.element_wise_tan(g.element_wise_multiply(value, x))
        op = dml.compile(g.build(value))
        array = np.ones((1, 1, 4096, 4096), "f4")
        assert len(op.optimizations.chains) == 2
        begin = time.process_time()
        op(array)
        whole = time.process_time() - begin
        begin = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_PROF, whole / 4)
            op(array)
        except KeyboardInterrupt:
            print("interrupted", time.process_time() - begin < whole * 3 / 4)
        print(op(array).shape)
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.stdout, done.stderr) == ("interrupted True\n(1, 1, 4096, 4096)\n", "")


@pytest.mark.parametrize("name", SIGNALS)
def test_an_ignored_signal_stays_ignored(tmp_path: Path, name: str) -> None:
    """As a shell starts a job in the background, or nohup does."""
    path = model(tmp_path, 3, [dispatched("one"), *[dispatched("many")] * 20, LATER])
    with start(path, ignored=name) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(getattr(signal, name))
        _, error = process.communicate(timeout=HANGS)
    assert (process.returncode, error) == (0, "")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["many.npy"]


def test_interrupts_at_any_time(tmp_path: Path) -> None:
    """The files after a signal are whole: of the run before it, or of its own."""
    commands = [dispatched("one"), *[LATER, WRITE] * 20]
    path = model(tmp_path, 200_000, [*commands])
    ended = set()
    for delay in (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3):
        with start(path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=HANGS)
        ended.add(process.returncode)
        assert error == ""
        files = {file.name: np.load(file).size for file in tmp_path.glob("out/.*")}
        files |= {file.name: np.load(file).size for file in tmp_path.glob("out/*")}
        assert files.items() <= {"one.npy": 16, "many.npy": 16 * 200_000}.items()
    assert -signal.SIGINT in ended <= {-signal.SIGINT, 0}


def test_an_interrupt_while_the_process_ends() -> None:
    """Behind the command Python ends its threads and calls what is registered; a signal can come there too."""
    code = "import atexit, signal, sys; from dmlcy._cli import program\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "atexit.register(signal.raise_signal, signal.SIGINT)\n"
    code += "sys.exit(program())"
    command = [sys.executable, "-P", "-c", code, "info"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    assert done.stdout.startswith("dmlcy ")


def child(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A program that writes into a folder with two files and signals itself."""
    before = "import os, signal, sys\nfrom pathlib import Path\nfrom dmlcy._frontends.dxdispatch import files\n"
    before += "folder = Path(sys.argv[1])\nnumber = getattr(signal, sys.argv[2])\n"
    before += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
    for name in ("a", "b"):
        (folder / name).write_text("before")
    command = [sys.executable, "-P", "-c", before + textwrap.dedent(program), str(folder)]
    return subprocess.run([*command, "SIGTERM"], capture_output=True, text=True, timeout=HANGS, check=False)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_signal_while_a_file_is_written(tmp_path: Path) -> None:
    program = """
        def content(stream):
            stream.write(b"half")
            stream.flush()
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            for _ in range(10_000):
                stream.write(b" of it")
        try:
            files.write_all(folder, {("b",): lambda stream: stream.write(b"all"), ("a",): content})
        finally:
            print("not here")
    """
    done = child(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
    assert contents(tmp_path) == {"a": "before", "b": "before"}


def test_a_signal_while_files_take_their_places(tmp_path: Path) -> None:
    """Either all files are replaced or none; then the process ends."""
    program = """
        replace = Path.replace
        def signalled(self, target):
            os.kill(os.getpid(), number)
            return replace(self, target)
        Path.replace = signalled
        files.write_all(folder, {(name,): lambda stream: stream.write(b"after") for name in "ab"})
        print("not here")
    """
    done = child(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
    assert contents(tmp_path) == {"a": "after", "b": "after"}


@pytest.mark.parametrize("last", [1, 2, 3, 4, 5, 6])
def test_a_signal_between_two_handlers(tmp_path: Path, last: int) -> None:
    """Three are set before files are written, and three set back behind that."""
    program = f"""
        before = signal.signal
        calls = []
        def signalled(*arguments):
            result = before(*arguments)
            calls.append(arguments)
            if len(calls) == {last}:
                os.kill(os.getpid(), number)
            return result
        signal.signal = signalled
        files.write_all(folder, {{(name,): lambda stream: stream.write(b"after") for name in "ab"}})
        print("not here")
    """
    done = child(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
    after = "after" if last > 3 else "before"
    assert contents(tmp_path) == {"a": after, "b": after}


def test_an_interrupt_of_a_program_that_writes(tmp_path: Path) -> None:
    """Outside of the command line it is a KeyboardInterrupt, as everywhere in Python."""
    program = """
        def content(stream):
            signal.raise_signal(signal.SIGINT)
            stream.write(b"after")
        try:
            files.write_all(folder, {("a",): content})
        except KeyboardInterrupt:
            print("interrupted", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    """
    done = child(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted True\n", "")
    assert contents(tmp_path) == {"a": "before", "b": "before"}


def test_files_of_others_stay(tmp_path: Path) -> None:
    """A draft that a killed process left is neither removed nor in the way, whatever its name is."""
    program = """
        import secrets
        names = iter(["1", "1", "2", "2", "3", "3", "4"])
        secrets.token_hex = lambda size: next(names)
        kept = [folder / f".{name}.dmlcy" for name in (os.getpid(), f"{os.getpid()}.0", 1, 2, 3)]
        for draft in kept:
            draft.write_text("theirs")
        files.write(folder, ("a",), lambda stream: stream.write(b"after"))
        for draft in kept:
            print(draft.read_text())
            draft.unlink()
    """
    done = child(program, tmp_path)
    assert (done.stdout, done.stderr) == ("theirs\n" * 5, "")
    assert contents(tmp_path) == {"a": "after", "b": "before"}


def test_threads_write_into_one_folder(tmp_path: Path) -> None:
    """Files of the same names and of others, from 4 threads at a time."""

    def write(number: int) -> None:
        text = f"from {number}".encode()
        files.write_all(tmp_path, {("same",): lambda stream: stream.write(text)})
        files.write_all(tmp_path, {("own", str(number)): lambda stream: stream.write(text)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(120)))
    assert {path.name: path.read_text() for path in (tmp_path / "own").iterdir()} == {
        str(number): f"from {number}" for number in range(120)
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own", "same"]


def test_processes_of_one_id_write_into_one_folder(tmp_path: Path) -> None:
    """As in two containers, where the first process has the id 1."""
    program = """
        os.getpid = lambda: 1
        def content(stream):
            stream.write(b"half")
            stream.flush()
            os._exit(9)
        files.write_all(folder, {("a",): content})
    """
    assert child(program, tmp_path).returncode == 9
    done = child(program.replace("os._exit(9)", "pass"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path).items() >= {"a": "half", "b": "before"}.items()
