"""What people sign for a strict hook: one form, bound to one invocation, input and reply."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook.statement import (
    SignedTerms,
    SignedVote,
    framed,
    of_call,
    of_reply,
    statement,
    terms_in,
    terms_part,
    ticket_digest,
)

TEAM, DIGEST = bytes(range(32)), bytes(range(32, 64))


def joined(*fields: bytes) -> bytes:
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def test_a_statement_is_these_bytes_and_no_others() -> None:
    ticket = ticket_digest("secret")
    call = of_call(
        team=TEAM, request_id="id-1", ticket=ticket, platform="claude", stance=1, payload=DIGEST
    )
    terms = SignedTerms(
        2, ("@leads", "bob"), not_self=True, step_up=True, after=((600_000, "@all"),)
    )
    vote = SignedVote(
        verdict="allow",
        card=12,
        terms=terms_part((terms, terms)),
        operator="o-ann",
        key="d-ann",
        signed_at_ms=1_700_000_000_123,
    )
    step = joined((600_000).to_bytes(8, "big"), b"@all")
    wanted = joined(b"\0\x02", b"\x03", joined(b"@leads", b"bob"), joined(step))
    fields = (
        *(b"crabhook-decision-v1", TEAM, b"id-1", digest(b"crabhook-ticket\0secret")),
        *(b"claude", b"\x01", DIGEST, digest(b"out"), digest(b"err"), b"\0\0\0\x02"),
        *(b"allow", (12).to_bytes(8, "big"), joined(wanted), b"o-ann", b"d-ann"),
        (1_700_000_000_123).to_bytes(8, "big"),
    )
    expected = joined(*fields)
    assert statement(call, of_reply(b"out", b"err", 2), vote) == expected


@given(st.lists(st.binary(max_size=8), max_size=4), st.lists(st.binary(max_size=8), max_size=4))
def test_different_fields_never_give_the_same_bytes(left: list[bytes], right: list[bytes]) -> None:
    assert (framed(*left) == framed(*right)) == (left == right)


NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
STEPS = st.tuples(st.integers(0, 2**40), NAMES)
TERMS = st.builds(
    SignedTerms,
    st.integers(0, 0xFFFF),
    st.lists(NAMES, max_size=3).map(tuple),
    not_self=st.booleans(),
    step_up=st.booleans(),
    after=st.lists(STEPS, max_size=2).map(tuple),
)


def values(terms: SignedTerms) -> tuple[object, ...]:
    return terms.need, terms.of, terms.not_self, terms.step_up, terms.after


@given(st.lists(TERMS, max_size=4))
def test_what_is_written_of_terms_is_read_again_each_once(terms: list[SignedTerms]) -> None:
    read = [values(each) for each in terms_in(terms_part(terms))]
    assert read == list(dict.fromkeys(map(values, terms)))


@given(
    st.binary(max_size=40)
    | st.lists(st.binary(max_size=9), max_size=4).map(lambda it: framed(framed(*it)))
)
def test_other_bytes_are_no_terms_or_are_read_as_the_bytes_of_those(part: bytes) -> None:
    try:
        read = list(terms_in(part))
    except ValueError:
        return
    assert set(map(values, terms_in(terms_part(read)))) == set(map(values, read))
