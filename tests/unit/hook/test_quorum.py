"""A hook's law of who has to sign is the broker's law: one is compared with the other."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook.quorum import Quorum, TrueSigner
from crabhook.hook.statement import terms_in
from crabhook.model import ballot as ledger
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.ballot import Ballot, Electorate, LadderStep, Terms, Voter
from crabhook.model.decision import Decision, Verdict
from crabhook.model.statements import signed_terms

ALLOW = Decision(Verdict.ALLOW)
VOTERS = (
    Voter("o-ann", "Ann", ("@leads",)),
    Voter("o-bob", "bob", ("@leads", "@Security")),
    Voter("o-cat", "cat", ("@security",), own=True),
    Voter("o-dee", "dee"),
)
SELECTORS = st.sampled_from(["@leads", "@SECURITY", "@all", "ANN", "dee", "@nobody"])
TERMS = st.builds(
    Terms,
    st.integers(1, 3),
    st.lists(SELECTORS, max_size=2).map(tuple),
    st.booleans(),
    st.lists(
        st.builds(LadderStep, st.sampled_from([10.0, 60.5, 600.0]), SELECTORS), max_size=2
    ).map(tuple),
    st.booleans(),
)
VOTES = st.tuples(
    st.sampled_from(VOTERS),
    st.sampled_from([ShownBy.PASSPHRASE, ShownBy.PASSKEY, ShownBy.SIGNATURE]),
    st.floats(0, 700),
)
BALLOTS = st.builds(
    Ballot,
    st.lists(TERMS, min_size=1, max_size=3).map(tuple),
    st.just(0.0),
    st.builds(Electorate, st.just(VOTERS), st.booleans()),
)


def after(ballot: Ballot, votes: list[tuple[Voter, ShownBy, float]]) -> Ballot:
    for voter, shown, at in votes:
        by = Operator(voter.id, voter.name, "laptop", shown=shown)
        ballot = ledger.with_vote(ballot, by, ALLOW, at)
    return ballot


def lacks(ballot: Ballot, votes: list[tuple[Voter, ShownBy, float]], now: float) -> list[str]:
    """What a hook finds missing that has the signatures of all these votes."""
    signers: dict[str, TrueSigner] = {}
    for voter, shown, _ in votes:
        new = TrueSigner(voter.name, voter.groups, own=voter.own)
        signer = signers.setdefault(voter.id, new)
        signer.stepped_up |= shown is not ShownBy.PASSPHRASE
    known = ballot.electorate.owner_known
    quorum = Quorum(signers.values(), round(now * 1000), owner_known=known)
    return list(quorum.lacks(terms_in(signed_terms(ballot))))


@given(BALLOTS, st.lists(VOTES, max_size=5))
def test_a_hook_lets_through_what_the_broker_does(
    ballot: Ballot, votes: list[tuple[Voter, ShownBy, float]]
) -> None:
    now = max((at for *_, at in votes), default=0.0)
    if ledger.is_complete(after(ballot, votes)):
        assert not lacks(ballot, votes, now)


def test_of_every_kind_of_terms_hook_and_broker_say_the_same() -> None:
    ladders = (), (LadderStep(60.0, "@all"),)
    audiences = (), ("@leads",), ("@SECURITY", "ANN")
    keys = None, ShownBy.PASSPHRASE, ShownBy.PASSKEY
    outcomes = set()
    for need, of, not_self, after_, step_up, owner_known in product(
        (1, 2), audiences, (False, True), ladders, (False, True), (False, True)
    ):
        terms = Terms(need, of, not_self, after_, step_up)
        ballot = Ballot((terms,), 0.0, Electorate(VOTERS, owner_known))
        for used, now in product(product(keys, repeat=len(VOTERS)), (59.0, 60.0)):
            votes = [(who, key, now) for who, key in zip(VOTERS, used, strict=True) if key]
            complete = ledger.is_complete(after(ballot, votes))
            assert complete == (not lacks(ballot, votes, now)), (terms, votes, owner_known)
            outcomes.add(complete)
    assert outcomes == {True, False}
