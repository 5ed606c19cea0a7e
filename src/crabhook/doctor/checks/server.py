"""Whether the server answers all hooks, and belongs to its owner alone."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from crabhook import config
from crabhook.doctor.entry import HookEntry
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import (
    Finding,
    chmod_command,
    crabhook_command,
    make_finding,
    move_away_command,
)
from crabhook.doctor.processes import Knock, ServerAnswer, ask, knock
from crabhook.hook import Options
from crabhook.hook.failover import listed
from crabhook.hook.fallback import remedy_of
from crabhook.model.errors import CrabhookError
from crabhook.model.json_source import parse
from crabhook.platforms.sending import TOKEN, export, served
from crabhook.safe_open import read_own
from crabhook.server.address import default_address


def answers(case: Case) -> Iterator[Finding]:
    """Whether each server that the hooks ask is there, admits them, and knows the agent."""
    for entry in case.servers:
        server = entry.options.server
        if not case.may_ask(entry):
            yield make_finding("server.answers", "unasked", case.looking_anyway(), server=server)
            continue
        if len(servers := listed(server)) > 1:
            yield from _of_several(case, entry, servers)
            continue
        answer = ask(entry.asking())
        if not answer.there:
            yield _silent(case, entry, answer)
        else:
            yield _there(case, server, answer, alone=True)


def _of_several(case: Case, entry: HookEntry, servers: Sequence[str]) -> Iterator[Finding]:
    """Yield the state of each server of a list; exactly one must lead."""
    answers = dict[str, ServerAnswer]()
    for server in servers:
        answers[server] = ask(asking(entry, server))
    lead = [server for server, answer in answers.items() if answer.there]
    unasked = _unasked(case, closed=entry.given("--when-unreachable") == "deny")
    for server, answer in answers.items():
        if answer.waits:
            yield make_finding("server.answers", "stands-by", server=server)
        elif not answer.there:
            way = "beside" if lead else "silent"
            advice = "" if answer.no_token else remedy_of(answer.words)
            fillings = {"answer": answer, "lead": " and ".join(lead), "without_answer": unasked}
            yield make_finding("server.answers", way, advice=advice, **fillings)
        else:
            yield _there(case, server, answer, alone=False)
    if not lead and any(answer.waits for answer in answers.values()):
        yield make_finding(
            "server.answers", "none-leads", servers=", ".join(servers), without_answer=unasked
        )
    if len(lead) > 1:
        yield make_finding("server.answers", "apart", lead=" and ".join(lead))


def asking(entry: HookEntry, server: str) -> Options:
    """Return what asks one server of an entry's list, as the entry would."""
    options = entry.asking()
    options.server = server
    options.tls_ca = "" if server.startswith("unix:") else options.tls_ca
    return options


def _there(case: Case, server: str, answer: ServerAnswer, *, alone: bool) -> Finding:
    """Return the state of a server that admits the hooks, alone or in a list."""
    if case.agent.name not in answer.platforms:
        platforms = ", ".join(answer.platforms)
        return make_finding(
            "server.answers", "older", server=server, platforms=platforms, case=case
        )
    took = 1000 * answer.seconds
    figures = {"answer_ms": round(took, 2)}
    words = {"server": server, "took": took}
    return make_finding("server.answers", "fine" if alone else "leads", "", figures, **words)


def _unasked(case: Case, *, closed: bool) -> str:
    """Return the consequence of a missing server; `closed`: the hook then denies."""
    if closed:
        return "every call that the operator should decide is denied"
    return f"the operator is not asked: {case.title} goes by its own rules alone"


def _of_its_token(case: Case, entry: HookEntry) -> tuple[str, str]:
    """Return the command, or else the advice, for a hook whose token a server refuses."""
    token, named = config.token_file(), entry.given("--token-file")
    if named and Path(named).is_relative_to(config.config_folder() / "servers"):
        return "", (
            "this machine was let into the team, and its token does not count now. If it may come "
            "in, an admin lets it in again with `crabhook team invite NAME --machine`"
        )
    another = token.is_file() and named != str(token)
    if another or not token.is_file():
        mend = case.reinstalling(entry, token_file=str(token)) if another else ""
        return mend, "the server's token file is what --token-file of `crabhook serve` names"
    return "", f"the server began with another token than {token} holds now: restart it"


