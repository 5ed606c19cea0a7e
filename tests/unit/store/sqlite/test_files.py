"""A disk that is full, a database that is locked, a folder that may not be written, a broken file."""

import errno
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crabhook.store.change import happened, settled, waits
from crabhook.store.interface import (
    CorruptError,
    ForeignError,
    FullError,
    LockedError,
    ReadOnlyError,
    StoreError,
)
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.sqlite.files import named
from crabhook.store.writer import Writer
from tests.unit.store.making import NOON, answer, decision, entry, records, verified, waiting


@pytest.fixture
def no_room(folder: Path) -> Iterator[Writer]:
    """A store whose files may not grow much; as root in tests, permissions would not hold it."""
    store = open_writer(folder)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        yield store
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
        store.close()


def filled(store: Writer) -> StoreError:
    """Write until nothing fits any more; return what was said then."""
    for number in range(10_000):
        try:
            store.write([happened(entry(body={"text": f"word {number} " * 400}))])
        except StoreError as error:
            return error
    pytest.fail("it never was full")


def test_where_files_may_not_grow_nothing_half_is_written(no_room: Writer, folder: Path) -> None:
    filled(no_room)
    fitted = no_room.head.seq
    assert fitted > 5
    found = verified(folder)
    assert found.sound
    assert found.records == fitted


def test_when_there_is_room_again_the_chain_goes_on(no_room: Writer, folder: Path) -> None:
    filled(no_room)
    fitted = no_room.head.seq
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    no_room.write([happened(decision())])
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert no_room.head.seq == fitted + 1
    assert verified(folder).sound


def test_a_full_database_is_a_full_disk(folder: Path, store: Writer) -> None:
    pages = store.journal._connection.execute("PRAGMA page_count").fetchone()[0]
    store.journal._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    error = filled(store)
    assert isinstance(error, FullError)
    assert "make room" in str(error)
    store.journal._connection.execute("PRAGMA max_page_count = 100000")
    store.write([happened(entry())])
    assert verified(folder).sound


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB in memory."""
    mount = shutil.which("mount")
    place = tmp_path / "small"
    place.mkdir()
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)]
    if (
        not mount
        or os.getuid()
        or subprocess.run(command, check=False, capture_output=True).returncode
    ):
        pytest.skip("only root may mount a small disk; files that may not grow are tried anyway")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.process
def test_a_full_disk_is_said_and_survived(small_disk: Path) -> None:
    store = open_writer(small_disk / "state")
    blocker = small_disk / "blocker"
    blocker.write_bytes(b"x" * 300_000)
    assert isinstance(filled(store), FullError)
    fitted = store.head.seq
    assert verified(small_disk / "state", thorough=False).records == fitted
    blocker.unlink()
    store.write([happened(decision())])
    store.close()
    assert verified(small_disk / "state").sound
    assert len(records(small_disk / "state")) == fitted + 1


@pytest.mark.process
def test_a_server_that_begins_on_a_full_disk_still_finds_what_waits(small_disk: Path) -> None:
    folder, killed = small_disk / "state", small_disk / "killed"
    store = open_writer(folder)
    store.write([waits(waiting(), entry(RecordKind.ASKED, card=1))])
    shutil.copytree(folder, killed)  # as a kill leaves it
    store.close()
    shutil.rmtree(folder)
    with (small_disk / "blocker").open("wb", buffering=0) as blocker, suppress(OSError):
        while True:
            blocker.write(b"x" * 4096)
    again = open_writer(killed)
    assert again.journal.recover(NOON).waiting == (waiting(),)
    with pytest.raises(FullError):
        again.write([settled([answer()], decision(body={"text": "word " * 9000}))])
    (small_disk / "blocker").unlink()
    again.write([settled([answer()], decision())])
    again.close()
    assert verified(killed).sound


def test_a_locked_database_is_said_soon_and_works_again(folder: Path, store: Writer) -> None:
    other = sqlite3.connect(folder / "record.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LockedError, match="another program"):
        store.write([waits(waiting())])
    other.execute("ROLLBACK")
    other.close()
    store.write([waits(waiting(), entry())])
    assert verified(folder).records == 1


def test_a_folder_nobody_may_make_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="file"):
        open_writer(tmp_path / "file" / "state")


def test_what_is_no_database_is_said_and_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "record.db").write_bytes(b"these are notes, no database\n" * 200)
    with pytest.raises(CorruptError, match="no database"):
        open_writer(folder)
    assert (folder / "record.db").read_bytes().startswith(b"these are notes")


def test_a_database_of_somebody_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    with sqlite3.connect(folder / "record.db") as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(ForeignError):
        open_writer(folder)


def test_a_key_that_was_cut_is_said(folder: Path) -> None:
    open_writer(folder).close()
    (folder / "record.key").write_bytes(b"short")
    with pytest.raises(CorruptError, match=r"record\.key"):
        open_writer(folder)


def test_a_failed_start_holds_no_lock(folder: Path) -> None:
    folder.mkdir()
    (folder / "record.db").write_bytes(b"these are notes, no database\n" * 200)
    with pytest.raises(CorruptError):
        open_writer(folder)
    (folder / "record.db").unlink()
    open_writer(folder).close()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, FullError),
        (errno.EDQUOT, FullError),
        (errno.EFBIG, FullError),
        (errno.EACCES, ReadOnlyError),
        (errno.EROFS, ReadOnlyError),
        (errno.EIO, StoreError),
    ],
)
def test_faults_of_the_file_system_have_names(number: int, kind: type[StoreError]) -> None:
    assert type(named(OSError(number, "x"), Path("p"))) is kind


@pytest.mark.process
def test_a_folder_that_may_only_be_read_is_said(folder: Path) -> None:
    open_writer(folder).close()
    program = (
        "import os, sys; from pathlib import Path\n"
        "from crabhook.store.opening import open_writer\n"
        "from crabhook.store.interface import ReadOnlyError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: open_writer(Path(sys.argv[1]))\n"
        "except ReadOnlyError: print('said')\n"
    )
    if os.getuid():
        folder.chmod(0o500)
        program = program.replace("os.setgid(65534); os.setuid(65534)", "pass")
    said = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False
    )
    folder.chmod(0o700)
    assert said.stdout == "said\n", said.stderr
