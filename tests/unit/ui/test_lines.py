import asyncio
import fcntl
import os
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.ui.commands.parse import parse
from crabhook.ui.commands.words import MAX_LINE, LineError
from crabhook.ui.terminal import LineWriter, fold, read_lines
from tests.support.rows import every_row


class Descriptors:
    """The descriptors a test opened, each closed once."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        return self._keep(os.pipe())

    def terminal(self, columns: int = 0) -> tuple[int, int]:
        ours, theirs = self._keep(os.openpty())
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        return ours, theirs

    def open(self, path: Path | str) -> int:
        self._open.add(descriptor := os.open(path, os.O_RDONLY))
        return descriptor

    def close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def close_all(self) -> None:
        for descriptor in tuple(self._open):
            self.close(descriptor)

    def _keep(self, pair: tuple[int, int]) -> tuple[int, int]:
        self._open.update(pair)
        return pair


@pytest.fixture
def fds() -> Iterator[Descriptors]:
    opened = Descriptors()
    yield opened
    opened.close_all()


async def all_lines(source: int | None) -> list[str]:
    async with asyncio.timeout(60):
        return [line async for line in read_lines(source)]


@pytest.mark.parametrize(
    ("sent", "lines"),
    [
        (b"", []),
        (b"allow\n", ["allow"]),
        (b"allow\r\nlist\r\n", ["allow", "list"]),
        (b"one\n\ntwo", ["one", "", "two"]),
        (b"deny \xff\xc3 no\n", ["deny \ufffd\ufffd no"]),
        ("deny nicht schön\n".encode(), ["deny nicht schön"]),
    ],
)
async def test_lines_come_from_a_pipe_and_from_a_file_alike(
    fds: Descriptors, tmp_path: Path, sent: bytes, lines: list[str]
) -> None:
    reading, writing = fds.pipe()
    os.write(writing, sent)
    fds.close(writing)
    assert await all_lines(reading) == lines
    (tmp_path / "lines").write_bytes(sent)
    assert await all_lines(fds.open(tmp_path / "lines")) == lines


async def test_nothing_a_closed_and_an_absent_input_have_no_lines(fds: Descriptors) -> None:
    reading, _ = fds.pipe()
    fds.close(reading)
    assert await all_lines(reading) == []
    assert await all_lines(fds.open("/dev/null")) == []
    assert await all_lines(None) == []


async def test_a_line_comes_as_soon_as_it_is_whole(fds: Descriptors) -> None:
    reading, writing = fds.pipe()
    lines = read_lines(reading)
    os.write(writing, b"all")
    first = asyncio.ensure_future(anext(lines))
    await asyncio.sleep(0.01)
    assert not first.done()
    os.write(writing, b"ow\nli")
    assert await asyncio.wait_for(first, 60) == "allow"


async def test_lines_come_from_a_terminal_until_it_hangs_up(fds: Descriptors) -> None:
    ours, theirs = fds.terminal()
    lines = read_lines(theirs)
    os.write(ours, b"allow\n")
    assert await asyncio.wait_for(anext(lines), 60) == "allow"
    fds.close(ours)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(anext(lines), 60)


async def test_a_terminals_line_that_was_not_sent_is_no_line(fds: Descriptors) -> None:
    ours, theirs = fds.terminal()
    os.write(ours, b"allow\x04\x04")
    assert await all_lines(theirs) == []


async def test_of_an_overlong_line_no_more_is_kept_than_shows_that_it_is(
    fds: Descriptors, tmp_path: Path
) -> None:
    long = tmp_path / "long"
    long.write_bytes(b"deny " + b"x" * (3 * MAX_LINE) + b"\nlist\ndeny " + b"\xc3\xa9" * MAX_LINE)
    first, second, third = await all_lines(fds.open(long))
    assert second == "list"
    for line in (first, third):
        assert len(line) <= MAX_LINE + 1
        with pytest.raises(LineError, match="longer than"):
            parse(line)


async def test_reading_starts_no_thread_and_can_be_given_up(fds: Descriptors) -> None:
    threads = threading.active_count()
    reading, _ = fds.pipe()
    waiting = asyncio.ensure_future(all_lines(reading))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert threading.active_count() == threads
    assert not asyncio.get_running_loop().remove_reader(reading)


@pytest.mark.process
def test_a_read_that_never_ends_does_not_keep_the_process(fds: Descriptors) -> None:
    program = """
