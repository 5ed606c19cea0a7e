"""What ended, as a desk is told it: from the record, page by page, and from memory without one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from crabhook.app.wiring import wire
from crabhook.desk.commands import (
    AskEntry,
    AskHistory,
    AskOffers,
    Command,
    Done,
    KeepRule,
    TakenOffer,
)
from crabhook.desk.updates import HistoryRead, Past
from crabhook.model.actor import OWNER, Ended, RuleActor
from crabhook.model.card import Level
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core import history as module
from crabhook.server.core.parts import Parts
from crabhook.server.core.pending_call import PendingCall
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.store.change import happened
from crabhook.store.opening import open_writer
from crabhook.store.record import Entry, RecordKind
from crabhook.store.recorder import Recorder
from tests.support.playbook import bash, is_allow
from tests.support.seat import Seat, decide, seat


class House:
    """A server whose hooks the test plays, with a record or without."""

    def __init__(self, folder: Path, *, recorded: bool = True) -> None:
        self.folder, self.files = folder, RuleFiles(folder / "config")
        self.files.user.parent.mkdir(parents=True)
        self.files.user.write_text('[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n')
        self.law = RulesInForce(self.files)
        self.recorder = Recorder(lambda: open_writer(folder)) if recorded else None
        self.runner = self.begun()

    def begun(self) -> Runner:
        """A runner of this house, by the application's own wiring."""
        parts = Parts(PLATFORMS, self.recorder)
        return wire(self.law, self.folder, parts).runner

    async def ask(self, ticket: str, command: str) -> PendingCall:
        asked = bash(ticket, command, f"id of {ticket}", wait=self.runner.now() + 60)
        return self.runner.enter(asked, await self.law.judge(asked.event, long=False))

    async def done(self, command: Command) -> Seat:
        sat, outcomes = seat(self.runner), list[Any]()
        sat.replica.submit(command, outcomes.append)
        async with asyncio.timeout(60):
            while not outcomes:  # noqa: ASYNC110 - as the screen asks
                await asyncio.sleep(0.002)
        assert outcomes == [Done()]
        return sat

    async def page(self, before: int = 0) -> HistoryRead:
        return (await self.done(AskHistory(before))).replica.page(before)

    async def entry(self, number: int) -> Past | None:
        return (await self.done(AskEntry(number))).replica.entry(number)

    def write(self, *entries: Entry) -> None:
        assert self.recorder is not None
        self.recorder.write(happened(*entries))

    def close(self) -> None:
        self.runner.close()
        if self.recorder:
            self.recorder.close()


EDITED = Decision(Verdict.ALLOW, updated_input={"command": "git push"}, note="without force")
DENIED = Decision(Verdict.DENY, reason="not now")
LONG = "echo " + "x" * 5_000


async def lived(house: House) -> None:
    """Let a call be denied by a rule, and others be changed, denied, left and handed back."""
    await house.ask("a", "rm -rf /")
    for ticket, command in (("b", "git push --force"), ("c", LONG), ("d", "make")):
        await house.ask(ticket, command)
    for number, decision in ((1, EDITED), (2, DENIED)):
        decide(house.runner, number, decision)
    assert house.runner.confirm("b", "secret of b")
    house.runner.left("d", 4)


@pytest.mark.parametrize("recorded", [True, False])
async def test_each_end_is_told_with_what_was_asked_decided_and_delivered_and_by_whom(
    tmp_path: Path, *, recorded: bool
) -> None:
    house = House(tmp_path, recorded=recorded)
    await lived(house)
    page = await house.page()
    assert (page.goes_on, page.why) == (0, "")
    left, denied, changed, ruled = page.entries
    cards = [one.card for one in page.entries]
    assert [one.outcome for one in cards] == ["WITHDRAWN", "DENIED", "ALLOWED", "DENIED"]
    assert [one.number for one in cards] == [3, 2, 1, 0]
    assert left.card.end is Ended.HOOK_LEFT
    assert left.card.event.tool is not None
    assert left.card.event.tool.input == {"command": "make"}
    by = [one.decided and one.decided.by for one in cards]
    assert by[1:3] == [OWNER, OWNER]
    assert isinstance(by[3], RuleActor)
    assert "rm *" in by[3].ref
    assert changed.card.decision == EDITED
    assert (changed.card.delivered, denied.card.delivered) == (True, None)
    assert denied.card.decision == DENIED
    assert all(one.recorded is recorded and one.at > 1.7e9 for one in page.entries)
    asked = denied.card.event.tool
    assert asked is not None
    assert len(str(asked.input)) < 2_500  # a page has the start of it alone
    if recorded:
        assert ruled.card.risk.level is Level.DANGER
        whole = await house.entry(denied.id)
        assert whole is not None
        assert whole.card.event.tool is not None
        assert whole.card.event.tool.input == {"command": LONG}
    assert await house.entry(10**6) is None
    house.close()


