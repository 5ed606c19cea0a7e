"""The rules, and the profiles that choose among them.

A rule is a function; `rules.toml` has its words. `answers` checks scripts, `entries` checks
configurations and their programs; `standard` is the hook standard's own profile.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType

from crabhook.datatypes import frozen
from crabhook.lint.rules import answers, entries, standard
from crabhook.lint.rules.subjects import RULES, ScriptRule, SetupRule
from crabhook.lint.script import Rule

ALWAYS = tuple(RULES[name] for name in ("CH020", "CH021", "CH022", "CH101"))
"""The rules of every profile: about what could not be judged at all."""

UNREADABLE_SCRIPT, UNREASONED, UNREAD_SHELL, UNREADABLE_SETUP = ALWAYS


@frozen
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
    """Return the profile of all rules in these modules, ordered by id."""
    values = [value for module in modules for value in vars(module).values()]
    scripts = [value for value in values if isinstance(value, ScriptRule)]
    setups = [value for value in values if isinstance(value, SetupRule)]
    scripts.sort(key=lambda one: one.rule.id)
    setups.sort(key=lambda one: one.rule.id)
    return Profile(name, tuple(scripts), tuple(setups))


TODAY = _profile("today", answers, entries)
STANDARD = _profile("standard", standard)

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TODAY, STANDARD)}