def _silent(case: Case, entry: HookEntry, answer: ServerAnswer) -> Finding:
    unasked = _unasked(case, closed=entry.given("--when-unreachable") == "deny")
    mend, advice = _serve(case, entry), ""
    if answer.no_token:
        mend, advice = _of_its_token(case, entry)
    elif folder := _open_folder(entry):
        mend = chmod_command("700", folder)
        advice = "a hook asks nobody, and no server begins, in a folder that others can write to"
    elif answer.kind == "options":
        mend, advice = _of_its_options(case, entry)
    elif elsewhere := _elsewhere(entry):
        mend = case.reinstalling(entry, server=elsewhere)
        advice = f"your settings have the server listen on {elsewhere}, where one answers"
    elif not mend:
        advice = remedy_of(answer.words)
    return make_finding(
        "server.answers", "silent", mend, answer=answer, without_answer=unasked, advice=advice
    )


def _of_its_options(case: Case, entry: HookEntry) -> tuple[str, str]:
    """Return the command, or else the advice, for options that the client refuses."""
    name = entry.given("--token-file")
    if name is None:
        return case.reinstalling(entry), ""
    path = Path(name)
    if path.is_file() and path.stat().st_mode & 0o077:
        return chmod_command("600", path), ""
    return "", f"copy the server's token to {path}, with the mode 0600"


def _open_folder(entry: HookEntry) -> Path | None:
    """Return our socket's folder if others may write there."""
    folder = Path(entry.options.server.removeprefix("unix:")).parent
    try:
        status = folder.stat()
    except OSError:
        return None
    ours = entry.options.server.startswith("unix:") and status.st_uid == os.getuid()
    return folder if ours and status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX else None


def _serve(case: Case, entry: HookEntry) -> str:
    """Return the command that begins a server for all hooks, by HTTP too, if possible here."""
    server = entry.options.server
    listen = () if server == str(default_address()) else ("--listen", server)
    if listen and not server.startswith("unix:"):
        return ""
    sent = (opened_at(door.url) for door in case.doors if case.is_own(door))
    return crabhook_command("serve", *listen, *next(filter(None, sent), ()))


def _elsewhere(entry: HookEntry) -> str:
    """Return another address of the owner's settings at which a server answers."""
    with suppress(CrabhookError):
        for address in config.load().listen:
            options, other = Options(), address != entry.options.server
            options.server = address
            if other and address.startswith("unix:") and ask(options).there:
                return address
    return ""


def private_socket(case: Case) -> Iterator[Finding]:
    """Whether the socket and its folder are their owner's alone: who can write there can answer."""
    for entry in case.servers:
        servers = listed(entry.options.server)
        if len(servers) == 1 and entry.options.tls_ca:
            continue
        for server in servers:
            if server.startswith("unix:"):
                path = Path(server.removeprefix("unix:"))
                fine = [make_finding("server.socket", "fine", path=path)]
                there = fine if path.exists() else ()
                yield from list(_open_to_others(case, entry, path)) or there


def _open_to_others(case: Case, entry: HookEntry, path: Path) -> Iterator[Finding]:
    title, above = case.title, path.parent
    try:
        folder, socket = above.lstat(), path.lstat()
    except OSError:
        return  # another finding reports that nobody listens
    elsewhere = case.reinstalling(entry, server=str(default_address()))
    if folder.st_mode & stat.S_ISVTX or folder.st_uid != os.getuid():
        yield make_finding("server.socket", "shared", elsewhere, folder=above, title=title)
    elif folder.st_mode & 0o022:
        mend, mode = chmod_command("700", above), stat.S_IMODE(folder.st_mode)
        yield make_finding("server.socket", "folder", mend, folder=above, mode=mode, title=title)
    if not stat.S_ISSOCK(socket.st_mode):
        yield make_finding("server.socket", "other", move_away_command(path), path=path)
    elif socket.st_uid != os.getuid():
        user = socket.st_uid
        yield make_finding("server.socket", "another", elsewhere, path=path, user=user, title=title)
    elif socket.st_mode & 0o077:
        reachable = "open" if folder.st_mode & 0o011 else "guarded"
        mend, mode = chmod_command("600", path), stat.S_IMODE(socket.st_mode)
        yield make_finding("server.socket", reachable, mend, path=path, mode=mode)


