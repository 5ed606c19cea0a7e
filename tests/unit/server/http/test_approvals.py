"""AAP at the door: a request waits on a card, is decided once and consumed once."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import Limits
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.ballot import Electorate, Terms, Voter
from crabhook.model.card import Request, State
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.platforms.aap.events import ASKED
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.http import approvals
from crabhook.store.interface import FullError
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import RecordKind
from crabhook.store.recorder import Recorder
from tests.support.runners import bare_runner
from tests.support.seat import Seat, decide
from tests.unit.server.http.standing import Client, Standing, standing, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from crabhook.model.event import Event

REFUND = {
    "tool": "issue_refund",
    "server": "stripe",
    "arguments": {"payment_id": "payment_123", "amount": 4900, "exact": 0.1, "flag": True},
    "timeout": "10m",
    "context": {"framework": "langgraph", "call_id": "thread-7::call-1"},
}
AT = "/aap/v1/requests"


@dataclass
class Agent:
    """An AAP agent on connections of its own, with one token."""

    http: Standing
    headers: dict[str, str]

    async def ask(
        self, line: str, fields: Any = None, key: str | None = None, **headers: str | None
    ) -> tuple[int, Any]:
        """Send one request; return the status and the JSON of the answer."""
        client = await self.http.connect()
        own = {**self.headers, "Idempotency_Key": key, **headers}
        if fields is None:
            own |= {"Content_Length": None, "Content_Type": None}
        self.send(client, line, fields, own)
        status, body = await client.answer()
        return status, json.loads(body)

    @staticmethod
    def send(client: Client, line: str, fields: Any, headers: dict[str, str | None]) -> None:
        """Send one request, without a body where there are no fields."""
        if fields is not None:
            client.send(fields, line, **headers)
            return
        named = {name.replace("_", "-"): value for name, value in headers.items() if value}
        shown = {"Host": str(client.http.where.address), "Authorization": "Bearer the-token"}
        head = [f"{name}: {value}" for name, value in (shown | named).items()]
        client.writer.write("\r\n".join([f"{line} HTTP/1.1", *head, "", ""]).encode())

    async def create(self, key: str = "k", **changes: Any) -> tuple[int, Any]:
        """Ask for approval."""
        return await self.ask(f"POST {AT}", REFUND | changes, key)

    async def decided(self, verdict: Verdict, reason: str = "") -> str:
        """Ask, have the operator decide, and return the request's id."""
        _, asked = await self.create()
        self.answer(Decision(verdict, reason=reason))
        return str(asked["id"])

    def answer(self, decision: Decision) -> None:
        """Decide the only card that waits."""
        (card,) = self.http.runner.broker.waiting()
        decide(self.http.runner, card.number, decision)


@asynccontextmanager
async def agent(**how: Any) -> AsyncIterator[Agent]:
    async with standing(**how) as http:
        yield Agent(http, {})


async def test_a_request_is_a_card_with_the_whole_call() -> None:
    async with agent() as own:
        status, asked = await own.create(agent_reasoning="They were charged twice.")
        assert status == 201
        assert asked["status"] == "pending"
        assert {name: asked[name] for name in REFUND} == REFUND
        (card,) = own.http.runner.broker.waiting()
        assert card.event.tool is not None
        assert card.event.tool.name == "mcp__stripe__issue_refund"
        assert card.event.tool.input == REFUND["arguments"]
        assert (card.event.session, card.event.tool.use_id) == ("thread-7", asked["id"])
        assert card.event.text("agent_reasoning") == "They were charged twice."
        assert Verdict.ASK not in card.choices.verdicts


