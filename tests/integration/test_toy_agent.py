"""An agent is one folder: one that is registered by its one line passes through the whole house."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.cli import main
from crabhook.doctor.examination import cases, examine
from crabhook.doctor.facts import DoctorTask
from crabhook.lint.linting import lint
from crabhook.lint.rules import TODAY
from crabhook.model.card import Card, Leg
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import AGENTS, PLATFORMS
from crabhook.platforms.interface import ScriptedSession
from crabhook.policy.calls.parts import CallKind, kind_of
from crabhook.present.card import card_document
from crabhook.present.safe import safe
from crabhook.server.address import Tokens, UnixAddress
from crabhook.server.grpc.listener import open_port
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.metrics.tally import labels_of
from crabhook.store.opening import open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from crabhook.ui.full.panes.request import everything_rows
from crabhook.ui.full.panes.rows import CardRow, WordsOfCards
from crabhook.ui.plain.output import PROGRAMS
from crabhook.ui.text.layout import Sheet
from crabhook.vocabulary import vocabulary
from tests.support.client import Client
from tests.support.ledger import Ledger
from tests.support.port import Opened, short_folder
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crabhook.model.event import Event

SHEET = Sheet(78, safe)
QUESTIONS = {"questions": [{"question": "Which colour?", "options": [{"label": "Red"}]}]}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The one registration."""
    with monkeypatch.context() as patched:
        patched.setitem(AGENTS, "toy", "tests.support.toyagent")
        vocabulary.cache_clear()
        yield
    vocabulary.cache_clear()


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with short_folder() as folder:
        (folder / "project").mkdir()
        for name in ("HOME", "XDG_RUNTIME_DIR"):
            monkeypatch.setenv(name, str(folder))
        monkeypatch.chdir(folder / "project")
        yield folder


def said(name: str, tool: str = "", tool_input: Any = None, **fields: Any) -> bytes:
    """An input of the toy's hook."""
    called = {"tool_name": tool, "tool_input": tool_input} if tool else {}
    event = {"hook_event_name": name, "session_id": "s1", "cwd": "/toys", **called, **fields}
    return json.dumps(event).encode()


def _card(event: Event) -> Card:
    """A card as the broker makes it of one request."""
    request = Leg("r", event, wait_until=600.0)
    return Card(7, (request,), asked_at=0.0, choices=PLATFORMS["toy"].choices(event))


def full_desk(card: Card) -> str:
    return "\n".join(
        "".join(text for _, text in line) for line in everything_rows(card_document(card), SHEET)
    )


def test_its_hooks_are_written_and_taken_away_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = home / ".toy" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"colour": 1.0}\n')
    assert main(["install", "toy", "--server", f"unix:{home}/s"]) == 0
    written = json.loads(settings.read_text())
    assert list(written["hooks"]) == ["ToyCall", "ToyPause", "ToyOver"]
    assert "Toy Agent's hooks for crabhook, 3 events" in capsys.readouterr().out
    assert main(["uninstall", "toy"]) == 0
    assert settings.read_text() == '{"colour": 1.0}\n'


@pytest.mark.process
async def test_a_call_of_its_is_a_card_on_both_desks_and_is_decided_and_recorded(
    home: Path,
) -> None:
    recorder = Recorder(lambda: open_writer(home / "state"))
    runner = bare_runner(recorder)
    address = UnixAddress(home / "s")
    port = Opened(runner, ())
    stop = hears(runner, port.hears)
    async with open_port(PermissionPort(runner, wait=60.0, tokens=Tokens()), (address,)):
        payload = said("ToyCall", "toy_shell", {"command": "spin"})
        hook = Client(str(address), payload, "--platform", "toy")
        (card,) = await port.waiting()
        assert "spin" in full_desk(card)
        assert PROGRAMS.block(card, 0.0)[0] == "#1 ToyCall toy_shell session=s1 cwd=/toys"
        seat(runner).answer(card.number, Decision(Verdict.DENY, reason="bedtime"))
        answer = await asyncio.to_thread(hook.finish)
        assert (answer.code, answer.output) == (0, {"says": "deny", "why": "bedtime"})
        stop()
        runner.close()
    recorder.close()
    ledger = Ledger(home / "state")
    assert [one.verdict for one in ledger.of(RecordKind.DECIDED)] == ["deny"]
    assert ledger.verified.sound


async def test_its_question_and_the_fields_of_its_events_are_told_on_both_desks() -> None:
    runner = bare_runner()
    toy = PLATFORMS["toy"]
    question = toy.read(said("ToyCall", "toy_ask", QUESTIONS))
    assert toy.asks(question)
    pause = toy.read(said("ToyPause", mood="tired"))
    shown = {event.name: _card(event) for event in (question, pause)}
    assert WordsOfCards(safe).of(CardRow(shown["ToyCall"])).subject.startswith("? ")
    assert "Which colour?" in full_desk(shown["ToyCall"])
    assert any("Which colour?" in line for line in PROGRAMS.block(shown["ToyCall"], 0.0))
    assert "the toy's mood" in full_desk(shown["ToyPause"])
    assert "  mood: tired" in PROGRAMS.block(shown["ToyPause"], 0.0)
    assert "ToyPause" in runner.broker.holdable()
    assert labels_of(pause) == ("toy", "ToyPause")
    runner.close()


def test_rules_know_its_tools_by_claude_codes_names() -> None:
    assert kind_of("toy_shell") is CallKind.COMMAND
    assert kind_of("toy_ask") is CallKind.ASKING


def test_the_doctor_looks_at_it_and_can_put_it_on_the_stage(home: Path) -> None:
    assert main(["install", "toy", "--server", f"unix:{home}/s"]) == 0
    wish = DoctorTask(home / "project", "toy")
    found = {one.id: one for one in examine(cases(wish, os.environ), wish) if one.agent == "toy"}
    assert "3 events, gate" in found["hook.installed"].what
    assert found["hook.current"].status == "ok"
    assert isinstance(PLATFORMS["toy"].scripted_session, ScriptedSession)


def test_the_linter_measures_its_configuration_by_its_own_events(home: Path) -> None:
    settings = home / ".toy" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"ToyCal": []}}')
    (finding,) = lint([settings], TODAY).findings
    assert "Toy Agent has no event ToyCal" in finding.message
    assert "ToyCall" in finding.message
