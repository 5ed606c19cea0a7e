"""What people sign for a strict hook: one form, bound to one invocation, input and reply."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook.statement import (
    SignedVote,
    framed,
    of_call,
    of_reply,
    statement,
    ticket_digest,
)

TEAM, DIGEST = bytes(range(32)), bytes(range(32, 64))


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def test_a_statement_is_these_bytes_and_no_others() -> None:
    ticket = ticket_digest("secret")
    call = of_call(
        team=TEAM, request_id="id-1", ticket=ticket, platform="claude", stance=1, payload=DIGEST
    )
    vote = SignedVote(
        verdict="allow",
        card=12,
        votes=2,
        operator="o-ann",
        key="d-ann",
        signed_at_ms=1_700_000_000_123,
    )
    fields = (
        *(b"crabhook-decision-v1", TEAM, b"id-1", digest(b"crabhook-ticket\0secret")),
        *(b"claude", b"\x01", DIGEST, digest(b"out"), digest(b"err"), b"\0\0\0\x02"),
        *(b"allow", (12).to_bytes(8, "big"), b"\0\x02", b"o-ann", b"d-ann"),
        (1_700_000_000_123).to_bytes(8, "big"),
    )
    expected = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    assert statement(call, of_reply(b"out", b"err", 2), vote) == expected


@given(st.lists(st.binary(max_size=8), max_size=4), st.lists(st.binary(max_size=8), max_size=4))
def test_different_fields_never_give_the_same_bytes(left: list[bytes], right: list[bytes]) -> None:
    assert (framed(*left) == framed(*right)) == (left == right)
