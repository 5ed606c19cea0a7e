"""Who must allow a card: all rules together, no self, no vote twice, an audience that only widens."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from crabhook.model import ballot as ledger
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.ballot import Ballot, Electorate, LadderStep, Terms, Voter
from crabhook.model.decision import Decision, Verdict

ALLOW = Decision(Verdict.ALLOW)
LEADS, ON_CALL = "@leads", "@oncall"
TEAM = {
    "ann": Voter("o-ann", "ann", (LEADS,)),
    "bob": Voter("o-bob", "bob", (LEADS, ON_CALL)),
    "cat": Voter("o-cat", "cat", (ON_CALL,)),
    "eve": Voter("o-eve", "eve", (), own=True),
}
ALL = Electorate(tuple(TEAM.values()), owner_known=True)


def person(name: str, shown: ShownBy = ShownBy.PASSPHRASE) -> Operator:
    return Operator(f"o-{name}", name, f"{name}'s", shown=shown.value)


def edited(command: str, note: str = "") -> Decision:
    return Decision(Verdict.ALLOW, note, note, updated_input={"command": command})


def opened(*terms: Terms, electorate: Electorate = ALL) -> Ballot:
    return Ballot(terms, 100.0, electorate)


def names(ballot: Ballot, now: float = 100.0) -> list[str]:
    return [voter.name for voter in ledger.who_may(ballot, now).people]


def after_yes(ballot: Ballot, *people: str, now: float = 100.0) -> Ballot:
    for name in people:
        assert not ledger.why_not(ballot, person(name), now)
        ballot = ledger.with_vote(ballot, person(name), ALLOW, now)
    return ballot


def test_without_an_audience_everybody_who_may_decide_is_in_it() -> None:
    assert names(opened(Terms(need=2))) == ["ann", "bob", "cat", "eve"]


def test_a_name_and_a_group_are_the_audience() -> None:
    assert names(opened(Terms(of=(LEADS, "EVE")))) == ["ann", "bob", "eve"]


def test_two_devices_of_a_person_are_one_person() -> None:
    ballot = after_yes(opened(Terms(need=2)), "ann")
    other = replace(person("ann"), desk="ann's phone")
    assert "counts already" in ledger.why_not(ballot, other, 101.0)
    assert not ledger.is_complete(ledger.with_vote(ballot, other, ALLOW, 101.0))


def test_all_rules_that_match_must_have_their_people() -> None:
    both = opened(Terms(of=(LEADS,)), Terms(of=(ON_CALL,)))
    assert not ledger.is_complete(after_yes(both, "ann"))
    assert ledger.is_complete(after_yes(both, "ann", "cat"))
    assert ledger.is_complete(after_yes(both, "bob")), "who is in both counts for both"


def test_the_owner_of_the_machine_that_asks_does_not_count() -> None:
    ballot = opened(Terms(not_self=True))
    assert "own machine" in ledger.why_not(ballot, person("eve"), 100.0)
    assert names(ballot) == ["ann", "bob", "cat"]


def test_where_nobody_is_known_as_the_owner_nobody_counts() -> None:
    ballot = opened(Terms(not_self=True), electorate=replace(ALL, owner_known=False))
    assert not names(ballot)
    assert "crabhook team owner" in ledger.who_may(ballot, 100.0).why
    assert ledger.why_not(ballot, person("ann"), 100.0)


def test_the_person_at_the_servers_own_terminal_is_nobody_of_the_team() -> None:
    terminal = Operator("owner", "operator", "this terminal")
    assert "none of them" in ledger.why_not(opened(Terms(need=2)), terminal, 100.0)


@pytest.mark.parametrize("shown", list(ShownBy))
def test_step_up_wants_this_very_yes_signed(shown: ShownBy) -> None:
    signed = shown in (ShownBy.PASSKEY, ShownBy.SIGNATURE)
    assert (not ledger.why_not(opened(Terms(step_up=True)), person("ann", shown), 100.0)) is signed


def test_a_yes_without_a_signature_counts_only_where_none_is_wanted() -> None:
    both = opened(Terms(), Terms(step_up=True))
    half = after_yes(both, "ann")
    assert not ledger.is_complete(half)
    assert not ledger.why_not(half, person("ann", ShownBy.PASSKEY), 101.0)
    signed = ledger.with_vote(half, person("ann", ShownBy.PASSKEY), ALLOW, 101.0)
    assert ledger.is_complete(signed)


def test_a_step_that_comes_later_counts_no_vote_of_before() -> None:
    ballot = opened(Terms(of=(LEADS,)), Terms(of=("cat",), after=(LadderStep(60, LEADS),)))
    early = after_yes(ballot, "ann")
    assert not ledger.is_complete(early)
    assert ledger.is_complete(after_yes(early, "ann", now=200.0)), "ann may say it again then"


def test_a_ladder_widens_the_audience_and_never_lowers_the_need() -> None:
    ballot = opened(
        Terms(need=2, of=(LEADS,), after=(LadderStep(120, ON_CALL), LadderStep(600, "@all")))
    )
    assert names(ballot, 219.9) == ["ann", "bob"]
    assert names(ballot, 220.0) == ["ann", "bob", "cat"]
    assert names(ballot, 700.0) == ["ann", "bob", "cat", "eve"]
    assert ledger.who_may(ballot, 700.0).needed == 2
    assert not ledger.is_complete(after_yes(ballot, "cat", now=700.0))


def test_a_first_look_puts_the_next_step_off_to_the_end_of_its_minute_once() -> None:
    ballot = opened(Terms(of=(LEADS,), after=(LadderStep(120, ON_CALL),)))
    looked = ledger.with_look(ballot, person("ann"), 200.0)
    assert ledger.ends_of_steps(looked) == (260.0,)
    assert names(looked, 259.9) == ["ann", "bob"]
    assert ledger.with_look(looked, person("ann"), 230.0) is looked, "a claim is no brake for ever"
    assert ledger.with_look(ballot, person("cat"), 200.0) is ballot, "cat is not asked yet"


def test_a_look_after_a_step_came_takes_nobody_out_again() -> None:
    ballot = opened(Terms(of=(LEADS,), after=(LadderStep(120, ON_CALL),)))
    voted = after_yes(ballot, "cat", now=230.0)
    assert ledger.is_complete(voted)
    assert ledger.is_complete(ledger.with_look(voted, person("ann"), 231.0))


def test_an_edit_voids_the_votes_before() -> None:
    ballot = after_yes(opened(Terms(need=2)), "ann")
    changed = ledger.with_vote(ballot, person("bob"), edited("ls -l"), 110.0)
    assert [vote.by.name for vote in changed.votes] == ["bob"]
    assert [vote.by.name for vote in ledger.voided(ballot, changed)] == ["ann"]
    agreed = ledger.with_vote(changed, person("ann"), ALLOW, 120.0)
    assert ledger.is_complete(agreed)
    assert ledger.decision_of(agreed).updated_input == {"command": "ls -l"}


def test_who_leaves_the_team_loses_the_vote() -> None:
    ballot = after_yes(opened(Terms(need=2)), "ann", "bob")
    rest = Electorate(tuple(each for each in ALL.voters if each.name != "ann"), owner_known=True)
    left = ledger.with_electorate(ballot, rest)
    assert not ledger.is_complete(left)
    assert ledger.voided(ballot, left) == ballot.votes[:1]


def test_the_notes_of_all_go_to_the_model_with_their_names() -> None:
    ballot = opened(Terms(need=2))
    ballot = ledger.with_vote(ballot, person("ann"), replace(ALLOW, note="be quick"), 100.0)
    alone = ledger.decision_of(ballot).note
    ballot = ledger.with_vote(ballot, person("bob"), replace(ALLOW, note="log it"), 101.0)
    assert (alone, ledger.decision_of(ballot).note) == ("be quick", "ann: be quick\nbob: log it")


def test_what_cannot_be_reached_says_so() -> None:
    ballot = after_yes(opened(Terms(need=4, of=(LEADS,))), "ann")
    assert ledger.who_may(ballot, 100.0).why == (
        "1 of 4 said yes: ann. Only bob could say yes: it cannot be allowed as the team is now."
    )


def test_the_words_say_who_and_for_whom_it_waits() -> None:
    ballot = after_yes(opened(Terms(need=2, of=(LEADS,))), "ann")
    assert ledger.who_may(ballot, 100.0).why == "1 of 2 said yes: ann. It waits for @leads: bob."


# Any sequence of facts, beside a judge that counts in its own way.


@dataclass
class Yes:
    """A yes that was taken: who, when, how shown, for what, and who was in the team then."""

    who: str
    at: float
    signed: bool
    what: str
    team: frozenset[str]
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)


TERMS = st.builds(
    Terms,
    need=st.integers(1, 3),
    of=st.lists(st.sampled_from((LEADS, ON_CALL, "ann", "eve")), max_size=2, unique=True).map(
        tuple
    ),
    not_self=st.booleans(),
    after=st.lists(
        st.builds(LadderStep, st.sampled_from((30.0, 90.0)), st.sampled_from((ON_CALL, "@all"))),
        max_size=2,
    ).map(tuple),
    step_up=st.booleans(),
)


class AnyFacts(RuleBasedStateMachine):
    """Whatever comes, an allow needs as many different, allowed people as each rule says."""

    @initialize(terms=st.lists(TERMS, min_size=1, max_size=2).map(tuple))
    def begins(self, terms: tuple[Terms, ...]) -> None:
        self.now, self.here = 100.0, set(TEAM)
        self.ballot = opened(*terms)
        self.taken: list[Yes] = []
        self.seen_people: dict[int, set[str]] = {}

    @rule(seconds=st.sampled_from((1.0, 29.0, 60.0, 200.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(who=st.sampled_from(sorted(TEAM)), shown=st.sampled_from(list(ShownBy)))
    def says_yes(self, who: str, shown: ShownBy) -> None:
        self._yes(who, shown, ALLOW, self.taken[-1].what if self.taken else "as asked")

    @rule(who=st.sampled_from(sorted(TEAM)), command=st.sampled_from(("ls", "ls -l")))
    def edits(self, who: str, command: str) -> None:
        self._yes(who, ShownBy.PASSKEY, edited(command), command)

    def _yes(self, who: str, shown: ShownBy, decision: Decision, what: str) -> None:
        if ledger.is_complete(self.ballot):
            return
        if ledger.why_not(self.ballot, person(who, shown), self.now):
            return
        assert who in self.here
        self.ballot = ledger.with_vote(self.ballot, person(who, shown), decision, self.now)
        signed = shown in (ShownBy.PASSKEY, ShownBy.SIGNATURE)
        self.taken = [each for each in self.taken if each.what == what]
        self.taken.append(Yes(who, self.now, signed, what, frozenset(self.here)))

    @rule(who=st.sampled_from(sorted(TEAM)))
    def looks(self, who: str) -> None:
        self.ballot = ledger.with_look(self.ballot, person(who), self.now)

    @rule(who=st.sampled_from(sorted(TEAM)))
    def leaves_the_team(self, who: str) -> None:
        if ledger.is_complete(self.ballot):
            return
        self.here.discard(who)
        self._team()
        self.taken = [each for each in self.taken if each.who != who]

    @rule(who=st.sampled_from(sorted(TEAM)))
    def comes_back(self, who: str) -> None:
        if not ledger.is_complete(self.ballot):
            self.here.add(who)
            self._team()

    def _team(self) -> None:
        there = tuple(voter for name, voter in TEAM.items() if name in self.here)
        self.ballot = ledger.with_electorate(self.ballot, Electorate(there, owner_known=True))

    @invariant()
    def an_allow_has_its_people(self) -> None:
        if not ledger.is_complete(self.ballot):
            return
        assert len({each.what for each in self.taken}) == 1, "all said yes to the same call"
        for terms in self.ballot.terms:
            widest = (*terms.of, *(step.to for step in terms.after)) if terms.of else ()
            allowed = {
                each.who
                for each in self.taken
                if (not widest or TEAM[each.who].is_in(widest))
                and not (terms.not_self and TEAM[each.who].own)
                and (each.signed or not terms.step_up)
            }
            assert len(allowed) >= terms.need

    @invariant()
    def the_audience_only_widens(self) -> None:
        for number, terms in enumerate(self.ballot.terms):
            if any(look.at > self.now - 60 for look in self.ballot.looks):
                continue  # it puts off what has not come yet
            alone = replace(self.ballot, terms=(terms,), votes=())
            now = {voter.name for voter in ledger.who_may(alone, self.now).people}
            before = self.seen_people.get(number, set()) & self.here
            assert before <= now
            self.seen_people[number] = now


AnyFacts.TestCase.settings = settings(stateful_step_count=30, deadline=None)
TestAnyFacts = AnyFacts.TestCase
