"""`crabhook log replay` and `crabhook rules suggest`: today's rules and recorded calls."""

import argparse
import shlex
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from crabhook.cli.arguments import rules_in_force, say_whose
from crabhook.cli.consent import in_a_sentence, write_rules
from crabhook.cli.terminal import about, short
from crabhook.config import record_place
from crabhook.model.decision import Verdict
from crabhook.model.wording import who
from crabhook.policy.paths import is_within
from crabhook.policy.protected import options_given
from crabhook.policy.rule import Rule, RuleVerdict
from crabhook.present.safe import safe
from crabhook.rulebook import edit
from crabhook.rulebook.files import RuleFiles, RulesError
from crabhook.rulebook.history import ChangeKind, PastCall, Replayed, RulingChange, calls_in, replay
from crabhook.rulebook.rulings import CurrentRules
from crabhook.rulebook.suggest import DISTINCT, Suggested, SuggestedRule, SuggestionLimits, suggest
from crabhook.store.interface import History, Query
from crabhook.store.opening import open_history
from crabhook.store.record import RecordKind
from crabhook.ui.console import say, say_json

REPLAYED = 10_000  # calls that are replayed unless more are asked for

_HEADS: Mapping[ChangeKind, str] = {
    ChangeKind.OVERRULED: "YOU DENIED THESE, AND TODAY'S RULES WOULD ALLOW THEM",
    ChangeKind.ALLOWED: "newly allowed",
    ChangeKind.DENIED: "newly denied",
    ChangeKind.EDITED: "you changed these first, now they would be decided as they were asked",
    ChangeKind.ASKED: "now asked",
    ChangeKind.PASSED: "now left to the agent's own rules",
    ChangeKind.OPEN: "no longer decided by rules: they would come to you",
}
_SELDOM: Mapping[ChangeKind, str] = {
    ChangeKind.EDITED: "changed by you, now decided as they were asked",
    ChangeKind.ASKED: _HEADS[ChangeKind.ASKED],
    ChangeKind.PASSED: _HEADS[ChangeKind.PASSED],
    ChangeKind.OPEN: "no longer decided by rules",
}
_NOT_RECORDED = (
    "Inputs are as recorded, their secrets taken out. The permission mode is not recorded: rules "
    "for one mode are judged in the default mode. Standing orders are left aside."
)


def run_replay(history: History, query: Query, project: Path | None, *, as_json: bool) -> int:
    """Print what would change of the calls in `project`, or of all; return 0."""
    files = rules_in_force()
    replayed = replay(_replayed_calls(history, query, project), CurrentRules(files))
    if as_json:
        _say_changes(replayed)
    else:
        _say_replayed(replayed, files)
    return 0


def _replayed_calls(history: History, query: Query, project: Path | None) -> Iterable[PastCall]:
    if project is None:
        return calls_in(history.find(query))
    whole, below = replace(query, last=0), str(project)
    there = (call for call in calls_in(history.find(whole)) if is_within(call.event.cwd, below))
    return deque(there, maxlen=query.last or None)


def _say_replayed(replayed: Replayed, files: RuleFiles) -> None:
    say_whose(files)
    say(_NOT_RECORDED)
    for kind, head in _HEADS.items():
        changes = [change for change in replayed.changes if change.kind is kind]
        if not changes:
            continue
        warning = kind is ChangeKind.OVERRULED
        say("")
        say(f"{head} ({len(changes)}):", warning=warning)
        for change, times in _alike(changes):
            for line in _change_lines(change, times):
                say(line, warning=warning)
    say("")
    say(_counts(replayed))


def _at(call: PastCall) -> str:
    return f"{call.at[:19].replace('T', ' ')}Z"


def _named(call: PastCall) -> str:
    return call.event.tool.name if call.event.tool else ""


def _about(call: PastCall) -> str:
    return about(call.event.tool.input) if call.event.tool else ""


