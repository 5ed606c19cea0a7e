"""What a person allowed a strict hook has a signature on record, and one that lost it is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crabhook.model.actor import (
    Follows,
    Headless,
    Nobody,
    Operator,
    OrderKind,
    RuleActor,
    StandingOrder,
    TimeUp,
)
from crabhook.store.actors import decider_data
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from crabhook.store.record import Entry, RecordKind
from crabhook.store.strict_allows import StrictAllows
from tests.unit.store.making import entry, records, verified
from tests.unit.store.test_signed_terms import ANN, signed

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.model.actor import Actor
    from crabhook.model.signing import DecisionSignature

PERSON = Operator("o-ann", "ann", "laptop")


def asked(request: str = "r1", *, strict: bool = True, **fields: Any) -> Entry:
    body = {"event": "PreToolUse", "fields": fields, **({"strict": True} if strict else {})}
    return entry(RecordKind.ASKED, card=1, request_id=request, body=body)


def decided(
    *signatures: DecisionSignature,
    by: Actor = PERSON,
    legs: tuple[str, ...] = ("r1",),
    verdict: str = "allow",
) -> Entry:
    body = decider_data(by) | {"input": {"command": "ls"}, "legs": [*legs]}
    about: dict[str, Any] = {"verdict": verdict, "card": 1, "request_id": legs[0]}
    return entry(RecordKind.DECIDED, body=body, signed=signatures, **about)


def looked_at(folder: Path, *written: Entry) -> StrictAllows:
    """Write these entries, and look at the record."""
    store = open_writer(folder)
    store.write([happened(each) for each in written])
    store.close()
    assert verified(folder).sound
    allows = StrictAllows()
    for record in records(folder):
        allows.take(record)
    return allows


@pytest.mark.parametrize(
    "written",
    [
        (asked(), decided()),
        (asked(), decided(verdict="retry")),
        # Of two strict hooks of a call one has lost its signatures.
        (asked(), asked("r2"), decided(signed(ANN), legs=("r1", "r2"))),
        (asked("r2", strict=False), asked(), decided(legs=("r2", "r1"))),
        # A new record begins with what waits.
        (entry(RecordKind.TAKEN_UP, card=1, request_id="r1", body={"strict": True}), decided()),
        # A restart does not say again that the hook is strict.
        (asked(), entry(RecordKind.TAKEN_UP, card=1, request_id="r1", body={}), decided()),
        # The same request, denied before, cannot be allowed without a signature either.
        (asked(), decided(verdict="deny"), decided()),
    ],
)
def test_an_allow_whose_signatures_were_removed_is_found(
    tmp_path: Path, written: tuple[Entry, ...]
) -> None:
    allows = looked_at(tmp_path, *written)
    (finding,) = allows.false()
    assert finding.seq == len(written)
    assert finding.what == ("its decision lacks signatures: nobody has signed it for a strict hook")


ORDER = StandingOrder(1, OrderKind.ALLOW_ALL)


@pytest.mark.parametrize(
    "written",
    [
        # The record has no mark: it is older, or the hook prints any reply.
        (asked(strict=False), decided()),
        (asked(strict=False, tool_input={"strict": True}), decided()),
        # Another hook, whose program made up an id that was used before.
        (asked(), asked(strict=False), decided()),
        # A decision of another hook of the call, after the strict one had left.
        (asked(), asked("r2", strict=False), decided(legs=("r2",))),
        # What nobody signs, the model does not read: the hook prints its own words.
        (asked(), decided(by=RuleActor("rules.toml, line 3"))),
        (asked(), decided(by=ORDER)),
        (asked(), decided(by=Headless())),
        (asked(), decided(by=Nobody(TimeUp(Follows.OWN_RULES)), verdict="pass")),
        (decided(by=RuleActor("rules.toml, line 3")),),
        # No signature is needed for these.
        (asked(), decided(verdict="deny")),
        (asked(), decided(verdict="pass")),
        (asked(), entry(RecordKind.WITHDRAWN, card=1, request_id="r1", body={"why": "gone"})),
        (asked(), entry(RecordKind.EXPIRED, card=1, request_id="r1", body={"why": "time"})),
    ],
)
def test_what_needs_no_signature_is_no_finding(tmp_path: Path, written: tuple[Entry, ...]) -> None:
    allows = looked_at(tmp_path, *written)
    assert (allows.false(), allows.values(), [*allows.told()]) == ([], {}, [])


def test_signed_allows_are_counted_for_each_hook(tmp_path: Path) -> None:
    both = signed(ANN), signed(ANN, request="r2")
    allows = looked_at(tmp_path, asked(), asked("r2"), decided(*both, legs=("r1", "r2")))
    assert allows.false() == []
    assert allows.values() == {"strict": {"allows": 2, "signed": 2}}
    assert [*allows.told()] == ["People allowed calls of strict hooks 2 times: 2 signed."]


@pytest.mark.parametrize("field", ["legs", "signed"])
def test_a_list_that_somebody_made_none_is_a_list_of_nothing(tmp_path: Path, field: str) -> None:
    body = decider_data(PERSON) | {field: {"request": "r1"}}
    about: dict[str, Any] = {"verdict": "allow", "card": 1, "request_id": "r1", "body": body}
    allows = looked_at(tmp_path, asked(), entry(RecordKind.DECIDED, **about))
    assert [finding.seq for finding in allows.false()] == [2]