async def test_an_allow_is_consumed_once_and_its_outcome_is_told_once() -> None:
    async with agent() as own:
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        status, seen = await own.ask(f"GET {at}?wait=25s")
        assert (status, seen["status"]) == (200, "approved")
        assert "consumption" not in seen
        status, taken = await own.ask(f"POST {at}/consume", key="c1")
        assert status == 200
        assert taken["consumption"]["consumed_at"] >= seen["decision"]["decided_at"]
        assert (await own.ask(f"POST {at}/consume", key="c1")) == (200, taken)
        status, refused = await own.ask(f"POST {at}/consume", key="c2")
        assert (status, refused["error"]["code"]) == (409, "already_consumed")
        await until(lambda: own.http.runner.broker.ended()[-1].delivered)
        for report, expected in (
            ({"status": "succeeded"}, 200),
            ({"status": "succeeded"}, 200),
            ({"status": "failed"}, 409),
        ):
            assert (await own.ask(f"POST {at}/outcome", report))[0] == expected


async def test_of_many_that_consume_at_once_a_single_agent_does() -> None:
    async with agent() as own:
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        tries = (own.ask(f"POST {at}/consume", key=f"c{number}") for number in range(20))
        statuses = sorted([status for status, _ in await asyncio.gather(*tries)])
        assert statuses == [200, *[409] * 19]


TERMS = Terms(2, ("@leads",), rule="rules.toml, line 1")
RULE = Rule(RuleVerdict.ASK_OPERATOR, ("mcp__stripe__*",), (), terms=TERMS)
TEAM = Electorate(
    tuple(Voter(f"o-{name}", name, ("@leads",)) for name in ("ann", "bob")), owner_known=True
)


async def two_must_allow(_: Event, /, *, long: bool) -> Ruling:
    return Ruling(RuleVerdict.ASK_OPERATOR, RULE, "the rule", terms=(TERMS,))


async def test_a_request_that_needs_two_people_is_approved_by_the_second_yes() -> None:
    async with agent(judge=two_must_allow, electorate=lambda _: TEAM) as own:
        _, asked = await own.create()
        seen = []
        for name in ("ann", "ann", "bob"):
            by = Operator(f"o-{name}", name, f"{name}'s", shown=ShownBy.PASSPHRASE.value)
            seat = Seat(LocalDesk(own.http.runner, by), own.http.runner)
            seat.decide(1, Decision(Verdict.ALLOW))
            wait = "?wait=25s" if name == "bob" else ""
            seen.append((await own.ask(f"GET {AT}/{asked['id']}{wait}"))[1]["status"])
            seat.leave()
        assert seen == ["pending", "pending", "approved"]


async def test_a_yes_that_nobody_takes_in_time_is_told_as_not_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approvals, "VALID_FOR", 0.05)
    async with agent() as own:
        await own.decided(Verdict.ALLOW)
        await until(lambda: own.http.runner.broker.ended()[-1].delivered is False)


async def test_a_denial_reaches_the_model_in_words_and_cannot_be_consumed() -> None:
    async with agent() as own:
        at = f"{AT}/{await own.decided(Verdict.DENY, 'over 40 GBP a manager decides')}"
        _, seen = await own.ask(f"GET {at}")
        assert (seen["status"], seen["decision"]["note"]) == (
            "denied",
            "over 40 GBP a manager decides",
        )
        status, refused = await own.ask(f"POST {at}/consume", key="c")
        assert (status, refused["error"]["code"]) == (409, "not_approved")
        await until(lambda: own.http.runner.broker.ended()[-1].delivered)


async def test_the_same_key_is_one_card_and_with_another_input_it_is_refused() -> None:
    async with agent() as own:
        _, first = await own.create()
        assert await own.create() == (200, first)
        status, refused = await own.create(arguments={"amount": 1})
        assert (status, refused["error"]["code"]) == (409, "idempotency_conflict")
        assert len(own.http.runner.broker.waiting()) == 1
        own.answer(Decision(Verdict.ALLOW))
        _, again = await own.create()
        assert (again["id"], again["status"]) == (first["id"], "approved")


