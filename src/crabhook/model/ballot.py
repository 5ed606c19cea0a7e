"""Who must say yes to a card, and who has: the terms of rules, a ledger of facts, and their sum.

A rule may want the yes of several people, or of certain people (docs/reference/rules.md). Its terms
go with the card, and so do the facts: who may decide it, who looked at it first, who said yes.
Everything else is computed from these facts, so a restart loses no vote. All rules that match
count: each of them must have its people. A wait widens the audience and never lowers the need.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from crabhook.datatypes import frozen
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.decision import Decision, Verdict
from crabhook.model.signing import DecisionSignature

EVERYBODY = "@all"
"""The selector of every person who may decide."""

CLAIM_STOPS = 60.0  # seconds for which a person's first look at a card puts off its next step

_SIGNED = (ShownBy.SIGNATURE, ShownBy.PASSKEY)
_NAMES_SHOWN = 5  # more would not fit a line


@frozen
class LadderStep:
    """After so many seconds these people may say yes too: a name, or a group as `@leads`."""

    after: float
    to: str


@frozen
class Terms:
    """What one rule asks of those who allow a call.

    `need`: how many different people. `of`: names and groups; empty for everybody who may decide.
    `not_self`: nobody whose own machine asks. `step_up`: a passkey or an SSH key signs each yes.
    `rule` names the rule, for people.
    """

    need: int = 1
    of: tuple[str, ...] = ()
    not_self: bool = False
    after: tuple[LadderStep, ...] = ()
    step_up: bool = False
    rule: str = ""

    @property
    def words(self) -> str:
        """Who must allow such calls, on a line: "2 of @leads, none of them its owner"."""
        whom = ", ".join(self.of) or EVERYBODY
        own = ", not its owner" if self.not_self else ""
        signed = ", each yes signed" if self.step_up else ""
        later = "".join(f", after {step.after:g} s {step.to} too" for step in self.after)
        return f"{self.need} of {whom}{own}{signed}{later}"


@frozen
class Voter:
    """A person of the team who may decide the card, as the team is now.

    `groups` are written as `@leads`. `own`: the card is asked from this person's own machine.
    """

    id: str
    name: str
    groups: tuple[str, ...] = ()
    own: bool = False

    def is_in(self, selectors: tuple[str, ...]) -> bool:
        """Whether one of these names or groups means this person; none of them means all."""
        names = {name.casefold() for name in (EVERYBODY, self.name, *self.groups)}
        return not selectors or any(selector.casefold() in names for selector in selectors)


@frozen
class Electorate:
    """The people of the team who may decide a card, as the team is now.

    `owner_known`: whether the team names the owner of the machine that asks.
    """

    voters: tuple[Voter, ...] = ()
    owner_known: bool = False


NOBODY_VOTES = Electorate()


@frozen
class Vote:
    """A person's yes to the card as it is proposed; `note` goes to the model.

    `signed`: the statements that the person signed, where the card's hooks print no other reply.
    """

    by: Operator
    at: float
    note: str = ""
    signed: tuple[DecisionSignature, ...] = ()


@frozen
class FirstLook:
    """When a person of the audience first looked at the card."""

    person: str
    at: float


@frozen
class Ballot:
    """The facts of a card that needs certain people, or several.

    `proposal`: what the votes are for; None while nobody has voted. Times are those of the card.
    `told`: how many steps of the ladder were told so far. `as_of`: the time of `standing`.
    """

    terms: tuple[Terms, ...]
    asked_at: float
    electorate: Electorate = NOBODY_VOTES
    votes: tuple[Vote, ...] = ()
    looks: tuple[FirstLook, ...] = ()
    proposal: Decision | None = None
    told: int = 0
    as_of: float = 0.0

    @property
    def standing(self) -> "WhoMay":
        """Who may bring the card on, as every face shows it."""
        return who_may(self, self.as_of)

    @property
    def facts(self) -> "Ballot":
        """The ballot without the team and the time, which are looked up again."""
        return replace(self, electorate=NOBODY_VOTES, as_of=0.0)


@frozen
class Missing:
    """What the terms of one rule still miss: so many of these people.

    `reachable`: whether enough people are left who could say yes, now or after a step.
    """

    terms: Terms
    count: int
    people: tuple[Voter, ...]
    reachable: bool


@frozen
class WhoMay:
    """Who may bring a card on, how many are still needed, and why, in words."""

    people: tuple[Voter, ...]
    needed: int
    why: str

    def includes(self, person: str) -> bool:
        """Whether the yes of this person, by id, counts now."""
        return any(voter.id == person for voter in self.people)


def who_may(ballot: Ballot, now: float) -> WhoMay:
    """Return whose yes a card waits for, the only answer to that for every face and the broker."""
    missing = tuple(_missing(ballot, now))
    people = dict.fromkeys(voter for lack in missing for voter in lack.people)
    needed = max((lack.count for lack in missing), default=0)
    return WhoMay(tuple(people), needed, _in_words(ballot, missing))


def is_complete(ballot: Ballot) -> bool:
    """Whether the terms of each rule have their people."""
    return all(len(_counted(ballot, terms)) >= terms.need for terms in ballot.terms)


def why_not(ballot: Ballot, by: Operator, now: float) -> str:
    """Return why a person's yes does not count now, in words; empty where it counts."""
    voter = next((voter for voter in ballot.electorate.voters if voter.id == by.id), None)
    waits = who_may(ballot, now)
    if voter is None:
        return f"a rule says who may allow this, and you are none of them. {waits.why}"
    if not waits.includes(voter.id):
        if any(vote.by.id == voter.id for vote in ballot.votes):
            return f"your yes counts already. {waits.why}"
        if voter.own and any(terms.not_self for terms in ballot.terms):
            return f"your own machine asks this, and a rule wants somebody else. {waits.why}"
        return f"a rule says who may allow this, and you are none of them now. {waits.why}"
    lacks = [lack for lack in _missing(ballot, now) if voter in lack.people]
    if all(lack.terms.step_up for lack in lacks) and by.shown not in _SIGNED:
        return (
            "a rule wants this very yes signed: give it on a page by your passkey, or by "
            "`crabhook allow` with your SSH key"
        )
    return ""


