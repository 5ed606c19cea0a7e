"""Our entries for Claude Code that start no process: it sends the hook's input itself.

The token stays out of the settings, which may be a project's: they name the
variable that Claude Code takes it from.
"""

import re
import shlex
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from crabhook.install.document import Json, Node
from crabhook.install.errors import InstallError
from crabhook.install.events import Patience
from crabhook.model.request import Stance
from crabhook.platforms.claude.write import PATH, STANCE, WAIT

USUAL_ADDRESS = "127.0.0.1:7780"
USUAL_URL = f"http://{USUAL_ADDRESS}"
TOKEN = "CRABHOOK_TOKEN"  # noqa: S105 - the variable's name

NOT_SENT = frozenset({"SessionStart", "Setup"})
"""The events that Claude Code 2.1.330 sends to no HTTP hook."""


def endpoint(text: str) -> str:
    """Return the URL that hooks are sent to, of a server's; raises InstallError for none.

    It is written out whole by whoever reads it again, so that comes to the same.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    plain = parts.scheme in ("http", "https") and host and parts.path in ("", "/", PATH)
    if not plain or parts.username or parts.query or parts.fragment or not text.isascii():
        raise InstallError(f"{text!r} is no server's URL; write one as {USUAL_URL}")
    if parts.scheme == "http" and not _loopback(host):
        raise InstallError(
            f"{text!r} leads to another machine, and the token would go there in the clear; "
            "that takes https, and a server with --tls-cert and --tls-key"
        )
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{f':{port}' if port is not None else ''}{PATH}"


def served(url: str) -> tuple[str, ...]:
    """Return the options of `crabhook serve` that open the door at `url`, with FILE for the files.

    A name other than the loopback's has to be told to the server, or it turns away who uses it.
    Raises ValueError for what is no URL.
    """
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    where = f"[{host}]" if ":" in host else host
    if not tls:
        return ("--http", f"{where}:{port}")
    files = ("--tls-cert", "FILE", "--tls-key", "FILE")
    if _loopback(host):
        return ("--http", f"{where}:{port}", *files)
    name = () if _is_number(host) else ("--http-name", host)
    return ("--http", f"0.0.0.0:{port}", *name, *files)


def export(token_file: str) -> str:
    """Return the command that puts the token in `token_file` where the agent is started."""
    return f'export {TOKEN}="$(cat {shlex.quote(token_file)})"'


def handler(url: str, stance: Stance, patience: Patience, *, closed: bool) -> dict[str, object]:
    """Return the handler that sends an event to `url`; `closed`: where it fails, it denies."""
    entry: dict[str, object] = {
        "type": "http",
        "url": url,
        "headers": {
            "Authorization": f"Bearer ${TOKEN}",
            STANCE: stance.value,
            WAIT: str(patience.client),
        },
        "allowedEnvVars": [TOKEN],
        "timeout": patience.timeout,
    }
    return entry | ({"onFailure": "block"} if closed else {})


def is_ours(entry: Json) -> bool:
    """Say whether a handler sends to a crabhook: its path alone could be anybody's."""
    if not isinstance(entry, dict) or entry.get("type") != "http":
        return False
    url, headers = entry.get("url"), entry.get("headers")
    sent = isinstance(url, str) and url.partition("?")[0].endswith(PATH)
    return sent and isinstance(headers, dict) and STANCE.lower() in map(str.lower, headers)


def switches(document: Node, urls: set[str]) -> Iterator[str]:
    """Name each setting in `document` that keeps hooks from being sent to `urls`."""
    allowed = _texts(document.member("allowedHttpHookUrls"))
    if allowed is not None:
        for url in sorted(urls):
            if not any(_matches(pattern, url) for pattern in allowed):
                yield f"allowedHttpHookUrls in this file does not name {url}: nothing is sent there"
    variables = _texts(document.member("httpHookAllowedEnvVars"))
    if urls and variables is not None and TOKEN not in variables:
        yield f"httpHookAllowedEnvVars in this file does not name {TOKEN}: no token is shown"


def _texts(node: Node | None) -> list[str] | None:
    if node is None or not isinstance(node.value, list):
        return None
    return [text for text in node.value if isinstance(text, str)]


def _matches(pattern: str, url: str) -> bool:
    """Whether a pattern names a URL: `*` stands for anything, and no path for every path."""
    written = ".*".join(map(re.escape, pattern.rstrip("/").split("*")))
    return re.fullmatch(f"{written}(?:/.*)?", url) is not None


def _loopback(host: str) -> bool:
    return host == "localhost" or (_is_number(host) and ip_address(host).is_loopback)


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
