"""Whether the server takes the hooks that an agent sends by HTTP."""

import os
from collections.abc import Iterator

from crabhook import config
from crabhook.doctor import commands
from crabhook.doctor.entry import Entry
from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.sent import Heard, Knock, knock
from crabhook.model.document import parse
from crabhook.ownfile import read_own
from crabhook.platforms.claude.settings import TOKEN, export, served

_ID = "server.http"


def takes(case: Case) -> Iterator[Finding]:
    """Whether each server that hooks are sent to is there, and takes the token they show."""
    for one in case.doors:
        if not case.may_send(one):
            what = f"{one.url} was not asked, since the project's settings name it"
            means = "a project may name any server, and it would be shown the token"
            yield Finding(_ID, Status.WARNING, what, means, case.looking_anyway())
            continue
        shown = os.environ.get(TOKEN, "") or _in_settings(case, one)
        if not shown:
            yield Finding(
                _ID,
                Status.WARNING,
                f"{TOKEN} is not set here, nor in the settings",
                f"where {case.title} is started without it, every hook is refused",
                export(str(config.token_file())),
            )
            shown = _own_token()
        yield _told(case, one, shown)


def _told(case: Case, one: Entry, shown: str) -> Finding:
    heard = knock(one.url, shown, os.environ.get("NODE_EXTRA_CA_CERTS", ""))
    if heard.knock is Knock.FITS:
        return Finding(_ID, Status.OK, f"{one.url}: {heard.knock.value}")
    closed = one.handler.get("onFailure") == "block"
    means = (
        "every call that the operator should decide is denied"
        if closed
        else f"the operator is not asked: {case.title} goes by its own rules alone"
    )
    what = f"{one.url}: {heard.knock.value}: {heard.words}"
    mend = ""
    if heard.knock is Knock.NO_TOKEN:
        mend = export(str(config.token_file()))
    elif heard.knock is Knock.NOBODY:
        mend = _serve(one.url)
    return Finding(_ID, Status.FAULT, what, means, mend, _advice(heard))


def _advice(heard: Heard) -> str:
    if heard.knock is Knock.FOREIGN:
        return "another program has that port"
    if "CERTIFICATE_VERIFY_FAILED" in heard.words:
        return "NODE_EXTRA_CA_CERTS has to name the CA's file, here and where the agent is started"
    if heard.knock is Knock.NOBODY:
        return "end a server first that runs already, and was begun without --http"
    return ""


def _in_settings(case: Case, one: Entry) -> str:
    """Return the token that the settings themselves hand to the agent, if they do."""
    for settings in case.hooked:
        if one in settings.ours:
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


def _serve(url: str) -> str:
    """Return the command that begins a server where the hooks are sent, if it can be here."""
    words = opened_at(url)
    return commands.crabhook("serve", *words) if words else ""
