"""Pipes and folders in place of files, and full disks: refused at once, and no file is left half-written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import command
from odd_files import a_folder, a_link_to_itself, a_link_to_nothing, a_pipe, zeros_without_end

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "padding1.json"
SIZES = [1, 1, 128, 128]


def a_link_to_a_pipe(path: Path) -> None:
    a_pipe(path.with_suffix(".pipe"))
    path.symlink_to(path.with_suffix(".pipe"))


def a_socket(path: Path) -> None:
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("there are no sockets in the file system here")
    here = os.getcwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


KINDS = [a_folder, a_pipe, a_link_to_a_pipe, zeros_without_end, a_link_to_nothing, a_link_to_itself]
if sys.platform == "linux":
    KINDS.append(a_socket)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that ``dmlcy run --expect`` writes."""
    folder = tmp_path_factory.mktemp("expected") / "e"
    assert command("run", EXAMPLE, "--expect", folder).status == 0
    return folder


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", KINDS)
def test_in_place_of_a_model(make: Callable[[Path], None], tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    make(model)
    for arguments in (["run"], ["lint"], ["export", "--output", tmp_path / "out"]):
        done = command(arguments[0], model, *arguments[1:])
        assert done.status == 2
        assert "DML-MODEL-file" in done.out + done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", ["x.npy", "x.bin"])
def test_in_place_of_initial_values(make: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    make(tmp_path / name)
    values = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": name}}
    model = {"resources": {"x": values}, "dispatchables": {}, "commands": [{"type": "print", "resource": "x"}]}
    (tmp_path / "m.json").write_text(json.dumps(model))
    done = command("run", tmp_path / "m.json")
    assert (done.status, done.out) == (2, "")
    assert "DML-MODEL-source" in done.err
    assert command("lint", tmp_path / "m.json").status == 0  # it opens no file


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", KINDS)
def test_in_place_of_what_is_compared(make: Callable[[Path], None], expected: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "output.npy"):
        folder = tmp_path / name.partition(".")[0]
        shutil.copytree(expected, folder)
        (folder / name).unlink()
        make(folder / name)
        assert command("compare", folder, expected).status == 2
        assert (command("compare", expected, folder).status == 0) == (name == "manifest.json")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", KINDS)
def test_in_place_of_an_input(make: Callable[[Path], None], tmp_path: Path) -> None:
    tensors = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]}
    padding = {"PaddingMode": "EDGE", "PaddingValueDataType": "FLOAT32", "PaddingValue": 0, "DimensionCount": 4}
    padding |= {"StartPadding": [0, 0, 2, 2], "EndPadding": [0, 0, 2, 2]}
    desc = {"InputTensor": tensors[0], "OutputTensor": tensors[1], **padding}
    (tmp_path / "d.json").write_text(json.dumps({"type": "DML_OPERATOR_PADDING1", "desc": desc}))
    make(tmp_path / "x.npy")
    done = command("export", tmp_path / "d.json", "--output", tmp_path / "o", "--input", f"input={tmp_path / 'x.npy'}")
    assert done.status == 2
    assert "DML-MODEL-source" in done.err
    assert not (tmp_path / "o").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts here")
def test_a_model_whose_name_is_no_text(tmp_path: Path) -> None:
    """The manifest has the name in a form that its reader takes."""
    path = tmp_path / os.fsdecode(b"a\xff.json")
    shutil.copy(EXAMPLE, path)
    assert command("run", path, "--expect", tmp_path / "e").status == 0
    shutil.copytree(tmp_path / "e", tmp_path / "actual")
    done = command("compare", tmp_path / "e", tmp_path / "actual")
    assert (done.status, done.err) == (0, "")


# Writing