@pytest.mark.parametrize(
    ("page", "looked_at", "near"), [(3, 20_000, 5_000), (100, 4, 3), (2, 5, 9)]
)
async def test_pages_lead_to_the_beginning_and_leave_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int, looked_at: int, near: int
) -> None:
    monkeypatch.setattr(module, "PAGE", page)
    monkeypatch.setattr(module, "LOOKED_AT", looked_at)
    monkeypatch.setattr(module, "NEAR", near)
    house = House(tmp_path)
    for number in range(7):
        await house.ask(f"t{number}", f"rm {number}")
        house.write(*(Entry(RecordKind.EVENT, 1.8e9) for _ in range(number)))
    found, before = list[Past](), 0
    for _ in range(100):
        read = await house.page(before)
        found += read.entries
        before = read.goes_on
        if not before:
            break
    told = [one.card.event.tool and one.card.event.tool.input for one in found]
    assert told == [{"command": f"rm {number}"} for number in range(6, -1, -1)]
    house.close()


async def test_what_somebody_wrote_into_the_record_is_left_out_and_harms_nothing(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    odd: list[dict[str, Any]] = [
        {"verdict": "no such verdict"},
        {"verdict": "allow", "body": {"waited": "long", "input": 5}},
        {"verdict": "allow", "body": {"permissions": 3}},
        {"verdict": "deny", "body": {"actor": {"kind": "rule"}, "edited": [], "despite": "ab"}},
        {
            "verdict": "",
            "kind": RecordKind.WITHDRAWN,
            "body": {"end": {"kind": "none"}, "why": "turned away"},
        },
    ]
    for one in odd:
        house.write(Entry(**{"kind": RecordKind.DECIDED, "at": 1.8e9, "tool": "Bash", **one}))
    page = await house.page()
    assert [one.card.outcome for one in page.entries] == ["WITHDRAWN", "DENIED"]
    assert page.entries[0].why == "turned away"
    house.close()


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1])
async def test_a_number_that_no_record_can_have_finds_nothing_and_is_no_fault(
    tmp_path: Path, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(tmp_path, recorded=True)
    await lived(house)
    assert await house.entry(number) is None
    assert not (await house.page(number)).entries
    assert not caplog.records
    house.close()


async def test_a_record_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    house = House(tmp_path)
    await lived(house)
    house.close()
    (tmp_path / "record.db").write_bytes(b"no database" * 1000)
    house.runner = runner = house.begun()
    assert "cannot be read" in (await house.page()).why
    runner.close()


async def test_a_rule_is_made_of_an_entry_and_counts_from_then_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.ask("a", "pytest -q")
    decide(house.runner, 1, DENIED)
    (entry,) = (await house.page()).entries
    sat = await house.done(AskOffers(entry=entry.id))
    offer = sat.replica.offers(0, entry.id).offers[0]
    assert offer.undone == 1
    waiting = await house.ask("b", "pytest -q")
    await house.done(KeepRule(entry.id, TakenOffer(offer.id, offer.expires)))
    async with asyncio.timeout(60):
        assert is_allow(await waiting.wait())
    assert is_allow(await (await house.ask("c", "pytest -q")).wait())
    assert f"on entry {entry.id} of the history" in house.files.user.read_text()
    house.close()
