"""Whether the server answers the hooks, those that are sent too, and is its owner's alone."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.asking import Answer, Heard, Knock, ask, knock
from crabhook.doctor.entry import Entry
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status
from crabhook.hook import Options
from crabhook.hook.fallback import remedy_of
from crabhook.model.document import parse
from crabhook.model.errors import CrabhookError
from crabhook.ownfile import read_own
from crabhook.platforms.claude.settings import TOKEN, export, served
from crabhook.server.address import default_address

_HTTP = "server.http"


def answers(case: Case) -> Iterator[Finding]:
    """Whether each server that the hooks ask is there, admits them, and knows the agent."""
    for entry in case.servers:
        server = entry.options.server
        if not case.may_ask(entry):
            what = f"{server} was not asked, since the project's settings name it"
            means = "a project may name any server, and it would be shown the token"
            mend = case.looking_anyway()
            yield Finding("server.answers", Status.WARNING, what, means, mend)
            continue
        answer = ask(entry.asking())
        if not answer.there:
            yield _silent(case, entry, answer)
        elif case.agent.name not in answer.platforms:
            yield Finding(
                "server.answers",
                Status.FAULT,
                f"{server} answers, and knows {', '.join(answer.platforms)} alone",
                f"it turns away whatever {case.title} asks: an older crabhook runs there",
                advice="end that server, and start one of this version: crabhook serve",
            )
        else:
            yield Finding(
                "server.answers",
                Status.OK,
                f"{server} answers in {1000 * answer.seconds:.0f} ms",
                figures={"answer_ms": round(1000 * answer.seconds, 2)},
            )


def _silent(case: Case, entry: Entry, answer: Answer) -> Finding:
    closed = entry.given("--when-unreachable") == "deny"
    means = (
        "every call that the operator should decide is denied"
        if closed
        else f"the operator is not asked: {case.title} goes by its own rules alone"
    )
    mend, advice = _serve(case, entry), ""
    if answer.no_token:
        token = config.token_file()
        another = token.is_file() and entry.given("--token-file") != str(token)
        mend = case.reinstalling(entry, token_file=str(token)) if another else ""
        advice = (
            "the server's token file is what --token-file of `crabhook serve` names"
            if another or not token.is_file()
            else f"the server began with another token than {token} holds now: end it, begin anew"
        )
    elif folder := _open_folder(entry):
        mend = commands.chmod("700", folder)
        advice = "a hook asks nobody, and no server begins, in a folder that others can write to"
    elif answer.kind == "options":
        mend, advice = _of_its_options(case, entry)
    elif elsewhere := _elsewhere(entry):
        mend = case.reinstalling(entry, server=elsewhere)
        advice = f"your settings have the server listen on {elsewhere}, where one answers"
    elif not mend:
        advice = remedy_of(answer.words)
    return Finding("server.answers", Status.FAULT, answer.words, means, mend, advice)


def _of_its_options(case: Case, entry: Entry) -> tuple[str, str]:
    """Return what mends options that the client refuses, and what to know of it.

    Installing again with the same token file would change nothing.
    """
    name = entry.given("--token-file")
    if name is None:
        return case.reinstalling(entry), ""
    path = Path(name)
    if path.is_file() and path.stat().st_mode & 0o077:
        return commands.chmod("600", path), ""
    return "", f"copy the server's token to {path}, with the mode 0600"


def _open_folder(entry: Entry) -> Path | None:
    """Return the socket's folder where it is ours and others may write there."""
    folder = Path(entry.options.server.removeprefix("unix:")).parent
    try:
        found = folder.stat()
    except OSError:
        return None
    ours = entry.options.server.startswith("unix:") and found.st_uid == os.getuid()
    return folder if ours and found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX else None


def _serve(case: Case, entry: Entry) -> str:
    """Return the command that begins a server where the hook looks for one, if it can be here.

    One server takes in hooks both ways, so it opens the door for those that are sent as well.
    """
    server = entry.options.server
    if server != str(default_address()) and not server.startswith("unix:"):
        return ""
    listen = () if server == str(default_address()) else ("--listen", server)
    sent = (opened_at(door.url) for door in case.doors if case.may_send(door))
    return commands.crabhook("serve", *listen, *next(filter(None, sent), ()))


def _elsewhere(entry: Entry) -> str:
    """Return another address of the owner's settings at which a server answers, if one does."""
    try:
        listens = config.load().listen
    except CrabhookError:
        return ""
    for address in listens:
        options = Options()
        options.server = address
        if address != entry.options.server and address.startswith("unix:") and ask(options).there:
            return address
    return ""


def private_socket(case: Case) -> Iterator[Finding]:
    """Whether the socket and its folder are their owner's alone: who can write there can answer."""
    for entry in case.servers:
        if not entry.options.server.startswith("unix:") or entry.options.tls_ca:
            continue
        path = Path(entry.options.server.removeprefix("unix:"))
        found = list(_open_to_others(case, entry, path))
        yield from found
        if not found and path.exists():
            yield Finding("server.socket", Status.OK, f"{path} and its folder are yours alone")