def model(folder: Path) -> Path:
    """A model that writes two files, the second of 64 KiB."""
    tensor = {"DataType": "FLOAT32", "Sizes": SIZES}
    desc: dict[str, Any] = {
        "InputTensor": tensor,
        "OutputTensor": tensor,
        "PaddingMode": "EDGE",
        "PaddingValueDataType": "FLOAT32",
    }
    desc |= {"PaddingValue": 0, "DimensionCount": 4, "StartPadding": [0] * 4, "EndPadding": [0] * 4}
    values = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 128 * 128, "value": 1}}
    bindings = {"InputTensor": "in", "OutputTensor": "out"}
    commands = [
        {"type": "dispatch", "dispatchable": "pad", "bindings": bindings},
        {"type": "writeFile", "resource": "out", "targetPath": "deep/out.npy", "dimensions": SIZES},
    ]
    whole = {
        "resources": {"in": values, "out": values},
        "dispatchables": {"pad": {"type": "DML_OPERATOR_PADDING1", "desc": desc}},
        "commands": commands,
    }
    path = folder / "m.json"
    path.write_text(json.dumps(whole))
    (folder / "d.json").write_text(json.dumps(whole["dispatchables"]["pad"]))  # type: ignore[index]
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITING: dict[str, list[str]] = {
    "run": ["run", "m.json", "--output-path", "o"],
    "expect": ["run", "m.json", "--output-path", "elsewhere", "--expect", "o"],
    "export": ["export", "d.json", "--output", "o"],
}


def limited(folder: Path, arguments: list[str], size: int) -> subprocess.CompletedProcess[str]:
    """A command that cannot write files of more than so many bytes: as if the disk were full."""
    code = "import resource, sys\n"
    code += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
    code += "from dmlcy._cli import main\nsys.exit(main(sys.argv[1:]))"
    run = [sys.executable, "-P", "-B", "-c", code, *arguments]
    # Measuring coverage writes a file too.
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return subprocess.run(run, cwd=folder, env=own, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="this system has no limit of the size of files")
@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk(name: str, tmp_path: Path) -> None:
    """The command says so, and whatever was there is as it was."""
    model(tmp_path)
    arguments = WRITING[name]
    if name == "expect":  # only the last file is in question
        content = json.loads((tmp_path / "m.json").read_text())
        content["commands"].pop()
        (tmp_path / "m.json").write_text(json.dumps(content))
    done = limited(tmp_path, arguments, 40_000)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "DML-MODEL-write" in done.stderr
    assert files(tmp_path).keys() == {"m.json", "d.json"}
    assert limited(tmp_path, arguments, 10**6).returncode == 0
    before = files(tmp_path)
    assert len(before) > 2
    assert limited(tmp_path, arguments, 40_000).returncode == 2
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", WRITING)
def test_too_little_memory_while_a_file_is_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(tmp_path)
    monkeypatch.chdir(tmp_path)

    def stop(stream: Any, data: Any) -> None:
        os.write(stream.fileno(), bytes(data)[:100])
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("dmlcy._frontends.dxdispatch.files._Pieces.write", stop)
        assert command(*WRITING[name]).status == 2
    assert files(tmp_path).keys() == {"m.json", "d.json"}
    assert command(*WRITING[name]).status == 0
    assert len(files(tmp_path)) > 2


@pytest.mark.parametrize("folders", [1000, 3000])
@pytest.mark.parametrize("option", ["targetPath", "--output-path", "--expect", "export"])
def test_deep_folders(option: str, folders: int, tmp_path: Path) -> None:
    """Python limits the depth of calls, the system the length of a path."""
    path = model(tmp_path)
    deep = "a/" * folders
    room = os.pathconf(tmp_path, "PC_PATH_MAX") if hasattr(os, "pathconf") else 0
    try:
        if option == "targetPath":
            content = json.loads(path.read_text())
            content["commands"][1]["targetPath"] = f"{deep}b.npy"
            path.write_text(json.dumps(content))
            done = command("run", path, "--output-path", tmp_path / "o")
        elif option == "export":
            done = command("export", tmp_path / "d.json", "--output", tmp_path / "o" / deep)
        else:
            arguments = {"--output-path": tmp_path / "w", option: tmp_path / "o" / deep}
            done = command("run", path, *(word for pair in arguments.items() for word in pair))
        assert done.status in (0, 2)
        assert ("DML-MODEL-write" in done.err) == (done.status == 2), done.err
        if 2 * folders + 200 < room - len(str(tmp_path)):
            assert done.status == 0
    finally:
        remove_deep(tmp_path / "o")


