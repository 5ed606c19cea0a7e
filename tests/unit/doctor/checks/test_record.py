"""Whether the record can be written, has room, and is what was written."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.doctor.checks import record
from crabhook.doctor.checks.record import room, whole, writable
from crabhook.doctor.finding import Finding, Status
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from tests.support.smalldisk import SmallDisk
from tests.unit.doctor.home import BIN, Home, is_well
from tests.unit.store.making import entry
from tests.unit.store.test_verify_end import edit


def begin(home: Home, many: int = 12) -> Path:
    store = open_writer(home.state)
    store.write([happened(entry(body={"n": n})) for n in range(many)])
    store.close()
    return home.state


def test_before_there_is_a_record_all_is_well(home: Home) -> None:
    for check in (writable, room, whole):
        assert is_well(home.look_around(check))
    assert not home.state.exists()


def test_a_record_that_is_whole_is_well_beside_its_writer(home: Home) -> None:
    begin(home)
    store = open_writer(home.state)
    try:
        assert is_well(home.look_around(writable))
        finding = home.look_around(whole)
    finally:
        store.close()
    assert is_well(finding)
    assert finding.what == "all 12 records are as they were written"


@pytest.mark.process
@pytest.mark.parametrize(
    ("spoil", "status"),
    [
        (lambda folder: folder.chmod(0o755), Status.WARNING),
        (lambda folder: folder.chmod(0o500), Status.FAULT),
        (lambda folder: (folder / "record.db").chmod(0o400), Status.FAULT),
        (lambda folder: _instead(folder / "record.lock", is_folder=True), Status.FAULT),
        (lambda folder: _instead(folder, is_folder=False), Status.FAULT),
    ],
    ids=["readable by others", "read-only", "database", "lock", "no folder"],
)
def test_a_record_that_cannot_be_written_is_mended(
    home: Home, spoil: Callable[[Path], object], status: Status
) -> None:
    folder = begin(home)
    spoil(folder)
    finding = _worst(home)
    assert finding.status is status
    home.mend(finding)
    assert is_well(home.look_around(writable))


def _worst(home: Home) -> Finding:
    """The finding that can be mended; a user who is not root finds more wrong with some."""
    return [one for one in writable(home.machine()) if one.mend][-1]


def _instead(path: Path, *, is_folder: bool) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.mkdir() if is_folder else path.write_text("mine")


@pytest.mark.process
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: edit(folder, "UPDATE record SET tool = 'x' WHERE seq = 7"), "record 7:"),
        (lambda folder: edit(folder, "DELETE FROM record WHERE seq > 9"), "cut off"),
        (lambda folder: (folder / "record.head").unlink(), "kept apart is gone"),
        (lambda folder: (folder / "record.head").write_text("{}"), "cannot be read as a head"),
        (lambda folder: (folder / "record.db").unlink(), "there is no record"),
        (lambda folder: (folder / "record.db").write_bytes(b"x" * 9000), "cannot be read"),
    ],
    ids=["edited", "cut off", "no head", "broken head", "no database", "no database's"],
)
def test_a_record_that_is_not_what_was_written_is_put_aside_whole(
    home: Home, spoil: Callable[[Path], object], told: str, quick: bool
) -> None:
    folder = begin(home)
    spoil(folder)
    there = {path.name for path in folder.glob("record.*")}
    finding = home.look_around(whole, quick=quick)
    assert (finding.status, told in finding.what) == (Status.FAULT, True)
    assert "evidence" in finding.advice
    home.mend(finding)
    assert is_well(home.look_around(whole, quick=quick))
    (aside,) = folder.glob("record-until-*")
    assert {path.name for path in aside.iterdir()} >= there
    begin(home)
    assert is_well(home.look_around(whole, quick=quick))


def test_of_a_long_record_its_end_is_verified_and_that_is_said(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home)
    monkeypatch.setattr(record, "WHOLE", 10)
    monkeypatch.setattr(record, "LAST", 5)
    finding = home.look_around(whole)
    assert finding.what == "the last 5 of 12 records are as they were written"
    assert (finding.figures, "log verify" in finding.advice) == (
        {"verified": 5, "records": 12},
        True,
    )
    monkeypatch.setattr(record, "QUICK_LAST", 2)
    assert home.look_around(whole, quick=True).figures["verified"] == 2


LOOK = """
import sys
from pathlib import Path
from crabhook.doctor.checks.record import room
from crabhook.doctor.facts import DoctorTask
from crabhook.doctor.facts import ThisMachine
for one in room(ThisMachine(DoctorTask(Path("/")), ())):
    print(one.status, one.means)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("kilobytes", "told"),
    [(2_000, "fault what is asked"), (50_000, "warning soon nothing"), (400_000, "ok ")],
)
def test_a_disk_with_little_room_is_told(home: Home, kilobytes: int, told: str) -> None:
    with SmallDisk(kilobytes) as disk:
        done = subprocess.run(
            [*disk.inside, sys.executable, "-c", LOOK],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, "XDG_STATE_HOME": str(disk.place)},
        )
    assert done.stdout.startswith(told)
    assert BIN.exists()
