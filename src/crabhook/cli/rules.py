"""Say what is allowed, denied and asked, and which rule decides a call."""

import argparse
import os
import sys
import time
from pathlib import Path

from crabhook import config
from crabhook.cli.arguments import (
    count,
    moment,
    pull_rules,
    push_rules,
    rules_in_force,
    say_whose,
    when,
)
from crabhook.cli.commands import actions
from crabhook.cli.consent import consent, described, in_a_sentence, write_rules
from crabhook.cli.past import run_suggest
from crabhook.model.ballot import Ballot, steps_of
from crabhook.model.event import Event
from crabhook.policy.calls.parts import canonical
from crabhook.policy.dead_rules import dead_rules
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import misread, options_given
from crabhook.policy.rule import Rule, RuleScope, RuleSet, RuleVerdict, Ruling, Trust
from crabhook.present.phrases import lasting
from crabhook.present.safe import safe_lines
from crabhook.rulebook import edit
from crabhook.rulebook.context import context_here
from crabhook.rulebook.files import PROJECT_FILE, RULES, RuleFiles, RulesError, read_text
from crabhook.rulebook.rule_tests import aside_in_words, with_tests_held
from crabhook.rulebook.typed_call import event_of

OPEN = "open"
# Control characters as a table writes them: their pictures, one for each.
PICTURES = {0x2400 + code: code for code in range(0x20)} | {0x2424: 0x0A}


def explained(policy: Policy, event: Event, project: Path) -> str:
    """Return each part of the call with what decides it, then the verdict on the whole."""
    ruling = policy.examine(event, context_here(project))
    tool = canonical(event.tool.name) if event.tool else ""
    lines = [f"{tool}:"]
    for part in ruling.parts:
        mark, text = "(hidden) " if part.hidden else "", part.text.replace("\n", "␤")
        lines.append(f"  {part.kind:<8} {mark}{text}\n  {'':<8} {part.verdict or '-'}: {part.why}")
    lines += [f"  not to be allowed: {trouble}" for trouble in ruling.troubles]
    risk = policy.risk(event, context_here(project))
    marked = [f"  {'▲' * effect.level:<2} {effect.words}" for effect in risk.effects]
    marked += [f"   ? {what}" for what in risk.unknown]
    lines += [f"risk: {risk.level.name.lower()}", *(marked or ["     no known risk"])]
    lines += [f"verdict: {verdict_of(ruling)}", f"  {ruling.why}"]
    return "\n".join([*lines, *who_must_allow(ruling, event)])


def who_must_allow(ruling: Ruling, event: Event) -> list[str]:
    """Return who must allow a call, by the team of this machine, where rules say that."""
    if not ruling.terms:
        return []
    from crabhook.team.electorate import electorate_of  # few have a team
    from crabhook.team.folder import Folder
    from crabhook.team.team_file import team_in

    folder, now = Folder(config.team_folder()), time.time()
    team = team_in(folder) if folder.exists else None
    ballot = Ballot(ruling.terms, 0.0, electorate_of(team, event, now))
    places = ", ".join(terms.rule for terms in ruling.terms)
    lines = [f"who must allow it: {ballot.standing.why}", f"  {places}"]
    steps = sorted(steps_of(ballot), key=lambda step: step.after)
    return [*lines, *(f"  after {lasting(step.after)}: {step.to} too" for step in steps)]


def verdict_of(ruling: Ruling | None) -> str:
    """Return a ruling's verdict as tables write it."""
    return str(ruling.verdict) if ruling and ruling.verdict is not None else OPEN


def hold(policy: Policy, table: Path, project: Path) -> tuple[list[str], int]:
    """Return where the rules differ from a table, and its number of lines; raises RulesError."""
    context = context_here(project)
    failures, number = [], 0
    for at, row in enumerate(read_text(table).split("\n"), 1):
        if not row.strip() or row.startswith("#"):
            continue
        expected, tab, command = row.partition("\t")
        if not tab or expected not in {*RuleVerdict, OPEN}:
            verdicts = ", ".join([*RuleVerdict, OPEN])
            form = f"a verdict ({verdicts}), a tab and a command"
            raise RulesError(f"{table}, line {at}: it must hold {form}")
        number += 1
        event = event_of("Bash", command.translate(PICTURES), project)
        ruling = policy.examine(event, context)
        if verdict_of(ruling) != expected:
            failures.append(
                f"{table}, line {at}: {command}\n"
                f"  expected {expected}, got {verdict_of(ruling)}: {ruling.why}"
            )
    return failures, number


def _list(arguments: argparse.Namespace) -> int:
    files, project = rules_in_force(), arguments.project or Path.cwd()
    user = files.user_rules()
    say(f"{files.where(RULES)}:")
    for number, rule in enumerate(user.rules, 1):
        say(f"{number:4}  {described(rule)}{_ignored(user, rule)}")
    if not user.rules:
        say("      no rules yet: `crabhook rules add allow 'Bash(npm run *)'` writes one")
    if user.unprotect:
        say(f"      not protected: {', '.join(sorted(user.unprotect))}")
    for risk in user.risks:
        say(f"      {risk}  # {risk.words}")
    theirs = files.project_rules(project)
    if (project / PROJECT_FILE).exists():
        say(f"{project / PROJECT_FILE}: {_TRUST_WORDS[theirs.trust]}")
    for rule in theirs.rules:
        say(f"      {described(rule)}{_ignored(theirs, rule)}")
    for risk in theirs.risks:
        say(f"      {risk}  # {risk.words}")
    return 0


