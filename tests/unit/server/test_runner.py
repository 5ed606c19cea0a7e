"""The runner: a clock and connections around the broker."""

import asyncio
import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.broker.effects import Refusal
from crabhook.broker.states import State
from crabhook.model.event import Event
from crabhook.model.request import Origin
from crabhook.platforms import PLATFORMS
from crabhook.server import runner as module
from crabhook.server.runner import Place, RefusedError, Runner
from tests.support.playbook import ALLOW, DENY, asking, bash, is_allow


def enter(runner: Runner, ticket: str = "a", wait: float = 60.0, **how: str) -> Place:
    return runner.enter(bash(ticket, "ls", f"id of {ticket}", wait=runner.now() + wait, **how))


async def test_a_hook_waits_until_the_operator_decides() -> None:
    runner = Runner(PLATFORMS)
    place = enter(runner)
    assert not place.reply.done()
    card = runner.answer(1, ALLOW)
    assert card.state is State.DECIDED
    assert is_allow(await place.wait())
    assert place.confirm
    runner.close()


async def test_the_clock_wakes_the_broker() -> None:
    runner = Runner(PLATFORMS)
    late, soon = enter(runner, "late", 60.0), enter(runner, "soon", 0.02)
    async with asyncio.timeout(5):
        with pytest.raises(RefusedError) as refused:
            await soon.wait()
    assert refused.value.refusal is Refusal.UNDECIDED
    assert not late.reply.done()
    runner.close()


async def test_a_hook_that_is_cancelled_leaves() -> None:
    runner = Runner(PLATFORMS)
    hook = asyncio.ensure_future(enter(runner).wait())
    await asyncio.sleep(0)
    hook.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hook
    assert not runner.waiting()
    assert runner.card(1).state is State.WITHDRAWN  # type: ignore[union-attr]
    assert "places=0" in repr(runner)


async def test_a_lost_place_is_refused_and_a_stolen_ticket_at_once() -> None:
    runner = Runner(PLATFORMS)
    old, _ = enter(runner), enter(runner)
    with pytest.raises(RefusedError) as refused:
        await old.wait()
    assert refused.value.refusal is Refusal.SUPERSEDED
    with pytest.raises(RefusedError) as refused:
        enter(runner, secret="guess")
    assert refused.value.refusal is Refusal.NOT_YOURS
    old.leave()
    assert len(runner.waiting()) == 1
    runner.close()


async def test_an_observed_event_has_its_reply_at_once() -> None:
    runner = Runner(PLATFORMS)
    place = runner.enter(asking("a", "Notification", wait=60))
    assert place.reply.done()
    assert not place.confirm
    assert [entry.event.name for entry in runner.feed()] == ["Notification"]


async def test_the_receipt_settles_whether_it_was_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RECEIPT_WITHIN", 0.02)
    runner = Runner(PLATFORMS)
    told = asyncio.Event()
    runner.subscribe(lambda news: told.set() if getattr(news, "delivered", None) is False else None)
    for ticket in ("a", "b", "c"):
        enter(runner, ticket)
    runner.answer(1, DENY)
    runner.answer(2, DENY)
    assert not runner.confirm("a", "guess")
    assert not runner.confirm("c", "secret of c")
    assert runner.confirm("a", "secret of a")
    assert runner.card(1).delivered  # type: ignore[union-attr]
    async with asyncio.timeout(5):
        await told.wait()
    assert runner.card(2).delivered is False  # type: ignore[union-attr]
    assert not runner.confirm("b", "secret of b")
    runner.close()


async def test_a_closed_runner_gives_no_opinion_to_all() -> None:
    runner = Runner(PLATFORMS)
    before = enter(runner)
    runner.close()
    after = enter(runner, "b")
    for place in (before, after):
        assert not (await place.wait()).stdout
    assert not runner.waiting()


async def test_a_receipt_still_counts_after_closing() -> None:
    runner = Runner(PLATFORMS)
    enter(runner)
    runner.answer(1, ALLOW)
    runner.close()
    assert runner.confirm("a", "secret of a")
    assert runner.card(1).delivered  # type: ignore[union-attr]


async def test_a_screen_that_fails_harms_neither_agents_nor_other_screens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runner = Runner(PLATFORMS)
    seen: list[object] = []

    def broken(news: object) -> None:
        raise RuntimeError("a fault")

    runner.subscribe(broken)
    stop = runner.subscribe(seen.append)
    with caplog.at_level(logging.ERROR):
        enter(runner)
    assert "a screen failed" in caplog.text
    assert len(seen) == 1
    stop()
    runner.answer(1, ALLOW)
    assert len(seen) == 1
    runner.close()


async def test_something_nobody_asked_about_can_be_shown() -> None:
    runner = Runner(PLATFORMS)
    seen: list[object] = []
    runner.subscribe(seen.append)
    runner.observe(Event("claude", "?", fields={"a": 1}), "unreadable")
    (entry,) = seen
    assert (entry.text, entry.event.fields) == ("unreadable", {})  # type: ignore[attr-defined]


async def test_a_screen_may_answer_while_it_is_told() -> None:
    runner = Runner(PLATFORMS)
    runner.subscribe(
        lambda news: runner.answer(1, ALLOW) if getattr(news, "state", "") == "waiting" else None  # type: ignore[arg-type]
    )
    assert is_allow(await enter(runner).wait())
    runner.close()


async def test_an_agents_last_words_are_read_from_its_transcript(tmp_path: Path) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Because."}]}}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps(said) + "\n")
    asked = bash("a", "ls", "id", wait=1e9)
    fields = {"transcript_path": str(transcript)}
    here = Origin(host=os.uname().nodename)
    runner = Runner(PLATFORMS)
    runner.enter(replace(asked, event=replace(asked.event, fields=fields), origin=here))
    async with asyncio.timeout(5):
        while runner.last_words(1) is None:  # noqa: ASYNC110 - as the screen asks
            await asyncio.sleep(0.005)
    assert runner.last_words(1) == "Because."
    assert runner.last_words(2) == ""
    runner.close()
