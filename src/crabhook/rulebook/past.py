"""Calls that were decided before, as the record tells them: what rules can be tried on."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crabhook.model.actor import Actor, Operator
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.policy.rule import RuleVerdict
from crabhook.store.actors import actor_in
from crabhook.store.query import Query
from crabhook.store.reader import Reader
from crabhook.store.record import Kind, Record

_VERDICTS: Mapping[str, RuleVerdict] = {
    Verdict.ALLOW.value: RuleVerdict.ALLOW,
    Verdict.DENY.value: RuleVerdict.DENY,
    Verdict.ASK.value: RuleVerdict.ASK_AGENTS_USER,
    Verdict.PASS.value: RuleVerdict.PASS,
}


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of a tool and what became of it.

    `event` has what the record kept: the tool's input without its secrets.
    `edited`: what was allowed was not what had been asked.  `at` is the
    record's time.
    """

    event: Event
    verdict: RuleVerdict
    by: Actor
    edited: bool
    at: str
    card: int | None

    @property
    def by_person(self) -> bool:
        """Whether an operator decided it, not a rule or an order."""
        return isinstance(self.by, Operator)


def past_calls(folder: Path, *, last: int = 0, since: str = "") -> Iterator[PastCall]:
    """Return the decided calls in the record of a state folder, the oldest first.

    `last`: so many of the latest, 0 for all.  Raises StoreError where there
    is no record that can be read.
    """
    with Reader(folder / "record.db") as reader:
        yield from calls_in(reader.find(Query(kinds=(Kind.DECIDED.value,), last=last, since=since)))


def calls_in(records: Iterable[Record]) -> Iterator[PastCall]:
    """Return the decided calls among some records; what cannot be read as one is left out."""
    for record in records:
        verdict = _VERDICTS.get(record.verdict)
        told = _told(record)
        if record.kind != Kind.DECIDED or verdict is None or not record.tool or "input" not in told:
            continue
        event = Event(
            record.platform,
            "PreToolUse",
            session=record.session,
            cwd=record.cwd,
            agent_id=record.agent_id,
            agent_type=record.agent_type,
            tool=ToolCall(record.tool, told["input"], record.tool_use_id),
        )
        edited = "edited" in told
        yield PastCall(event, verdict, actor_in(told), edited, record.at, record.card)


def _told(record: Record) -> dict[str, Any]:
    with suppress(ValueError):
        told = json.loads(record.body)
        if isinstance(told, dict):
            return told
    return {}
