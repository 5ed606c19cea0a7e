"""The rules, and the profiles: which of them are looked for.

A rule is a function with its words above it.  What a file holds decides about it: `answers`
and `scripts` look at a script, `entries` at a configuration, `runs` at both together;
`standard` is the hook standard's own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from crabhook.lint.finding import Rule, Severity
from crabhook.lint.rules import answers, entries, runs, scripts, standard
from crabhook.lint.rules.subjects import ScriptRule, SetupRule

UNREADABLE_SCRIPT = Rule(
    "CH020",
    Severity.CRITICAL,
    "script that cannot be read",
    "The hook fails at every call, and the action goes ahead.",
    "Mend what its interpreter would refuse.",
)
UNREASONED = Rule(
    "CH021",
    Severity.LOW,
    "suppression without a reason",
    "A suppression counts only with a reason, so that the next reader can judge it.",
    "Write why: # crabhook: ignore[CH003] the caller turns 1 into 2",
)
UNREAD_SHELL = Rule(
    "CH022",
    Severity.LOW,
    "shell that was not understood",
    "A part of the script could not be read here, so what is in it was not judged.",
    "Run bash -n on the script. If bash reads it, look through that part yourself.",
)
UNREADABLE_SETUP = Rule(
    "CH101",
    Severity.CRITICAL,
    "configuration that cannot be read",
    "The agent reads nothing of the file: none of its hooks runs.",
    "Mend the syntax at that place.",
)


ALWAYS = (UNREADABLE_SCRIPT, UNREASONED, UNREAD_SHELL, UNREADABLE_SETUP)
"""The rules of every profile: about what could not be judged at all."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of rules under a name."""

    name: str
    scripts: tuple[ScriptRule, ...]
    setups: tuple[SetupRule, ...]

    def rules(self) -> Iterator[Rule]:
        """Yield each of its rules once, those of every profile included."""
        listed = [one.rule for one in self.scripts] + [one.rule for one in self.setups]
        yield from dict.fromkeys((*listed, *ALWAYS))


def _profile(name: str, *modules: ModuleType) -> Profile:
    """Return the profile of all rules in these modules, in the order of their ids."""
    values = [value for module in modules for value in vars(module).values()]
    listed = [value for value in values if isinstance(value, ScriptRule | SetupRule)]
    listed.sort(key=lambda one: one.rule.id)
    return Profile(
        name,
        tuple(one for one in listed if isinstance(one, ScriptRule)),
        tuple(one for one in listed if isinstance(one, SetupRule)),
    )


TODAY = _profile("today", answers, scripts, entries, runs)
STANDARD = _profile("standard", standard)

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TODAY, STANDARD)}
