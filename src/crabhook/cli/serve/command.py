"""`crabhook serve`: the operator's terminal and the port that agents' hooks ask on."""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook import config
from crabhook.broker.pending import Limits, SameFile
from crabhook.cli.arguments import rule_files
from crabhook.cli.commands import SERVE_VALUES, declare, options_of
from crabhook.cli.serve.admission import Admitted, open_to_desks, team_of, tls_of, watched
from crabhook.cli.serve.desks import open_desk
from crabhook.cli.serve.logs import CANNOT_BEGIN, logging_to, told
from crabhook.cli.serve.other_hooks import OtherHooks
from crabhook.cli.terminal import takes_a_screen
from crabhook.config import Settings, SettingsError
from crabhook.model.errors import CrabhookError
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RulesError
from crabhook.server.address import (
    Address,
    TcpAddress,
    Tokens,
    UnixAddress,
    load_or_make,
    own_addresses,
)
from crabhook.server.core.intake import AnonymousIntake
from crabhook.server.core.law import Law
from crabhook.server.core.readings import OfferedFrom
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health, HealthPort, open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.service.activation import ServiceManager, address_of, inherited, open_behind
from crabhook.server.unix_socket import SocketWatch, keep_status
from crabhook.store.interface import DeposedError, TakenError, UnreachableError
from crabhook.store.opening import open_writer
from crabhook.store.record import Retention
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.writer import Courier, Writer, through

if TYPE_CHECKING:
    from crabhook.server.metrics.collector import Metrics

_LOG = logging.getLogger(__name__)

HAND_OVER = signal.SIGUSR1
"""Make room for the next server: what waits is left to it, and its hooks come back there."""

_IN_GOOD_ORDER = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, HAND_OVER)
_AT_ONCE = (signal.SIGTERM, signal.SIGINT)
DEPOSED = 75  # as sysexits(3) has it: to be tried again; and then it waits for its turn
AGAIN_AFTER = 0.25  # seconds between two tries to become the writer of a shared record


