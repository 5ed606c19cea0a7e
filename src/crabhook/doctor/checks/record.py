"""Whether the record can be written, and is what was written."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.facts import Machine
from crabhook.doctor.finding import FAULT, OK, WARNING, Finding
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
    if os.path.lexists(folder):
        fine = Finding("record.writable", OK, f"{folder} is yours alone, and can be written")
        yield from list(_unwritable(folder)) or [fine]
        return
    there = next(parent for parent in folder.parents if os.path.lexists(parent))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield Finding("record.writable", OK, f"no {folder} yet: `crabhook serve` makes it")
    else:
        yield _unrecorded(f"{folder} cannot be made: {there} may not be written")


_UNRECORDED = "what is asked and decided is not recorded"


def _unrecorded(what: str, mend: str = "") -> Finding:
    return Finding("record.writable", FAULT, what, _UNRECORDED, mend)


def _unwritable(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield _unrecorded(f"{folder} is no folder", commands.move_away(folder))
        return
    about = folder.stat()
    if about.st_uid != os.geteuid():
        mend = shlex.join(["sudo", "chown", "-R", str(os.geteuid()), str(folder)])
        yield _unrecorded(f"{folder} is of another user (number {about.st_uid})", mend)
        return
    for path in (folder / name for name in _FILES if os.path.lexists(folder / name)):
        if not path.is_file():
            yield _unrecorded(f"{path} is no file", commands.move_away(path))
        elif not path.stat().st_mode & stat.S_IWUSR:
            yield _unrecorded(f"{path} may not be written", commands.chmod("600", path))
    if not os.access(folder, os.W_OK):  # as on a disk that is mounted to be read
        yield _unrecorded(f"{folder} may not be written")
    mode = stat.S_IMODE(about.st_mode)
    what, mend = f"{folder} has the mode {mode:o}", commands.chmod("700", folder)
    if mode & 0o700 != 0o700:
        yield _unrecorded(what, mend)
    elif mode & 0o077:
        means = "other users may see what agents asked, and what you decided"
        yield Finding("record.writable", WARNING, what, means, mend)


def room(_: Machine) -> Iterator[Finding]:
    """Whether there is room for the record on its disk."""
    folder = config.state_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    what = f"{free / 1e6:.0f} MB are free where {folder} is"
    figures = {"free_bytes": free}
    advice = "make room, or keep less of the record: `[record] keep_megabytes` in settings.toml"
    if free >= WANTED:
        yield Finding("record.room", OK, what, figures=figures)
    elif free >= NEEDED:
        means = "soon nothing can be recorded any more"
        yield Finding("record.room", WARNING, what, means, advice=advice, figures=figures)
    else:
        yield Finding("record.room", FAULT, what, _UNRECORDED, advice=advice, figures=figures)


def whole(machine: Machine) -> Iterator[Finding]:
    """Whether the record is what was written: its chain, and the head kept apart."""
    folder = config.state_folder()
    if not (folder / "record.db").exists() and not (folder / "record.head").exists():
        yield Finding("record.whole", OK, "no record yet: `crabhook serve` begins one")
        return
    try:
        found, of = _verified(folder, quick=machine.wish.quick)
    except StoreError as error:
        yield _unproven(folder, f"the record cannot be read: {error}", {})
        return
    figures = {"verified": found.records, "records": of}
    if found.sound:
        read = "all" if found.records >= of else f"the last {found.records} of"
        what = f"{read} {of} records are as they were written" if of else "nothing is recorded yet"
        advice = "" if found.records >= of else "`crabhook audit verify` verifies all of them"
        yield Finding("record.whole", OK, what, advice=advice, figures=figures)
        return
    first, more = found.faults[0], len(found.faults) + found.untold - 1
    rest = f", and {more} faults more" if more else ""
    yield _unproven(folder, f"record {first.seq}: {first.what}{rest}", figures)


def _unproven(folder: Path, what: str, figures: Mapping[str, int]) -> Finding:
    means = "nobody can prove from it any more what was decided"
    advice = (
        "`crabhook audit verify` shows every fault; end the server first, and keep what is moved "
        "aside: it is evidence, and cannot be mended.  The next server begins a new record"
    )
    return Finding("record.whole", FAULT, what, means, _aside(folder), advice, figures=figures)


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
