"""Hook inputs of the three platforms: where they start from, how they are varied, their laws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from crabhook.hook.wire import read_reply
from crabhook.model.actor import AnsweredAtAgent
from crabhook.model.card import Card, FeedEntry, Leg, Origin, Stance, State
from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.elicitation import read_fields
from crabhook.model.errors import DecisionError, PayloadError, QuestionError
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers, read_questions
from crabhook.platforms import PLATFORMS
from crabhook.platforms.interface import Platform
from crabhook.present.card import card_document
from crabhook.present.safe import safe
from crabhook.present.summary import agent_label, project, session_label, summary, tool_label
from crabhook.server.grpc import permission
from crabhook.ui.full.panes.request import everything_rows
from crabhook.ui.plain.output import PROGRAMS
from crabhook.ui.text.layout import Sheet
from crabhook.ui.text.width import safe_ascii
from tests.fuzz.mutation import values

SAMPLES = Path(__file__).parents[1] / "samples"
ROWS = 3000
"""Rows of a card that are looked at."""


@cache
def samples(platform: str) -> list[bytes]:
    """The recorded inputs of a platform, the shortest first."""
    found = [path.read_bytes() for path in (SAMPLES / platform).glob("*.json")]
    return sorted(found, key=lambda data: (len(data), data))


def _known(key: str) -> tuple[Any, ...]:
    """Every value that a recorded input has under a key."""
    told = [json.loads(data) for platform in PLATFORMS for data in samples(platform)]
    found = {json.dumps(one[key]) for one in told if key in one}
    return tuple(values.Raw(text) for text in sorted(found) if len(text) < 1500)


KEYS = ("hook_event_name", "tool_name", "tool_input", "permission_mode", "permission_suggestions", "requested_schema", "tool_response", "notification_type")  # fmt: skip
MUTATION = values.of(**{key: _known(key) for key in KEYS if _known(key)})


def says_allow(output: Mapping[str, Any]) -> bool:
    """Whether an agent would take what a hook prints for an allow."""
    specific = output.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    inner = specific.get("decision")
    told = [output.get("decision"), specific.get("permissionDecision"), specific.get("action")]
    told += [inner.get("behavior") if isinstance(inner, dict) else inner]
    return bool(
        {"allow", "approve", "accept"}.intersection(one for one in told if isinstance(one, str))
    )


def law(platform: Platform, data: bytes) -> None:
    """Read, judged, shown and answered: nothing raises, nothing is lost, nothing acts."""
    try:
        event = platform.read(data)
    except PayloadError as error:
        assert str(error).isprintable() or safe(str(error)).isprintable()
        return
    assert event.fields == json.loads(data.decode("utf-8-sig"))
    if event.tool is not None:
        assert event.tool.input == event.fields.get("tool_input")
        assert event.tool.fingerprint
    for stance in Stance:
        platform.held(event, stance)
    platform.closes(event)
    _shown(_card(platform, event), platform.outcome(event))
    for decision in _decisions(event):
        _answered(platform, event, decision)
    if (remark := platform.remark(event, "a\x1bnote")) is not None:
        assert not says_allow(remark.output or {})
        _printed(remark)
    _questions(event)


def _card(platform: Platform, event: Event) -> Card:
    request = Leg("id", event, 700.0, origin=Origin("host\x1b", 1, "user\u202e"))
    choices, limits = platform.choices(event), tuple(platform.limits(event))
    return Card(1, (request,), 100.0, choices=choices, limits=limits)


def _shown(card: Card, outcome: str) -> None:
    """Nothing that a screen says of the card acts on a terminal."""
    event, ended = card.event, State.WITHDRAWN
    over = Card(
        1,
        card.requests,
        100.0,
        ended,
        end=AnsweredAtAgent(outcome),
        ended_at=200.0,
        choices=card.choices,
    )
    for one in (card, over):
        _visible(PROGRAMS.block(one, 200.0))
    _visible([PROGRAMS.outcome(over), PROGRAMS.went_by(FeedEntry(1.0, event, outcome))])
    for spell in (safe, safe_ascii):
        for label in (summary, tool_label, agent_label, project, session_label):
            _visible([label(event, spell)])
        rows = islice(everything_rows(card_document(card), Sheet(60, spell)), ROWS)
        _visible("".join(text for _, text in line) for line in rows)


def _visible(lines: Iterable[str]) -> None:
    for line in lines:
        assert line.isprintable(), line


def _decisions(event: Event) -> Iterator[Decision]:
    """Every verdict, bare and with all that could go with it."""
    given = event.tool.input if event.tool and isinstance(event.tool.input, dict) else {}
    changed = {**given, "command": "ls\ud800", "more": [None, {"x": 1e5}]}
    more: tuple[dict[str, Any], ...] = (
        {}, {"reason": "r\ud800\n"}, {"reason": "r", "updated_input": changed}, {"reason": " ", "note": "n"}, {"updated_input": dict(given)},
        {"reason": "r", "halt": "h"}, {"reason": "r", "user_message": "m"}, {"reason": "r", "interrupt": True},
        {"output": {"x": "\ud800"}}, {"output": "shown"}, {"content": {"a": 1}}, {"permissions": ({"type": "setMode", "mode": "x"},)},
    )  # fmt: skip
    for verdict in Verdict:
        for one in more:
            yield Decision(verdict, **one)


def _answered(platform: Platform, event: Event, decision: Decision) -> None:
    """The reply says what was decided, as JSON, with the changed input whole."""
    try:
        platform.check(event, decision)
    except DecisionError:
        return
    reply = platform.write(event, decision)
    _printed(reply)
    output = dict(reply.output or {})
    if says_allow(output):
        assert decision.verdict in (Verdict.ALLOW, Verdict.ACCEPT), decision
    specific = output.get("hookSpecificOutput")
    if isinstance(specific, dict) and decision.verdict is Verdict.ALLOW:
        inner = specific.get("decision")
        holder = inner if isinstance(inner, dict) else specific
        for key in ("updatedInput", "tool_input"):
            if key in holder:
                whole = {**decision.updated_input} if decision.updated_input is not None else None
                assert holder[key] == (event.tool.input if whole is None and event.tool else whole)


def _printed(reply: Reply) -> None:
    """What is printed is one line of JSON, and comes through the wire as it is."""
    stdout = reply.stdout
    assert 0 <= reply.exit_code <= 255
    if stdout:
        assert stdout.endswith(b"\n")
        assert stdout.count(b"\n") == 1
        assert json.loads(stdout, parse_constant=_no_json) == reply.output
    assert Reply.verbatim(stdout, reply.stderr, reply.exit_code) == reply
    wired = read_reply(permission.response_of(reply, confirm=True).SerializeToString())
    assert (wired.stdout, wired.exit_code, wired.confirm) == (stdout, reply.exit_code, True)
    assert wired.stderr.decode() or not reply.stderr


def _no_json(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def _questions(event: Event) -> None:
    """Answers are merged into the input as it was; a form is read whatever it is."""
    read_fields(event.fields)
    given = event.tool.input if event.tool else None
    try:
        questions = read_questions(given)
        answers = {
            place: Answer(
                chosen=(0,) if question.options else (), words="" if question.options else "w"
            )
            for place, question in enumerate(questions)
        }
        merged = merge_answers(given, answers)
    except QuestionError:
        return
    assert merged is not None
    assert isinstance(given, dict)
    kept = given.keys() - {"answers", "annotations"}
    assert {key: merged[key] for key in kept} == {key: given[key] for key in kept}
    told = merged["answers"]
    assert isinstance(told, dict)
    assert {question.text for question in questions} <= told.keys()


def law_of(name: str) -> Any:
    """The law for the inputs of one platform."""
    platform = PLATFORMS[name]
    return lambda data: law(platform, data)
