"""Whether the record can be written, and is what was written."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import Finding, Status
from crabhook.store.interface import Query, StoreError
from crabhook.store.opening import open_history
from crabhook.store.verify import Verified, verify

NEEDED, WANTED = 10_000_000, 200_000_000  # bytes that are free: to go on at all, and for a while
WHOLE = 250_000  # records: to verify so many takes a few seconds
_FILES = tuple(f"record.{end}" for end in ("db", "db-wal", "db-shm", "head", "key", "lock"))
LAST, QUICK_LAST = 50_000, 1_000  # records that are verified of a longer record, or quickly


def writable(_: Machine) -> Iterator[Finding]:
    """Whether the server can write its record, and nobody else can read it."""
    folder = config.state_folder()
    if not os.path.lexists(folder):
        yield from _can_begin(folder)
        return
    found = list(_unwritable(folder))
    yield from found
    if not found:
        yield Finding("record.writable", Status.OK, f"{folder} is yours alone, and can be written")


def _can_begin(folder: Path) -> Iterator[Finding]:
    """Whether the folder that is not there yet can be made."""
    there = next(parent for parent in folder.parents if os.path.lexists(parent))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield Finding("record.writable", Status.OK, f"no {folder} yet: `crabhook serve` makes it")
        return
    what = f"{folder} cannot be made: {there} may not be written"
    yield Finding("record.writable", Status.FAULT, what, _UNRECORDED)


_UNRECORDED = "what is asked and decided is not recorded"


def _unwritable(folder: Path) -> Iterator[Finding]:
    id_ = "record.writable"
    if not folder.is_dir():
        mend = shlex.join(["mv", str(folder), f"{folder}.moved-away"])
        yield Finding(id_, Status.FAULT, f"{folder} is no folder", _UNRECORDED, mend)
        return
    about = folder.stat()
    if about.st_uid != os.geteuid():
        what = f"{folder} is of another user (number {about.st_uid})"
        mend = shlex.join(["sudo", "chown", "-R", str(os.geteuid()), str(folder)])
        yield Finding(id_, Status.FAULT, what, _UNRECORDED, mend)
        return
    for path in (folder / name for name in _FILES if os.path.lexists(folder / name)):
        if not path.is_file():
            mend = shlex.join(["mv", str(path), f"{path}.moved-away"])
            yield Finding(id_, Status.FAULT, f"{path} is no file", _UNRECORDED, mend)
        elif not path.stat().st_mode & stat.S_IWUSR:
            mend = commands.chmod("600", path)
            yield Finding(id_, Status.FAULT, f"{path} may not be written", _UNRECORDED, mend)
    if not os.access(folder, os.W_OK):  # as on a disk that is mounted to be read
        yield Finding(id_, Status.FAULT, f"{folder} may not be written", _UNRECORDED)
    mode = stat.S_IMODE(about.st_mode)
    if mode & 0o700 != 0o700:
        mend = commands.chmod("700", folder)
        yield Finding(id_, Status.FAULT, f"{folder} has the mode {mode:o}", _UNRECORDED, mend)
    elif mode & 0o077:
        means = "other users may see what agents asked, and what you decided"
        mend = commands.chmod("700", folder)
        yield Finding(id_, Status.WARNING, f"{folder} has the mode {mode:o}", means, mend)


def room(_: Machine) -> Iterator[Finding]:
    """Whether there is room for the record on its disk."""
    folder = config.state_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    what = f"{free / 1e6:.0f} MB are free where {folder} is"
    figures = {"free_bytes": free}
    if free >= WANTED:
        yield Finding("record.room", Status.OK, what, figures=figures)
        return
    status = Status.FAULT if free < NEEDED else Status.WARNING
    means = _UNRECORDED if free < NEEDED else "soon nothing can be recorded any more"
    advice = "make room, or keep less of the record: `[record] keep_megabytes` in settings.toml"
    yield Finding("record.room", status, what, means, advice=advice, figures=figures)


def whole(machine: Machine) -> Iterator[Finding]:
    """Whether the record is what was written: its chain, and the head kept apart."""
    folder = config.state_folder()
    if not (folder / "record.db").exists() and not (folder / "record.head").exists():
        yield Finding("record.whole", Status.OK, "no record yet: `crabhook serve` begins one")
        return
    try:
        found, of = _verified(folder, quick=machine.wish.quick)
    except StoreError as error:
        what, means = f"the record cannot be read: {error}", _NOT_PROVEN
        yield Finding("record.whole", Status.FAULT, what, means, _aside(folder), _EVIDENCE)
        return
    figures = {"verified": found.records, "records": of}
    read = "all" if found.records >= of else f"the last {found.records} of"
    if found.sound:
        what = f"{read} {of} records are as they were written" if of else "nothing is recorded yet"
        advice = "" if found.records >= of else "`crabhook audit verify` verifies all of them"
        yield Finding("record.whole", Status.OK, what, advice=advice, figures=figures)
        return
    first = found.faults[0]
    more = len(found.faults) + found.untold - 1
    what = f"record {first.seq}: {first.what}" + (f", and {more} faults more" if more else "")
    yield Finding(
        "record.whole",
        Status.FAULT,
        what,
        _NOT_PROVEN,
        _aside(folder),
        _EVIDENCE,
        figures=figures,
    )


_NOT_PROVEN = "nobody can prove from it any more what was decided"
_EVIDENCE = (
    "`crabhook audit verify` shows every fault; end the server first, and keep what is moved "
    "aside: it is evidence, and cannot be mended.  The next server begins a new record"
)


def _verified(folder: Path, *, quick: bool) -> tuple[Verified, int]:
    """Verify the record, or of a long one its end; return what was found, and how many it has."""
    with open_history(folder) as history:
        kept = history.kept_head()
        ends = [*history.find(Query(last=1))]
        first = next(history.find(), None)
        records = ends[0].seq - first.seq + 1 if ends and first else 0
        last = QUICK_LAST if quick else 0 if records <= WHOLE else LAST
        found = verify(history, [kept] if kept else [], thorough=not last, last=last)
    if kept is None and found.records:
        found.fault(found.head.seq, "the head that was kept apart is gone")
    return found, max(records, found.records)


def _aside(folder: Path) -> str:
    """Return the command that moves the record aside, whole, so that a new one is begun."""
    name = folder / f"record-until-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    make = shlex.join(["mkdir", "-m", "700", str(name)])
    return f"{make} && mv {shlex.quote(str(folder))}/record.* {shlex.quote(str(name))}"
