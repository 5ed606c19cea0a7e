"""Tests side by side: collected once, then run by copies of the process that collected them.

Each worker of pytest-xdist imports and collects everything for itself. `--copies N` collects once
and forks. A copy asks for the next file before it runs the last test of its own, and sends reports.
Files that start processes come first: they are the long ones, and one of them that came last would
keep a single copy at work. Among themselves they stay in the order of the shuffle.
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
import warnings
from collections import deque
from dataclasses import dataclass
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    Files = Sequence[Sequence[pytest.Item]]
    Line = Connection[Any, Any]
    Place = tuple[int, int]
    """The number of a file, and of a test in it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "run the tests in so many copies of the process that collected them"
    parser.addoption("--copies", type=int, default=0, metavar="N", help=about)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in copies; without `--copies` pytest does it."""
    number: int = session.config.getoption("--copies")
    if not number or session.config.option.collectonly or session.testsfailed:
        return None
    files = [[*items] for _, items in groupby(session.items, lambda item: item.path)]
    files.sort(key=lambda items: not _starts_processes(items))
    _Copies(session, files).run(min(number, len(files)))
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _starts_processes(items: Sequence[pytest.Item]) -> bool:
    return any(item.get_closest_marker(name) for item in items for name in ("process", "e2e"))


@dataclass
class _Copy:
    """A process that runs tests, the test that it runs now, and the file that it runs next."""

    process: int
    line: Line
    at: Place | None = None
    ahead: Place | None = None


class _Copies:
    """The first process's part: it gives out the files and passes on what came of their tests."""

    def __init__(self, session: pytest.Session, files: Files) -> None:
        self._session, self._hook, self._files = session, session.config.hook, files
        self._left: deque[Place] = deque((number, 0) for number in range(len(files)))
        self._copies: list[_Copy] = []
        self._made = 0
        # Made before the first copy is: the folders of all are below the same one.
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        if terminal := session.config.pluginmanager.getplugin("terminalreporter"):
            terminal.showfspath = False  # or each dot of another file would begin a line

    def run(self, number: int) -> None:
        """Start so many copies, and pass on what they send until the last of them has ended."""
        try:
            for _ in range(number):
                self._start()
            while self._copies:
                ready = wait([copy.line for copy in self._copies])
                for copy in [copy for copy in self._copies if copy.line in ready]:
                    self._hear(copy)
        finally:
            # Not empty after an interrupt, which each copy had as well: it came to the whole group.
            for copy in self._copies:
                copy.line.close()
                os.waitpid(copy.process, 0)

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._made += 1
        sys.stdout.flush()
        sys.stderr.flush()
        if not (process := os.fork()):
            ours.close()
            for copy in self._copies:
                copy.line.close()
            _end_as_copy(self._session, self._files, theirs, f"copy{self._made}")
        theirs.close()
        self._copies.append(_Copy(process, ours))

    def _hear(self, copy: _Copy) -> None:
        """Act on one message of a copy, or on its end."""
        try:
            kind, message = copy.line.recv()
        except (EOFError, ConnectionResetError):
            self._bury(copy)
            return
        if kind == "next":
            stopped = self._session.shouldfail or self._session.shouldstop
            copy.ahead = self._left.popleft() if self._left and not stopped else None
            copy.line.send(copy.ahead)
        elif kind == "begins":
            copy.at = message
            copy.ahead = None if message == copy.ahead else copy.ahead
            item = self._item(message)
            self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        elif kind == "report":
            config = self._session.config
            report = self._hook.pytest_report_from_serializable(config=config, data=message)
            self._hook.pytest_runtest_logreport(report=report)
        elif kind == "ends":
            self._finish(copy)
        elif kind == "warning":
            words, *place = message
            told = warnings.WarningMessage(UserWarning(words), UserWarning, *place[0])
            more = {"when": "runtest", "nodeid": place[1], "location": None}
            self._hook.pytest_warning_recorded.call_historic(
                kwargs={"warning_message": told, **more}
            )
        else:
            raise RuntimeError(f"a copy could not go on:\n{message}")

    def _item(self, place: Place) -> pytest.Item:
        file, number = place
        return self._files[file][number]

    def _finish(self, copy: _Copy) -> None:
        assert copy.at is not None
        item, copy.at = self._item(copy.at), None
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, copy: _Copy) -> None:
        """A copy has ended; if that was in a test, the test failed, and another copy goes on."""
        copy.line.close()
        _, status = os.waitpid(copy.process, 0)
        self._copies.remove(copy)
        if copy.ahead:
            self._left.appendleft(copy.ahead)
        if copy.at is None:
            if self._left:
                self._start()
            return
        item, (file, number) = self._item(copy.at), copy.at
        why = f"its process ended: {os.waitstatus_to_exitcode(status)}"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self._hook.pytest_runtest_logreport(report=report)
        self._finish(copy)
        if number + 1 < len(self._files[file]):
            self._left.appendleft((file, number + 1))
        self._start()


def _end_as_copy(session: pytest.Session, files: Files, line: Line, name: str) -> NoReturn:
    """Run tests until none are left, and end this process without the first one's own endings."""
    atexit._clear()
    try:
        _begin(session.config, name)
        _run(session, files, line)
    except BaseException as error:  # noqa: BLE001 - the first process raises this
        session._setupstate.teardown_exact(None)
        if not isinstance(error, KeyboardInterrupt):
            line.send(("broke", traceback.format_exc()))
    finally:
        atexit._run_exitfuncs()  # what its own tests have registered
        os._exit(0)


def _begin(config: pytest.Config, name: str) -> None:
    """Give this process a folder and a capture of its own; the first one has the terminal."""
    config.pluginmanager.unregister(name="terminalreporter")
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / name
    factory._basetemp.mkdir(mode=0o700)
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()


def _run(session: pytest.Session, files: Files, line: Line) -> None:
    sender = _Sender(session.config, line)
    session.config.pluginmanager.register(sender)
    places = _places(files, line)
    place = next(places, None)
    while place and not (session.shouldfail or session.shouldstop):
        after = next(places, None)
        item, following = (at and files[at[0]][at[1]] for at in (place, after))
        sender.place = place
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        place = after
    session._setupstate.teardown_exact(None)


def _places(files: Files, line: Line) -> Iterator[Place]:
    """Each test of each file that the first process gives to this one."""
    while True:
        line.send(("next", None))
        if (place := line.recv()) is None:
            return
        file, first = place
        for number in range(first, len(files[file])):
            yield file, number


class _Sender:
    """Sends the first process all that its terminal and its other plugins are to hear."""

    def __init__(self, config: pytest.Config, line: Line) -> None:
        self._config, self._line = config, line
        self.place: Place | None = None

    def pytest_runtest_logstart(self) -> None:
        self._line.send(("begins", self.place))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        plain = hook.pytest_report_to_serializable(config=self._config, report=report)
        self._line.send(("report", plain))

    def pytest_runtest_logfinish(self) -> None:
        self._line.send(("ends", None))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, nodeid: str
    ) -> None:
        if self.place is None:
            return  # of before: pytest repeats it to each plugin that comes later
        words = f"{warning_message.category.__name__}: {warning_message.message}"
        where = warning_message.filename, warning_message.lineno
        self._line.send(("warning", (words, where, nodeid)))