def remove_deep(folder: Path) -> None:
    """``shutil.rmtree``, and pytest's own clearing, call themselves for each folder."""
    if not folder.exists():
        return
    here = os.getcwd()
    os.chdir(folder)
    try:
        depth = 0
        while Path("a").is_dir():
            os.chdir("a")
            depth += 1
        for _ in range(depth):
            for name in os.listdir():
                (shutil.rmtree if Path(name).is_dir() else os.unlink)(name)
            os.chdir("..")
    finally:
        os.chdir(here)
    shutil.rmtree(folder)


@pytest.mark.parametrize("path", ["a/" * 1000 + "x.npy", "a/" * 3000 + "x.npy", "a" * 5000 + ".npy"])
def test_deep_folders_of_initial_values(path: str, tmp_path: Path) -> None:
    values = {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": path}}
    content = {"resources": {"x": values}, "dispatchables": {}, "commands": [{"type": "print", "resource": "x"}]}
    (tmp_path / "m.json").write_text(json.dumps(content))
    done = command("run", tmp_path / "m.json")
    assert (done.status, done.out) == (2, "")
    assert "DML-MODEL-source" in done.err


OUTSIDE = [
    "../x.npy",
    "a/../../x.npy",
    "..\\x.npy",
    "a\\..\\..\\x.npy",
    "/x.npy",
    "\\\\host\\x.npy",
    "C:x.npy",
    "a//x.npy",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_is_written_outside(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    content = json.loads(model(folder).read_text())
    content["commands"][1]["targetPath"] = path
    (folder / "m.json").write_text(json.dumps(content))
    done = command("run", folder / "m.json", "--output-path", folder / "o")
    assert done.status == 1
    assert "DML-MODEL-target" in done.err
    assert files(tmp_path).keys() == {"here/m.json", "here/d.json"}


def test_links_do_not_lead_outside(tmp_path: Path) -> None:
    """A link in place of a folder is refused. A link in place of a file is replaced, and its target stays."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "out.npy").write_text("mine")
    path = model(tmp_path)
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "deep").symlink_to(other)
    done = command("run", path, "--output-path", tmp_path / "o")
    assert (done.status, "DML-MODEL-write" in done.err) == (2, True)
    (tmp_path / "o" / "deep").unlink()
    (tmp_path / "o" / "deep").mkdir()
    (tmp_path / "o" / "deep" / "out.npy").symlink_to(other / "out.npy")
    assert command("run", path, "--output-path", tmp_path / "o").status == 0
    assert not (tmp_path / "o" / "deep" / "out.npy").is_symlink()
    assert files(other) == {"out.npy": b"mine"}


def test_files_above_can_be_read(tmp_path: Path) -> None:
    """As DxDispatch allows it."""
    (tmp_path / "sub").mkdir()
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.float32))
    values = {"initialValues": {"sourcePath": "../x.npy"}}
    content = {"resources": {"x": values}, "dispatchables": {}, "commands": [{"type": "print", "resource": "x"}]}
    (tmp_path / "sub" / "m.json").write_text(json.dumps(content))
    assert command("run", tmp_path / "sub" / "m.json").out == "Resource 'x': 0, 1, 2\n"


@pytest.mark.parametrize("shrinks", [True, False])
def test_a_file_that_changes_while_it_is_read(shrinks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is asked of the open file; what is missing then is an error, what is more is not read."""
    from dmlcy._frontends.dxdispatch import npy

    path = tmp_path / "x.npy"
    np.save(path, np.arange(1000, dtype=np.float32))
    whole, reading = path.read_bytes(), npy.read_header

    def change(stream: Any) -> Any:
        found = reading(stream)
        path.write_bytes(whole[:200] if shrinks else whole + bytes(10_000))
        return found

    monkeypatch.setattr(npy, "read_header", change)
    values = {"initialValues": {"sourcePath": "x.npy"}}
    content = {"resources": {"x": values}, "dispatchables": {}, "commands": [{"type": "print", "resource": "x"}]}
    (tmp_path / "m.json").write_text(json.dumps(content))
    done = command("run", tmp_path / "m.json")
    assert done.status == (2 if shrinks else 0)
    assert ("DML-MODEL-npy" in done.err) == shrinks
    assert done.out.count(",") == (0 if shrinks else 999)