import asyncio
from crabhook.ui.terminal import standard_lines, standard_writer

async def main():
    reading = asyncio.ensure_future(anext(standard_lines()))
    await asyncio.sleep(0.01)
    await standard_writer()("leaving")

asyncio.run(main())
"""
    reading, _ = fds.pipe()
    ended = subprocess.run(
        [sys.executable, "-c", program], stdin=reading, capture_output=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == (b"leaving\n", b"", 0)


async def test_text_is_written_at_once_with_a_lines_end(fds: Descriptors) -> None:
    reading, writing = fds.pipe()
    await LineWriter(writing)("#7 ALLOWED\n· näch")
    assert os.read(reading, 100) == "#7 ALLOWED\n· näch\n".encode()
    await LineWriter(writing, "ascii")("· näch")
    assert os.read(reading, 100) == b"\\xb7 n\\xe4ch\n"


async def test_text_is_written_to_a_file(fds: Descriptors, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        await LineWriter(out.fileno())("x" * 10_000)
    assert (tmp_path / "out").read_bytes() == b"x" * 10_000 + b"\n"


async def test_a_reader_who_stops_holds_up_nobody_else(fds: Descriptors) -> None:
    reading, writing = fds.pipe()
    stuck = asyncio.ensure_future(LineWriter(writing)("x" * 500_000))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not stuck.done()
    received = 0
    while received < 500_001:
        received += len(os.read(reading, 1 << 16))
        await asyncio.sleep(0.001)
    await asyncio.wait_for(stuck, 60)


async def test_a_reader_who_has_gone_is_an_error_and_so_is_no_output(fds: Descriptors) -> None:
    reading, writing = fds.pipe()
    fds.close(reading)
    with pytest.raises(OSError, match="Broken pipe"):
        await LineWriter(writing)("x")
    with pytest.raises(OSError, match="closed"):
        await LineWriter(None)("x")


async def test_on_a_terminal_no_part_of_a_line_starts_where_ours_do(fds: Descriptors) -> None:
    ours, theirs = fds.terminal(columns=40)
    await LineWriter(theirs)("    " + "x" * 36 + "#8 ALLOWED\n#7 ALLOWED")
    shown = os.read(ours, 1000).decode().split("\r\n")
    assert shown == ["    " + "x" * 36, "    > #8 ALLOWED", "#7 ALLOWED", ""]


async def test_off_a_terminal_no_line_is_folded(fds: Descriptors) -> None:
    reading, writing = fds.pipe()
    await LineWriter(writing)("x" * 300)
    assert os.read(reading, 1000) == b"x" * 300 + b"\n"


def test_wide_letters_count_twice_when_a_line_is_folded() -> None:
    assert list(fold("日本語日本語", 8)) == ["日本語日", "    > 本", "    > 語"]
    assert list(fold("abc", 8)) == ["abc"]
    assert list(fold("", 8)) == [""]


@every_row("columns", range(20, 50))
def test_lines_for_a_person_are_folded_between_words_and_lose_no_letter(columns: int) -> None:
    line = "the quick brown fox jumps over the lazy dog " + "x" * 90 + " 日本語 again"
    first, *rest = fold(line, columns, words=True)
    assert first.strip().split() == line.split()[: len(first.split())]
    assert all(part.startswith("    > ") for part in rest)
    assert (first + "".join(part[6:] for part in rest)) == line
