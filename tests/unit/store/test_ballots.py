"""A ballot comes back from its text as it was, on another clock, and without the team."""

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import Operator
from crabhook.model.ballot import Ballot, FirstLook, LadderStep, Terms, Vote
from crabhook.model.decision import Decision, Verdict
from crabhook.store.ballots import ballot_in, ballot_text

TIMES = st.integers(0, 1000).map(float)
TEXTS = st.text(max_size=12)
PEOPLE = st.builds(Operator, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
TERMS = st.builds(
    Terms,
    st.integers(1, 20),
    st.lists(TEXTS, max_size=3).map(tuple),
    st.booleans(),
    st.lists(st.builds(LadderStep, TIMES, TEXTS), max_size=2).map(tuple),
    st.booleans(),
    TEXTS,
)
INPUTS = st.none() | st.dictionaries(TEXTS, TEXTS | st.integers(), max_size=2)
BALLOTS = st.builds(
    Ballot,
    st.lists(TERMS, min_size=1, max_size=2).map(tuple),
    TIMES,
    votes=st.lists(st.builds(Vote, PEOPLE, TIMES, TEXTS), min_size=1, max_size=3).map(tuple),
    looks=st.lists(st.builds(FirstLook, TEXTS, TIMES), max_size=2).map(tuple),
    proposal=st.builds(
        Decision, st.just(Verdict.ALLOW), updated_input=INPUTS, despite=st.just(("a rule",))
    ),
    told=st.integers(0, 3),
)


@given(BALLOTS)
def test_what_was_kept_comes_back(ballot: Ballot) -> None:
    text = ballot_text(ballot, ahead=1_000_000.0)
    assert ballot_in(text, now=2_000.0, wall=1_002_000.0) == ballot


@given(BALLOTS)
def test_a_clock_that_was_set_back_makes_nothing_later_than_now(ballot: Ballot) -> None:
    back = ballot_in(ballot_text(ballot, ahead=1_000_000.0), now=2_000.0, wall=900_000.0)
    assert back.asked_at <= 2_000.0
    assert all(vote.at <= 2_000.0 for vote in back.votes)


def test_a_ballot_without_votes_has_no_proposal() -> None:
    ballot = Ballot((Terms(need=2),), 5.0)
    assert ballot_in(ballot_text(ballot, 0.0), now=9.0, wall=9.0) == ballot
