"""The head kept apart, and sent elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crabhook.store.change import happened
from crabhook.store.interface import CorruptError, StoreError
from crabhook.store.opening import open_writer
from crabhook.store.record import Head
from crabhook.store.recorder import Recorder
from crabhook.store.sqlite.files import HeadFile
from crabhook.store.writer import Courier, head_line, read_head, through
from tests.unit.store.making import entry

HEAD = Head(5, bytes(range(32)))


def later(seq: int) -> Head:
    return Head(seq, HEAD.hash)


def test_a_head_is_read_as_it_was_kept(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "record.head")
    assert file.read() is None
    file.keep(HEAD)
    file.keep(later(6))
    assert file.read() == later(6)
    assert [path.name for path in tmp_path.iterdir()] == ["record.head"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "{}",
        '{"seq": 5}',
        '{"seq": -1, "hash": "%s"}' % ("00" * 32),
        '{"seq": 1, "hash": 2}',
        '{"seq": 1, "hash": "00"}',
        '{"seq": 1, "hash": "%s"}' % ("zz" * 32),
        '{"seq": 9223372036854775808, "hash": "%s"}' % ("00" * 32),
    ],
)
def test_what_is_no_head_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.head"
    path.write_text(text)
    with pytest.raises(CorruptError, match=r"record\.head"):
        HeadFile(path).read()


def test_a_head_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        HeadFile(tmp_path / "no folder" / "record.head").keep(HEAD)


def test_the_line_that_is_sent_is_the_line_that_is_read() -> None:
    assert read_head(head_line(HEAD)) == HEAD
    assert json.loads(head_line(HEAD)) == {"seq": 5, "hash": HEAD.hash.hex()}


def test_a_courier_goes_after_so_many_records_or_so_much_time() -> None:
    sent: list[str] = []
    courier = Courier(sent.append, every_records=10, every_seconds=60)
    for seq, now in [(5, 0), (6, 1), (14, 2), (15, 3), (16, 62), (17, 64), (17, 999), (18, 999)]:
        courier.take(later(seq), now)
    assert [json.loads(line)["seq"] for line in sent] == [5, 15, 17, 18]


def test_a_courier_that_fails_says_so_and_goes_again() -> None:
    sent: list[str] = []

    def fail_once(line: str) -> None:
        sent.append(line)
        if len(sent) == 1:
            raise OSError("the other side is away")

    courier = Courier(fail_once)
    courier.take(later(5), 0.0)
    assert "the other side is away" in courier.trouble
    courier.take(later(5), 1.0)
    assert courier.trouble == ""
    assert len(sent) == 2


def test_the_head_goes_elsewhere_at_the_servers_end_too(tmp_path: Path) -> None:
    sent: list[str] = []
    recorder = Recorder(lambda: open_writer(tmp_path), courier=Courier(sent.append))
    recorder.write(happened(entry()))
    recorder.time_passed(1.0)
    recorder.anchor()
    recorder.write(happened(entry()), happened(entry()))
    recorder.close()
    assert [json.loads(line)["seq"] for line in sent] == [1, 3]
    recorder.close()
    assert len(sent) == 2


def test_a_head_that_is_elsewhere_already_is_not_sent_at_the_end() -> None:
    sent: list[str] = []
    courier = Courier(sent.append)
    courier.take(HEAD, 0.0)
    courier.finish(HEAD)
    assert len(sent) == 1


def test_what_a_killed_server_left_of_a_head_is_removed(tmp_path: Path) -> None:
    """It was killed between writing the new head and renaming it."""
    open_writer(tmp_path).close()
    left = [tmp_path / f"record.{name}.0123abcd.new" for name in ("head", "key")]
    others = [tmp_path / "record.head.mine.new", tmp_path / "token.0123abcd.new"]
    for path in (*left, *others):
        path.write_text("{")
    open_writer(tmp_path).close()
    assert [path.exists() for path in (*left, *others)] == [False, False, True, True]


@pytest.mark.process
def test_a_command_is_given_the_head_on_its_standard_input(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    program = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    through([sys.executable, "-c", program, str(place)])(head_line(HEAD))
    assert read_head(place.read_text()) == HEAD


@pytest.mark.process
@pytest.mark.parametrize(
    "command", [["no-such-program-anywhere"], [sys.executable, "-c", "exit(3)"]]
)
def test_a_command_that_fails_is_the_couriers_trouble(command: list[str]) -> None:
    courier = Courier(through(command))
    courier.take(HEAD, 0.0)
    assert "could not be sent" in courier.trouble


KEEPING = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from crabhook.store.record import Head
from crabhook.store.sqlite.files import HeadFile

def keep(number):
    file = HeadFile(Path(sys.argv[1]))
    file.keep(Head(number, bytes([number % 256]) * 32))
    assert file.read() is not None

with ThreadPoolExecutor(2) as threads:
    list(threads.map(keep, range(1, 301)))
"""


@pytest.mark.process
def test_servers_and_threads_that_keep_the_same_head_do_not_break_each_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "record.head"
    keeping = [subprocess.Popen([sys.executable, "-c", KEEPING, str(path)]) for _ in range(2)]
    assert [one.wait(60) for one in keeping] == [0, 0]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
