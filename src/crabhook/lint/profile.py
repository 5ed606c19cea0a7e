"""The profiles: which rules are looked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crabhook.lint.finding import Rule, Severity
from crabhook.lint.rules import script_table, setup_table, standard_table
from crabhook.lint.rules.judged import ScriptRule, SetupRule

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


TODAY = Profile("today", script_table.SCRIPTS, setup_table.SETUPS)
STANDARD = Profile("standard", standard_table.SCRIPTS, standard_table.SETUPS)

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TODAY, STANDARD)}
