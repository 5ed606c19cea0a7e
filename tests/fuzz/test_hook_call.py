"""The hook's frame reader under anything a peer may send: its own exception, or nothing."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.hook.call import HookCall
from crabhook.hook.huffman import read
from crabhook.hook.wire import MalformedBytes, read_headers, read_reply
from tests.support.examples import examples
from tests.unit.hook.test_call import (
    ACCEPTED,
    HEADERS,
    SETTINGS,
    answer,
    block,
    ending,
    frame,
    head,
)

PAYLOADS = st.one_of(
    st.binary(max_size=40),
    st.just(block(*ACCEPTED)),
    st.just(block(*ACCEPTED, squeeze=True)),
    st.just(block(("grpc-status", "0"))),
    st.just(answer(b"yes")),
    st.integers(0, 2**32 - 1).map(lambda number: number.to_bytes(4, "big")),
    st.tuples(st.integers(0, 8), st.integers(0, 2**32 - 1)).map(
        lambda pair: pair[0].to_bytes(2, "big") + pair[1].to_bytes(4, "big")
    ),
    st.integers(0, 20_000).map(bytes),
)
FRAMES = st.builds(
    frame,
    st.one_of(st.integers(0, 10), st.integers(0, 255)),
    st.one_of(st.sampled_from([0, 1, 4, 5, 8, 32]), st.integers(0, 255)),
    st.one_of(st.sampled_from([0, 1]), st.integers(0, 2**32 - 1)),
    PAYLOADS,
)
GOOD = st.sampled_from([frame(SETTINGS), head(*ACCEPTED), frame(0, 0, 1, answer(b"yes")), ending()])
TALK = st.one_of(
    st.binary(max_size=300).map(lambda garbage: [garbage]),
    st.lists(st.one_of(FRAMES, GOOD), max_size=12).map(lambda frames: [frame(SETTINGS), *frames]),
    st.lists(st.one_of(FRAMES, GOOD), max_size=8).map(
        lambda frames: [frame(SETTINGS), head(*ACCEPTED), *frames]
    ),
)
BOUND = 17 << 10 << 4  # far more than a frame, a block and a backlog together


@examples(400)
@given(pieces=TALK, step=st.integers(1, 64), whole=st.booleans(), size=st.integers(0, 100_000))
def test_whatever_a_peer_says_is_taken_in_or_is_malformed(
    *, pieces: list[bytes], step: int, whole: bool, size: int
) -> None:
    call = HookCall(HEADERS, bytes(size))
    talk = b"".join(pieces)
    step = len(talk) or 1 if whole else step
    sent = 0
    with contextlib.suppress(MalformedBytes):
        for at in range(0, min(len(talk), 20_000 if not whole else len(talk)), step):
            call.feed(talk[at : at + step])
            sent += len(call.take())
    if call.status == 0:
        assert call.accepted
        assert call.greeted
    assert len(call._inbound) + len(call._outbound) + len(call._block or b"") < BOUND
    assert sent <= size + 100_000


@examples(200)
@given(behind=TALK, later=TALK, stream=st.sampled_from([1, 3]))
def test_whatever_follows_an_answer_neither_changes_it_nor_answers_the_next(
    *, behind: list[bytes], later: list[bytes], stream: int
) -> None:
    call = HookCall(HEADERS, b"question")
    call.feed(frame(SETTINGS) + head(*ACCEPTED) + frame(0, 0, 1, answer(b"yes")) + ending())
    call.feed(b"".join(behind))
    assert (call.status, call.message) == (0, b"yes")
    with contextlib.suppress(MalformedBytes):
        call.again(HEADERS, b"more")
        for piece in later:
            call.feed(piece)
            call.take()
        call.feed(head(*ACCEPTED, stream=stream) + ending(8, stream=stream))
    # Answered on its own stream, which nothing in the talk is on, or ended without an answer.
    assert call.message == b""
    assert call.status != 0
    assert len(call._outbound) + len(call._block or b"") < BOUND


@settings(deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=4), st.data())
def test_an_answer_cut_off_anywhere_is_no_answer(parts: list[bytes], data: st.DataObject) -> None:
    message = b"".join(parts)
    talk = frame(SETTINGS) + head(*ACCEPTED) + frame(0, 0, 1, answer(message)) + ending()
    call = HookCall(HEADERS, b"")
    call.feed(talk[: data.draw(st.integers(0, len(talk) - 1))])
    assert call.status is None
    assert call.message == b""


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_no_header_block_is_an_accident(garbage: bytes) -> None:
    for reader in (read_headers, read_reply):
        with contextlib.suppress(MalformedBytes):
            reader(garbage)
    with contextlib.suppress(ValueError):
        read(garbage)
