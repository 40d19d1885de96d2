"""The command line: ``dmlcy COMMAND …``. Each command is a module with ``add`` (its arguments) and ``execute``."""

from __future__ import annotations

import argparse
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from dmlcy._cli.options import EXAMPLES, add_examples
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._version import __version__
from dmlcy._words.alike import did_you_mean
from dmlcy._words.values import listing, quote

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

COMMANDS = (
    "run", "compare", "export", "graph", "lint", "onnx", "reduce", "explain", "operators", "example",
    "cpp-header", "info",
)  # fmt: skip


class _Formatter(argparse.HelpFormatter):
    """Wraps what is said of a command, and leaves its examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """Says what is wrong with arguments without what a terminal would obey."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **settings})

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Propose the command that was meant by an unknown one."""
        names = list(action.choices or ())
        if action.dest == "command" and value not in names:
            asked = did_you_mean(value, names) or f"The commands are {listing(names)}."
            raise argparse.ArgumentError(None, f"{quote(value)} is not a command. {asked}")
        super()._check_value(action, value)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print as argparse does, except that a full disk is an error."""
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
        else:
            file.write(message)


@cache
def command_line(*names: str) -> argparse.ArgumentParser:
    """The arguments of these commands, for all calls of ``main``; without names, of all."""
    parser = Parser(prog="dmlcy", description="The operators of DirectML on the CPU.")
    parser.add_argument("--version", action="version", version=f"dmlcy {__version__}")
    add_examples(
        parser,
        "dmlcy example average_pooling > model.json    # a model to begin with",
        "dmlcy run model.json",
        "dmlcy lint model.json    # what is wrong, where, and the level that it needs",
        "dmlcy onnx model.onnx    # which nodes DirectML gets, and why not the others",
        "dmlcy explain DML-AVERAGE_POOLING-window_size-fits    # what an error means",
        "dmlcy COMMAND --help    # options and examples of a command",
    )
    parser.set_defaults(execute=partial(_without_command, parser))
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in names or COMMANDS:
        import_module(f"{__name__}.{name.replace('-', '_')}").add(commands)
    return parser


def _without_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> NoReturn:
    """Refuse arguments that name no command."""
    parser.error(f"A command is missing. The commands are {listing(COMMANDS)}. `dmlcy -h` says what each does.")


def program() -> int:
    """The command ``dmlcy``, in a process of its own that Ctrl-C ends at once, as other signals do.

    Python would wait for the end of a kernel, and print a traceback where a signal comes as the process ends.
    """
    gc.set_threshold(1_000_000)  # a file becomes a million objects that refer to no circle
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as of a job in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return main()
    finally:
        gc.freeze()  # what is left ends with the process: no search for circles in it


def asked(words: Sequence[str]) -> argparse.ArgumentParser:
    """The arguments of the command that these words ask for: the modules of the others are not imported."""
    return command_line(*(name for name in words[:1] if name in COMMANDS))


def main(
    arguments: Sequence[str] | None = None, parser: Callable[[Sequence[str]], argparse.ArgumentParser] = asked
) -> int:
    """Run a command; the exit status: 0 clean, 1 violations, 2 unreadable file, usage or too little memory."""
    if sys.stderr is None:  # closed; what is printed to None would go to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("dmlcy: standard output is closed", file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            words = sys.argv[1:] if arguments is None else arguments
            options = parser(words).parse_args(words)
            status: int = options.execute(options)
        finally:  # after --help too
            sys.stdout.flush()
    except BrokenPipeError:
        _discard()
        return 141
    except MemoryError:
        print("dmlcy: there is not enough memory", file=sys.stderr)
        return 2
    except OSError as error:  # of standard output: what the commands read and write they answer for
        _discard()
        print(f"dmlcy: {error}", file=sys.stderr)
        return 2
    return status


def _discard() -> None:
    """The rest of standard output goes nowhere: the flush at exit would fail again."""
    with suppress(OSError):  # it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
