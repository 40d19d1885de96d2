"""``dmlcy reduce``: the smallest part of an ONNX model for which a command still fails."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from dmlcy._cli.options import add_examples, add_inputs, add_shapes, whole_number
from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, printable
from dmlcy._words.values import quote


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "reduce",
        help="find the smallest part of an ONNX model for which a command fails",
        description="Find nodes of an ONNX model of which none can be left out, so that a command still fails for a "
        "model of these nodes. The command gets the path of the model in place of {}, or as its last argument. "
        "If dmlcy can run the whole model, inputs.npz beside the model has values for its inputs. The command fails "
        "if its exit status is not 0. Exit status: 1 if the command does not fail for the whole model, 2 for an "
        "unreadable file or wrong usage.",
    )
    parser.add_argument("model", metavar="MODEL.onnx", help="an ONNX model")
    parser.add_argument("--check", required=True, metavar="COMMAND", help='such as "python session.py {}"')
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="where the part is written")
    parser.add_argument(
        "--mode",
        choices=("bisect", "linear"),
        default="bisect",
        help="linear tries to leave out each node alone, which takes longer (default: bisect)",
    )
    parser.add_argument(
        "--status", type=whole_number(1), metavar="N", help="only this exit status is a failure (default: any but 0)"
    )
    parser.add_argument(
        "--timeout", type=whole_number(1), metavar="SECONDS", help="a command that takes longer fails (default: none)"
    )
    add_inputs(parser)
    add_shapes(parser)
    add_examples(
        parser,
        'dmlcy reduce model.onnx --shape batch=1 --check "python session.py {}" --output small',
        'dmlcy reduce model.onnx --check "dmlcy lint {}" --output small    # the nodes that lint refuses',
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the part, and say which nodes it has."""
    from dmlcy._frontends.graphs.writer import write
    from dmlcy._frontends.onnx.exposing import INPUTS, MODEL, archive
    from dmlcy._frontends.onnx.places import in_words
    from dmlcy._frontends.onnx.reader import read
    from dmlcy._frontends.onnx.reducing import Parts, smallest
    from dmlcy._frontends.onnx.writing import source_of

    try:
        command = _words(options.check)
        _check_folder(options.output)
        model = read(options.model)
        parts = Parts(source_of(options.model), model, dict(options.shape), dict(options.input), options.seed)

        def files(numbers: Sequence[int]) -> dict[str, bytes | None]:
            data, arrays = parts.model_of(numbers)
            return {MODEL: data, INPUTS: None} if arrays is None else {MODEL: data, INPUTS: _bytes(archive(arrays))}

        def fails(numbers: Sequence[int]) -> bool:
            with TemporaryDirectory(prefix="dmlcy-reduce-") as folder:
                for name, data in files(numbers).items():
                    if data is not None:
                        (Path(folder) / name).write_bytes(data)
                return _fails(command, Path(folder) / MODEL, options.status, options.timeout)

        if not fails(parts.order):
            print("dmlcy reduce: the command does not fail for the whole model.", file=sys.stderr)
            return 1
        left = smallest(parts.order, fails, options.mode)
        found: dict[tuple[str, ...], Callable[[IO[bytes]], object]] = {
            (name,): _writer(data) for name, data in files(left).items() if data is not None
        }
        write(options.output, found)
    except DmlError as error:
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    except (OSError, _UnusableError) as error:
        print(f"dmlcy reduce: {printable(str(error))}", file=sys.stderr)
        return 2
    print(f"{len(left)} of {len(parts.order)} nodes, written to '{printable(str(options.output / MODEL))}':")
    for number in left:
        print(f"  {in_words(model.graph.nodes[number])}")
    return 0


class _UnusableError(Exception):
    """The command of ``--check`` cannot be run, or the folder of ``--output`` cannot be written to."""


def _check_folder(path: Path) -> None:
    """Refuse a folder that could not be made or written to, before the command runs many times."""
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    why = (
        "it is no folder" if not there.is_dir() else "" if os.access(there, os.W_OK | os.X_OK) else "permission denied"
    )
    if why:
        raise _UnusableError(f"{quote(str(there))} of --output cannot be written to: {why}.")


def _words(command: str) -> list[str]:
    """The command and its arguments, as a shell divides them."""
    try:
        words = shlex.split(command)
    except ValueError:
        raise _UnusableError("a quotation in --check does not end.") from None
    if not words:
        raise _UnusableError("--check is empty.")
    return words


def _fails(command: Sequence[str], path: Path, status: int | None, timeout: int | None) -> bool:
    """Whether the command fails for a model."""
    words = [word.replace("{}", str(path)) for word in command]
    if not any("{}" in word for word in command):
        words.append(str(path))
    try:
        done = subprocess.run(words, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return status is None
    except OSError as error:
        why = error.strerror or error
        raise _UnusableError(f"the command {quote(words[0])} of --check cannot be run: {why}.") from None
    return done.returncode != 0 if status is None else done.returncode == status


def _bytes(write: Callable[[IO[bytes]], object]) -> bytes:
    stream = BytesIO()
    write(stream)
    return stream.getvalue()


def _writer(data: bytes) -> Callable[[IO[bytes]], object]:
    return lambda stream: stream.write(data)
