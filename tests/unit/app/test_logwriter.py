"""Whoever logs never waits for whoever reads the log; what is lost is counted and said."""

import logging
import os
import threading
from collections.abc import Iterator

import pytest

from crabhook.app import logs
from crabhook.app.logs import LogWriter

PIPE = 1 << 16  # bytes that a pipe takes


class Pipe:
    """A pipe whose reading end is read by the test, or by nobody."""

    def __init__(self) -> None:
        self.source, self.target = os.pipe()
        self._open = {self.source, self.target}

    def read(self) -> list[str]:
        """Read what was written, once nobody writes any more."""
        self.end(self.target)
        text = b""
        while data := os.read(self.source, PIPE):
            text += data
        return text.decode().splitlines()

    def end(self, end: int) -> None:
        """Close an end, once: its number may be another file's by the second time."""
        if end in self._open:
            self._open.remove(end)
            os.close(end)

    def close(self) -> None:
        for end in (self.source, self.target):
            self.end(end)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def say(writer: LogWriter, words: object, *arguments: object) -> None:
    writer.handle(logging.LogRecord("x", logging.INFO, "f", 1, str(words), arguments, None))


def test_lines_are_written_in_order_and_none_is_missing(pipe: Pipe) -> None:
    writer = LogWriter(pipe.target)
    for n in range(500):
        say(writer, n)
    writer.close()
    assert pipe.read() == [str(n) for n in range(500)]


def test_a_reader_who_stopped_holds_nobody_up_and_hears_what_was_lost(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "BACKLOG", 10)
    monkeypatch.setattr(logs, "LAST_LINES", 10.0)
    writer = LogWriter(pipe.target)
    line = "x" * (PIPE // 4)
    for _ in range(40):
        say(writer, line)
    heard: list[str] = []
    reading = threading.Thread(target=lambda: heard.extend(_rest(pipe)))
    reading.start()
    while not any(line in one for one in heard) and reading.is_alive() and writer._lines.qsize():
        pass
    say(writer, "the end")
    writer.close()
    pipe.end(pipe.target)
    reading.join(60)
    assert heard[-1] == "the end"
    lost = [one for one in heard if "were lost here" in one]
    assert len(lost) == 1
    assert int(lost[0].split()[0]) + heard.count(line) == 40


def _rest(pipe: Pipe) -> list[str]:
    text = b""
    while data := os.read(pipe.source, PIPE):
        text += data
    return text.decode().splitlines()


def test_the_end_is_not_held_up_by_who_does_not_read(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "LAST_LINES", 0.05)
    writer = LogWriter(pipe.target)
    for _ in range(8):
        say(writer, "x" * PIPE)
    writer.close()
    thread = writer._thread
    assert thread.is_alive()
    pipe.end(pipe.source)  # which frees it
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("target", [None, "closed", "nobody reads"])
def test_a_log_that_can_go_nowhere_is_no_fault(target: str | None, pipe: Pipe) -> None:
    where = None
    if target:
        where = pipe.target
        pipe.end(pipe.source)
    writer = LogWriter(where)
    for _ in range(3):
        say(writer, "a word")
    writer.close()


def test_a_line_that_cannot_be_made_is_no_fault_of_who_logs(pipe: Pipe) -> None:
    writer = LogWriter(pipe.target)
    say(writer, "%d", "no number")
    say(writer, "a word")
    writer.close()
    assert pipe.read() == ["1 lines of the log were lost here", "a word"]


def test_a_descriptor_that_does_not_block_is_waited_for(pipe: Pipe) -> None:
    os.set_blocking(pipe.target, False)
    writer = LogWriter(pipe.target)
    for _ in range(8):
        say(writer, "x" * PIPE)
    heard: list[str] = []
    reading = threading.Thread(target=lambda: heard.extend(_rest(pipe)))
    reading.start()
    writer._lines.put(None)
    writer._thread.join(60)
    pipe.end(pipe.target)
    reading.join(60)
    writer.close()
    assert [len(one) for one in heard] == [PIPE] * 8
