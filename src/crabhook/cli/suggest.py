"""`crabhook rules suggest`: rules that would have spared you decisions, ready to be written."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from datetime import UTC

from crabhook.cli.lines import about, say, say_json, short
from crabhook.cli.moments import when
from crabhook.cli.rulefiles import rule_files
from crabhook.config import state_folder
from crabhook.model.decision import Verdict
from crabhook.policy.rule import Rule
from crabhook.policy.wide import options_given
from crabhook.rulebook import edit
from crabhook.rulebook.files import RuleFiles, RulesError
from crabhook.rulebook.past import PastCall, calls_in
from crabhook.rulebook.suggest import DISTINCT, Suggested, Suggestion, Wish, suggest
from crabhook.rulebook.today import Today
from crabhook.store.query import Query
from crabhook.store.reader import Reader
from crabhook.store.record import Kind
from crabhook.store.sqlite_files import speaking_of
from crabhook.ui.text.safe import safe

SINCE = "30d"
_ABOUT = 60  # characters of an example
_DENIALS = 5  # shown with one suggestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which decisions to look at, and what to do with what comes of them."""
    add = parser.add_argument
    past = "2026-01-31, 10:00, or 30d ago"
    add("--since", metavar="WHEN", type=when, default=SINCE, help=f"{past} (default: {SINCE})")
    add("--last", metavar="N", type=_count, default=0, help="so many allows at most, 0 for all")
    add(
        "--at-least", metavar="N", type=_count, default=3, help="how often a rule would have served"
    )
    add("--with-denials", action="store_true", help="show those too that let a past denial through")
    add("--add", metavar="K", type=_count, nargs="+", help="write these, by their numbers")
    add("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(act=run)


def _count(text: str) -> int:
    try:
        return max(0, int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def run(arguments: argparse.Namespace) -> int:
    """Print the suggestions, or write the chosen ones; return 0.

    Raises StoreError where there is no record, RulesError for a number that
    no suggestion has.
    """
    files, wish = rule_files(), _wish(arguments)
    today = Today(files)
    path = state_folder() / "record.db"
    with speaking_of(path), Reader(path) as reader:
        past = list(_past(reader, arguments))
    found = suggest(past, today, today.protected, wish)
    if arguments.add:
        return _add(files, found, arguments.add)
    try:
        _say_json(found) if arguments.json else _say(found, wish)
    except BrokenPipeError:  # whoever read us has read enough
        sys.stderr.close()
    return 0


def _wish(arguments: argparse.Namespace) -> Wish:
    return Wish(arguments.at_least, arguments.with_denials, distinct=DISTINCT)


def _past(reader: Reader, arguments: argparse.Namespace) -> Iterator[PastCall]:
    """Return what was allowed in the time that is asked for, and all that was ever denied."""
    kinds = (Kind.DECIDED.value,)
    allow, deny = Verdict.ALLOW.value, Verdict.DENY.value
    yield from calls_in(reader.find(Query(kinds=kinds, verdict=deny)))
    within = Query(kinds=kinds, verdict=allow, since=arguments.since, last=arguments.last)
    yield from calls_in(reader.find(within))


def _add(files: RuleFiles, found: Suggested, numbers: list[int]) -> int:
    count = len(found.suggestions)
    for number in numbers:
        if not 1 <= number <= count:
            raise RulesError(f"there is no suggestion {number}; there are {count}")
    for number in dict.fromkeys(numbers):
        added = edit.add(files, found.suggestions[number - 1].rule)
        say(f"Added to {added.where}: {added}")
    return 0


def _say(found: Suggested, wish: Wish) -> None:
    say(
        f"You allowed {found.allows} calls yourself, {found.different} different ones; "
        f"today's rules speak of {found.decided} of the {found.allows} already."
    )
    if found.looked_at < found.different:
        say(f"Only the {found.looked_at} most frequent of the different ones were looked at.")
    for number, one in enumerate(found.suggestions, 1):
        say("")
        for line in _lines(number, one):
            say(line)
        for line in _warnings(one):
            say(line, warning=True)
    say("")
    say(_end(found, wish))


def _lines(number: int, one: Suggestion) -> Iterator[str]:
    already = one.covered - one.spares
    known = f" and {already} that today's rules speak of" if already else ""
    shared = one.spares - one.adds
    again = f"; {shared} of them are in suggestions above" if shared else ""
    yield f"{number:>3}  {one.covers}"
    yield f"     covers {one.spares} decisions of yours{known}{again}"
    yield f"     such as: {'  |  '.join(dict.fromkeys(map(_example, one.examples)))}"
    yield f"     {_command(one.rule, number)}"


def _warnings(one: Suggestion) -> Iterator[str]:
    for said in options_given(one.rule):
        yield f"     ! {said}"
    for denied in one.denials[:_DENIALS]:
        yield f"     WOULD LET THROUGH WHAT WAS DENIED: {_denied(denied)}"
    if len(one.denials) > _DENIALS:
        yield f"     AND {len(one.denials) - _DENIALS} OTHER CALLS THAT WERE DENIED"


def _example(call: PastCall) -> str:
    tool = call.event.tool
    return short(about(tool.input), _ABOUT) if tool else ""


def _denied(call: PastCall) -> str:
    card = "" if call.card is None else f"#{call.card} "
    name = call.event.tool.name if call.event.tool else ""
    return f"{call.at[:19].replace('T', ' ')}Z {card}{name} {_example(call)}"


def _command(rule: Rule, number: int) -> str:
    """Return the line that writes the rule, or how to write one whose line cannot be shown."""
    line = pasted(rule)
    return line if safe(line) == line else f"crabhook rules suggest --add {number}"


def pasted(rule: Rule) -> str:
    """Return the command that writes a rule, as a shell reads it."""
    words = ["crabhook", "rules", "add", str(rule.verdict), *rule.texts]
    if rule.expires:
        words += ["--expires", f"{rule.expires.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"]
    for project in rule.scope.project:
        words += ["--project", project]
    return shlex.join(words)


def _end(found: Suggested, wish: Wish) -> str:
    if not found.suggestions:
        return (
            f"No rule would have served {wish.at_least} times without letting through what was "
            "denied, or what no rule is made of."
        )
    kept = "" if wish.with_denials else "None of these lets through anything that was ever denied. "
    return (
        f"{kept}Inputs are as recorded, their secrets taken out. "
        "`crabhook rules suggest --add 1 2` writes the first two; the numbers are new each time."
    )


def _say_json(found: Suggested) -> None:
    for number, one in enumerate(found.suggestions, 1):
        rule = one.rule
        say_json(
            {
                "suggestion": number,
                "match": list(rule.texts),
                "project": list(rule.scope.project),
                "expires": rule.expires.isoformat() if rule.expires else None,
                "covers": one.covers,
                "covered": one.covered,
                "spares": one.spares,
                "adds": one.adds,
                "examples": [_values(call) for call in one.examples],
                "denials": [_values(call) for call in one.denials],
                "gives_away": list(options_given(rule)),
                "command": pasted(rule),
            }
        )
    counts = ("allows", "different", "looked_at", "decided")
    say_json({"counts": {name: getattr(found, name) for name in counts}})


def _values(call: PastCall) -> dict[str, object]:
    event = call.event
    return {
        "at": call.at,
        "card": call.card,
        "cwd": event.cwd,
        "tool": event.tool.name if event.tool else "",
        "input": event.tool.input if event.tool else None,
    }
