"""`crabhook serve`: the operator's terminal and the port that agents' hooks ask on."""

import argparse
import asyncio
import logging
import os
import sys
from dataclasses import replace

from crabhook import config
from crabhook.app.admission import Admitted
from crabhook.app.listeners import advertised, team_of, tls_of
from crabhook.app.logs import CANNOT_BEGIN, has_no_desk, log_file, logging_to
from crabhook.app.server import Server
from crabhook.cli.commands import SERVE_VALUES, declaring, need_passkeys
from crabhook.config import Settings, SettingsError
from crabhook.model.errors import CrabhookError
from crabhook.server.address import TcpAddress, Tokens, load_or_make, own_addresses
from crabhook.server.service.activation import ServiceManager, address_of, inherited
from crabhook.ui.console import takes_a_screen

_LOG = logging.getLogger(__name__)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the operator or a signal ends it; return 0, or 2 if it could not begin."""
    try:
        settings = _settings(arguments)
        form, level = settings.log_format, settings.log_level
        level = level or ("info" if has_no_desk(settings) else "warning")
        with logging_to(log_file(settings), form=form, level=level):
            asyncio.run(_serve(settings))
    except asyncio.CancelledError:
        return 0  # a signal came while the server waited for its record
    except CrabhookError as error:
        print(f"crabhook: {error}", file=sys.stderr)  # noqa: T201 - the command's own output
        return CANNOT_BEGIN
    return 0


add_arguments = declaring("serve", SERVE_VALUES)


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = config.override(config.load(arguments.settings), vars(arguments))
    if settings.headless and settings.no_desk:
        raise SettingsError(
            "--headless lets rules alone decide, --no-desk waits for desks: not both"
        )
    if arguments.otherwise is not None and not (settings.headless or settings.no_desk):
        left = "what the rules leave open where nobody is at a desk"
        raise SettingsError(f"--otherwise says what --headless and --no-desk do with {left}")
    if arguments.http_name and settings.http is None:
        raise SettingsError("--http-name is a name of the HTTP door, which --http opens")
    if arguments.web_name and settings.web is None:
        raise SettingsError("--web-name is a name of the web desk, which --web opens")
    if settings.web is not None:
        need_passkeys()
    if not takes_a_screen():
        settings = config.override(settings, {"plain": True})
    return settings


async def _serve(settings: Settings) -> None:
    """Serve until the end. Raises CrabhookError where the server cannot begin or go on."""
    manager, sockets = ServiceManager.named_in(os.environ), inherited(os.environ)
    addresses = [address_of(socket) for socket in sockets] or own_addresses(settings.listen)
    if sockets and settings.listen:
        _LOG.warning("the service manager's sockets are used, not the addresses to listen on")
    shown = settings.http is not None or any(
        isinstance(address, TcpAddress) for address in addresses
    )
    team = team_of(settings, needed=shown)
    file = settings.token_file or config.token_file()
    tokens = Tokens(load_or_make(file) if shown else None, file=str(file))
    if team:
        tokens = replace(tokens, machine_of=team.machine_of)
    admitted = Admitted(tokens, team, tls_of(settings, addresses))
    me = advertised(settings, addresses, admitted)
    await Server(settings, manager, admitted, me).run(sockets or addresses)
