"""Asks a server whether it is there, by the hook's own client, without asking it anything.

The request names a platform that no server knows.  A server looks at the
token first and at the platform next, and refuses: before there is an event,
so that nothing is shown, recorded or decided.  What it says then names the
platforms it does know, so it also tells whether it knows this agent.
"""

import re
from copy import copy
from dataclasses import dataclass
from time import monotonic

from crabhook.hook.client import Options, Request, Unanswered

NO_PLATFORM = "crabhook-doctor"
"""A platform that no server has, and none will ever have."""

WITHIN = 6.0  # seconds, one more than the client gives a server to greet it

_REFUSED = 3  # gRPC's INVALID_ARGUMENT
_TOKEN = 16  # its UNAUTHENTICATED
_KNOWN = re.compile(r"known: ([\w, -]+)")


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
    began = monotonic()
    try:
        Request(asking).ask(b"")
    except Unanswered as error:
        known = _KNOWN.search(str(error))
        return Answer(
            there=error.status == _REFUSED and known is not None,
            no_token=error.status == _TOKEN,
            kind=error.kind,
            words=str(error),
            platforms=tuple(known[1].split(", ")) if known else (),
            seconds=monotonic() - began,
        )
    words = f"{options.server}: it answers what no crabhook server answers"
    return Answer(False, False, "foreign", words, (), monotonic() - began)  # noqa: FBT003 - as above
