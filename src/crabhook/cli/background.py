"""`crabhook up`, `down` and `status`: a server in the background of this machine.

`up` acts as service manager until the server reports by sd_notify(3) that it takes requests. The
server then runs alone until `down`.
"""

import argparse
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from crabhook import config
from crabhook.app.running import (
    DESKS_AFTER,
    BackgroundError,
    holder_of,
    note_socket,
    running_at,
    socket_of,
    status_of,
    takes_desks,
    without_desks,
)
from crabhook.app.status import part_in_words
from crabhook.cli.commands import (
    DONE,
    NO_SERVER,
    SERVE_VALUES,
    Subcommand,
    declare,
    declaring,
    need_passkeys,
    options_of,
    reporting,
)
from crabhook.cli.terminal import UnseenError, agrees
from crabhook.data_files import names
from crabhook.install.program import own_command
from crabhook.server.address import FOR_BROWSERS, UnixAddress, own_addresses
from crabhook.server.unix_socket import LOOK_EVERY as WRITTEN_EVERY
from crabhook.server.unix_socket import pages_in, read_status
from crabhook.team.folder import Folder
from crabhook.team.invitation import OWN_DESKS
from crabhook.ui.console import say, say_json, takes_a_person

STARTS_WITHIN, ENDS_WITHIN = 20.0, 20.0  # seconds
PAGE_WITHIN = 3.0  # seconds for a server that has begun to tell where its page is
LOOK_EVERY = 0.05  # seconds
SAYS_SO_WITHIN = 3.0  # seconds that a server may take to write its status, once it listens
STATUS_IS_NEW = WRITTEN_EVERY + 0.2  # seconds after which all that waited before is in the status

_LAST_LINES = 4000  # bytes of the log that are shown where a server could not start


def _log() -> Path:
    return config.state_folder() / "serve.log"