def _open_to_others(case: Case, entry: Entry, path: Path) -> Iterator[Finding]:
    means = f"another user could answer {case.title} for the operator"
    try:
        folder, socket = path.parent.lstat(), path.lstat()
    except OSError:
        return  # nobody listens there, which is a finding of its own
    if folder.st_mode & stat.S_ISVTX or folder.st_uid != os.getuid():
        what = f"{path.parent} is shared, or another user's"
        mend = case.reinstalling(entry, server=str(default_address()))
        yield Finding("server.socket", Status.FAULT, what, means, mend)
    elif folder.st_mode & 0o022:
        what = f"{path.parent} has the mode {stat.S_IMODE(folder.st_mode):o}"
        mend = commands.chmod("700", path.parent)
        yield Finding("server.socket", Status.FAULT, what, means, mend)
    if not stat.S_ISSOCK(socket.st_mode):
        what = f"{path} is no socket"
        mend = shlex.join(["mv", str(path), f"{path}.moved-away"])
        yield Finding("server.socket", Status.FAULT, what, "no server can listen there", mend)
    elif socket.st_uid != os.getuid():
        what = f"{path} is of another user (number {socket.st_uid})"
        mend = case.reinstalling(entry, server=str(default_address()))
        yield Finding("server.socket", Status.FAULT, what, means, mend)
    elif socket.st_mode & 0o077:
        what = f"{path} has the mode {stat.S_IMODE(socket.st_mode):o}"
        reachable = folder.st_mode & 0o011
        status = Status.FAULT if reachable else Status.WARNING
        means = "other users can ask the operator" if reachable else "its folder alone guards it"
        yield Finding("server.socket", status, what, means, commands.chmod("600", path))


def private_token(case: Case) -> Iterator[Finding]:
    """Whether the token that goes to a server over TCP is there, and its owner's alone."""
    for name in dict.fromkeys(entry.given("--token-file") for entry in case.servers):
        if not name:
            continue
        path = Path(name)
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            means = "without the token the server turns every hook away"
            what = f"{path} cannot be read: {error.strerror}"
            advice = "copy the server's token there, with the mode 0600"
            yield Finding("server.token", Status.FAULT, what, means, advice=advice)
            continue
        if mode & 0o077:
            what = f"{path} has the mode {mode:o}: others can read or write it"
            means = "the hook refuses it and asks nobody; who has the token can ask the operator"
            mend = commands.chmod("600", path)
            yield Finding("server.token", Status.FAULT, what, means, mend)
        else:
            yield Finding("server.token", Status.OK, f"{path} is yours alone")


def takes(case: Case) -> Iterator[Finding]:
    """Whether each server that hooks are sent to is there, and takes the token they show."""
    for entry in case.doors:
        if not case.may_send(entry):
            what = f"{entry.url} was not asked, since the project's settings name it"
            means = "a project may name any server, and it would be shown the token"
            yield Finding(_HTTP, Status.WARNING, what, means, case.looking_anyway())
            continue
        shown = os.environ.get(TOKEN, "") or _in_settings(case, entry)
        if not shown:
            yield Finding(
                _HTTP,
                Status.WARNING,
                f"{TOKEN} is not set here, nor in the settings",
                f"where {case.title} is started without it, every hook is refused",
                export(str(config.token_file())),
            )
            shown = _own_token()
        yield _told(case, entry, shown)


def _told(case: Case, entry: Entry, shown: str) -> Finding:
    heard = knock(entry.url, shown, os.environ.get("NODE_EXTRA_CA_CERTS", ""))
    if heard.knock is Knock.FITS:
        return Finding(_HTTP, Status.OK, f"{entry.url}: {heard.knock.value}")
    closed = entry.handler.get("onFailure") == "block"
    means = (
        "every call that the operator should decide is denied"
        if closed
        else f"the operator is not asked: {case.title} goes by its own rules alone"
    )
    what = f"{entry.url}: {heard.knock.value}: {heard.words}"
    mend = ""
    if heard.knock is Knock.NO_TOKEN:
        mend = export(str(config.token_file()))
    elif heard.knock is Knock.NOBODY:
        mend = _serve_http(entry.url)
    return Finding(_HTTP, Status.FAULT, what, means, mend, _advice(heard))


def _advice(heard: Heard) -> str:
    if heard.knock is Knock.FOREIGN:
        return "another program has that port"
    if "CERTIFICATE_VERIFY_FAILED" in heard.words:
        return "NODE_EXTRA_CA_CERTS has to name the CA's file, here and where the agent is started"
    if heard.knock is Knock.NOBODY:
        return "end a server first that runs already, and was begun without --http"
    return ""


def _in_settings(case: Case, entry: Entry) -> str:
    """Return the token that the settings themselves hand to the agent, if they do."""
    for settings in case.hooked:
        if entry in settings.ours:
            env = parse(settings.text).member("env")
            kept = env.member(TOKEN) if env else None
            return str(kept.value) if kept else ""
    return ""


def _own_token() -> str:
    try:
        return read_own(config.token_file(), 8 << 10, links=True).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def opened_at(url: str) -> tuple[str, ...]:
    """Return the options of `crabhook serve` that open the door at `url`, if none is to choose."""
    try:
        words = served(url)
    except ValueError:  # which somebody else has written there
        return ()
    return () if "FILE" in words else words


def _serve_http(url: str) -> str:
    """Return the command that begins a server where the hooks are sent, if it can be here."""
    words = opened_at(url)
    return commands.crabhook("serve", *words) if words else ""
