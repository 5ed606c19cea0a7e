"""Desks elsewhere: two that decide at once, and one that decides among many that watch.

A core with its operators' port in this process, real TLS between.  `decided` is the time from
a decision's sending to its outcome at the desk that gave it; `seen` from that outcome to the moment
at which the other desk has the card ended.  200 watches are another process's; one of them is
frozen and let go in turn, so that both figures are of one run.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.errors import BenchError
from bench.figures import percentile
from bench.found import Found, Wishes
from bench.sizes import sized
from bench.table import table
from crabhook.desk.commands import Decide, Done, Outcome, TooLate
from crabhook.desk.replica import Replica
from crabhook.model.decision import Decision, Verdict
from crabhook.remote.desk import RemoteDesk
from crabhook.team.membership import Role
from tests.support.desk import PlayedDesk
from tests.support.sitting import call
from tests.support.team_port import TeamPort, team_port

DECISIONS = sized(200, 8)  # of each kind
BLOCK = sized(20, 4)  # decisions between a freezing and a letting go
WATCHERS = sized(200, 20)
OF_A_DEVICE = 16
ALLOW = Decision(Verdict.ALLOW)
_PATIENCE = 20.0  # seconds
_WATCH = """
import asyncio, sys, time
import grpc
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub

async def main(place, authority, certificate, key, many):
    shown = [open(one, "rb").read() for one in (authority, key, certificate)]
    credentials = grpc.ssl_channel_credentials(*shown)
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.secure_channel(place, credentials, options=options) as channel:
        calls = [OperatorServiceStub(channel).Watch(pb.WatchRequest()) for _ in range(int(many))]
        await asyncio.gather(*(one.read() for one in calls))
        print("watching", flush=True)
        async def follow(one):
            while await one.read() is not grpc.aio.EOF:
                pass
        await asyncio.gather(*map(follow, calls))

asyncio.run(main(*sys.argv[1:]))
"""


@dataclass(slots=True)
class Times:
    """Seconds of each decision of one kind."""

    kind: str
    decided: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)


def measure(_: Wishes) -> Found:
    """Let two desks decide at once, and one alone among watchers."""
    times = asyncio.run(_measured())
    values = [{"kind": one.kind, "decided": one.decided, "seen": one.seen} for one in times]
    return Found(_text(times), {"desks": values})


async def _measured() -> Sequence[Times]:
    with TemporaryDirectory(prefix="bench-") as folder:
        server, people = PlayedDesk(), {"ann": Role.DECIDER, "bob": Role.DECIDER}
        async with (
            team_port(server.core, Path(folder), **people) as port,
            port.desk("ann") as ann,
            port.desk("bob") as bob,
        ):
            at_once = await _at_once(server, ann, bob)
            among = await _among(server, port, ann, Path(folder))
    return [at_once, *among]


def _followed(desk: RemoteDesk) -> Replica:
    replica = Replica(desk, time.monotonic)
    replica.follow()
    return replica


async def _given(replica: Replica, number: int) -> tuple[Outcome, float]:
    """Decide a card; return what became of that, and when it was known."""
    async with asyncio.timeout(_PATIENCE):
        while (card := replica.card(number)) is None:  # noqa: ASYNC110 - a network's doing
            await asyncio.sleep(0.001)
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        replica.submit(Decide(number, card.revision, ALLOW), settled.set_result)
        return await settled, time.perf_counter()


async def _at_once(server: PlayedDesk, ann: RemoteDesk, bob: RemoteDesk) -> Times:
    times, seats = Times("two desks at once"), (_followed(ann), _followed(bob))
    for number in range(1, DECISIONS + 1):
        server.ask(call(session_id=f"s{number}"))
        async with asyncio.timeout(_PATIENCE):
            while not all(one.card(number) for one in seats):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)
        began = time.perf_counter()
        outcomes = await asyncio.gather(*(_given(one, number) for one in seats))
        kinds = {type(outcome) for outcome, _ in outcomes}
        if kinds != {Done, TooLate}:
            raise BenchError(f"two desks decided at once, and came to {kinds}")
        (won,) = (at for outcome, at in outcomes if isinstance(outcome, Done))
        (lost,) = (at for outcome, at in outcomes if isinstance(outcome, TooLate))
        times.decided.append(won - began)
        times.seen.append(max(lost - won, 0.0))  # the card's end is told before the outcome
    return times


async def _among(
    server: PlayedDesk, port: TeamPort, desk: RemoteDesk, folder: Path
) -> Sequence[Times]:
    """Decide among watchers, one of whom is frozen for every other block."""
    moving, frozen = Times(f"among {WATCHERS} who watch"), Times("the same, one of them frozen")
    replica, number = _followed(desk), DECISIONS
    async with AsyncExitStack() as stack:
        watchers = [
            await stack.enter_async_context(_watching(port, folder, place))
            for place in range(1 - (1 - WATCHERS) // OF_A_DEVICE)
        ]
        for block in range(2 * DECISIONS // BLOCK):
            times = (moving, frozen)[block % 2]
            os.kill(watchers[0].pid, signal.SIGSTOP if times is frozen else signal.SIGCONT)
            for _ in range(BLOCK):
                number += 1
                server.ask(call(session_id=f"s{number}"))
                while replica.card(number) is None:  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.001)
                began = time.perf_counter()
                _, at = await _given(replica, number)
                times.decided.append(at - began)
        os.kill(watchers[0].pid, signal.SIGCONT)
    return moving, frozen


@asynccontextmanager
async def _watching(
    port: TeamPort, folder: Path, place: int
) -> AsyncIterator["asyncio.subprocess.Process"]:
    """Have a device of its own watch several times; the first watches once."""
    name = f"w{place}"
    port.let_in(name, Role.VIEWER)
    files: dict[str, Any] = dict(zip(("pem", "key"), port.certificates[name], strict=True))
    for kind, content in files.items():
        (folder / f"{name}.{kind}").write_bytes(content)
    where = (f"127.0.0.1:{port.address.port}", str(port.team.folder.authority))
    shown = (str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    many = 1 if place == 0 else min(OF_A_DEVICE, WATCHERS - 1 - (place - 1) * OF_A_DEVICE)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _WATCH, *where, *shown, str(many)), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None  # noqa: S101 - a pipe, a line above
        async with asyncio.timeout(_PATIENCE):
            if await process.stdout.readline() != b"watching\n":
                raise BenchError("a watcher does not watch")
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _text(times: Sequence[Times]) -> str:
    header = ("decisions", "decided, median ms", "p90", "p99", "the other sees it, median", "p99")
    rows = [
        (
            one.kind,
            *(_ms(percentile(one.decided, at)) for at in (50, 90, 99)),
            *(_ms(percentile(one.seen, at)) if one.seen else "" for at in (50, 99)),
        )
        for one in times
    ]
    moving, frozen = (percentile(one.decided, 99) for one in times[1:])
    share = f"One frozen: p99 is {frozen / moving:.2f} of what it is with none."
    return f"{table(header, rows)}\n{share}\n"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"
