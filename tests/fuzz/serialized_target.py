"""Any bytes as a serialized graph. Only a ModelError with an id of such files may come of it, quickly.

A graph that is read is written and read again; and the ``flatbuffers`` package, where it is installed, reads the same.
Then it is taken as a graph: it is refused as such, or checked and shown, and what is valid is written and read again.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "frontends"))

from serialized_graphs import plain, refusal  # noqa: E402

from dmlcy._errors import ModelError  # noqa: E402
from dmlcy._facts.levels import NEWEST  # noqa: E402
from dmlcy._frontends.graphs.serialized import from_records  # noqa: E402
from dmlcy._frontends.graphs.to_records import to_records  # noqa: E402
from dmlcy._frontends.serialized.reader import read  # noqa: E402
from dmlcy._frontends.serialized.records import GraphRecord  # noqa: E402
from dmlcy._frontends.serialized.schema import ATTRIBUTE, SCALAR, TABLES  # noqa: E402
from dmlcy._frontends.serialized.writer import write  # noqa: E402
from dmlcy._graph.check import violations  # noqa: E402
from dmlcy._show.graphs import dot, svg, text  # noqa: E402

try:
    import flatbuffers_peer as peer
except ImportError:
    peer = None  # type: ignore[assignment]  # the extra is not there

LONGEST = 4096
SECONDS = 2
"""Of the processor, for one input."""
SEEDS: list[Path] = []  # the corpus has files of every union


def dictionary() -> str:
    """Numbers of lengths, offsets and vtables, in libFuzzer's form."""
    words = {count.to_bytes(4, "little") for count in (*range(33), 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4)}
    words |= {size.to_bytes(2, "little") for size in range(4, 26, 2)}
    words |= {bytes([number]) for number in (*ATTRIBUTE.number.values(), *SCALAR.number.values())}
    words |= {count.to_bytes(4, "little") for table in TABLES.values() for count in (len(table.fields),)}
    return "".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in sorted(words))


def one(data: bytes) -> None:
    """Do with these bytes whatever can be done with a serialized graph."""
    start = time.process_time()
    found = refusal(data)
    if found is None:
        record = read(data)
        written = write(record)
        again = read(written)
        assert plain(again) == plain(record)
        assert write(again) == written
        if peer is not None:
            assert repr(peer.Walk(data).graph()) == repr(peer.as_walked(record))
        as_graph(record)
    else:
        slug, byte = found
        assert slug != "value" and (byte is None) == (slug == "size")
        assert byte is None or 0 <= byte < len(data)
    assert time.process_time() - start < SECONDS, "it took too long"


def as_graph(record: GraphRecord) -> None:
    """Do with these records whatever can be done with a graph that is not run."""
    try:
        graph = from_records(record, HERE / "no folder")
    except ModelError as error:
        known = ("DML-GRAPH-file-", "DML-GRAPH-limit", "DML-MODEL-operator-")
        assert all(one.id.startswith(known) for one in error.violations)
        return
    found = violations(graph, NEWEST)
    for shown in (text.lines(graph, found, ""), dot.lines(graph, found), svg.lines(graph, found)):
        assert [*shown]
    if all(one.severity == "warning" for one in found):
        try:
            again = to_records(graph)
        except ModelError as error:
            assert error.id == "DML-GRAPH-file-value"
        else:
            assert from_records(again, HERE / "no folder").nodes == graph.nodes
