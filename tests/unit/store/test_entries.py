"""What is recorded of what the broker knows."""

from dataclasses import replace
from typing import Any

from crabhook.model.actor import OWNER, RuleActor
from crabhook.model.card import Leg, Origin, Stance
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.store import entries
from crabhook.store.record import GENESIS, Entry, RecordKind, iso
from crabhook.store.redact import Redactor
from crabhook.store.writer import chained
from tests.unit.secrets import corpus
from tests.unit.store.making import NOON

INPUT: Any = {"command": "ls", "description": "look"}
EVENT = Event(
    platform="claude",
    name="PreToolUse",
    session="s1",
    cwd="/home/dev",
    agent_id="a1",
    agent_type="Explore",
    tool=ToolCall("Bash", INPUT, "toolu_1"),
    fields={
        "session_id": "s1",
        "cwd": "/home/dev",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": INPUT,
        "new_field": "kept",
        "empty": "",
    },
)
REQUEST = Leg("r1", EVENT, 5.0, Stance.GATE, Origin("host", 7, "dev"))
REDACTOR = Redactor(b"k" * 32)


def told(entry: Entry) -> dict[str, Any]:
    """Return the body of the entry's record."""
    return next(chained([(entry, ())], GENESIS, REDACTOR)).data()


def test_an_event_is_kept_whole_and_nothing_of_it_twice() -> None:
    kept = entries.observed(REQUEST, NOON)
    assert kept.request_id == "r1"
    assert (kept.kind, kept.session, kept.tool, kept.tool_use_id) == (
        RecordKind.EVENT,
        "s1",
        "Bash",
        "toolu_1",
    )
    assert (kept.agent_id, kept.agent_type, kept.cwd) == ("a1", "Explore", "/home/dev")
    assert kept.body == {
        "event": "PreToolUse",
        "fields": {"tool_input": INPUT, "new_field": "kept", "empty": ""},
    }


def test_a_request_is_kept_with_its_card_its_legs_and_who_asks() -> None:
    ends = NOON + 60, NOON + 90.5
    kept = entries.asked(REQUEST, NOON, card=4, legs=["r0", "r1"], ends=ends)
    assert (kept.kind, kept.request_id, kept.card) == (RecordKind.ASKED, "r1", 4)
    assert kept.body["legs"] == ["r0", "r1"]
    assert kept.body["stance"] == "gate"
    assert (kept.body["expires"], kept.body["gives_up"]) == (iso(ends[0]), iso(ends[1]))
    assert kept.body["from"] == {"host": "host", "pid": 7, "user": "dev"}
    assert "s3" not in repr(kept)


def test_a_decision_is_kept_with_all_that_was_decided_and_what_was_asked() -> None:
    edited: Any = {"command": "ls -l"}
    against = ("rules.toml, line 3: deny Bash(ls -l)",)
    made = Decision(Verdict.ALLOW, "", "fine", edited, interrupt=True, despite=against)
    decided = Decided(made, OWNER)
    kept = entries.decided(EVENT, decided, NOON, legs=["r0", "r1"], waited=1.23456, card=4)
    assert (kept.kind, kept.verdict, kept.card, kept.request_id) == (
        RecordKind.DECIDED,
        "allow",
        4,
        "r0",
    )
    assert told(kept) == {
        "by": "operator",
        "actor": {"kind": "operator", "id": "owner", "name": "operator", "desk": "this terminal"},
        "where": "the desk",
        "waited": 1.235,
        "note": "fine",
        "interrupt": True,
        "despite": list(against),
        "legs": ["r0", "r1"],
        "input": INPUT,
        "edited": edited,
    }


def test_a_rules_decision_names_the_rule_and_an_empty_edit_is_an_edit() -> None:
    made = Decision(Verdict.DENY, reason="no", updated_input={})
    kept = entries.decided(EVENT, Decided(made, RuleActor("Bash(rm *)")), NOON, legs=[])
    body = told(kept)
    assert (body["where"], body["by"], body["rule"]) == ("at once", *["rule Bash(rm *)"] * 2)
    assert body["actor"] == {"kind": "rule", "ref": "Bash(rm *)"}
    assert "waited" not in body  # it was decided at once
    assert body["edited"] == {}
    assert kept.request_id == ""


def test_of_a_secret_in_a_rules_own_text_nothing_is_recorded() -> None:
    secret = "ghp_" + "a1B2" * 9
    by = RuleActor(f"Bash(curl -H 'Authorization: token {secret}' *)")
    body = told(entries.decided(EVENT, Decided(Decision(Verdict.DENY), by), NOON, legs=[]))
    assert "redacted" in body["rule"]
    assert secret not in str(body)


def test_other_ends_say_why() -> None:
    gone = entries.ended(RecordKind.WITHDRAWN, REQUEST, NOON, card=4, why="the hook was gone")
    late = entries.delivered(EVENT, NOON, request_id="r1", card=4, missing="it had gone")
    back = entries.taken_up(EVENT, NOON, request_id="r1", card=4, why="the server began again")
    assert [gone.kind, late.kind, back.kind] == [
        RecordKind.WITHDRAWN,
        RecordKind.DELIVERED,
        RecordKind.TAKEN_UP,
    ]
    assert {gone.request_id, late.request_id, back.request_id} == {"r1"}
    assert (gone.body["why"], late.body["whole"]) == ("the hook was gone", False)


def test_what_the_operator_does_is_kept() -> None:
    kept = entries.operator("began", NOON, version="1")
    assert kept.body == {"what": "began", "version": "1"}


def _everywhere(text: str) -> list[Entry]:
    """Return one entry of each kind that takes a text of an agent, an operator or a rule."""
    asked: Any = {"command": text, "content": text, "edits": [{"new_string": text}]}
    output: Any = {"stdout": text, "stderr": text}
    fields: Any = {"tool_input": asked, "tool_response": output, "prompt": text, "error": text}
    event = replace(EVENT, tool=ToolCall("Bash", asked, "toolu_1"), fields=fields)
    request = replace(REQUEST, event=event)
    made = Decision(Verdict.DENY, text, text, asked, despite=(text,))
    return [
        entries.observed(request, NOON),
        entries.asked(request, NOON, card=4, legs=["r1"], ends=(NOON, NOON)),
        entries.decided(event, Decided(made, RuleActor(text)), NOON, legs=["r1"]),
        entries.ended(RecordKind.WITHDRAWN, request, NOON, card=4, why=text),
        entries.delivered(event, NOON, request_id="r1", card=4, missing=text),
        entries.operator(text, NOON, told=text, notes=[text]),
        entries.summary(event, NOON, told=text),
    ]


def test_no_secret_of_the_corpus_is_anywhere_in_the_record() -> None:
    """Not in a command, a file's content, a tool's output, a reason, a note or a rule."""
    lines = [sample for line in corpus.commands() for sample in corpus.with_passwords(line)[:1]]
    for sample in (*corpus.secrets(), *lines):
        records = [
            repr(kept)
            for kept in chained(((one, ()) for one in _everywhere(sample.text)), GENESIS, REDACTOR)
        ]
        kept = [secret for secret in sample.secrets for one in records if secret in one]
        assert not kept, sample.text