class Leaving:
    """The end of a server, as signals bring it about; `hands_over` says how."""

    def __init__(self) -> None:
        self.hands_over = False

    def __repr__(self) -> str:
        return f"<Leaving hands_over={self.hands_over}>"

    def hear(self, end: Callable[[], object]) -> None:
        """Call `end` at the first signal."""
        loop = asyncio.get_running_loop()
        for number in _IN_GOOD_ORDER:
            loop.add_signal_handler(number, self._heard, number, end)

    def begin(self) -> None:
        """Note that the end has begun, by whatever: the next signal is no longer waited for."""
        loop = asyncio.get_running_loop()
        for number in _AT_ONCE:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    def _heard(self, number: signal.Signals, end: Callable[[], object]) -> None:
        self.hands_over = number == HAND_OVER
        self.begin()
        end()


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to end; return 0, 2 when it could not begin, DEPOSED when another does."""
    try:
        settings = _settings(arguments)
        form, level = settings.log_format, settings.log_level
        level = level or ("info" if _has_no_desk(settings) else "warning")
        with logging_to(_log_file(settings), form=form, level=level):
            asyncio.run(_serve(settings))
    except asyncio.CancelledError:
        return 0  # a signal ended it while it waited for its record
    except CrabhookError as error:
        print(f"crabhook: {error}", file=sys.stderr)  # noqa: T201 - the command's own output
        return DEPOSED if isinstance(error, DeposedError) else CANNOT_BEGIN
    return 0


add_arguments = partial(declare, options_of("serve"), SERVE_VALUES)


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = config.override(config.load(arguments.settings), vars(arguments))
    if settings.headless and settings.no_desk:
        raise SettingsError(
            "--headless lets rules alone decide; --no-desk waits for desks: not both"
        )
    if arguments.otherwise is not None and not (settings.headless or settings.no_desk):
        told = "what the rules leave open where nobody is at a desk"
        raise SettingsError(f"--otherwise says what --headless and --no-desk do with {told}")
    if arguments.http_name and settings.http is None:
        raise SettingsError("--http-name is a name of the HTTP door, which --http opens")
    if not takes_a_screen():
        settings = config.override(settings, {"plain": True})
    return settings


async def _serve(settings: Settings) -> None:
    manager, sockets = ServiceManager.named_in(os.environ), inherited(os.environ)
    addresses = [address_of(one) for one in sockets] or own_addresses(settings.listen)
    if sockets and settings.listen:
        _LOG.warning("the service manager's sockets are used, not the addresses to listen on")
    shown = settings.http is not None or any(isinstance(one, TcpAddress) for one in addresses)
    team = team_of(settings, needed=shown)
    token = load_or_make(settings.token_file or config.token_file()) if shown else None
    tokens = Tokens(token, team.machine_of) if team else Tokens(token)
    admitted = Admitted(tokens, team, tls_of(settings, addresses))
    recorder = await _recorder(settings, manager)
    place, documents = settings.store or config.state_folder(), None
    if settings.shared:
        from crabhook.server.core import documents as of_all  # noqa: PLC0415 - few share a record

        documents = await of_all.shared(rule_files(), recorder, place, team)
    files = replace(rule_files(), shared=documents)
    others = OtherHooks(os.environ)
    law = Law(files, others.at)
    rules = OfferedFrom(files, law, place)
    metrics: Metrics | None = None
    if settings.http is not None:  # where they can be read; nobody else waits for the import
        from crabhook.server.metrics import collector  # noqa: PLC0415 - see above

        metrics = collector.Metrics()
    judge = metrics.timed(law.judge) if metrics else law.judge
    runner = Runner(PLATFORMS, recorder, judge, rules, _bounds(settings))
    law.changed = runner.tell
    runner.warned, runner.readings.edition_of = law.warnings, law.edition
    runner.assess = runner.readings.assess = law.risk
    runner.faults.append(lambda: law.trouble)
    runner.parts.append(law.state)
    if metrics:
        metrics.watch(runner)
    try:
        law.look()
        if settings.headless and law.trouble:
            raise RulesError(f"--headless decides by the rules alone, and {law.trouble}")
        others.begin()
        await runner.restore()  # before any hook can come back
        service = PermissionPort(runner, wait=settings.wait, tokens=tokens)
        port = _port(runner, service, sockets or addresses, admitted)
        doors = _doors(port, runner, metrics, admitted, settings)
        async with watched(team, runner), documents.kept(law) if documents else nullcontext():
            await _work(runner, law, doors, manager, settings)
    finally:
        recorder.close()


def _port(
    runner: Runner,
    service: PermissionPort,
    places: Sequence[socket.socket] | Sequence[Address],
    admitted: Admitted,
) -> AbstractAsyncContextManager[Sequence[Address]]:
    """Return the port on our own addresses, or behind the sockets we were given."""
    health = HealthPort(Health(runner), tokens=admitted.tokens)
    open_own = partial(open_port, service, tls=admitted.tls, health=health)
    sockets = [one for one in places if isinstance(one, socket.socket)]
    addresses = [one for one in places if not isinstance(one, socket.socket)]
    return (
        open_behind(sockets, open_own, tls=admitted.tls is not None)
        if sockets
        else open_own(addresses)
    )


@asynccontextmanager
async def _doors(
    port: AbstractAsyncContextManager[Sequence[Address]],
    runner: Runner,
    metrics: "Metrics | None",
    admitted: Admitted,
    settings: Settings,
) -> AsyncIterator[Sequence[object]]:
    """Open the port, and the harness bridge and the HTTP door beside it, where they are wanted."""
    async with AsyncExitStack() as opened:
        bound: list[object] = [*await opened.enter_async_context(port)]
        if settings.ndjson is not None:
            from crabhook.server.ndjson import bridge  # noqa: PLC0415 - few servers have one

            lines = bridge.BridgeIntake(runner, wait=settings.wait)
            door = bridge.open_bridge(lines, settings.ndjson)
            bound.append(await opened.enter_async_context(door))
        if settings.http is not None and metrics:
            from crabhook.server.http import listener  # noqa: PLC0415 - aiohttp: slow

            way = AnonymousIntake(runner, wait=settings.wait, named=listener.NAMED)
            page = listener.Page(metrics.exposition, metrics.CONTENT_TYPE)
            opening = listener.Opening(
                settings.http, admitted.tokens, settings.http_name, admitted.tls, page
            )
            http = listener.open_http(opening, runner, way)
            bound.append(await opened.enter_async_context(http))
            await opened.enter_async_context(metrics.keeping_time())
        bound += await opened.enter_async_context(open_to_desks(runner, settings, admitted.team))
        yield bound


async def _work(
    runner: Runner,
    law: Law,
    port: AbstractAsyncContextManager[Sequence[object]],
    manager: ServiceManager,
    settings: Settings,
) -> None:
    """Open the port and the desk; return when the operator has left, or a signal said to."""
    leaving = Leaving()

    def release() -> None:
        runner.hand_over() if leaving.hands_over else runner.close()

    async with port as bound:
        paths = [one.path for one in bound if isinstance(one, UnixAddress)]
        watch = SocketWatch(paths)
        runner.faults.append(lambda: watch.trouble)
        where = ", ".join(map(str, bound))
        desk = asyncio.ensure_future(open_desk(runner, settings, where, release))
        leaving.hear(desk.cancel)
        runner.on_deposed = desk.cancel
        _LOG.info("listening", extra=told(where=where))
        manager.ready(_status(runner, where))
        beside = [
            asyncio.ensure_future(runner.keep_record()),
            asyncio.ensure_future(watch.keep(runner.warn)),
            asyncio.ensure_future(law.watch()),
            asyncio.ensure_future(manager.keep_told(lambda: _status(runner, where))),
            *(asyncio.ensure_future(keep_status(path, bound, runner.counts)) for path in paths),
        ]
        try:
            await asyncio.wait([desk])
        finally:
            leaving.begin()
            _LOG.info("ending", extra=told(waiting=len(runner.broker.waiting())))
            manager.stopping("letting go what waits")
            for task in beside:
                task.cancel()
            release()
    manager.close()
    if runner.deposed is not None:
        raise runner.deposed
    if not desk.cancelled() and (error := desk.exception()):
        raise error


def _status(runner: Runner, where: str) -> str:
    waiting, desks = runner.counts()
    nobody = "" if desks else "; nobody is at a desk"
    return f"listening on {where}; {waiting} waiting{nobody}"


def _bounds(settings: Settings) -> Limits:
    return Limits(
        settings.max_waiting,
        int(settings.max_waiting_megabytes * 1_000_000),
        settings.max_session_waiting,
        int(settings.max_session_megabytes * 1_000_000),
        SameFile(settings.same_file),
    )


async def _recorder(settings: Settings, manager: ServiceManager) -> Recorder:
    """Open the record; where it cannot be opened the recorder says so, and tries again.

    A shared one is waited for, and nobody is served before: agents have their fallback at once.
    """
    retention = Retention(settings.keep_days, int(settings.keep_megabytes * 1_000_000))
    courier = Courier(through(settings.head_command)) if settings.head_command else None
    trouble = OnTrouble.DECIDE if settings.decides_in_trouble else OnTrouble.REFUSE
    state = config.state_folder()
    opening = partial(open_writer, settings.store or state, retention, state)
    if settings.shared:
        writer = await _waited_for(opening, settings, manager)
        return Recorder(lambda: writer, on_trouble=trouble, courier=courier)
    return Recorder(opening, on_trouble=trouble, courier=courier)


async def _waited_for(
    opening: Callable[[], Writer], settings: Settings, manager: ServiceManager
) -> Writer:
    """Open the record once it answers and no other server writes it; say what is waited for.

    A signal cancels it.
    """
    said = ""
    if waits := asyncio.current_task():
        for number in _IN_GOOD_ORDER:
            asyncio.get_running_loop().add_signal_handler(number, waits.cancel)
    tried = 0
    while True:
        try:
            return await asyncio.to_thread(opening)
        except (UnreachableError, TakenError) as error:
            if said != str(error):
                said = str(error)
                _LOG.warning("%s; waiting until it can be written", said)
                if _log_file(settings):
                    print(f"crabhook: {said}; waiting for it", file=sys.stderr)  # noqa: T201 - as above
        if tried % 20 == 0:
            manager.waiting(said)
        tried += 1
        await asyncio.sleep(AGAIN_AFTER)


def _has_no_desk(settings: Settings) -> bool:
    return settings.headless or settings.no_desk


def _log_file(settings: Settings) -> Path | None:
    """Return where the log goes beside the full screen, which its lines would tear."""
    if settings.plain or _has_no_desk(settings):
        return None
    folder = config.state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "serve.log"
    file.touch(mode=0o600)
    return file
