"""A ballot as text, for the next server: its terms, its votes, and what they are for."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from crabhook.model.actor import Operator
from crabhook.model.ballot import Ballot, FirstLook, LadderStep, Terms, Vote
from crabhook.model.decision import Decided
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object
from crabhook.store.actors import actor_data, actor_in, decided_read, decided_text


def ballot_text(ballot: Ballot, ahead: float) -> str:
    """Return a ballot as JSON; `ahead`: by how much the wall clock is ahead of the ballot's.

    The team is left out: the next server looks who is in it then.
    """
    votes: list[Value] = [
        {"actor": actor_data(vote.by), "at": vote.at + ahead, "note": vote.note}
        for vote in ballot.votes
    ]
    looks: list[Value] = [{"person": look.person, "at": look.at + ahead} for look in ballot.looks]
    content: dict[str, Value] = {
        "terms": [asdict(terms) for terms in ballot.terms],
        "asked_at": ballot.asked_at + ahead,
        "votes": votes,
        "looks": looks,
        "told": ballot.told,
    }
    if ballot.proposal is not None:
        made = Decided(ballot.proposal, ballot.votes[-1].by)
        content["proposal"] = decided_text(made).decode()
    return compact(content)


def ballot_in(text: str, now: float, wall: float) -> Ballot:
    """Return the ballot in such a text, with its times on a clock that shows `now`.

    No time is later than `now`. Raises CrabhookError, ValueError, TypeError or KeyError for a text
    that no server wrote.
    """
    content: dict[str, Any] = dict(parse_object(text.encode(), WRITTEN_DEPTH))

    def here(at: float) -> float:
        return min(now, now - (wall - float(at)))

    votes = tuple(
        Vote(by, here(vote["at"]), str(vote["note"]))
        for vote in content["votes"]
        if isinstance(by := actor_in(vote), Operator)
    )
    looks = tuple(FirstLook(str(look["person"]), here(look["at"])) for look in content["looks"])
    proposal = None
    if votes and "proposal" in content:
        decided, _ = decided_read(str(content["proposal"]).encode())
        proposal = decided.decision
    return Ballot(
        tuple(map(_terms, content["terms"])),
        here(content["asked_at"]),
        votes=votes,
        looks=looks,
        proposal=proposal,
        told=int(content["told"]),
    )


def ballot_of(decided: Mapping[str, Any]) -> Ballot | None:
    """Return who said yes, of the data of a decision's record; None where one yes was enough."""
    votes = decided.get("votes")
    if not isinstance(votes, list):
        return None
    return Ballot(
        (),
        0.0,
        votes=tuple(
            Vote(by, 0.0, str(vote.get("note", "")))
            for vote in votes
            if isinstance(vote, dict) and isinstance(by := actor_in(vote), Operator)
        ),
    )


def _terms(terms: dict[str, Any]) -> Terms:
    return Terms(
        int(terms["need"]),
        tuple(map(str, terms["of"])),
        bool(terms["not_self"]),
        tuple(LadderStep(float(step["after"]), str(step["to"])) for step in terms["after"]),
        bool(terms["step_up"]),
        str(terms["rule"]),
    )
