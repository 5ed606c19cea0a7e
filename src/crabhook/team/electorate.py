"""Who may decide a call, as the team is now: for rules that say who must allow it."""

from crabhook.model.actor import Role
from crabhook.model.ballot import NOBODY_VOTES, Electorate, Voter
from crabhook.model.event import Event
from crabhook.team.membership import Target, Team, TeamRefusal
from crabhook.vocabulary import vocabulary


def electorate_of(team: Team | TeamRefusal | None, event: Event, now: float) -> Electorate:
    """Return the people who may decide a call, `now` in seconds since 1970.

    These are deciders and admins within their limits who can sign in by something. Without a usable
    team there is nobody.
    """
    if team is None or isinstance(team, TeamRefusal):
        return NOBODY_VOTES
    target, owner = _target_of(event), team.owner_of(event.machine)
    voters = (
        Voter(member.id, member.name, team.groups_of(member.id), member.id == owner)
        for member in team.members
        if member.role.includes(Role.DECIDER)
        and member.doubt is None
        and member.scope.takes_in(target)
        and any(not owned.revoked and now < owned.until for owned in member.owned)
    )
    owner_known = any(member.id == owner for member in team.members)
    return Electorate(tuple(voters), owner_known)


def _target_of(event: Event) -> Target:
    words = vocabulary()
    question = "question" if event.calls(*words.questions) else ""
    plan = "plan" if event.calls(*words.plans) else ""
    return Target(event.cwd, event.machine, question or plan or "call")
