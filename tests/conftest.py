"""Which tests run when: each is marked by its folder and held to its mark.

`make test-fast` runs what starts no process, `make test` adds those that do
and a session of the real agents but OpenCode, `.ci/night` runs the rest as well.
CONTRIBUTING.md says it for people.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.support.examples import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = [
    "tests.support.constants",
    "tests.support.side_by_side",
    "tests.support.warm_start",
]

MARKED = {"integration": "process", "browser": "process", "e2e": "e2e"}
"""What every test of a folder is marked as."""

STARTS = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"}
)
"""The interpreter's own names (its audit events) for starting a process."""

LEFT_OUT = "not thorough"
"""The choice of `make test`."""

_left = pytest.StashKey[Counter[str]]()
_running: list[pytest.Item] = []
_shared: list[pytest.FixtureDef[Any]] = []  # that several tests use, while they are set up
_starting: set[pytest.FixtureDef[Any]] = set()  # those that started a process


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile(DAY)
    config.stash[_left] = Counter()
    # A shell that starts us in the background has it ignored, and each hook would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # `nohup` has SIGHUP ignored. A handler that does nothing keeps us alive and is not inherited.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if mark := MARKED.get(item.nodeid.split("/")[1]):
            item.add_marker(mark)
        marks = {mark.name for mark in item.iter_markers()}
        if "e2e" in marks and "everyday" not in marks:
            item.add_marker("thorough")
            marks.add("thorough")
        if "thorough" in marks:
            config.stash[_left]["e2e" if "e2e" in marks else "long"] += 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Have the garbage collector pass by what the tests are made of.

    It is half a million objects, none of which goes: a full pass over them is 0.3 seconds.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _running.append(item)
    try:
        return (yield)
    finally:
        _running.pop()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
    if fixturedef.scope == "function":
        return (yield)
    _shared.append(fixturedef)
    try:
        return (yield)
    finally:
        _shared.pop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Refuse a shared fixture's process to each of its tests, whichever of them came first."""
    used = item._request._fixture_defs.values() if isinstance(item, pytest.Function) else ()
    if not _may_start(item) and not _starting.isdisjoint(used):
        raise AssertionError(f"a fixture of {item.nodeid} starts a process: mark it `process`")


def _may_start(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("process", "e2e"))


def _hold(event: str, _: tuple[Any, ...]) -> None:
    """Refuse a process to a test that is not marked for starting one."""
    if event not in STARTS or not _running:
        return
    if _shared:
        _starting.update(_shared)
    elif not _may_start(_running[-1]):
        raise AssertionError(f"{_running[-1].nodeid} starts a process: mark it `process`")


sys.addaudithook(_hold)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of xdist: the first process prints
        session.config.workeroutput["left"] = dict(session.config.stash[_left])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if left := getattr(node, "workeroutput", {}).get("left"):
        node.config.stash[_left] = Counter(left)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what this run leaves to `.ci/night`."""
    left = config.stash[_left]
    if config.option.markexpr == LEFT_OUT and left:
        terminalreporter.write_line(
            f"Left to .ci/night: {left['e2e']} more sessions of the real agents, {left['long']} long"
            " tests, and three quarters of each property's examples (make test-all)."
        )
