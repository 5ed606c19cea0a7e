"""A hook that its agent sends by HTTP: what it says of itself, and whether its server takes it.

The server is asked with a body that is not JSON: it looks at the token first
and at that next, and refuses before there is an event: nothing is recorded or
decided, and shown alone that somebody came without the token, where it is wrong.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from crabhook.model.document import Json
from crabhook.model.request import Stance
from crabhook.platforms.claude.settings import is_ours
from crabhook.platforms.claude.write import PATH, STANCE, WAIT

WITHIN = 6.0  # seconds
_FITS, _NO_TOKEN = 415, 401


class Knock(Enum):
    """What came of asking."""

    FITS = "it answers, and takes the token"
    NO_TOKEN = "it answers, and wants another token"  # noqa: S105 - no password
    FOREIGN = "it answers what no crabhook server answers"
    NOBODY = "nobody answers"


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of asking, and the words of whoever said so."""

    knock: Knock
    words: str = ""


def url_of(handler: Mapping[str, Json]) -> str:
    """Return where a handler of ours sends to; nothing where it starts a program."""
    url = handler.get("url") if is_ours(dict(handler)) else None
    return url if isinstance(url, str) else ""


def arguments(handler: Mapping[str, Json]) -> tuple[str, ...]:
    """Return what our client would be told where it were started in the place of this handler."""
    headers = handler.get("headers")
    said = headers if isinstance(headers, dict) else {}
    named = {name.lower(): value for name, value in said.items() if isinstance(value, str)}
    words: list[str] = []
    if named.get(STANCE.lower()) == Stance.COMPANION:
        words.append("--companion")
    if wait := named.get(WAIT.lower()):
        words += ["--wait", wait]
    if handler.get("onFailure") == "block":
        words += ["--when-unreachable", "deny", "--when-lost", "deny"]
    return tuple(words)


def knock(url: str, token: str, ca: str = "") -> Heard:
    """Ask the server at `url` whether it takes the token; `ca` is a file of certificates."""
    line: HTTPConnection
    try:
        parts = urlsplit(url)
        if parts.scheme == "https":
            trust = ssl.create_default_context(cafile=ca or None)
            line = HTTPSConnection(parts.netloc, timeout=WITHIN, context=trust)
        else:
            line = HTTPConnection(parts.netloc, timeout=WITHIN)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}
        try:
            line.request("POST", parts.path or PATH, b"", headers)
            answer = line.getresponse()
            said = answer.read(200).decode("ascii", "replace").strip()
        finally:
            line.close()
    except (OSError, HTTPException, ValueError) as error:
        return Heard(Knock.NOBODY, str(error))
    if not said.startswith("crabhook: "):
        return Heard(Knock.FOREIGN, f"status {answer.status}")
    known = {_FITS: Knock.FITS, _NO_TOKEN: Knock.NO_TOKEN}
    return Heard(known.get(answer.status, Knock.FOREIGN), said.removeprefix("crabhook: "))
