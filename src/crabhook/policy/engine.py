"""The whole of the law: rule sets and the protected list, asked about one call at a time.

Order (the hook protocol's section 10, and the protected list in between):
deny, then protected, then ask, then allow, then pass; among rules of one
kind, the first.  A denial or a question needs one part of the call, an allow
or a pass every part.
"""

from collections.abc import Sequence

from crabhook.model.event import Event
from crabhook.policy.call import read_call
from crabhook.policy.index import Placed, RuleIndex
from crabhook.policy.judging import Judging, Law
from crabhook.policy.parts import Call
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleSet, RuleVerdict
from crabhook.policy.ruling import Ruling
from crabhook.policy.surroundings import Surroundings

_ASKS = (RuleVerdict.ASK_OPERATOR, RuleVerdict.ASK_AGENTS_USER)
_CLASSES = ((RuleVerdict.DENY,), _ASKS, (RuleVerdict.ALLOW,), (RuleVerdict.PASS,))


class Policy:
    """The ordered whole of the rules."""

    def __init__(self, rulesets: Sequence[RuleSet], protected: Protected) -> None:
        placed = [
            Placed(order, rule, folder)
            for order, (rule, folder) in enumerate(
                (rule, ruleset.folder) for ruleset in rulesets for rule in ruleset.counting
            )
        ]
        off = [name for one in rulesets if not one.folder for name in one.unprotect]
        deny, ask, allow, leave = (
            RuleIndex(one for one in placed if one.rule.verdict in verdicts)
            for verdicts in _CLASSES
        )
        self._law = Law(deny, protected.without(off), ask, allow, leave)
        self._size = len(placed)

    def __len__(self) -> int:
        return self._size

    def judge(self, event: Event, surroundings: Surroundings) -> Ruling | None:
        """Return what the rules say of the event, or None where they leave it open."""
        ruling = self.examine(event, surroundings)
        return ruling if ruling.verdict is not None else None

    def examine(self, event: Event, surroundings: Surroundings) -> Ruling:
        """Return what the rules say of each part of the call, even where that decides nothing."""
        call = read_call(event, surroundings)
        if call is None:
            return Ruling(None, None, f"{event.name} calls no tool, and rules speak of calls")
        return self.examine_call(call, event, surroundings)

    def examine_call(self, call: Call, event: Event, surroundings: Surroundings) -> Ruling:
        """As `examine`, of a call that `read_call` has read already in these surroundings."""
        return Judging(self._law, call, event, surroundings).ruling()