def private_token(case: Case) -> Iterator[Finding]:
    """Whether the token that goes to a server over TCP is there, and its owner's alone."""
    shown = (*case.servers, *case.doors)
    names = dict.fromkeys(entry.given("--token-file") for entry in shown)
    yield from (_token(Path(name)) for name in names if name)


def _token(path: Path) -> Finding:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        return make_finding("server.token", "unreadable", path=path, error=error.strerror)
    if not mode & 0o077:
        return make_finding("server.token", "fine", path=path)
    return make_finding("server.token", "open", chmod_command("600", path), path=path, mode=mode)


def takes(case: Case) -> Iterator[Finding]:
    """Whether each server that hooks are sent to is there, and takes the token they show."""
    for entry in case.doors:
        if not case.is_own(entry):
            yield make_finding("server.http", "unasked", case.looking_anyway(), entry=entry)
            continue
        if named := entry.given("--token-file"):
            yield _told(case, entry, _token_in(Path(named)))
            continue
        shown = token_of(case, entry)
        if not shown:
            mend = export(str(config.token_file()))
            yield make_finding("server.http", "unset", mend, token=TOKEN, title=case.title)
            shown = _token_in(config.token_file())
        yield _told(case, entry, shown)


def _token_in(path: Path) -> str:
    """Return the token in a file; empty where it cannot be read, which another finding reports."""
    with suppress(OSError, UnicodeDecodeError):
        return read_own(path, 8 << 10, links=True).decode("ascii").strip()
    return ""


def token_of(case: Case, entry: HookEntry) -> str:
    """Return the token that the agent sends with an entry's requests; empty where none is set."""
    if named := entry.given("--token-file"):
        return _token_in(Path(named))
    return os.environ.get(TOKEN, "") or _in_settings(case, entry)


def _told(case: Case, entry: HookEntry, shown: str) -> Finding:
    heard, words = knock(entry.url, shown, os.environ.get("NODE_EXTRA_CA_CERTS", ""))
    if heard is Knock.FITS:
        return make_finding("server.http", "fine", entry=entry, heard=heard)
    mend = advice = ""
    if heard is Knock.NO_TOKEN and entry.given("--token-file"):
        mend, advice = _of_its_token(case, entry)
    elif heard is Knock.NO_TOKEN:
        mend = export(str(config.token_file()))
    elif heard is Knock.FOREIGN:
        advice = "another program has that port"
    else:
        options = opened_at(entry.url)
        mend = crabhook_command("serve", *options) if options else ""
        advice = "end a server first that runs already, and was begun without --http"
    if "CERTIFICATE_VERIFY_FAILED" in words and heard is not Knock.FOREIGN:
        advice = (
            "NODE_EXTRA_CA_CERTS has to name the CA's file, here and where the agent is started"
        )
    unasked = _unasked(case, closed=entry.handler.get("onFailure") == "block")
    fillings = {
        "entry": entry,
        "heard": heard,
        "words": words,
        "without_answer": unasked,
        "advice": advice,
    }
    return make_finding("server.http", "refused", mend, **fillings)


def _in_settings(case: Case, entry: HookEntry) -> str:
    """Return the token that the settings give to the agent, if they do."""
    for settings in case.hooked:
        if entry in settings.ours:
            env = parse(settings.text).member("env")
            kept = env.member(TOKEN) if env else None
            return str(kept.value) if kept else ""
    return ""


def opened_at(url: str) -> tuple[str, ...]:
    """Return the options of `crabhook serve` that open the door at `url`, if none is to choose."""
    try:
        words = served(url)
    except ValueError:  # which somebody else has written there
        return ()
    return () if "FILE" in words else words