def proposed(ballot: Ballot, decision: Decision) -> Decision:
    """Return what a yes means: a plain allow agrees with what is proposed already."""
    if ballot.proposal is None or not _is_plain(decision):
        return decision
    return replace(ballot.proposal, note=decision.note)


def with_vote(
    ballot: Ballot,
    by: Operator,
    decision: Decision,
    now: float,
    signed: tuple[DecisionSignature, ...] = (),
) -> Ballot:
    """Return the ballot with a person's yes; another proposal voids the votes before."""
    proposal = replace(proposed(ballot, decision), note="")
    votes = ballot.votes if ballot.proposal in (None, proposal) else ()
    mine = Vote(by, now, decision.note, signed)
    return replace(ballot, votes=(*votes, mine), proposal=proposal)


def voided(before: Ballot, after: Ballot) -> tuple[Vote, ...]:
    """Return the votes that no longer count, since the call was changed or their person left."""
    return tuple(vote for vote in before.votes if vote not in after.votes)


def with_electorate(ballot: Ballot, electorate: Electorate) -> Ballot:
    """Return the ballot of the team as it is now: who left it has no vote."""
    there = {voter.id for voter in electorate.voters}
    votes = tuple(vote for vote in ballot.votes if vote.by.id in there)
    proposal = ballot.proposal if votes else None
    return replace(ballot, electorate=electorate, votes=votes, proposal=proposal)


def with_terms(ballot: Ballot, terms: tuple[Terms, ...]) -> Ballot:
    """Return the ballot with the terms of another hook of the same call too."""
    return replace(ballot, terms=tuple(dict.fromkeys((*ballot.terms, *terms))))


def with_look(ballot: Ballot, by: Operator, now: float) -> Ballot:
    """Return the ballot with the first look of a person whose yes it waits for; else as it is."""
    seen = any(look.person == by.id for look in ballot.looks)
    if seen or not who_may(ballot, now).includes(by.id):
        return ballot
    return replace(ballot, looks=(*ballot.looks, FirstLook(by.id, now)))


def decision_of(ballot: Ballot) -> Decision:
    """Return what the votes decide, with the notes of all, each with its name."""
    proposal = ballot.proposal or Decision(Verdict.ALLOW)
    noted = [vote for vote in _latest(ballot.votes) if vote.note]
    if len(noted) == 1:
        return replace(proposal, note=noted[0].note)
    return replace(proposal, note="\n".join(f"{vote.by.name}: {vote.note}" for vote in noted))


def signatures_of(ballot: Ballot) -> tuple[DecisionSignature, ...]:
    """Return what the people signed whose yes counts.

    A person's earlier yes goes too: a passkey may have given it, where a desk gave the later yes.
    """
    return tuple(each for vote in ballot.votes for each in vote.signed)


