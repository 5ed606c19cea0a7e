"""Changes of rule files: one rule in, one rule out, one project trusted; comments stay."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.policy.protected import never_made
from crabhook.policy.rule import RiskRule, Rule, RuleScope, RuleSet, Trust
from crabhook.policy.rulefile import FileLines, read_rules
from crabhook.rulebook.files import (
    PROJECT_FILE,
    RULES,
    TRUSTED,
    RuleFiles,
    RulesError,
    Trusted,
    digest,
    project_rules,
    read_project_file,
    toml_text,
    write_trusted,
)


@frozen
class Widening:
    """What a change of rules lets happen without a person's decision, which it needed before.

    `allows` are new rules that allow or pass, `lifted` are rules gone that denied or asked.
    `unprotected` names entries that are no longer protected. `risks` are words on risks that came,
    changed or went, since the level of a risk decides whether a second yes is asked.
    """

    allows: tuple[Rule, ...] = ()
    lifted: tuple[Rule, ...] = ()
    unprotected: tuple[str, ...] = ()
    risks: tuple[RiskRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.allows or self.lifted or self.unprotected or self.risks)


def widening(before: RuleSet, after: RuleSet) -> Widening:
    """Return what `after` lets happen that `before` does not, rule by rule."""
    old, new = _counting(before), _counting(after)
    risks = {replace(risk, origin="", line=0): risk for risk in (*before.risks, *after.risks)}
    both = [{replace(risk, origin="", line=0) for risk in some.risks} for some in (before, after)]
    return Widening(
        tuple(rule for key, rule in new.items() if key not in old and not rule.verdict.restricts),
        tuple(rule for key, rule in old.items() if key not in new and rule.verdict.restricts),
        tuple(sorted(after.unprotect - before.unprotect)),
        tuple(risk for key, risk in risks.items() if key in both[0] ^ both[1]),
    )


def _counting(rules: RuleSet) -> dict[object, Rule]:
    """Return the rules that count, each by what it says, wherever it stands."""
    return {(rule.verdict, rule.texts, rule.scope, rule.expires): rule for rule in rules.counting}


def drafted(
    files: RuleFiles, rules: Sequence[Rule], *, anyway: bool = False
) -> tuple[str, RuleSet]:
    """Return the user's file with rules appended, as text and as read back; nothing is written.

    Raises RuleFileError for an invalid rule; RulesError where the file cannot be added to and,
    unless `anyway`, for an allow of commands that no rule is offered for.
    """
    text, where = files.read(RULES), files.where(RULES)
    before = read_rules(text, where).rules
    for rule in rules:
        joint = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        text = f"{text}{joint}{written(rule)}"
    after = read_rules(text, where)
    if after.rules[: len(before)] != before or len(after.rules) != len(before) + len(rules):
        raise RulesError(f"{where} ends in a way that a rule cannot be added to: edit it")
    wide = [text for rule in after.rules[len(before) :] for text in never_made(rule)]
    if wide and not anyway:
        raise RulesError(
            f"{' and '.join(wide)} takes in commands that lose work, reach others or run anything. "
            "Such are rm -rf, sudo and python3 -c, and nobody would be asked about them. "
            "Nothing was written. Write a narrower rule, or add --anyway"
        )
    return text, after


def add(files: RuleFiles, rule: Rule, *, anyway: bool = False) -> Rule:
    """Append a rule to the user's file; return it as read back.

    Raises as `drafted`, and RulesError where writing failed. An error leaves the file as it was.
    """
    text, after = drafted(files, [rule], anyway=anyway)
    files.write(RULES, text)
    return after.rules[-1]


def drafted_without(files: RuleFiles, number: int) -> tuple[str, Rule]:
    """Return the user's file without the rule of this number (from 1), and that rule.

    Nothing is written. Raises RulesError where there is no such rule, or it cannot be cut out.
    """
    text, where = files.read(RULES), files.where(RULES)
    rules = read_rules(text, where).rules
    if not 1 <= number <= len(rules):
        raise RulesError(f"there is no rule {number}: {where} has {len(rules)}")
    lines = FileLines(text)
    stays = [*rules[: number - 1], *rules[number:]]
    rest = lines.without(number - 1) if len(lines.starts) == len(rules) else text
    after = read_rules(rest, where).rules
    if [replace(rule, line=0) for rule in after] != [replace(rule, line=0) for rule in stays]:
        raise RulesError(f"rule {number} is not a table of its own in {where}: edit it there")
    return rest, rules[number - 1]


def written(rule: Rule) -> str:
    """Return a rule as TOML."""
    texts = [toml_text(text) for text in rule.texts]
    match = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    lines = ["[[rule]]", f"verdict = {toml_text(rule.verdict)}", f"match = {match}"]
    if rule.note:
        lines.append(f"note = {toml_text(rule.note)}")
    scope = [
        f"{key} = [{', '.join(map(toml_text, values))}]"
        for key in RuleScope.__dataclass_fields__
        if (values := getattr(rule.scope, key))
    ]
    if scope:
        lines.append(f"scope = {{ {', '.join(scope)} }}")
    if rule.expires:
        lines.append(f"expires = {rule.expires.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
    return "\n".join(lines) + "\n"


def readable(folder: Path, level: Trust) -> tuple[bytes, RuleSet]:
    """Return a project's rule file, and what it would add at this level; raises CrabhookError."""
    content = read_project_file(folder)
    if not content:
        raise RulesError(f"there are no rules in {folder / PROJECT_FILE}")
    trusted = Trusted(str(folder), digest(content), level)
    return content, project_rules(str(folder), content, [trusted])


def trust(files: RuleFiles, folder: Path, content: bytes, level: Trust) -> None:
    """Let exactly these bytes count as the project's rules."""
    others = [entry for entry in files.trusted_files() if entry.folder != str(folder)]
    now = Trusted(str(folder), digest(content), level)
    files.write(TRUSTED, write_trusted([*others, now]))


def revoke(files: RuleFiles, folder: Path) -> None:
    """Let no file of the project count any more; raises RulesError where none did."""
    entries = files.trusted_files()
    others = [entry for entry in entries if entry.folder != str(folder)]
    if len(others) == len(entries):
        raise RulesError(f"no rule file of {folder} was trusted")
    files.write(TRUSTED, write_trusted(others))
