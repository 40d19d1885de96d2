"""specs/ids.lock: every error id ever published. Ids are added, or retired with a reason; none is removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .diagnostics import Diagnostics, Span, did_you_mean

PATH = "specs/ids.lock"
MARKER = "retired:"
HEAD = "# Every error id ever published, sorted. To retire one, move it below `retired:` and say why: ID  reason.\n"


@dataclass(slots=True)
class Lock:
    """The file: where each id in force stands, and each retired one with its reason."""

    ids: dict[str, Span] = field(default_factory=dict)
    retired: dict[str, tuple[Span, str]] = field(default_factory=dict)


def read(root: Path, diagnostics: Diagnostics) -> Lock:
    """The committed file; empty when there is none."""
    lock, retired = Lock(), False
    path = root / PATH
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.strip() == MARKER:
            retired = True
            continue
        id_, _, reason = line.strip().partition(" ")
        span = Span(PATH, number, 1, len(id_), line)
        if id_ in lock.ids or id_ in lock.retired:
            diagnostics.error(span, f"{id_} stands here a second time")
        elif not id_.startswith("DML-") or bool(reason.strip()) != retired:
            expected = "an id and why it is retired" if retired else "one id, nothing else"
            diagnostics.error(span, f"a line is {expected}")
        elif retired:
            lock.retired[id_] = (span, reason.strip())
        else:
            lock.ids[id_] = span
    return lock


def check(lock: Lock, ids: Iterable[str], diagnostics: Diagnostics) -> None:
    """Ids that vanished, and retired ids that came back."""
    known = {*ids}
    for id_, span in lock.ids.items():
        if id_ not in known:
            near = did_you_mean(id_, known - {*lock.ids})
            hint = f"bring it back, or move it below `{MARKER}` with the reason" + ("; " + near if near else "")
            diagnostics.error(span, f"no spec has {id_} any more", hint)
    for id_, (span, _) in lock.retired.items():
        if id_ in known:
            diagnostics.error(span, f"{id_} is retired, and a spec has it", "take a new slug")


def render(lock: Lock, ids: Iterable[str]) -> str:
    """The text of the file with the ids of the specs added."""
    published = sorted({*lock.ids, *ids} - {*lock.retired})
    return (
        HEAD
        + "".join(f"{id_}\n" for id_ in published)
        + _section({id_: reason for id_, (_, reason) in lock.retired.items()})
    )


def _section(retired: Mapping[str, str]) -> str:
    return f"\n{MARKER}\n" + "".join(f"{id_}  {reason}\n" for id_, reason in sorted(retired.items()))
