"""What a server says of its page where it begins: for whom it is, and what comes next."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from crabhook.config import Settings
from crabhook.server.address import TcpAddress
from crabhook.team.membership import Team, TeamRefusal
from crabhook.team.web_enrolling import is_name, is_this_machine


def has_tls(settings: Settings, place: TcpAddress) -> bool:
    """Whether the page has TLS of its own: with a certificate of the settings, and beyond loopback.

    On this machine's own names a browser needs none, and a proxy on it brings its own.
    """
    return settings.tls_cert is not None or not place.loopback


def named_page(name: str, port: int, *, tls: bool) -> str:
    """Return the page's address by a name, which may have a port, as of a proxy."""
    host, _, other = name.partition(":")
    if not tls and is_this_machine(host):
        # A browser needs no TLS, and so no proxy, to the machine where it runs.
        return f"http://{host}:{other or port}"
    # Without TLS of our own a proxy has it, at the usual port.
    number = other or (str(port) if tls else "")
    return f"https://{host}:{number}" if number not in ("", "443") else f"https://{host}"


def reaches_phones(page: str) -> bool:
    """Whether a phone that reaches the page could make a passkey there: it has TLS and a name."""
    parts = urlsplit(page)
    host = parts.hostname or ""
    return parts.scheme == "https" and is_name(host) and not is_this_machine(host)


def invites(team: Team | TeamRefusal) -> str:
    """Return the command that lets the first browser in; empty where the team has a passkey."""
    members = team.members if isinstance(team, Team) else ()
    if any(member.passkeys for member in members):
        return ""
    name = members[0].name if len(members) == 1 else "NAME"
    return f"crabhook team invite {name} --web"


def page_words(page: str, team: Team | TeamRefusal) -> Iterator[str]:
    """Yield what a person has to know of the page."""
    yield f"The page: {page}"
    if not reaches_phones(page):
        yield "A phone cannot use it so: `crabhook doctor web` says what is missing."
    if command := invites(team):
        yield f"No phone and no browser is in the team yet: `{command}` lets one in."
