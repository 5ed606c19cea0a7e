"""Asks a server whether it is there, as a hook would, without asking it anything.

By the hook's own client the request names a platform that no server knows.  By HTTP its body is
not JSON.  A server looks at the token first and at that next, and refuses before there is an
event: nothing is recorded or decided.  Where the token is wrong, the desk shows that a hook came
without it.  The refusal of a platform names the platforms that the server knows, and so tells
whether it knows this agent.
"""

import re
import ssl
from copy import copy
from dataclasses import dataclass
from enum import Enum
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from urllib.parse import urlsplit

from crabhook.hook import Options, Unanswered
from crabhook.hook.client import Request
from crabhook.platforms.claude.write import PATH

NO_PLATFORM = "crabhook-doctor"
"""A platform that no server has, and none will ever have."""

WITHIN = 6.0  # seconds, one more than the client gives a server to greet it

_REFUSED = 3  # gRPC's INVALID_ARGUMENT
_TOKEN = 16  # its UNAUTHENTICATED
_KNOWN = re.compile(r"known: ([\w, -]+)")

_NO_JSON, _REFUSES_TOKEN = 415, 401


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking.

    `there`: a crabhook server refused as it should.  `no_token`: it is there
    and wants another token.  `kind` is the client's word for what went wrong
    otherwise, `words` tell it.  `platforms` are those the server knows, none
    where it does not say.  `seconds`: how long all of it took.
    """

    there: bool
    no_token: bool
    kind: str
    words: str
    platforms: tuple[str, ...]
    seconds: float


def ask(options: Options) -> Answer:
    """Ask the server that a hook with these options would ask."""
    asking = copy(options)
    asking.platform, asking.wait, asking.reconnect = NO_PLATFORM, WITHIN, 0.0
    began, status, kind = monotonic(), None, "foreign"
    words = f"{options.server}: {Knock.FOREIGN.value}"
    try:
        Request(asking).ask(b"")
    except Unanswered as error:
        status, kind, words = error.status, error.kind, str(error)
    known = _KNOWN.search(words) if status == _REFUSED else None
    return Answer(
        there=known is not None,
        no_token=status == _TOKEN,
        kind=kind,
        words=words,
        platforms=tuple(known[1].split(", ")) if known else (),
        seconds=monotonic() - began,
    )


class Knock(Enum):
    """What came of asking."""

    FITS = "it answers, and takes the token"
    NO_TOKEN = "it answers, and wants another token"  # noqa: S105 - no password
    FOREIGN = "it answers what no crabhook server answers"
    NOBODY = "nobody answers"


def knock(url: str, token: str, ca: str = "") -> tuple[Knock, str]:
    """Ask the server at `url` whether it takes the token; `ca` is a file of certificates.

    Return what came of asking, and the words that the server or the system said.
    """
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
        return Knock.NOBODY, str(error)
    if not said.startswith("crabhook: "):
        return Knock.FOREIGN, f"status {answer.status}"
    known = {_NO_JSON: Knock.FITS, _REFUSES_TOKEN: Knock.NO_TOKEN}
    return known.get(answer.status, Knock.FOREIGN), said.removeprefix("crabhook: ")
