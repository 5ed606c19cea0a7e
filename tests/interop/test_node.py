"""A client in another language, written from docs/reference/wire.md alone, hears every decision whole."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.model.card import FeedEntry
from crabhook.model.decision import Decision, Verdict
from crabhook.server.address import TcpAddress
from crabhook.server.core import runner as runner_module
from tests.support import node
from tests.support.client import sample
from tests.support.mortal import MortalServer
from tests.support.node import NodeClient
from tests.support.plain_desk import PlainDesk
from tests.support.port import Opened, opened
from tests.support.seat import decide

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

TWO_MB = 2 << 20
WIRE = Path(__file__).parents[2] / "docs" / "reference" / "wire.md"


@pytest.fixture(autouse=True)
def _installed() -> None:
    node.insist()


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


def started(desk: PlainDesk, name: str, **changes: Any) -> tuple[NodeClient, int]:
    """A client that asks with this recorded input, and the number of its card."""
    client = NodeClient(desk.address, sample(name, session_id=f"node {name}", **changes))
    tool = json.loads(sample(name))["tool_name"]
    return client, desk.card(tool)


def test_an_allow_is_heard_with_the_input_that_was_approved(desk: PlainDesk) -> None:
    client, number = started(desk, "PreToolUse-Bash")
    desk.say(f"{number} allow mind the gap")
    answer = client.answer()
    assert answer["permission_decision"] == "allow"
    assert answer["additional_context"] == "mind the gap"
    assert (
        json.loads(answer["updated_input_json"])
        == json.loads(sample("PreToolUse-Bash"))["tool_input"]
    )
    assert not {"hook_specific_output_json", "other_output_json"} & set(answer)
    desk.wait_for(rf"^#{number} delivered")


def test_a_denial_is_heard_with_its_reason(desk: PlainDesk) -> None:
    client, number = started(desk, "PreToolUse-Bash")
    desk.say(f"{number} deny no, é")
    answer = client.answer()
    assert answer["permission_decision"] == "deny"
    assert answer["permission_decision_reason"] == "no, é"
    assert "updated_input_json" not in answer
    desk.wait_for(rf"^#{number} delivered")


def test_what_is_kept_by_the_agent_is_heard_as_fields_and_whole(desk: PlainDesk) -> None:
    client, number = started(desk, "PermissionRequest-Write")
    desk.say(f"{number} always 1")
    answer = client.answer()
    assert answer["behavior"] == "allow"
    (update,) = answer["updated_permissions"]
    offered = json.loads(sample("PermissionRequest-Write"))["permission_suggestions"][0]
    assert json.loads(update.pop("json")) == offered
    assert {key: value for key, value in update.items() if value} == offered


def test_a_denial_that_ends_the_turn_is_heard(desk: PlainDesk) -> None:
    client, number = started(desk, "PermissionRequest-Bash")
    desk.say(f"{number} deny --interrupt stop here")
    answer = client.answer()
    assert (answer["behavior"], answer["message"], answer["interrupt"]) == (
        "deny",
        "stop here",
        True,
    )


def test_that_the_hook_shall_not_be_shown_is_heard(desk: PlainDesk) -> None:
    client, number = started(desk, "PreToolUse-Bash")
    desk.say(f"{number} quiet")
    desk.say(f"{number} deny no")
    answer = client.answer()
    assert (answer["permission_decision"], answer["suppress_output"]) == ("deny", True)


def test_no_opinion_has_no_field_that_could_be_taken_for_an_allow(desk: PlainDesk) -> None:
    client, number = started(desk, "PreToolUse-Bash")
    desk.say(f"{number} pass")
    assert set(client.answer()) - {"confirm"} == {"reply"}


def test_a_client_finds_its_place_again_after_the_server_was_killed() -> None:
    with MortalServer() as server:
        server.start()
        client = NodeClient(server.address, sample("PreToolUse-Bash"))
        server.hears("#1 PreToolUse")
        server.kill()
        server.start()
        server.hears("#1 PreToolUse", times=2)
        server.say("1 deny after all")
        lines = client.lines()
        server.hears("#1 delivered")
    assert "lost" in [key for line in lines for key in line]
    assert lines[-1]["answer"]["permission_decision_reason"] == "after all"


# What is long.


async def asked(
    port: Opened, payload: bytes, decision: Decision, **options: Any
) -> list[dict[str, Any]]:
    """Have a client ask over TCP and be answered; return what it printed."""
    client = await asyncio.to_thread(
        NodeClient, str(port.bound[0]), payload, token="t0ken", **options
    )
    (card,) = await port.waiting()
    decide(port.runner, card.number, decision)
    return await asyncio.to_thread(client.lines)


def tcp() -> Any:
    return opened(TcpAddress("127.0.0.1", 0), token="t0ken")


def big_write(letter: str) -> tuple[bytes, dict[str, str]]:
    """A Write of two megabytes, and the operator's change of it."""
    content = letter * (TWO_MB // len(letter.encode()))
    payload = sample("PreToolUse-Write", tool_input={"file_path": "/tmp/x", "content": content})
    return payload, {"file_path": "/tmp/y", "content": f"{content}!"}


@pytest.mark.parametrize("letter", ["x", "ж"])
@pytest.mark.parametrize("edited", [False, True], ids=["as it came", "edited"])
async def test_an_allow_of_two_megabytes_is_heard_whole_within_the_usual_limit(
    letter: str, *, edited: bool
) -> None:
    payload, changed = big_write(letter)
    updated = changed if edited else None
    async with tcp() as port:
        lines = await asked(port, payload, Decision(Verdict.ALLOW, updated_input=updated))
        await port.until(lambda: port.runner.broker.card(1).delivered is True)
    answer = lines[-1]["answer"]
    assert answer["permission_decision"] == "allow"
    expected = changed if edited else json.loads(payload)["tool_input"]
    assert json.loads(answer["updated_input_json"]) == expected


@pytest.mark.parametrize("letter", ["x", "ж"])
async def test_an_answer_that_a_client_cannot_take_is_said_in_words_and_comes_when_asked_for_again(
    letter: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runner_module, "RECEIPT_WITHIN", 1.0)
    caplog.set_level(logging.INFO)
    payload, _ = big_write(letter)
    every_form = {"answer_form": "ANSWER_FORM_UNSPECIFIED"}
    async with tcp() as port:
        lines = await asked(port, payload, Decision(Verdict.ALLOW), event=every_form)
        assert lines[-1]["status"] == "RESOURCE_EXHAUSTED"
        await port.until(lambda: port.runner.broker.card(1).delivered is False)
        feed = [entry.text for entry in port.news if isinstance(entry, FeedEntry)]
        assert any("NOT DELIVERED, the hook did not take it" in text for text in feed)
        assert not [record for record in caplog.records if record.exc_info]
    async with tcp() as port:
        again = {"larger": 4 << 20, "then": "ANSWER_FORM_FIELDS", "event": every_form}
        lines = await asked(port, payload, Decision(Verdict.ALLOW), **again)
        assert lines[-1]["answer"]["permission_decision"] == "allow"
        await port.until(lambda: port.runner.broker.card(1).delivered is True)


def test_the_program_reads_no_field_that_the_page_does_not_name() -> None:
    page, program = WIRE.read_text(encoding="utf-8"), node.PROGRAM.read_text(encoding="utf-8")
    sent = set(
        re.findall(
            r"^    (\w+):", program.split("const request = {")[1].split("};")[0], re.MULTILINE
        )
    )
    assert {"platform", "stance", "when_lost", "wait_ms", "answer_form", "payload"} == sent
    for name in (*sent, "request_id", "secret", "confirm", "ConfirmReply", "authorization"):
        assert name in page, name
