"""Whether the record can be written, and is what was written."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from crabhook import config
from crabhook.doctor.facts import ThisMachine
from crabhook.doctor.finding import Finding, chmod_command, make_finding, move_away_command
from crabhook.store.interface import Query, StoreError
from crabhook.store.opening import Place, is_shared, open_history
from crabhook.store.verify import Verified, verify_here

NEEDED, WANTED = 10_000_000, 200_000_000  # bytes that are free: to go on at all, and for a while
WHOLE = 250_000  # records: to verify so many takes a few seconds
_FILES = tuple(f"record.{end}" for end in ("db", "db-wal", "db-shm", "head", "key", "lock"))
LAST, QUICK_LAST = 50_000, 1_000  # records that are verified of a longer record, or quickly


def writable(_: ThisMachine) -> Iterator[Finding]:
    """Whether the server can write its record, and nobody else can read it."""
    folder = config.state_folder()
    if is_shared(place := record_place()):
        try:
            with open_history(place):  # it answers, in a version that we know
                yield make_finding("record.writable", "shared")
        except StoreError as error:
            yield _unrecorded(str(error))
        return
    if os.path.lexists(folder):
        yield from list(_unwritable(folder)) or [
            make_finding("record.writable", "fine", folder=folder)
        ]
        return
    there = next(parent for parent in folder.parents if os.path.lexists(parent))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield make_finding("record.writable", "absent", folder=folder)
    else:
        yield _unrecorded(f"{folder} cannot be made: {there} may not be written")


def record_place() -> Place:
    """Return where the record is; wrong settings are another finding's."""
    try:
        return config.record_place()
    except config.SettingsError:
        return config.state_folder()


def _unrecorded(what: str, mend: str = "") -> Finding:
    return make_finding("record.writable", "unwritable", mend, what=what)


def _unwritable(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield _unrecorded(f"{folder} is no folder", move_away_command(folder))
        return
    about = folder.stat()
    if about.st_uid != os.geteuid():
        mend = shlex.join(["sudo", "chown", "-R", str(os.geteuid()), str(folder)])
        yield _unrecorded(f"{folder} is of another user (number {about.st_uid})", mend)
        return
    for path in (folder / name for name in _FILES if os.path.lexists(folder / name)):
        if not path.is_file():
            yield _unrecorded(f"{path} is no file", move_away_command(path))
        elif not path.stat().st_mode & stat.S_IWUSR:
            yield _unrecorded(f"{path} may not be written", chmod_command("600", path))
    if not os.access(folder, os.W_OK):  # as on a disk that is mounted to be read
        yield _unrecorded(f"{folder} may not be written")
    mode = stat.S_IMODE(about.st_mode)
    what, mend = f"{folder} has the mode {mode:o}", chmod_command("700", folder)
    if mode & 0o700 != 0o700:
        yield _unrecorded(what, mend)
    elif mode & 0o077:
        yield make_finding("record.writable", "open", mend, what=what)


def room(_: ThisMachine) -> Iterator[Finding]:
    """Whether there is room for the record on its disk."""
    if is_shared(record_place()):
        return
    folder = config.state_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    room = "fine" if free >= WANTED else "little" if free >= NEEDED else "none"
    figures = {"free_bytes": free}
    yield make_finding("record.room", room, "", figures, free=free / 1e6, folder=folder)


def whole(machine: ThisMachine) -> Iterator[Finding]:
    """Whether the record is what was written: its chain, and the head kept apart."""
    folder, place = config.state_folder(), record_place()
    here = not is_shared(place)
    if here and not (folder / "record.db").exists() and not (folder / "record.head").exists():
        yield make_finding("record.whole", "absent")
        return
    try:
        verified, of = _verified(place, folder, quick=machine.wish.quick)
    except StoreError as error:
        if not here:
            return  # whether it can be written says so
        yield _unproven(folder, f"the record cannot be read: {error}", {})
        return
    figures = {"verified": verified.records, "records": of}
    if verified.sound:
        much = "empty" if not of else "fine" if verified.records >= of else "end"
        yield make_finding("record.whole", much, "", figures, read=verified.records, of=of)
        return
    first, more = verified.faults[0], len(verified.faults) + verified.untold - 1
    rest = f", and {more} faults more" if more else ""
    what = f"record {first.seq}: {first.what}{rest}"
    yield _unproven(folder if here else None, what, figures)


def _unproven(folder: Path | None, what: str, figures: Mapping[str, int]) -> Finding:
    if folder is None:
        return make_finding("record.whole", "shared_unproven", "", figures, what=what)
    aside = folder / f"record-until-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    make = shlex.join(["mkdir", "-m", "700", str(aside)])
    mend = f"{make} && mv {shlex.quote(str(folder))}/record.* {shlex.quote(str(aside))}"
    return make_finding("record.whole", "unproven", mend, figures, what=what)


def _verified(place: Place, folder: Path, *, quick: bool) -> tuple[Verified, int]:
    """Verify the record, of a long record only the end; return the result and the record's size."""
    with open_history(place, folder) as history:
        ends = [*history.find(Query(last=1))]
        first = next(history.find(), None)
        records = ends[0].seq - first.seq + 1 if ends and first else 0
        last = QUICK_LAST if quick else 0 if records <= WHOLE else LAST
        verified = verify_here(history, thorough=not last, last=last)
    return verified, max(records, verified.records)
