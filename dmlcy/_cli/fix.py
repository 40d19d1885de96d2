"""``dmlcy lint --fix``: writes the repairs of a JSON file, of each desc that has exactly one."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from json import JSONDecoder
from pathlib import Path
from typing import IO, Final

from dmlcy._errors import SEARCHED, Repair
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.json import is_flatbuffer
from dmlcy._frontends.dxdispatch.lint import FileReport, Finding
from dmlcy._frontends.dxdispatch.mend import Mend, spliced
from dmlcy._frontends.dxdispatch.problems import Splice, printable
from dmlcy._graph.check import counted

_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark, which a text in UTF-8 may have."""
_NAMES: Final = ("-member", "-required")
"""Ends of the ids of errors that another name may mend, of a value or of a member."""


class Unwritten(Exception):
    """Why a file is not written."""


def fix(name: str, data: bytes, look: Callable[[bytes], FileReport]) -> tuple[str, ...]:
    """Writes the single repairs of a file, and gives what to say of each behind the name of the file.

    A desc without repairs gets the nearest valid value of its only error, if this value makes it valid.

    ``data``: what is in the file; ``look``: what is wrong with such bytes. Unwritten where the file cannot be written,
    or where the repairs together leave one of the violations or bring another one.
    """
    if is_flatbuffer(data):
        raise Unwritten("is a serialized graph: --fix writes JSON files only")
    before = look(data)
    nearest = {one: mend for one, mend in _nearest(before) if _mends(before, one, mend, look)}
    mends = [*_single(before.findings), *nearest.values()]
    if not mends:
        return tuple(f": nothing is written: {said}" for said in _unmended(before))
    mended = (_MARK if data.startswith(_MARK) else b"") + _text(before, mends)
    after = look(mended)
    _look_again(before, after, nearest)
    _write(Path(name), data, mended)
    lines = (before.text.count("\n", 0, mend.splices[0].at) + 1 for mend in mends)
    said = [f":{line}: written: {mend.repair.text}" for line, mend in zip(lines, mends, strict=True)]
    return (*said, *(f": {one}" for one in _unmended(after)))


def _unmended(report: FileReport) -> Iterator[str]:
    """How many errors are left, and why, in a line; nothing where none is."""
    wrong = [one for one in report.findings if not one.warning]
    if wrong:
        errors = Counter(id(one.violation._search) for one in wrong)
        reasons = Counter(_why(one, errors[id(one.violation._search)]) for one in wrong)
        are = "is" if len(wrong) == 1 else "are"
        said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        yield f"{counted(len(wrong), 'error')} {are} not mended: {said}"


def _why(one: Finding, errors: int) -> str:
    """Why an error is left; ``errors``: how many its desc has."""
    if one.unsearched or (len(one.mends) == 1 and one.mends[0].splices):
        return f"after the first {SEARCHED} (run --fix again)"
    if one.violation._search is None:
        return "outside of descs"
    if len(one.mends) > 1:
        return "with several repairs"
    if one.mends:
        return "with a repair of a value that the file does not have"
    if errors > 1:
        return "with other errors in the same desc and no repair"
    if one.violation.id.endswith(_NAMES):
        return "with a name that is unknown or missing (--fix changes values only)"
    return "with no value that makes the desc valid"


def _single(findings: Iterable[Finding]) -> list[Mend]:
    """The repairs of the descs that have exactly one, which the file can get."""
    searches = {id(one.violation._search): one.mends for one in findings if one.violation._search is not None}
    return [mends[0] for mends in searches.values() if len(mends) == 1 and mends[0].splices]


def _nearest(report: FileReport) -> Iterator[tuple[Finding, Mend]]:
    """The nearest valid values of descs that have one error and no repair."""
    wrong: dict[int, list[Finding]] = {}
    for one in report.findings:
        if one.violation._search is not None:
            wrong.setdefault(id(one.violation._search), []).append(one)
    alone = [found[0] for found in wrong.values() if len(found) == 1]
    for one in [one for one in alone if one.nearest and not one.mends and one.place.at >= 0][:SEARCHED]:
        try:
            end = JSONDecoder().raw_decode(report.text, one.place.at)[1]
        except ValueError:  # a comment in an array
            continue
        repair = Repair(one.violation.field or "", one.violation.fix, f"{one.place.path} = {one.nearest}")
        yield one, Mend(repair, (Splice(one.place.at, end, one.nearest),))


def _mends(before: FileReport, one: Finding, mend: Mend, look: Callable[[bytes], FileReport]) -> bool:
    """Whether the change alone mends the error, and brings no other one."""
    return not _left(before, look(_text(before, [mend])), [one])


def _text(before: FileReport, mends: Iterable[Mend]) -> bytes:
    return spliced(before.text, (splice for mend in mends for splice in mend.splices)).encode()


def _left(before: FileReport, after: FileReport, mended: Iterable[Finding]) -> list[tuple[str, str]]:
    """The errors that were not there, or that should be mended and still are there."""
    old, gone = set(_wrong(before.findings)), set(_wrong(mended))
    return [one for one in _wrong(after.findings) if one not in old or one in gone]


def _look_again(before: FileReport, after: FileReport, nearest: Iterable[Finding]) -> None:
    """Unwritten where something is wrong that was not, or where what should be mended still is."""
    single = [one for one in before.findings if len(one.mends) == 1 and one.mends[0].splices]
    left = _left(before, after, [*single, *nearest])
    if left:
        path, text = left[0]
        raise Unwritten(f"is not written: after all of its repairs, this is wrong at {printable(path)}: {text}")


def _wrong(findings: Iterable[Finding]) -> Iterator[tuple[str, str]]:
    """The errors, each by its place in the document and what it says."""
    for one in findings:
        if not one.warning:
            yield one.place.path, f"{one.violation.message} [{one.violation.id}]"


def _write(path: Path, before: bytes, data: bytes) -> None:
    """Writes the file in one step, with the permissions that it has."""
    try:
        target = path.resolve(strict=True)
        with files.open_regular(target) as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            if files.read_bytes(stream) != before:
                raise OSError("another program has changed it")
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
            raise OSError("it is read-only")

        def content(draft: IO[bytes]) -> None:
            draft.write(data)
            if hasattr(os, "fchmod"):
                os.fchmod(draft.fileno(), mode)

        files.write(target.parent, (target.name,), content)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that form a circle
        raise Unwritten(f"cannot be written: {getattr(error, 'strerror', None) or error}") from error
