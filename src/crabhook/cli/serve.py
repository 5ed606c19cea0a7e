"""`crabhook serve`: the operator's terminal and the port that agents' hooks ask on."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crabhook import config
from crabhook.cli.rulefiles import rule_files
from crabhook.config import Settings
from crabhook.model.errors import CrabhookError
from crabhook.platforms import PLATFORMS
from crabhook.server.address import Address, TcpAddress, default_address, parse_address
from crabhook.server.law import Law
from crabhook.server.port import PortError, Tls, open_port
from crabhook.server.rpc import PermissionPort
from crabhook.server.runner import Runner
from crabhook.server.token import load_or_make
from crabhook.store.head import Courier, through
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.retention import Retention
from crabhook.store.sqlite import SqliteStore
from crabhook.ui.attention import Attention, Kind
from crabhook.ui.options import DeskOptions
from crabhook.ui.plain import desk as plain
from crabhook.ui.plain.lines import standard_lines, standard_writer

TAKE_BACK_MS = 600  # on the full screen, where a key decides; typed lines need none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; each has the setting of the same name behind it."""
    add = parser.add_argument
    add("--listen", action="append", metavar="ADDRESS", help="unix:PATH or HOST:PORT; repeatable")
    add("--plain", action="store_true", default=None, help="lines instead of a full screen")
    add("--ascii", action="store_true", default=None, help="draw with ASCII alone")
    add("--wait", type=float, metavar="SECONDS", help="how long a request waits (3600)")
    add("--token-file", metavar="FILE", help="the token TCP clients must show")
    add("--tls-cert", metavar="FILE", help="certificate chain (PEM), for TCP")
    add("--tls-key", metavar="FILE", help="its private key (PEM)")
    add("--arming-ms", type=int, metavar="MS", help="a new card ignores keys that long (400)")
    add("--take-back-ms", type=int, metavar="MS", help="an allow can be undone that long (600)")
    add("--settings", type=Path, metavar="FILE", help="read this settings file instead")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the operator quits; return 0, or 2 when it could not begin."""
    try:
        settings = _settings(arguments)
        _begin_log(settings)
        asyncio.run(_serve(settings))
    except CrabhookError as error:
        print(f"crabhook: {error}", file=sys.stderr)  # noqa: T201 - the command's own output
        return 2
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = config.override(config.load(arguments.settings), vars(arguments))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        settings = config.override(settings, {"plain": True})  # no screen to draw on
    return settings


async def _serve(settings: Settings) -> None:
    addresses: list[Address] = [parse_address(text) for text in settings.listen] or [
        default_address()
    ]
    token = _token(settings) if any(isinstance(one, TcpAddress) for one in addresses) else None
    recorder = _recorder(settings)
    law = Law(rule_files())
    runner = Runner(PLATFORMS, recorder, law.judge)
    law.changed = runner.tell
    try:
        runner.restore()  # before any hook can come back
        service = PermissionPort(runner, wait=settings.wait, token=token)
        await _listen(runner, service, addresses, settings)
    finally:
        recorder.close()


async def _listen(
    runner: Runner, service: PermissionPort, addresses: Sequence[Address], settings: Settings
) -> None:
    """Open the port and the desk; return when the operator has left."""
    async with open_port(service, addresses, _tls(settings)) as bound:
        keeping = asyncio.ensure_future(runner.keep_record())
        desk = asyncio.ensure_future(_desk(runner, settings, ", ".join(map(str, bound))))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, desk.cancel)
        try:
            await asyncio.wait([desk])
        finally:
            keeping.cancel()
            runner.close()
    if not desk.cancelled() and (error := desk.exception()):
        raise error


async def _desk(runner: Runner, settings: Settings, where: str) -> None:
    """Open the operator's desk; return when the operator leaves it."""
    take_back = settings.take_back_ms
    if settings.plain:
        write = standard_writer()
        with suppress(OSError):  # nobody reads: the desk finds out as well
            await write(f"· listening on {where}")
        try:
            await plain.run(runner, standard_lines(), write, take_back_ms=take_back or 0)
        finally:
            await plain.farewell(runner, runner.close, write)
        return
    options = DeskOptions(
        arming_ms=settings.arming_ms,
        take_back_ms=TAKE_BACK_MS if take_back is None else take_back,
        colour="NO_COLOR" not in os.environ,
        ascii=settings.ascii,
        attention=_attention(settings),
    )
    from crabhook.ui.full import app  # noqa: PLC0415 - the plain desk needs none of it

    await app.run(runner, options=options, title=where)


def _recorder(settings: Settings) -> Recorder:
    """Open the record; where it cannot be opened the recorder says so, and tries again."""
    retention = Retention(settings.keep_days, int(settings.keep_megabytes * 1_000_000))
    courier = Courier(through(settings.head_command)) if settings.head_command else None
    return Recorder(
        lambda: SqliteStore(config.state_folder(), retention),
        on_trouble=OnTrouble(settings.on_trouble),
        courier=courier,
    )


def _attention(settings: Settings) -> Attention:
    return Attention(
        bell=frozenset(map(Kind, settings.bell)),
        notify=frozenset(map(Kind, settings.notify)),
        title=frozenset(map(Kind, settings.title)),
        command=frozenset(map(Kind, settings.command)),
        sequence=settings.sequence,
        program=settings.program,
    )


def _token(settings: Settings) -> str:
    return load_or_make(settings.token_file or config.state_folder() / "token")


def _tls(settings: Settings) -> Tls | None:
    if settings.tls_cert is None and settings.tls_key is None:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise PortError("TLS needs both --tls-cert and --tls-key")
    return Tls(settings.tls_cert, settings.tls_key)


def _begin_log(settings: Settings) -> None:
    """Write faults to standard error, or beside the full screen, which they would tear."""
    if settings.plain:
        logging.basicConfig(level=logging.WARNING, format="crabhook: %(message)s")
        return
    folder = config.state_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    logging.basicConfig(
        filename=folder / "serve.log", level=logging.WARNING, format="%(asctime)s %(message)s"
    )
