"""The owner's own words on risks, `[[risk]]` in rule files, laid over what the table tells."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crabhook.model.event import Event
from crabhook.model.risk import Effect, Level, Risk
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.context import Context
from crabhook.policy.effects.found import shortened
from crabhook.policy.paths import Bases, is_within
from crabhook.policy.rule import RiskRule, RuleSet

OWN = "own"
MOST_OWN = 4
# Whatever the owner says of a call as a whole, these stay what they are.
_KEPT = frozenset({"agent-settings", "crabhook", "sandbox"})


def with_own(
    found: Risk, call: Call, event: Event, rulesets: Sequence[RuleSet], context: Context
) -> Risk:
    """Return the risk of a call as the rule files have it.

    One part of the call is enough to raise the level.  To lower it, rules of the owner's own
    file must cover every part, as an allow would; a project's file never lowers it.
    """
    cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
    here = context.project or cwd
    speaking: list[tuple[RiskRule, bool]] = []
    lowers: list[RiskRule] = []
    left = list(call.required)
    for one in rulesets:
        if one.folder and not is_within(here, one.folder):
            continue
        bases = Bases(context.home, one.folder or context.project, cwd, context.real)
        for rule in one.risks:
            if any(m.hits(part, bases) for m in rule.matchers for part in call.parts):
                speaking.append((rule, bool(one.folder)))
            if not one.folder:
                rest = [p for p in left if not any(m.covers(p, bases) for m in rule.matchers)]
                lowers += [rule] if len(rest) < len(left) else []
                left = rest
    cap = max((rule.level for rule in lowers), default=Level.DANGER)
    cap = Level.DANGER if left or call.troubles or not call.required else cap
    effects = [one if one.kind in _KEPT else _capped(one, cap) for one in found.effects]
    own = sorted(_effects(speaking), key=lambda one: -one.level)[:MOST_OWN]
    return shortened((*own, *effects), found.unknown)


def _capped(effect: Effect, cap: Level) -> Effect:
    return replace(effect, level=min(effect.level, cap))


def _effects(speaking: Sequence[tuple[RiskRule, bool]]) -> Iterator[Effect]:
    for rule, theirs in speaking:
        yield Effect(OWN, rule.level, f"{rule.words} (says the project)" if theirs else rule.words)
