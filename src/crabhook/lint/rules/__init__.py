"""The rules, and the profiles that choose among them.

A rule is a function; `rules.toml` has its words. `answers` checks scripts, `entries` checks
configurations and their programs, and `permissions` an agent's own; `standard` is the hook
standard's own profile.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from crabhook.datatypes import frozen
from crabhook.lint.rules import (  # noqa: F401 - for the checks
    answers,
    entries,
    permissions,
    standard,
    subjects,
)
from crabhook.lint.script import LintRule

ALWAYS = tuple(subjects.RULES[name] for name in ("CH020", "CH021", "CH022", "CH101"))
"""The rules of every profile: about what could not be judged at all."""

UNREADABLE_SCRIPT, UNREASONED, UNREAD_SHELL, UNREADABLE_SETUP = ALWAYS


T = TypeVar("T")


@frozen
class Profile:
    """A set of rules under a name: what looks for them, by the rules' ids."""

    name: str
    scripts: Mapping[str, subjects.ScriptCheck]
    setups: Mapping[str, subjects.SetupCheck]

    def rules(self) -> Iterator[LintRule]:
        """Yield each of its rules once, those of every profile included."""
        listed = (subjects.RULES[subject] for subject in (*self.scripts, *self.setups))
        yield from dict.fromkeys((*listed, *ALWAYS))


def _chosen(checks: Mapping[str, T], prefix: str) -> Mapping[str, T]:
    return {rule: checks[rule] for rule in sorted(checks) if rule.startswith(prefix)}


TODAY, STANDARD = (
    Profile(name, _chosen(subjects.SCRIPT_CHECKS, ids), _chosen(subjects.SETUP_CHECKS, ids))
    for name, ids in (("today", "CH"), ("standard", "HP"))
)

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TODAY, STANDARD)}