def without_votes(ballot: Ballot) -> Ballot:
    """Return the ballot with no vote, as of a card that is asked more than people signed."""
    return replace(ballot, votes=(), proposal=None)


def names_of(votes: tuple[Vote, ...]) -> str:
    """Return who said yes, in words: "ann and bob"."""
    return _and([vote.by.name for vote in _latest(votes)])


def ends_of_steps(ballot: Ballot) -> tuple[float, ...]:
    """Return when each step of the ladder comes, the first to come first.

    A first look that is less than a minute old at that time puts the step off to the minute's end.
    """
    return tuple(sorted(_due(ballot, step.after) for terms in ballot.terms for step in terms.after))


def steps_of(ballot: Ballot) -> tuple[LadderStep, ...]:
    """Return the steps of the ladder, those of each rule in order."""
    return tuple(step for terms in ballot.terms for step in terms.after)


def steps_due(ballot: Ballot, now: float) -> tuple[LadderStep, ...]:
    """Return the steps of the ladder that have come, the first to come first."""
    due = sorted(steps_of(ballot), key=lambda step: step.after)
    return tuple(step for step in due if _due(ballot, step.after) <= now)


def _due(ballot: Ballot, after: float) -> float:
    at = ballot.asked_at + after
    for look in sorted(ballot.looks, key=lambda look: look.at):
        if look.at <= at < look.at + CLAIM_STOPS:
            at = look.at + CLAIM_STOPS
    return at


def _is_plain(decision: Decision) -> bool:
    return replace(decision, note="") == Decision(Verdict.ALLOW)


def _audience(ballot: Ballot, terms: Terms, now: float) -> tuple[Voter, ...]:
    """Return the people whose yes counts for these terms at a time."""
    if terms.not_self and not ballot.electorate.owner_known:
        return ()
    due = tuple(step.to for step in terms.after if _due(ballot, step.after) <= now)
    selectors = (*terms.of, *due) if terms.of else ()
    return tuple(
        voter
        for voter in ballot.electorate.voters
        if voter.is_in(selectors) and not (terms.not_self and voter.own)
    )


def _counted(ballot: Ballot, terms: Terms) -> frozenset[str]:
    """Return the people, by id, whose yes counts for these terms: by the audience at that time."""
    return frozenset(
        vote.by.id
        for vote in ballot.votes
        if (not terms.step_up or vote.by.shown in _SIGNED)
        and any(voter.id == vote.by.id for voter in _audience(ballot, terms, vote.at))
    )


def _missing(ballot: Ballot, now: float) -> Iterator[Missing]:
    for terms in ballot.terms:
        counted = _counted(ballot, terms)
        if len(counted) < terms.need:
            left, later = (
                tuple(voter for voter in _audience(ballot, terms, at) if voter.id not in counted)
                for at in (now, inf)
            )
            count = terms.need - len(counted)
            yield Missing(terms, count, left, reachable=len(later) >= count)


def _latest(votes: tuple[Vote, ...]) -> list[Vote]:
    """Return the last vote of each person, in the order of their first."""
    return list({vote.by.id: vote for vote in votes}.values())


def _in_words(ballot: Ballot, missing: tuple[Missing, ...]) -> str:
    """Return what a card still waits for, in sentences: "1 of 2 said yes: ann. …"."""
    return " ".join(_lack(ballot, lack) for lack in missing)


def _lack(ballot: Ballot, lack: Missing) -> str:
    terms = lack.terms
    counted = _counted(ballot, terms)
    said_yes = _and([vote.by.name for vote in _latest(ballot.votes) if vote.by.id in counted])
    so_far = f"{len(counted)} of {terms.need} said yes" + (f": {said_yes}." if said_yes else ".")
    if terms.not_self and not ballot.electorate.owner_known:
        return (
            f"{so_far} Nobody may: a rule wants somebody else than the owner of the machine that "
            "asks, and the team names no owner (`crabhook team owner`)."
        )
    whom = _and([voter.name for voter in lack.people[:_NAMES_SHOWN]]) or "nobody"
    more = len(lack.people) - _NAMES_SHOWN
    whom += f" and {more} more" if more > 0 else ""
    if not lack.reachable:
        only = f"Only {whom}" if lack.people else "Nobody"
        return f"{so_far} {only} could say yes: it cannot be allowed as the team is now."
    selectors = f"{', '.join(terms.of)}: {whom}" if terms.of else whom
    return f"{so_far} It waits for {selectors}."


def _and(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
