"""`crabhook install --transport http`: where an agent sends its hooks, and what it needs for it."""

import argparse
import shlex
from collections.abc import Iterator

from crabhook import config
from crabhook.model.errors import InstallError
from crabhook.platforms.claude.settings import USUAL_URL, endpoint, export, served
from crabhook.platforms.installation import Installation, Transport
from crabhook.platforms.interface import Platform
from crabhook.server.address import (
    Address,
    AddressError,
    TcpAddress,
    default_address,
    parse_address,
)

_FILES = ("--tls-cert", "FILE", "--tls-key", "FILE")


def url(arguments: argparse.Namespace, agent: Platform) -> str | None:
    """Return where the agent shall send its hooks, None for nowhere.  Raises InstallError."""
    transport = Transport(arguments.transport)
    if transport not in agent.settings.transports:
        raise InstallError(f"{agent.title} sends no hooks by HTTP, it only starts commands")
    if transport is Transport.HTTP:
        return endpoint(arguments.url or USUAL_URL)
    if arguments.url is not None:
        raise InstallError("--url says where --transport http sends the hooks to")
    return None


def next_steps(agent: Platform, installation: Installation) -> Iterator[str]:
    """Say what is left to do, and on which machine."""
    serve, beyond = _serve(installation), _beyond(_address(installation))
    anew = "A session that runs already may not see the change before it is started anew."
    if beyond:
        yield f"Next: on {beyond.host}, where you sit, run `{serve}` in a terminal of its own."
        yield (
            f"Then see here that hooks reach it, `crabhook doctor {agent.program}`, and start "
            f"`{agent.program}`.  {anew}"
        )
    else:
        yield (
            f"Next: run `{serve}` in a terminal of its own, then start `{agent.program}`.  {anew}"
        )
    if installation.url is None:
        return
    token = installation.token_file or str(config.token_file())
    yield (
        "The server makes the token at its first start.  Where you start "
        f"`{agent.program}`, its environment must hold it, or every hook is refused:"
    )
    yield f"  {export(token)}"


def _serve(installation: Installation) -> str:
    """Return the command that listens where the hooks ask, with FILE for the files of TLS."""
    words = ["crabhook", "serve"]
    sent = served(installation.url) if installation.url is not None else ()
    address = _address(installation)
    if beyond := _beyond(address):
        words += ["--listen", f"0.0.0.0:{beyond.port}"]
    elif address not in (None, default_address()):
        words += ["--listen", str(address)]
    if (beyond or installation.tls_ca) and _FILES[0] not in sent:
        words += _FILES
    return shlex.join([*words, *sent])


def _beyond(address: Address | None) -> TcpAddress | None:
    """Return the address if it is beyond this machine."""
    return address if isinstance(address, TcpAddress) and not address.loopback else None


def _address(installation: Installation) -> Address | None:
    try:
        return parse_address(installation.server or "")
    except AddressError:  # which is warned of
        return None
