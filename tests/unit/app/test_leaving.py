"""How signals end a server: in good order, to make room for the next, or at once."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from crabhook.app.server import HAND_OVER, Leaving
from tests.support.examples import share

STUCK = """
import asyncio, time
from crabhook.app.server import Leaving

async def main():
    ended = asyncio.Event()
    Leaving().on_signal(ended.set)
    print("waits", flush=True)
    await ended.wait()
    print("ends", flush=True)
    time.sleep(60)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, HAND_OVER)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, HAND_OVER])
async def test_the_first_signal_ends_it_and_says_how(number: signal.Signals) -> None:
    leaving, ended = Leaving(), asyncio.Event()
    leaving.on_signal(ended.set)
    os.kill(os.getpid(), number)
    await asyncio.wait_for(ended.wait(), 60)
    assert leaving.hands_over is (number is HAND_OVER)


async def test_an_end_that_no_signal_began_is_cut_short_by_the_first() -> None:
    leaving = Leaving()
    leaving.on_signal(lambda: pytest.fail("it ends already"))
    leaving.begin()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


@pytest.mark.process
@pytest.mark.parametrize("first", share([signal.SIGTERM, signal.SIGHUP, HAND_OVER], 0))
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_the_second_one_ends_it_at_once(first: signal.Signals, second: signal.Signals) -> None:
    command = [sys.executable, "-c", STUCK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "waits\n"
        server.send_signal(first)
        assert server.stdout.readline() == "ends\n"
        server.send_signal(second)
        assert server.wait(60) == -second


@pytest.mark.process
def test_a_terminal_that_hangs_up_twice_does_not_hurry_it() -> None:
    command = [sys.executable, "-c", STUCK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.send_signal(signal.SIGHUP)
        server.stdout.readline()
        server.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(0.3)
        server.kill()
