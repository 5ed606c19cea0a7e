"""Every recorded input through the true client, the true server and a true desk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crabhook.model.card import Stance
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from tests.support.client import SAMPLES, Client, sample
from tests.support.examples import share
from tests.support.plain_desk import PlainDesk

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = sorted(file.stem for file in (SAMPLES / "claude").glob("*.json"))


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


@pytest.mark.parametrize("name", share(NAMES, 0))
def test_every_recorded_input_is_answered_in_its_own_words_or_with_silence(
    desk: PlainDesk, name: str
) -> None:
    # A session of its own: two recorded legs of one call would rightly share one decision.
    payload = sample(name, session_id=name)
    event = PLATFORMS["claude"].read(payload)
    client = Client(desk.address, payload)
    if PLATFORMS["claude"].held(event, Stance.GATE) in (Held.ALWAYS, Held.AT_THE_GATE):
        number = int(desk.wait_for(rf"^#(\d+) {event.name} ")[1])
        refusal = "decline" if event.name == "Elicitation" else "deny not today"
        desk.say(f"{number} {refusal}")
        answer = client.finish()
        assert answer.code == 0
        assert answer.output["hookSpecificOutput"]["hookEventName"] == event.name
        assert refusal.split(maxsplit=1)[-1] in answer.stdout.decode()
        desk.wait_for(rf"^#{number} delivered")
    else:
        assert client.finish().silent


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1]", "not an object"),
        (b"{}", "hook_event_name"),
        (b'{"hook_event_name": 7}', "hook_event_name"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "deep"),
        (b'{"hook_event_name":"PreToolUse","n":1e999}', "out of range"),
        (b'{"hook_event_name":"PreToolUse","n":NaN}', "NaN"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else value,
)
def test_an_input_nobody_can_read_gets_no_opinion_and_a_reason(
    desk: PlainDesk, payload: bytes, complaint: str
) -> None:
    answer = Client(desk.address, payload).finish()
    assert answer.silent
    assert complaint in answer.stderr


def test_an_unknown_event_passes_through(desk: PlainDesk) -> None:
    payload = {"hook_event_name": "Teleport", "session_id": "s", "beam": {"up": [1, None]}}
    assert Client(desk.address, json.dumps(payload).encode()).finish().silent
    desk.wait_for("Teleport")


def test_an_input_past_the_bound_is_not_sent(desk: PlainDesk) -> None:
    answer = Client(desk.address, b" " * ((32 << 20) + 1)).finish()
    assert answer.silent
    assert "32 MiB" in answer.stderr


def test_an_input_of_many_megabytes_arrives_whole(desk: PlainDesk) -> None:
    text = "x" * (10 << 20)
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Write"}
    payload = event | {"tool_input": {"file_path": "/f", "content": text}, "tool_use_id": "t"}
    client = Client(desk.address, json.dumps(payload).encode())
    desk.say(f"{desk.card('Write')} allow")
    assert client.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
