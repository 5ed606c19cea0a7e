"""A ballot as text, for the next server: its terms, its votes, and what they are for.

The signatures of votes, and of replies, are texts too: in base64, as the record has them.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from crabhook.model.actor import Operator
from crabhook.model.ballot import Ballot, FirstLook, LadderStep, Terms, Vote
from crabhook.model.decision import Decided
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object, parse_value
from crabhook.model.signing import DecisionSignature
from crabhook.store.actors import actor_data, actor_in, decided_read, decided_text


def ballot_text(ballot: Ballot, ahead: float) -> str:
    """Return a ballot as JSON; `ahead`: by how much the wall clock is ahead of the ballot's.

    The team is left out: the next server looks who is in it then.
    """
    votes: list[Value] = [
        {
            "actor": actor_data(vote.by),
            "at": vote.at + ahead,
            "note": vote.note,
            "signed": signed_data(vote.signed),
        }
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
        Vote(by, here(vote["at"]), str(vote["note"]), signatures_of(vote.get("signed", ())))
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


def signed_data(signed: Iterable[DecisionSignature]) -> list[Value]:
    """Return signatures as JSON."""
    data: list[Value] = [
        {
            "request": each.request_id,
            "kind": each.kind,
            "operator": each.operator,
            "key": each.key,
            "signed_at": each.signed_at,
            "verdict": each.verdict,
            "card": each.card,
            "terms": _sent(each.terms),
            "signature": _sent(each.signature),
            "authenticator_data": _sent(each.authenticator_data),
            "client_data": _sent(each.client_data),
            "statement": _sent(each.statement),
        }
        for each in signed
    ]
    return data


def signed_text(signed: Iterable[DecisionSignature]) -> str:
    """Return signatures as a text; empty for none."""
    data = signed_data(signed)
    return compact(data) if data else ""


def signed_in(text: str) -> tuple[DecisionSignature, ...]:
    """Return the signatures in what `signed_text` returned; raises as `ballot_in`."""
    return signatures_of(parse_value(text.encode(), WRITTEN_DEPTH)) if text else ()


def signatures_of(data: Any) -> tuple[DecisionSignature, ...]:  # noqa: ANN401 - JSON
    """Return the signatures in what `signed_data` returned; raises as `ballot_in`."""
    return tuple(
        DecisionSignature(
            str(each["request"]),
            int(each["kind"]),
            str(each["operator"]),
            str(each["key"]),
            int(each["signed_at"]),
            str(each["verdict"]),
            int(each["card"]),
            _read(each["terms"]),
            _read(each["signature"]),
            _read(each["authenticator_data"]),
            _read(each["client_data"]),
            _read(each["statement"]),
        )
        for each in data
    )


def _sent(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _read(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _terms(terms: dict[str, Any]) -> Terms:
    return Terms(
        int(terms["need"]),
        tuple(map(str, terms["of"])),
        bool(terms["not_self"]),
        tuple(LadderStep(float(step["after"]), str(step["to"])) for step in terms["after"]),
        bool(terms["step_up"]),
        str(terms["rule"]),
    )