async def test_two_requests_for_one_call_need_two_decisions() -> None:
    async with agent() as own:
        await own.create("first")
        await own.create("second")
        one, other = own.http.runner.broker.waiting()
        decide(own.http.runner, one.number, Decision(Verdict.ALLOW))
        assert own.http.runner.broker.waiting() == (other,)
        _, third = await own.create("third")
        assert third["status"] == "pending"


async def test_a_poll_hears_of_the_decision_at_once() -> None:
    async with agent() as own:
        _, asked = await own.create()
        client = await own.http.connect()
        own.send(client, f"GET {AT}/{asked['id']}?wait=3000s", None, {})
        await own.ask(f"GET {AT}/{asked['id']}")
        own.answer(Decision(Verdict.ALLOW))
        assert json.loads((await client.answer())[1])["status"] == "approved"


@pytest.mark.slow
async def test_a_poll_ends_by_itself_and_leaves_the_card() -> None:
    async with agent() as own:
        _, asked = await own.create()
        assert await own.ask(f"GET {AT}/{asked['id']}?wait=1s") == (200, asked)
        client = await own.http.connect()
        own.send(client, f"GET {AT}/{asked['id']}?wait=25s", None, {})
        await client.close()
        await own.ask(f"GET {AT}/{asked['id']}")
        assert len(own.http.runner.broker.waiting()) == 1


async def test_a_cancel_withdraws_the_card_and_no_later_decision_counts() -> None:
    async with agent() as own:
        _, asked = await own.create()
        for _ in range(2):
            status, gone = await own.ask(f"DELETE {AT}/{asked['id']}")
            assert (status, gone["status"], gone["decision"]["status"]) == (200, *["cancelled"] * 2)
        (card,) = own.http.runner.broker.ended()
        assert card.state is State.WITHDRAWN
    async with agent() as own:
        status, refused = await own.ask(f"DELETE {AT}/{await own.decided(Verdict.ALLOW)}")
        assert (status, refused["error"]["code"]) == (409, "already_terminal")


@pytest.mark.slow
async def test_a_late_yes_is_for_the_next_such_call_alone() -> None:
    async with agent() as own:
        _, asked = await own.create("late", timeout="1s")
        await own.ask(f"GET {AT}/{asked['id']}?wait=25s")
        own.answer(Decision(Verdict.ALLOW))
        assert (await own.ask(f"GET {AT}/{asked['id']}"))[1]["status"] == "expired"
        assert (await own.create("next"))[1]["status"] == "approved"
        assert (await own.create("more"))[1]["status"] == "pending"


@pytest.mark.slow
async def test_no_decision_and_no_opinion_are_never_an_approval() -> None:
    async with agent() as own:
        _, asked = await own.create(timeout="1s")
        _, late = await own.ask(f"GET {AT}/{asked['id']}?wait=25s")
        assert late["status"] == late["decision"]["status"] == "expired"
        assert (await own.ask(f"POST {AT}/{asked['id']}/consume", key="c"))[0] == 409
        assert "open as #1" in late["decision"]["note"]
        own.answer(Decision(Verdict.DENY, reason="too late"))
        _, asked = await own.create("passed", arguments={})
        own.answer(Decision(Verdict.PASS))
        assert (await own.ask(f"GET {AT}/{asked['id']}"))[1]["status"] == "cancelled"


async def test_an_old_approval_is_not_consumed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with agent() as own:
        monkeypatch.setattr(approvals, "VALID_FOR", 0.0)
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        status, refused = await own.ask(f"POST {at}/consume", key="c")
        assert (status, refused["error"]["code"]) == (409, "approval_expired")


async def test_another_machines_request_is_as_unknown_as_none() -> None:
    async with agent() as own:
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        stranger = Agent(own.http, {"Authorization": "Bearer a-machines-own"})
        for line in (f"GET {at}", f"DELETE {at}", f"POST {at}/consume"):
            status, refused = await stranger.ask(line, key="c")
            assert (status, refused["error"]["code"]) == (404, "not_found")
        assert (await stranger.ask(f"POST {at}/outcome", {"status": "failed"}))[0] == 404
        status, asked = await stranger.create()
        assert status == 201  # its keys are its own
        assert asked["id"] not in at
        assert (await own.ask(f"POST {at}/consume", key="c"))[0] == 200