@contextmanager
def _opened(log: Path) -> Iterator[int]:
    """Open the log to append; any program of our user could have replaced it."""
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        how = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(log, how, 0o600)
    except OSError as error:
        raise BackgroundError(f"the log {log} cannot be written: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BackgroundError(f"the log {log} is no regular file: move it away")
        yield handle
    finally:
        os.close(handle)


# Settings without use for a server that has no desk of its own.
_OF_A_DESK = names(
    "--plain --ascii --theme --headless --no-desk --arming-ms --take-back-ms --log-format"
)


def _declare_up(parser: argparse.ArgumentParser) -> None:
    of_serve = options_of("serve").items()
    options = {
        shown: about for shown, about in of_serve if shown.partition(" ")[0] not in _OF_A_DESK
    }
    declare(options, SERVE_VALUES, parser)


def _up(arguments: argparse.Namespace) -> int:
    settings = config.override(config.load(arguments.settings), vars(arguments))
    if settings.web is not None:
        need_passkeys()
    places = own_addresses(settings.listen)
    address = next(place for place in places if isinstance(place, UnixAddress))
    if (pid := running_at(address.path)) is not None:
        say(_runs_already(pid, address.path, settings))
    else:
        say(*_started(arguments, settings, address))
    return _show_page(address.path) if settings.web is not None else DONE


def _started(
    arguments: argparse.Namespace, settings: config.Settings, address: UnixAddress
) -> Sequence[str]:
    """Start a server, and wait until it serves; return what a person has to know of it."""
    desks = _for_desks(settings)
    log = _log()
    with _opened(log) as handle, _notify_socket() as sock:
        begins = os.fstat(handle).st_size
        server = subprocess.Popen(  # noqa: S603 - ourselves
            own_command("serve", "--no-desk", *arguments.argv, *desks),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            env={**os.environ, "NOTIFY_SOCKET": sock.getsockname()},
            start_new_session=True,
        )
        status = None
        try:
            status = _wait_until_ready(server, sock, address.path)
        finally:
            if status is None:  # also where Ctrl-C was pressed: nothing is left half-started
                server.kill()
                server.wait()
        if status is None:
            begins = max(begins, os.fstat(handle).st_size - _LAST_LINES)
            log_end = os.pread(handle, _LAST_LINES, begins).decode("utf-8", "replace")
            why = log_end.strip().rpartition("\n")[2].removeprefix("crabhook: ")
            why = why or f"it was not ready within {STARTS_WITHIN:g} s"
            raise BackgroundError(f"the server did not start: {why} (its log: {log})")
    note = note_socket(address)
    runs = f"crabhook runs (process {server.pid}): {status}"
    no_desk = f"it takes no desks. To have them, end it with {DESKS_AFTER}"
    desk = "open its desk with: crabhook" if takes_desks(read_status(address.path)) else no_desk
    return (*f"{runs}{note}".split("\n"), f"log: {log}", desk)


def _show_page(path: Path) -> int:
    """Print where the page is, with a code for a phone, or let the first phone in at once."""
    from crabhook.app.page_words import invites, page_words, reaches_phones  # for a page
    from crabhook.cli.team.inviting import team_folder, team_now  # likewise
    from crabhook.ui.web.qr import drawn  # likewise

    until = time.monotonic() + PAGE_WITHIN
    while not (pages := pages_in(read_status(path))):
        if time.monotonic() > until:
            return DONE
        time.sleep(LOOK_EVERY)
    page, team = pages[0], team_now(team_folder())
    say("", *page_words(page, team))
    if not (takes_a_person() and reaches_phones(page)):
        return DONE
    command = invites(team)
    if command and "NAME" not in command and _wants("Let a phone in now?"):
        from crabhook.cli import main  # which imports this

        return main(command.split()[1:])
    sys.stdout.write(drawn(page))
    return DONE


def _wants(question: str) -> bool:
    """Whether a person says yes; who cannot be asked, or says nothing, does not."""
    with suppress(UnseenError):
        return agrees(question)
    return False


def _runs_already(pid: int, path: Path, settings: config.Settings) -> str:
    """Report a running server, and how to attach; one of `serve` may have only its own terminal.

    Raises BackgroundError where it does not listen as was asked for.
    """
    status = read_status(path)
    if not takes_desks(status):
        return without_desks(pid)
    if missing := _not_listened_at(status.get("listening"), settings):
        raise BackgroundError(
            f"crabhook runs already (process {pid}), and does not listen at {missing}: end it with "
            "`crabhook down`, then give this command again"
        )
    return f"crabhook runs already (process {pid}): open its desk with `crabhook`"


def _not_listened_at(listening: object, settings: config.Settings) -> str:
    """Return the addresses that are asked for beyond this machine's sockets, and not listened at.

    A port 0 is any port.
    """
    places_marked = [str(place).partition(" for desks") for place in listening or ()]  # type: ignore[attr-defined]
    wanted = [(address, "") for address in settings.listen]
    wanted += [(settings.operators, " for desks")] if settings.operators else []
    missing = []
    for text, mark in wanted:
        host, _, port = text.rpartition(":")
        places = [at.rpartition(":") for at, marked, _ in places_marked if marked == mark]
        if not any(host == there and port in ("0", number) for there, _, number in places):
            missing += [] if text.startswith("unix:") else [f"{text}{mark}"]
    if settings.web is not None and not _has_page(places_marked, settings):
        missing.append(f"{settings.web} for browsers")
    return " and ".join(missing)


def _has_page(places: Sequence[tuple[str, str, str]], settings: config.Settings) -> bool:
    """Whether browsers find a server as is asked for: by the first of its names, or at its port."""
    there = [at for at, marked, _ in places if not marked and at.endswith(FOR_BROWSERS)]
    pages = [urlsplit(at.removesuffix(FOR_BROWSERS)) for at in there]
    if settings.web_name:
        return settings.web_name[0].partition(":")[0] in [page.hostname for page in pages]
    port = (settings.web or "").rpartition(":")[2]
    return bool(pages) if port == "0" else port in [str(page.port) for page in pages]


def _for_desks(settings: config.Settings) -> Sequence[str]:
    """Return the options for attaching desks, once a person has founded the team; else none."""
    server = known_port(settings.operators or OWN_DESKS)
    there = Folder(config.team_folder()).exists
    if not there and not takes_a_person():
        return ()
    from crabhook.cli.team.inviting import finished_here, found_here  # for a team

    if there:
        finished_here(server)
    else:
        found_here((socket.gethostname(),), server)
    return () if server == settings.operators else ("--operators", server)


def known_port(server: str) -> str:
    """Return where desks connect; for port 0 a free port, which the founder needs already."""
    host, _, port = server.rpartition(":")
    if port != "0":
        return server
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        with socket.socket(family) as free:
            free.bind((host.strip("[]"), 0))
            return f"{host}:{free.getsockname()[1]}"
    except OSError as error:
        raise BackgroundError(f"{server} cannot be listened on: {error.strerror}") from error


@contextmanager
def _notify_socket() -> Iterator[socket.socket]:
    """Listen for the server's reports."""
    with (
        TemporaryDirectory(prefix="crabhook-up-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock,
    ):
        sock.bind(str(Path(folder) / "notify"))
        sock.settimeout(LOOK_EVERY)
        yield sock


def _wait_until_ready(
    server: subprocess.Popen[bytes], sock: socket.socket, path: Path
) -> str | None:
    """Return the server's report once it serves; None if it ended, or took too long.

    Any program of our user could report, so the server itself must listen at `path`.
    """
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and server.poll() is None:
        with suppress(TimeoutError):
            text = sock.recv(4096).decode("utf-8", "replace")
            notified = dict(pair.partition("=")[::2] for pair in text.splitlines())
            if notified.get("READY") == "1" and running_at(path) == server.pid:
                return notified.get("STATUS", "")
    return None


def _down(arguments: argparse.Namespace) -> str:
    path = socket_of(arguments.server).path
    pid = running_at(path)
    if pid is None:
        if (busy := holder_of(path)) is not None:
            raise BackgroundError(_OPENS_ANEW.format(holder=busy, path=path))
        return "No server runs: nothing was done."
    if pid <= 0:  # and to signal process 0 is to signal ourselves, with all of our terminal's
        raise BackgroundError("the server runs where its process cannot be seen: end it there")
    if not _is_server(path, pid):
        holder = f"process {pid} holds the socket for the server, as a service manager does"
        raise BackgroundError(f"{holder}: end the server there")
    if not arguments.yes:
        time.sleep(STATUS_IS_NEW)
        _insist(status_of(path)["waiting"])
    waiting = status_of(path)["waiting"]
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError as error:
        raise BackgroundError(f"process {pid} cannot be told to end: {error.strerror}") from error
    until = time.monotonic() + ENDS_WITHIN
    while running_at(path) is not None or _lives(pid):  # it closes its record last
        if time.monotonic() > until:
            raise BackgroundError(f"process {pid} does not end. Its log tells more: {_log()}")
        time.sleep(LOOK_EVERY)
    left = f": {waiting} waiting went back to their agents, with no opinion" if waiting else ""
    return f"crabhook has ended (process {pid}){left}."


def _is_server(path: Path, pid: int) -> bool:
    """Whether the listener on a socket is the server itself; a new server takes a moment to say so.

    Until then there is no status, or a killed server has left its status.
    """
    until = time.monotonic() + SAYS_SO_WITHIN
    while (named := read_status(path).get("pid")) != pid:
        another = isinstance(named, int) and _lives(named)
        if another or time.monotonic() > until:
            return False
        time.sleep(LOOK_EVERY)
    return True


def _insist(waiting: object) -> None:
    """Where requests wait, have a person say that the server shall end; raise without a yes."""
    if not waiting:
        return
    many = f"{waiting} {'request waits' if waiting == 1 else 'requests wait'} for an answer"
    if not takes_a_person():
        raise BackgroundError(
            f"{many}, and there is no terminal to ask on: the server runs on. Decide them first, "
            "or end it all the same with `crabhook down --yes`"
        )
    say(f"{many}. If the server ends, their agents go on without one.")
    agreed = False
    with suppress(UnseenError):  # an empty line is no yes
        agreed = agrees("End the server?")
    if not agreed:
        raise BackgroundError("the server runs on: nothing was done")


def _lives(pid: int) -> bool:
    """Whether a process still runs; an ended child nobody waited for does not."""
    try:
        os.kill(pid, 0)
        process_stat = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except OSError:
        return not Path("/proc/self").exists()  # where there is no /proc the signal tells
    return process_stat.rpartition(")")[2].split()[0] not in ("Z", "X")


_OPENS_ANEW = (
    "the server (process {holder}) does not listen on {path}. It opens that again within "
    "seconds, or ends with an error: ask again"
)


def _status(arguments: argparse.Namespace) -> int:
    path = socket_of(arguments.server).path
    status = status_of(path)
    if arguments.json:
        say_json(status)
    elif not status["running"] and (holder := holder_of(path)) is not None:
        say(f"HOOKS CANNOT CONNECT: {_OPENS_ANEW.format(holder=holder, path=path)}", warning=True)
    elif not status["running"]:
        say("No server runs. Start one with `crabhook up`")
    else:
        desks, waiting, listening = status["desks"], status["waiting"], status["listening"]
        say(f"crabhook runs (process {status['pid']}), {waiting} waiting")
        if part := part_in_words(status):
            say(part)
        say(f"desks: {desks}" if desks else "desks: nobody is at a desk")
        for text in listening if isinstance(listening, list) else ():
            say(f"listening on {text}")
        troubles = status["troubles"]
        for text in troubles if isinstance(troubles, list) else ():
            say(f"trouble: {text}")
    return DONE if status["running"] else NO_SERVER


up = Subcommand(_declare_up, partial(reporting, "up", _up))
down = Subcommand(declaring("down"), partial(reporting, "down", _down))
status = Subcommand(declaring("status"), partial(reporting, "status", _status))
