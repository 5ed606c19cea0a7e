"""`crabhook lint`: what in hook scripts and configurations will not work as meant."""

import argparse
import sys

from crabhook.cli.commands import declaring
from crabhook.lint.configuration import protocols
from crabhook.lint.linting import lint
from crabhook.lint.report import Report, as_json, as_sarif, lines
from crabhook.lint.rules import PROFILES, Profile
from crabhook.lint.script import Severity
from crabhook.present.safe import safe
from crabhook.ui.console import say, say_json

_LEVELS = {str(severity): severity for severity in reversed(Severity)}
_NEVER = "never"


add_arguments = declaring(
    "lint",
    {"profiles": tuple(PROFILES), "agents": tuple(protocols()), "levels": (*_LEVELS, _NEVER)},
)


def run(arguments: argparse.Namespace) -> int:
    """Do it; return 0, 1 on findings at or above the severity, 2 where something was not read."""
    profile = PROFILES[arguments.profile]
    rule_ids = {rule.id for rule in profile.rules()}
    if unknown := [rule_id for rule_id in arguments.ignore if rule_id not in rule_ids]:
        sys.stderr.write(f"crabhook lint: this profile has no rule {safe(', '.join(unknown))}\n")
        return 2
    agent = protocols()[arguments.agent] if arguments.agent else None
    report = lint(arguments.paths, profile, agent)
    report.findings = [
        finding for finding in report.findings if finding.rule.id not in arguments.ignore
    ]
    try:
        _show(report, profile, arguments.format)
    except BrokenPipeError:  # the reader needs no more
        sys.stderr.close()
    if report.unread:
        return 2
    worst = max((finding.rule.severity for finding in report.findings), default=None)
    return int(worst is not None and worst >= _LEVELS.get(arguments.fail_on, len(_LEVELS) + 1))


def _show(report: Report, profile: Profile, form: str) -> None:
    if form == "json":
        say_json(as_json(report, profile))
    elif form == "sarif":
        say_json(as_sarif(report, profile))
    else:
        for line in lines(report):
            say(line)