@pytest.mark.parametrize("verdict", [None, Verdict.ALLOW, Verdict.DENY])
async def test_an_agent_that_ran_what_was_not_allowed_is_told_of_in_red_once(
    verdict: Verdict | None,
) -> None:
    async with agent() as own:
        if verdict is None:
            request_id = (await own.create())[1]["id"]
        else:
            request_id = await own.decided(verdict, "no")
        for _ in range(2):
            status, refused = await own.ask(
                f"POST {AT}/{request_id}/outcome", {"status": "succeeded"}
            )
            assert (status, refused["error"]["code"]) == (409, "not_consumed")
        red = [entry for entry in own.http.runner.broker.feed() if entry.alarm]
        assert len(red) == 1


async def test_more_than_may_wait_is_turned_away_until_there_is_room() -> None:
    async with agent(bounds=Limits(requests=1)) as own:
        _, first = await own.create("first")
        status, refused = await own.create("second")
        assert (status, refused["error"]["code"]) == (429, "too_many")
        assert (await own.create("first"))[0] == 200
        await own.ask(f"DELETE {AT}/{first['id']}")
        assert (await own.create("second"))[0] == 201


async def test_a_server_that_makes_room_or_closes_gives_no_yes() -> None:
    async with agent() as own:
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        _, waits = await own.create("waits")
        client = await own.http.connect()
        own.send(client, f"GET {AT}/{waits['id']}?wait=25s", None, {})
        await own.ask(f"GET {at}")
        own.http.runner.hand_over()
        assert (await client.answer())[0] == 503
        for line in (f"GET {at}", f"POST {at}/consume", f"DELETE {AT}/{waits['id']}"):
            status, refused = await own.ask(line, key="c")
            assert (status, refused["error"]["type"]) == (503, "unavailable")
        assert (await own.create("more"))[0] == 503
    async with agent() as own:
        _, waits = await own.create("waits")
        own.http.runner.close()
        assert (await own.ask(f"GET {AT}/{waits['id']}"))[1]["status"] == "cancelled"
        assert (await own.create("more"))[0] == 503


async def test_no_yes_is_consumed_that_is_not_on_record(tmp_path: Path) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path))
    async with agent(recorder=recorder) as own:
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        recorder.error = FullError("the disk is full")
        status, refused = await own.ask(f"POST {at}/consume", key="c")
        assert (status, refused["error"]["type"]) == (503, "unavailable")
        assert refused["error"]["message"].endswith(Refusal.UNSPENT)
        recorder.time_passed(own.http.runner.now())
        assert not recorder.trouble
        assert (await own.ask(f"POST {at}/consume", key="another"))[0] == 200
        status, refused = await own.ask(f"POST {at}/consume", key="c")
        assert (status, refused["error"]["code"]) == (409, "already_consumed")
    recorder.close()
    with open_history(tmp_path) as history:
        assert [one.kind for one in history.find()].count(RecordKind.CONSUMED) == 1


FORGED: dict[str, dict[str, Any]] = {
    "aap:": {},
    "aap:x": {"id": "x"},
    "aap:y/consumed": {"id": "y/consumed"},
    "aap:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed": {
        "id": "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
        **REFUND,
        "tool_input": {},
        "created_at": "never",
    },
    "aap:2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed": {
        "id": "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
        **REFUND,
        "tool_input": {},
        **dict.fromkeys(("created_at", "deadline_at"), "2026-09-16T12:00:00.000000Z"),
    },
}


