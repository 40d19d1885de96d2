"""``dmlcy explain``: what an id, an operator, a field, an enum, a feature level or a data type means."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from dmlcy._cli.options import add_examples, add_format
from dmlcy._show.explain.codes import unknown_code
from dmlcy._show.explain.find import find, suggested, suggestion
from dmlcy._show.explain.page import page_width
from dmlcy._show.explain.text import lay_out
from dmlcy._show.terminal import head
from dmlcy._words.values import quote

VERSION: Final = 1
"""Of the JSON."""
ANYTHING: Final = "Ask for an id, an operator, a field, an enum, a feature level, a data type or an error code."


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="say what a word means: an id, an operator, a field, an error code, a level",
        description="Say what a word means. A word is the id of an error or the last word of an id, an operator, or a "
        "field (PADDING1.padding_mode, or of all operators padding_mode). Enums and their members, feature levels, "
        "DirectML versions, data types, error codes of DirectML and members of the tensor desc are words too. Or give "
        "a quantity in formulas (spatial), a family of operators, a function of NumPy or PyTorch (np.pad), or an "
        "everyday name (layer norm). Operators of ONNX have their own names (Conv, com.microsoft.Attention).",
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="WORD",
        help="ID, OPERATOR, FIELD, OPERATOR.FIELD, ENUM, MEMBER, LEVEL, TYPE or everyday words",
    )
    add_format(parser)
    add_examples(
        parser,
        "dmlcy explain DML-AVERAGE_POOLING-window_size-fits",
        "dmlcy explain average_pooling",
        "dmlcy explain PADDING1.padding_mode",
        "dmlcy explain 80070057",
        "dmlcy explain layer norm",
        "dmlcy explain Conv",
        "dmlcy explain 5_0 --json",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print what was found."""
    word = " ".join(options.words)
    found = find(word)
    if options.format == "json":
        proposed = {} if found else {"did_you_mean": suggested(word)}
        print(json.dumps({"version": VERSION, "word": word, "found": found, **proposed}, indent=2))
    elif found:
        print(lay_out(found, page_width(), head))
    if not found:
        asked = unknown_code(word) or suggestion(word) or ANYTHING
        print(f"dmlcy explain: nothing is called {quote(word)}. {asked}", file=sys.stderr)
        return 2
    return 0
