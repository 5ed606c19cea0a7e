"""Hooks that an agent sends itself, over HTTP: where to, with which headers, and by whose token."""

import shlex
from urllib.parse import urlsplit

from crabhook.model.card import number_of
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Json

FOLDER = "/hooks/"
"""Where a server takes HTTP hooks in, each agent's at a path of its own."""
STANCE = "X-Crabhook-Stance"
WAIT = "X-Crabhook-Wait"
"""The headers in which our entries say how they were installed, and how many seconds they wait."""

USUAL_ADDRESS = "127.0.0.1:7780"
USUAL_URL = f"http://{USUAL_ADDRESS}"
TOKEN = "CRABHOOK_TOKEN"  # noqa: S105 - the variable's name


def path_of(agent: str) -> str:
    """Return the path of an agent's hooks."""
    return f"{FOLDER}{agent}"


def endpoint(text: str, agent: str) -> str:
    """Return a server's URL for an agent's hooks; raises InstallError for a wrong URL.

    Its own result stays the same.
    """
    path = path_of(agent)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    plain = parts.scheme in ("http", "https") and host and parts.path in ("", "/", path)
    if not plain or parts.username or parts.query or parts.fragment or not text.isascii():
        raise InstallError(f"{text!r} is no server's URL: write it as {USUAL_URL}")
    if parts.scheme == "http" and not is_loopback(host):
        raise InstallError(
            f"{text!r} leads to another machine, and the token would go there in the clear. "
            "It takes https, and a server with --tls-cert and --tls-key"
        )
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{f':{port}' if port is not None else ''}{path}"


def served(url: str) -> tuple[str, ...]:
    """Return the options of `crabhook serve` that open the HTTP port at `url`; FILE for files.

    A name outside the loopback must be an option too. Raises ValueError for no URL.
    """
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    where = f"[{host}]" if ":" in host else host
    if not tls:
        return ("--http", f"{where}:{port}")
    files = ("--tls-cert", "FILE", "--tls-key", "FILE")
    if is_loopback(host):
        return ("--http", f"{where}:{port}", *files)
    name = () if number_of(host) else ("--http-name", host)
    return ("--http", f"0.0.0.0:{port}", *name, *files)


def export(token_file: str) -> str:
    """Return the command that puts the token in `token_file` where the agent is started."""
    return f'export {TOKEN}="$(cat {shlex.quote(token_file)})"'


def is_sent(entry: Json) -> bool:
    """Say whether a handler sends to a crabhook: its path alone could be anybody's."""
    if not isinstance(entry, dict) or entry.get("type") != "http":
        return False
    url, headers = entry.get("url"), entry.get("headers")
    folder, _, _ = url.partition("?")[0].rpartition("/") if isinstance(url, str) else ("", "", "")
    ours = f"{folder}/".endswith(FOLDER)
    return ours and isinstance(headers, dict) and STANCE.lower() in map(str.lower, headers)


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is this machine's loopback."""
    number = number_of(host)
    return host == "localhost" or (number is not None and number.is_loopback)