@pytest.mark.parametrize("decided", [True, False])
async def test_what_was_forged_under_our_ids_is_taken_up_by_no_next_server(
    tmp_path: Path, decided: bool
) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    for request_id, fields in FORGED.items():
        payload = {"hook_event_name": ASKED, "tool_name": "Bash", **fields}
        event = PLATFORMS["aap"].read(json.dumps(payload).encode())
        now = runner.now()
        runner.enter(Request(request_id, event, now + 60, gives_up_at=now + 60, secret="s"), None)
    for card in runner.broker.waiting() if decided else ():
        decide(runner, card.number, Decision(Verdict.ALLOW))
    runner.hand_over()
    recorder.close()
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner = bare_runner(recorder)
    await runner.restore()
    async with standing(runner=runner) as http:
        own = Agent(http, {})
        for request_id in FORGED:
            at = f"GET {AT}/{request_id.removeprefix('aap:')}"
            assert (await own.ask(at))[0] == 404
    recorder.close()


async def test_ended_requests_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "ENDED_KEPT", 2)
    async with agent() as own:
        ids = []
        for key in ("a", "b", "c"):
            ids.append((await own.create(key))[1]["id"])
            own.answer(Decision(Verdict.ALLOW))
        seen = [(await own.ask(f"GET {AT}/{request_id}"))[0] for request_id in ids]
        assert seen == [404, 200, 200]
        monkeypatch.setattr(approvals, "ENDED_SIZE", 1)
        await own.create("d")
        own.answer(Decision(Verdict.ALLOW))
        assert (await own.ask(f"GET {AT}/{ids[2]}"))[0] == 404


MALFORMED: dict[str, Any] = {
    "a tool without a name": {"tool": ""},
    "a tool that is a number": {"tool": 1},
    "a tool's name that has no end": {"tool": "x" * 201},
    "null": {"server": None},
    "arguments that are a list": {"arguments": []},
    "a timeout that is none": {"timeout": "soon"},
    "a timeout of nothing": {"timeout": "0s"},
    "a field of a later version": {"priority": "high"},
    "a context that is a text": {"context": "x"},
}


@pytest.mark.slow
async def test_what_is_malformed_is_refused_in_the_protocols_own_form() -> None:
    async with agent() as own:
        for name, change in MALFORMED.items():
            status, refused = await own.create(**change)
            assert (status, refused["error"]["type"]) == (400, "invalid_request"), name
            assert set(refused["error"]) == {"type", "code", "message", "request_id"}
        at = f"{AT}/{await own.decided(Verdict.ALLOW)}"
        lines: dict[tuple[str, str | None], tuple[int, str]] = {
            (f"POST {AT}", None): (400, "missing_idempotency_key"),
            (f"POST {AT}", "k" * 256): (400, "invalid_idempotency_key"),
            (f"GET {at}?wait=forever", None): (400, "invalid_wait"),
            (f"GET {AT}", None): (405, "method_not_allowed"),
            (f"PUT {at}", None): (405, "method_not_allowed"),
            (f"GET {AT}/1", None): (404, "not_found"),
            ("GET /aap/v2/requests", None): (404, "not_found"),
            (f"GET {AT}/00000000-0000-4000-8000-000000000000", None): (404, "not_found"),
        }
        for (line, key), (status, code) in lines.items():
            answer, refused = await own.ask(line, key=key)
            assert (answer, refused["error"]["code"]) == (status, code), line
        for headers, expected in (
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Host": "evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Content_Type": "text/plain"}, 415),
            ({"Content_Length": str(2 << 20)}, 413),
        ):
            status, refused = await own.ask(f"POST {AT}", REFUND, "k2", **headers)
            assert status == expected
            assert refused["error"]["message"].startswith("crabhook: ")
        assert not own.http.runner.broker.waiting()


async def test_a_key_that_stands_twice_is_refused() -> None:
    async with agent() as own:
        client = await own.http.connect()
        body = json.dumps(REFUND)[:-1] + ', "arguments": {"amount": 1}}'
        client.send(body.encode(), f"POST {AT}", Idempotency_Key="k")
        status, refused = await client.answer()
        assert status == 400
        assert b"stands twice" in refused