def _ignored(rules: RuleSet, rule: Rule) -> str:
    if rule in rules.set_aside:
        return "  [set aside: a test fails]"
    return "" if rule in rules.counting else "  [does not count]"


_TRUST_WORDS = {
    Trust.NONE: "not trusted as it is now, so nothing in it counts (`crabhook rules trust`)",
    Trust.RESTRICT: "trusted to deny and to ask",
    Trust.FULL: "trusted in full",
}


def _folder(text: str) -> str:
    """Return a project's folder as a rule names it: absolute, or below a home folder (`~`)."""
    return text if text.startswith("~") else os.path.abspath(text)  # noqa: PTH100 - and without ".."


def _add(arguments: argparse.Namespace) -> int:
    scope = RuleScope(
        **{name: tuple(getattr(arguments, name)) for name in RuleScope.__dataclass_fields__}
    )
    verdict, texts = RuleVerdict(arguments.verdict), tuple(arguments.match)
    rule = Rule(verdict, texts, (), arguments.note, scope, arguments.expires)
    files = rules_in_force()
    text, after = edit.drafted(files, [rule], anyway=arguments.anyway)
    write_rules(files, text)
    added = after.rules[-1]
    say(f"Added to {added.where}: {in_a_sentence(added)}")
    for warning in (*misread(added), *options_given(added)):
        sys.stderr.write(f"crabhook rules: note: {' '.join(safe_lines(warning))}\n")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    files = rules_in_force()
    text, removed = edit.drafted_without(files, arguments.number)
    write_rules(files, text)
    say(f"Removed from {removed.origin}: {in_a_sentence(removed)}")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    project = arguments.project or Path.cwd()
    files = rules_in_force()
    policy = files.policy(project)
    say_whose(files)
    event = event_of(arguments.tool, arguments.call, project, arguments.mode)
    say(explained(policy, event, project))
    for rules in (files.user_rules(), files.project_rules(project)):
        for text in _faults(rules):
            say(text)
    return 0


def _test(arguments: argparse.Namespace) -> int:
    project = arguments.project or Path.cwd()
    files = rules_in_force()
    say_whose(files)
    if arguments.table is None:
        return _hold_tests(files, project)
    failures, number = hold(files.policy(project), arguments.table, project)
    for failure in failures:
        say(failure)
    say(f"{number - len(failures)} of {number} as expected")
    return 1 if failures else 0


def _hold_tests(files: RuleFiles, project: Path) -> int:
    """Run the tests of the owner's file, and of the project's, trusted or not."""
    rulesets = {files.where(RULES): files.user_rules()}
    if (project / PROJECT_FILE).exists():
        _, theirs = edit.readable(project, Trust.FULL)
        rulesets[str(project / PROJECT_FILE)] = with_tests_held(theirs, files.protected)
    wrong = False
    for name, rules in rulesets.items():
        faults = _faults(rules)
        wrong = wrong or bool(faults)
        for text in faults:
            say(text)
        say(f"{name}: {len(rules.tests) - len(rules.failed)} of {len(rules.tests)} tests hold")
    return 1 if wrong else 0


def _faults(rules: RuleSet) -> list[str]:
    """Return which tests fail, what they set aside, and which rules can never decide."""
    return [*map(str, rules.failed), *aside_in_words(rules), *map(str, dead_rules(rules))]


def _trust(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder).resolve()
    files = rules_in_force()
    if arguments.revoke:
        if lifted := [
            rule for rule in files.project_rules(folder).counting if rule.verdict.restricts
        ]:
            shown = [f"  removed: {described(rule)}" for rule in lifted]
            consent(files, shown, f"Let these rules no longer count for agents in {folder}?")
        edit.revoke(files, folder)
        say(f"Nothing in {folder / PROJECT_FILE} counts any more.")
        return 0
    level = Trust.FULL if arguments.full else Trust.RESTRICT
    content, rules = edit.readable(folder, level)
    shown = [
        f"  {described(rule)}" + ("" if rule in rules.counting else "  [would not count]")
        for rule in rules.rules
    ]
    shown += [f"  {risk}  # {risk.words}" for risk in rules.risks]
    consent(files, shown, f"Let these rules count for agents in {folder}?")
    edit.trust(files, folder, content, level)
    say("They count as long as the file stays exactly as it is.")
    return 0


def say(text: str) -> None:
    """Print lines that may have an agent's or a project's own words."""
    sys.stdout.writelines(f"{line}\n" for line in safe_lines(text))


rules = actions(
    "rules",
    {
        "list": _list,
        "add": _add,
        "remove": _remove,
        "test": _test,
        "explain": _explain,
        "suggest": run_suggest,
        "trust": _trust,
        "push": push_rules,
        "pull": pull_rules,
    },
    {
        "verdicts": [*map(str, RuleVerdict)],
        "folder": _folder,
        "moment": moment,
        "when": when,
        "count": count,
    },
)
