"""`crabhook audit replay`: what today's rules would change of the calls on record."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crabhook.cli.lines import about, say, say_json, short
from crabhook.cli.rulefiles import rule_files
from crabhook.model.wording import who
from crabhook.policy.paths import is_within
from crabhook.policy.rule import RuleVerdict
from crabhook.rulebook.past import PastCall, calls_in
from crabhook.rulebook.replay import Change, Kind, Replayed, replay
from crabhook.rulebook.today import Today
from crabhook.store.query import Query
from crabhook.store.reader import Reader

LAST = 10_000  # calls that are replayed unless more are asked for

_HEADS: Mapping[Kind, str] = {
    Kind.OVERRULED: "YOU DENIED THESE, AND TODAY'S RULES WOULD ALLOW THEM",
    Kind.ALLOWED: "newly allowed",
    Kind.DENIED: "newly denied",
    Kind.EDITED: "you changed these first; now they would be decided as they were asked",
    Kind.ASKED: "now asked",
    Kind.PASSED: "now left to the agent's own rules",
    Kind.OPEN: "no longer decided by rules: they would come to you",
}
_SELDOM: Mapping[Kind, str] = {
    Kind.EDITED: "changed by you, now decided as they were asked",
    Kind.ASKED: "now asked",
    Kind.PASSED: "now left to the agent's own rules",
    Kind.OPEN: "no longer decided by rules",
}
_NOT_RECORDED = (
    "Inputs are as recorded, their secrets taken out. The permission mode is not recorded: rules "
    "for one mode are judged in the default mode. Standing orders are left aside."
)


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be replayed: these records, of agents in this folder or any, for whom."""

    query: Query
    project: Path | None = None
    as_json: bool = False


def run(folder: Path, wanted: Replay) -> int:
    """Print what would change; return 0.

    Raises StoreError where there is no record, RuleFileError or RulesError
    where the rules cannot be read.
    """
    with Reader(folder / "record.db") as reader:
        found = replay(_past(reader, wanted), Today(rule_files()))
    if wanted.as_json:
        _say_json(found)
    else:
        _say(found)
    return 0


def _past(reader: Reader, wanted: Replay) -> Iterable[PastCall]:
    if wanted.project is None:
        return calls_in(reader.find(wanted.query))
    whole, below = replace(wanted.query, last=0), str(wanted.project)
    there = (one for one in calls_in(reader.find(whole)) if is_within(one.event.cwd, below))
    return deque(there, maxlen=wanted.query.last or None)


def _say(found: Replayed) -> None:
    say(_NOT_RECORDED)
    for kind, head in _HEADS.items():
        changes = [one for one in found.changes if one.kind is kind]
        if not changes:
            continue
        warning = kind is Kind.OVERRULED
        say("")
        say(f"{head} ({len(changes)}):", warning=warning)
        for change, times in _alike(changes):
            for line in _lines(change, times):
                say(line, warning=warning)
    say("")
    say(_counts(found))


def _alike(changes: Sequence[Change]) -> Iterator[tuple[Change, int]]:
    """Return the latest of those that would look the same, with how many there are."""
    latest: dict[tuple[object, ...], Change] = {}
    times: Counter[tuple[object, ...]] = Counter()
    for change in changes:
        event = change.call.event
        tool = event.tool.name if event.tool else ""
        looks = (tool, _about(change), event.cwd, change.was, change.call.by, change.why)
        latest[looks] = change
        times[looks] += 1
    for same, change in latest.items():
        yield change, times[same]


def _lines(change: Change, times: int) -> Iterator[str]:
    call, tool = change.call, change.call.event.tool
    at = f"{call.at[:19].replace('T', ' ')}Z"
    card = "" if call.card is None else f"#{call.card}"
    repeated = f"  ({times} times)" if times > 1 else ""
    yield f"  {at}  {card:>6}  {tool.name if tool else '-':<8}  {short(_about(change))}{repeated}"
    yield f"      in {call.event.cwd or '?'}: {_was(change)}; now {_now(change)}"


def _was(change: Change) -> str:
    return f"was {change.was} by {'you' if change.call.by_person else who(change.call.by)}"


def _now(change: Change) -> str:
    return f"{_verdict(change.now)}: {change.why}"


def _verdict(now: RuleVerdict | None) -> str:
    return "open" if now is None else str(now)


def _about(change: Change) -> str:
    tool = change.call.event.tool
    return about(tool.input) if tool else ""


def _counts(found: Replayed) -> str:
    n = found.counts
    allowed = n[Kind.OVERRULED] + n[Kind.ALLOWED]
    parts = [
        f"{found.unchanged} unchanged ({found.spared} of them decided by you, now by rules)",
        f"{allowed} newly allowed ({n[Kind.OVERRULED]} of them DENIED by you)",
        f"{n[Kind.DENIED]} newly denied",
    ]
    parts += [f"{n[kind]} {words}" for kind, words in _SELDOM.items() if n[kind]]
    return f"{found.calls} calls: {', '.join(parts)}"


def _say_json(found: Replayed) -> None:
    for kind in Kind:
        for change in found.changes:
            if change.kind is kind:
                say_json(_values(change))
    counts = {kind.name.lower(): found.counts[kind] for kind in Kind}
    counts |= {"calls": found.calls, "unchanged": found.unchanged, "spared": found.spared}
    say_json({"counts": counts})


def _values(change: Change) -> dict[str, object]:
    call, event = change.call, change.call.event
    return {
        "change": change.kind.name.lower(),
        "at": call.at,
        "card": call.card,
        "platform": event.platform,
        "session": event.session,
        "cwd": event.cwd,
        "tool": event.tool.name if event.tool else "",
        "input": event.tool.input if event.tool else None,
        "was": str(change.was),
        "by": who(call.by),
        "edited": call.edited,
        "now": _verdict(change.now),
        "rule": str(change.rule) if change.rule else "",
        "where": change.rule.where if change.rule else "",
        "why": change.why,
    }
