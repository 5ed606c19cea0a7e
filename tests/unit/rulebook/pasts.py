"""Pasts made by hand: calls with what became of them, and the law they are held against."""

from crabhook.model.event import Event
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleSet, RuleVerdict
from crabhook.rulebook.history import PastCall
from crabhook.rulebook.project_policy import ProjectPolicy
from crabhook.rulebook.rulings import PolicyFor
from crabhook.store.actors import actor_in
from tests.unit.policy.law import HOME, NOW, PROJECT

PROTECTED = Protected()


def past(
    event: Event,
    verdict: str = "allow",
    *,
    by: str = "operator",
    edited: bool = False,
    at: str = "2026-11-20T10:00:00.000000Z",
) -> PastCall:
    return PastCall(event, RuleVerdict(verdict), actor_in({"by": by}), edited, at, 1)


def under(*rules: Rule) -> PolicyFor:
    """A law for every project; a folder's project is its first two parts, as in /work/app."""
    policy = Policy([RuleSet(rules)], PROTECTED)

    def law(event: Event) -> ProjectPolicy:
        project = "/".join(event.cwd.split("/")[:3]) or PROJECT
        return ProjectPolicy(policy, Context(project, HOME, NOW, lambda path: path))

    return law