def _alike(changes: Sequence[RulingChange]) -> Iterator[tuple[RulingChange, int]]:
    """Return the latest of changes that look the same, with their number."""
    alike: dict[tuple[object, ...], list[RulingChange]] = defaultdict(list)
    for change in changes:
        call = change.call
        looks = (_named(call), _about(call), call.event.cwd, change.was, call.by, change.why)
        alike[looks].append(change)
    for same in alike.values():
        yield same[-1], len(same)


def _change_lines(change: RulingChange, times: int) -> Iterator[str]:
    call = change.call
    card = "" if call.card is None else f"#{call.card}"
    repeated = f"  ({times} times)" if times > 1 else ""
    yield f"  {_at(call)}  {card:>6}  {_named(call) or '-':<8}  {short(_about(call))}{repeated}"
    by = "you" if call.by_person else who(call.by)
    now = f"now {_verdict(change.now)}: {change.why}"
    yield f"      in {call.event.cwd or '?'}: was {change.was} by {by}, {now}"


def _verdict(now: RuleVerdict | None) -> str:
    return "open" if now is None else str(now)


def _counts(replayed: Replayed) -> str:
    n = replayed.counts
    allowed = n[ChangeKind.OVERRULED] + n[ChangeKind.ALLOWED]
    parts = [
        f"{replayed.unchanged} unchanged ({replayed.spared} of them decided by you, now by rules)",
        f"{allowed} newly allowed ({n[ChangeKind.OVERRULED]} of them DENIED by you)",
        f"{n[ChangeKind.DENIED]} newly denied",
    ]
    parts += [f"{n[kind]} {words}" for kind, words in _SELDOM.items() if n[kind]]
    return f"{replayed.calls} calls: {', '.join(parts)}"


def _say_changes(replayed: Replayed) -> None:
    for kind in ChangeKind:
        for change in replayed.changes:
            if change.kind is kind:
                say_json(_change_values(change))
    counts = {kind.name.lower(): replayed.counts[kind] for kind in ChangeKind}
    counts |= {"calls": replayed.calls, "unchanged": replayed.unchanged, "spared": replayed.spared}
    say_json({"counts": counts})


def _change_values(change: RulingChange) -> dict[str, object]:
    call, event = change.call, change.call.event
    return {
        "change": change.kind.name.lower(),
        "at": call.at,
        "card": call.card,
        "platform": event.platform,
        "session": event.session,
        "cwd": event.cwd,
        "tool": _named(call),
        "input": event.tool.input if event.tool else None,
        "was": str(change.was),
        "by": who(call.by),
        "edited": call.edited,
        "now": _verdict(change.now),
        "rule": str(change.rule) if change.rule else "",
        "where": change.rule.where if change.rule else "",
        "why": change.why,
    }


_ABOUT = 60  # characters of an example
_DENIALS = 5  # shown with one suggestion


def run_suggest(arguments: argparse.Namespace) -> int:
    """Print the suggestions, or write those chosen; return 0. Raises CrabhookError."""
    files = rules_in_force()
    wish = SuggestionLimits(arguments.at_least, arguments.with_denials, distinct=DISTINCT)
    today = CurrentRules(files)
    since, last = arguments.since, arguments.last
    kinds = (RecordKind.DECIDED.value,)
    denied = Query(kinds=kinds, verdict=Verdict.DENY.value)
    allowed = Query(kinds=kinds, verdict=Verdict.ALLOW.value, since=since, last=last)
    with open_history(record_place()) as history:
        past = [call for query in (denied, allowed) for call in calls_in(history.find(query))]
    suggested = suggest(past, today, today.protected, wish)
    if arguments.add:
        return _add(files, suggested, arguments.add)
    try:
        _say_json(suggested) if arguments.json else _say(suggested, wish, files)
    except BrokenPipeError:  # the reader needs no more
        sys.stderr.close()
    return 0


def _add(files: RuleFiles, suggested: Suggested, numbers: list[int]) -> int:
    many = len(suggested.suggestions)
    for number in numbers:
        if not 1 <= number <= many:
            raise RulesError(f"there is no suggestion {number}: there are {many}")
    chosen = [suggested.suggestions[number - 1].rule for number in dict.fromkeys(numbers)]
    text, after = edit.drafted(files, chosen)
    write_rules(files, text)
    for added in after.rules[-len(chosen) :]:
        say(f"Added to {added.where}: {in_a_sentence(added)}")
    return 0


