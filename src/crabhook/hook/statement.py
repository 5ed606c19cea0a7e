"""The bytes that people sign for a strict hook: what was asked, what the hook prints, who says so.

A hook, a desk, a page and the record write them, each from what it has itself. So a signature fits
one invocation, one input and one reply. Fields are framed and never left out: a statement has one
form (docs/decisions/0059).
"""

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from hashlib import sha256, sha512
else:
    try:
        from _sha2 import sha256, sha512  # hashlib costs a tenth of a start of Python
    except ImportError:
        try:
            from _sha256 import sha256  # Python 3.11
            from _sha512 import sha512
        except ImportError:
            from hashlib import sha256, sha512

__all__ = [
    "DOMAIN",
    "NAMESPACE",
    "SignedTerms",
    "SignedVote",
    "framed",
    "of_call",
    "of_reply",
    "sha256",
    "sha512",
    "statement",
    "terms_in",
    "terms_part",
    "ticket_digest",
    "unframed",
]

DOMAIN = b"crabhook-decision-v1"
NAMESPACE = "decision@crabhook"
"""What `ssh-keygen -Y sign` signs a statement for."""


def framed(*fields: bytes) -> bytes:
    """Return fields one after the other, so that different fields never give the same bytes."""
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def unframed(data: bytes) -> "Iterator[bytes]":
    """Yield the fields that `framed` put one after the other; raise ValueError for other bytes."""
    while data:
        size = int.from_bytes(data[:4], "big")
        if len(data) < 4 + size:
            raise ValueError("a string is longer than what there is")
        yield data[4 : 4 + size]
        data = data[4 + size :]


def ticket_digest(secret: str) -> bytes:
    """Return what a desk may know of a request's secret: enough to tell invocations apart."""
    return sha256(b"crabhook-ticket\0" + secret.encode()).digest()


def of_call(  # noqa: PLR0913 - a statement is bound to all of it
    *, team: bytes, request_id: str, ticket: bytes, platform: str, stance: int, payload: bytes
) -> bytes:
    """Return the part that says what was asked, and by which invocation of a hook.

    `team` is the team's id in 32 bytes, `ticket` is of `ticket_digest`, `stance` the wire's number,
    and `payload` the SHA-256 of the hook's standard input.
    """
    return framed(team, request_id.encode(), ticket, platform.encode(), bytes((stance,)), payload)


def of_reply(stdout: bytes, stderr: bytes, exit_code: int) -> bytes:
    """Return the part that says what the hook prints, by the digests of both streams."""
    digests = sha256(stdout).digest(), sha256(stderr).digest()
    return framed(*digests, exit_code.to_bytes(4, "big"))


class SignedTerms:
    """What one rule, or a hook's own command, asks of the people who sign an allow.

    `need`: how many different people. `of`: names, and groups as `@leads`; empty for everybody who
    decides. `not_self`: the owner of the machine does not count. `step_up`: a passkey or an SSH key
    has to sign. `after`: after so many milliseconds these people count too.
    """

    __slots__ = ("after", "need", "not_self", "of", "step_up")

    def __init__(
        self,
        need: int,
        of: tuple[str, ...] = (),
        *,
        not_self: bool = False,
        step_up: bool = False,
        after: tuple[tuple[int, str], ...] = (),
    ) -> None:
        self.need = need
        self.of = of
        self.not_self = not_self
        self.step_up = step_up
        self.after = after


_NOT_SELF, _STEP_UP = 1, 2


def terms_part(terms: "Iterable[SignedTerms]") -> bytes:
    """Return the part that says who has to sign; terms that are the same stand there once."""
    return framed(*dict.fromkeys(map(_terms, terms)))


def _terms(terms: SignedTerms) -> bytes:
    flags = _NOT_SELF * terms.not_self | _STEP_UP * terms.step_up
    steps = (framed(after.to_bytes(8, "big"), to.encode()) for after, to in terms.after)
    return framed(
        terms.need.to_bytes(2, "big"),
        bytes((flags,)),
        framed(*(name.encode() for name in terms.of)),
        framed(*steps),
    )


def terms_in(part: bytes) -> "Iterator[SignedTerms]":
    """Yield the terms in what `terms_part` returned; raise ValueError for other bytes."""
    for each in unframed(part):
        need, flags, names, steps = unframed(each)
        after = tuple(_step(step) for step in unframed(steps))
        of = tuple(name.decode() for name in unframed(names))
        if len(need) != 2 or flags not in _FLAGS:
            raise ValueError("who has to sign is not written as this version of crabhook does")
        number = flags[0]
        yield SignedTerms(
            int.from_bytes(need, "big"),
            of,
            not_self=bool(number & _NOT_SELF),
            step_up=bool(number & _STEP_UP),
            after=after,
        )


_FLAGS = (b"\0", b"\1", b"\2", b"\3")


def _step(step: bytes) -> tuple[int, str]:
    after, to = unframed(step)
    return int.from_bytes(after, "big"), to.decode()


class SignedVote:
    """Who signs, by which key, when, and for which card.

    `verdict` and `card` are for the record. `terms`: who has to sign an allow of this card, as the
    signer saw it, of `terms_part`. `operator` and `key` are ids in the team's file; an SSH key's id
    is its fingerprint.
    """

    __slots__ = ("card", "key", "operator", "signed_at_ms", "terms", "verdict")

    def __init__(  # noqa: PLR0913 - as on the wire
        self, *, verdict: str, card: int, terms: bytes, operator: str, key: str, signed_at_ms: int
    ) -> None:
        self.verdict = verdict
        self.card = card
        self.terms = terms
        self.operator = operator
        self.key = key
        self.signed_at_ms = signed_at_ms


def statement(call: bytes, reply: bytes, vote: SignedVote) -> bytes:
    """Return what is signed; raise OverflowError for a number that has no place in it."""
    return (
        framed(DOMAIN)
        + call
        + reply
        + framed(
            vote.verdict.encode(),
            vote.card.to_bytes(8, "big"),
            vote.terms,
            vote.operator.encode(),
            vote.key.encode(),
            vote.signed_at_ms.to_bytes(8, "big"),
        )
    )
