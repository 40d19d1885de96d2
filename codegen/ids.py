"""The list of error ids: specs/ids.lock has every id ever published.

A permanent id is added, or retired with a reason; none is removed. An id of an operator that does not run yet is
provisional: it may vanish, and becomes permanent when the operator first runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import source
from .diagnostics import Diagnostics, Span, did_you_mean

PATH = "specs/ids.lock"
MARKER = "retired:"
PROVISIONAL = "provisional:"
HEAD = """\
# Every error id ever published, sorted; python -m codegen gen adds new ones.
# Those below `provisional:` are of operators that do not run yet. They may change; gen moves them up when one runs.
# To retire one, move it below `retired:` and say why: ID  reason.
"""


@dataclass(slots=True)
class Lock:
    """A file: the line of each id, the provisional ids, and each id below the marker with its reason."""

    ids: dict[str, Span] = field(default_factory=dict)
    provisional: dict[str, Span] = field(default_factory=dict)
    retired: dict[str, tuple[Span, str]] = field(default_factory=dict)


def read(root: Path, diagnostics: Diagnostics) -> Lock:
    """The published ids; empty when there is no file."""
    lock, section = Lock(), ""
    path = root / PATH
    try:
        lines = source.read(path).decode().split("\n") if os.path.lexists(path) else []
    except (OSError, UnicodeDecodeError) as error:
        diagnostics.error(None, f"cannot read {PATH}: {getattr(error, 'strerror', None) or error}")
        return lock
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.strip() in (MARKER, PROVISIONAL):
            section = line.strip()
            continue
        id_, _, reason = line.strip().partition(" ")
        span = Span(PATH, number, 1, len(id_), line)
        retired = section == MARKER
        if id_ in lock.ids or id_ in lock.provisional or id_ in lock.retired:
            diagnostics.error(span, f"{id_} stands here a second time")
        elif not id_.startswith("DML-") or bool(reason.strip()) != retired:
            expected = "an id and why it stands here" if retired else "one id, nothing else"
            diagnostics.error(span, f"a line is {expected}")
        elif retired:
            lock.retired[id_] = (span, reason.strip())
        else:
            (lock.provisional if section == PROVISIONAL else lock.ids)[id_] = span
    return lock


def check(lock: Lock, ids: Iterable[str], diagnostics: Diagnostics) -> None:
    """Permanent ids that vanished, and retired ids that came back."""
    known = {*ids}
    owners = {_owner(id_) for id_ in known}
    gone: dict[str, list[str]] = {}  # the ids of operators that have no spec any more
    for id_, span in lock.ids.items():
        if _owner(id_) not in owners:
            gone.setdefault(_owner(id_), []).append(id_)
        elif id_ not in known:
            near = did_you_mean(id_, known - {*lock.ids})
            hint = f"bring it back, or move it below `{MARKER}` with the reason" + ("; " + near if near else "")
            diagnostics.error(span, f"no spec has {id_} any more", hint)
    for owner, lost in gone.items():
        others = f", nor any other of the {len(lost)} ids of {owner}" if lost[1:] else ""
        hint = f"bring its spec back, or move each below `{MARKER}` with the reason"
        diagnostics.error(lock.ids[lost[0]], f"no spec has {lost[0]} any more{others}", hint)
    for id_, (span, _) in lock.retired.items():
        if id_ in known:
            diagnostics.error(span, f"{id_} is retired, and a spec has it", "take a new slug")


def _owner(id_: str) -> str:
    """The operator of an id, or MODEL."""
    return id_.split("-")[1]


def render(lock: Lock, ids: Iterable[str], provisional: Iterable[str]) -> str:
    """The text of the published ids with those of the specs added; the provisional ones are just those given."""
    permanent = {*lock.ids, *ids} - {*lock.retired}
    more = _listed({*provisional} - permanent - {*lock.retired})
    reasons = "".join(f"{id_}  {reason}\n" for id_, (_, reason) in sorted(lock.retired.items()))
    return f"{HEAD}{_listed(permanent)}" + (f"\n{PROVISIONAL}\n{more}" if more else "") + f"\n{MARKER}\n{reasons}"


def _listed(ids: Iterable[str]) -> str:
    return "".join(f"{id_}\n" for id_ in sorted(ids))