def _say(suggested: Suggested, wish: SuggestionLimits, files: RuleFiles) -> None:
    say_whose(files)
    say(
        f"You allowed {suggested.allows} calls yourself, {suggested.different} of them different. "
        f"Today's rules decide {suggested.decided} of the {suggested.allows} already."
    )
    if suggested.looked_at < suggested.different:
        say(f"Only the {suggested.looked_at} most frequent of the different calls were looked at.")
    for number, suggestion in enumerate(suggested.suggestions, 1):
        say("")
        for line in _lines(number, suggestion):
            say(line)
        for warning in options_given(suggestion.rule):
            say(f"     ! {warning}", warning=True)
        for call in suggestion.denials[:_DENIALS]:
            card = "" if call.card is None else f"#{call.card} "
            denied = f"{_at(call)} {card}{_named(call)} {_example(call)}"
            say(f"     WOULD LET THROUGH WHAT WAS DENIED: {denied}", warning=True)
        if (more := len(suggestion.denials) - _DENIALS) > 0:
            say(f"     AND {more} OTHER CALLS THAT WERE DENIED", warning=True)
    say("")
    say(_end(suggested, wish))


def _lines(number: int, suggestion: SuggestedRule) -> Iterator[str]:
    already = suggestion.covered - suggestion.spares
    in_force = f" and {already} that today's rules decide" if already else ""
    shared = suggestion.spares - suggestion.adds
    again = f"({shared} of them are in suggestions above)" if shared else ""
    yield f"{number:>3}  {suggestion.covers}"
    yield f"     covers {suggestion.spares} decisions of yours{in_force}{again}"
    yield f"     such as: {'  |  '.join(dict.fromkeys(map(_example, suggestion.examples)))}"
    line = pasted(suggestion.rule)  # where it is unsafe to show, the rule is written by its number
    yield f"     {line if safe(line) == line else f'crabhook rules suggest --add {number}'}"


def _example(call: PastCall) -> str:
    return short(_about(call), _ABOUT)


def pasted(rule: Rule) -> str:
    """Return the command that writes a rule, as a shell reads it."""
    words = ["crabhook", "rules", "add", str(rule.verdict), *rule.texts]
    if rule.expires:
        words += ["--expires", f"{rule.expires.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"]
    for project in rule.scope.project:
        words += ["--project", project]
    return shlex.join(words)


def _end(suggested: Suggested, wish: SuggestionLimits) -> str:
    if not suggested.suggestions:
        return (
            f"No rule would have served {wish.at_least} times without letting through what was "
            "denied, or what no rule is made of."
        )
    kept = "" if wish.with_denials else "None of these lets through anything that was ever denied. "
    return (
        f"{kept}Inputs are as recorded, their secrets taken out. "
        "`crabhook rules suggest --add 1 2` writes the first two. The numbers are new each time."
    )


def _say_json(suggested: Suggested) -> None:
    for number, suggestion in enumerate(suggested.suggestions, 1):
        rule = suggestion.rule
        say_json(
            {
                "suggestion": number,
                "match": list(rule.texts),
                "project": list(rule.scope.project),
                "expires": rule.expires.isoformat() if rule.expires else None,
                **{
                    name: getattr(suggestion, name)
                    for name in ("covers", "covered", "spares", "adds")
                },
                "examples": [_values(call) for call in suggestion.examples],
                "denials": [_values(call) for call in suggestion.denials],
                "gives_away": list(options_given(rule)),
                "command": pasted(rule),
            }
        )
    counts = ("allows", "different", "looked_at", "decided")
    say_json({"counts": {name: getattr(suggested, name) for name in counts}})


def _values(call: PastCall) -> dict[str, object]:
    event = call.event
    return {
        "at": call.at,
        "card": call.card,
        "cwd": event.cwd,
        "tool": _named(call),
        "input": event.tool.input if event.tool else None,
    }
