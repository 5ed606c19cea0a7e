"""People who are called by their phones, with a real runner and a push service on loopback."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time

import pytest

from crabhook.desk.updates import AttachedDesk
from crabhook.model.actor import OWNER, Operator, Role
from crabhook.remote.inputs import Inputs
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.tally import Pushed
from crabhook.server.push import push as module
from crabhook.server.push.endpoints import EndpointError, Services
from crabhook.server.push.push import PageOf, Push
from crabhook.server.push.subscriptions import KEY, SUBSCRIPTIONS
from crabhook.team.membership import Member, Passkey, Scope, Team, TeamRefusal
from tests.support.playbook import ALLOW, DENY, bash
from tests.support.push_service import Browser, PushService, push_service
from tests.support.runners import bare_runner
from tests.support.seat import seat

AFTER = 0.1
PAGE = "https://desk.example"


def member(name: str, role: Role = Role.DECIDER, scope: Scope | None = None) -> Member:
    passkey = Passkey(f"p-{name}", "", "", "desk.example", f"{name}'s phone", 0, 2**40)
    return Member(f"o-{name}", name, role, scope or Scope(), passkeys=(passkey,))


TEAM = Team(
    "t",
    "shop",
    1,
    (
        member("ann"),
        member("bob"),
        member("eve", Role.VIEWER),
        member("kim", scope=Scope(projects=("/other",))),
    ),
)


ONE_PAGE, OTHER_PAGE = (PageOf("o-ann", "p-ann", name) for name in "12")


@dataclass
class Called:
    """People with phones, and what they are called for."""

    service: PushService
    runner: Runner
    push: Push
    folder: Path
    team: Team | TeamRefusal = TEAM
    numbers: list[int] = field(default_factory=list)

    def phone(self, name: str = "ann") -> Browser:
        browser = self.service.browser()
        self.push.subscribe(f"o-{name}", f"p-{name}", browser.subscription, PAGE)
        return browser

    def ask(self, ticket: str = "a", wait: float = 600.0) -> None:
        self.runner.enter(bash(ticket, "ls", ticket, wait=self.runner.now() + wait), None)

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110 - of what has no event
                await asyncio.sleep(0.01)

    async def heard(self, browser: Browser, times: int = 1) -> list[str]:
        """The titles that a browser was sent, once they are so many."""
        await self.until(lambda: len(browser.messages) >= times)
        return titles(browser)

    async def some_looks(self) -> None:
        await asyncio.sleep(AFTER * 6)


def titles(browser: Browser) -> list[str]:
    return [sent.notification["title"] for sent in browser.messages]


def token(browser: Browser) -> str:
    text: str = browser.messages[-1].notification["data"]["token"]
    return text


@asynccontextmanager
async def calling(folder: Path) -> AsyncIterator[Called]:
    async with push_service() as service:
        runner = bare_runner()
        there: Called
        push = Push(folder, Services([service.address]), lambda: there.team, AFTER)
        there = Called(service, runner, push, folder)
        push.follow(runner)
        keeping = asyncio.ensure_future(push.keep())
        try:
            yield there
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
            runner.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIETLY_APART", 0.0)
    monkeypatch.setattr(module, "FIRST_REST", 0.05)


async def test_a_card_that_waits_calls_the_phones_of_who_may_decide_it(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann, second, bob = there.phone(), there.phone(), there.phone("bob")
        eve, kim = there.phone("eve"), there.phone("kim")
        there.ask()
        for phone in (ann, second, bob):
            assert await there.heard(phone) == ["1 call waits in p"]
        await there.some_looks()
        assert [len(phone.messages) for phone in (ann, second, bob, eve, kim)] == [1, 1, 1, 0, 0]
        assert there.service.refused == []
        assert 590 < int(ann.messages[0].headers["TTL"]) <= 600


async def test_what_was_decided_in_time_calls_nobody(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        seat(there.runner).answer(1, ALLOW)
        await there.some_looks()
        assert titles(ann) == []


async def test_a_notification_is_replaced_quietly_when_its_card_ends(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask("a")
        there.ask("b")
        assert await there.heard(ann) == ["2 calls wait in p"]
        seat(there.runner).answer(1, DENY)
        assert (await there.heard(ann, 2))[1:] == ["1 call waits in p"]
        assert ann.messages[1].notification["data"]["cards"] == [2]
        seat(there.runner).answer(2, DENY)
        assert (await there.heard(ann, 3))[2:] == ["Nothing waits any more"]
        assert [sent.notification["silent"] for sent in ann.messages] == [False, True, True]
        await there.some_looks()
        assert len(ann.messages) == 3


async def test_who_looks_at_a_page_is_not_called_until_they_look_away(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.push.beat(ONE_PAGE, 1, visible=True)
        there.push.beat(OTHER_PAGE, 1, visible=True)
        there.ask()
        await there.some_looks()
        there.push.beat(ONE_PAGE, 2, visible=False)
        await there.some_looks()
        assert titles(ann) == []
        there.push.beat(OTHER_PAGE, 2, visible=False)
        assert await there.heard(ann) == ["1 call waits in p"]


async def test_a_beat_that_was_overtaken_changes_nothing(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        there.push.beat(ONE_PAGE, 2, visible=False)
        there.push.beat(ONE_PAGE, 1, visible=True)
        assert await there.heard(ann) == ["1 call waits in p"]


async def test_a_page_that_falls_silent_is_looked_at_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "VISIBLE_FOR", 0.3)
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.push.beat(ONE_PAGE, 1, visible=True)
        there.ask()
        assert await there.heard(ann) == ["1 call waits in p"]


@pytest.mark.parametrize(
    ("desk", "calls"),
    [
        (Operator("o-ann", "ann", "laptop"), False),
        (OWNER, False),  # the server's own terminal: ann founded the team
        (Operator("o-bob", "bob", "laptop"), True),
    ],
)
async def test_who_is_at_a_terminal_is_not_called(
    tmp_path: Path, desk: Operator, calls: bool
) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        with there.runner.attendance.attending(AttachedDesk(desk, there.runner.now())):
            there.ask()
            await there.some_looks()
            assert bool(ann.messages) == calls
        assert await there.heard(ann) == ["1 call waits in p"]


async def test_a_program_with_the_open_key_is_nobody_at_a_terminal(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann, by = there.phone(), Operator("o-ann", "ann", "laptop")
        with there.runner.attendance.attending(
            AttachedDesk(by, there.runner.now(), closing=True), decides=False
        ):
            there.ask()
            assert await there.heard(ann) == ["1 call waits in p"]


async def test_a_terminal_that_was_left_alone_for_long_does_not_keep_a_phone_silent(
    tmp_path: Path,
) -> None:
    async with calling(tmp_path) as there:
        ann, by = there.phone(), Operator("o-ann", "ann", "laptop")
        since = there.runner.now() - module.AT_TERMINAL_FOR - 1
        with there.runner.attendance.attending(AttachedDesk(by, since)):
            there.ask()
            assert await there.heard(ann) == ["1 call waits in p"]


async def test_a_phone_that_unsubscribed_is_forgotten_and_said(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.service.browsers.clear()
        there.ask()
        await there.until(lambda: not there.push.phones("o-ann"))
        assert [gone.service for gone in there.push.gone("o-ann")] == [there.service.address]
        feed = [entry.text for entry in there.runner.broker.feed()]
        assert [text for text in feed if "a phone of ann is not called any more" in text]
        await there.until(lambda: '"service"' in (tmp_path / "subscriptions.json").read_text())
        assert ann.endpoint not in (tmp_path / "subscriptions.json").read_text()


async def test_a_service_that_wants_fewer_is_tried_later_and_the_call_comes(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.service.answers.extend([(429, {"Retry-After": "1"}), (503, {}), (500, {})])
        at = time()
        there.ask()
        assert await there.heard(ann) == ["1 call waits in p"]
        assert time() - at > 1
        await there.until(lambda: there.push.phones("o-ann")[0].accepted)
        assert there.push.phones("o-ann")[0].trouble == ""


async def test_what_a_service_refuses_is_told_once_and_not_tried_again(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.service.answers.extend([(413, {})] * 9)
        there.ask()
        await there.until(lambda: there.push.phones("o-ann")[0].trouble)
        await there.some_looks()
        assert len(there.service.answers) == 8
        assert "413" in there.push.phones("o-ann")[0].trouble
        feed = [entry.text for entry in there.runner.broker.feed()]
        assert len([text for text in feed if "cannot be called" in text]) == 1
        assert titles(ann) == []


async def test_a_call_that_could_not_be_sent_is_not_made_up_for_once_its_card_ended(
    tmp_path: Path,
) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.service.answers.append((429, {"Retry-After": "1"}))
        there.ask()
        await there.until(lambda: not there.service.answers)
        seat(there.runner).answer(1, DENY)
        await asyncio.sleep(1.3)
        assert titles(ann) == []


async def test_a_report_of_the_worker_is_kept(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        await there.heard(ann)
        await there.until(lambda: there.push.phones("o-ann")[0].accepted)
        assert there.push.reported(token(ann))
        assert there.runner.witness.pushes == {Pushed.ACCEPTED: 1, Pushed.SHOWN: 1}
        (phone,) = there.push.phones("o-ann")
        assert abs(phone.shown - time()) < 60
        await there.until(
            lambda: f'"shown": {phone.shown}' in (tmp_path / "subscriptions.json").read_text()
        )


async def test_later_and_a_closed_notification_are_heeded(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask("a")
        await there.heard(ann)
        assert there.push.closed(token(ann))
        seat(there.runner).answer(1, DENY)
        await there.some_looks()
        assert titles(ann) == ["1 call waits in p"], "nothing is replaced that is not there"
        assert there.push.later(token(ann))
        there.ask("b")
        await there.some_looks()
        assert titles(ann) == ["1 call waits in p"]


@pytest.mark.parametrize(
    "altered",
    [
        lambda _: "",
        lambda _: "a.b.c",
        lambda _: "\ud800.1.x",
        lambda _: "." * 5000,
        lambda good: good[:-1],
        lambda good: good.replace(".", "..", 1),
        lambda good: "0" * 16 + good[16:],
        lambda good: f"{good}x",
        lambda good: ".".join((good.split(".")[0], "9" * 5000, good.split(".")[2])),
    ],
    ids=range(9),
)
async def test_a_token_that_is_not_ours_does_nothing(
    tmp_path: Path, altered: Callable[[str], str]
) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        await there.heard(ann)
        wrong = altered(token(ann))
        assert not there.push.reported(wrong)
        assert not there.push.later(wrong)
        assert not there.push.closed(wrong)


async def test_an_old_token_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        await there.heard(ann)
        monkeypatch.setattr(module, "TOKEN_FOR", -1)
        assert not there.push.reported(token(ann))


async def test_a_phone_of_a_revoked_passkey_is_forgotten_and_no_other(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        other = replace(TEAM.members[0].passkeys[0], id="p-other")
        ann = replace(TEAM.members[0], passkeys=(*TEAM.members[0].passkeys, other))
        there.team = replace(TEAM, members=(ann, *TEAM.members[1:]))
        lost, whole, bob = there.phone(), there.service.browser(), there.phone("bob")
        there.push.subscribe("o-ann", "p-other", whole.subscription, PAGE)
        revoked = replace(ann, passkeys=(replace(ann.passkeys[0], revoked=1), other))
        there.team = replace(TEAM, members=(revoked, TEAM.members[1]))
        there.ask()
        assert await there.heard(whole) == ["1 call waits in p"]
        await there.heard(bob)
        assert titles(lost) == []
        assert [phone.passkey for phone in there.push.phones("o-ann")] == ["p-other"]
        await there.until(lambda: lost.endpoint not in (tmp_path / SUBSCRIPTIONS).read_text())


async def test_a_person_who_left_the_team_is_called_no_more(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann, bob = there.phone(), there.phone("bob")
        there.team = replace(TEAM, members=TEAM.members[1:])
        there.ask()
        await there.heard(bob)
        assert titles(ann) == []
        assert there.push.phones("o-ann") == ()


async def test_a_team_that_cannot_be_read_calls_nobody_and_forgets_nobody(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann, there.team = there.phone(), TeamRefusal("its file is broken")
        there.ask()
        await there.some_looks()
        assert titles(ann) == []
        there.team = TEAM
        assert await there.heard(ann) == ["1 call waits in p"]


async def test_key_and_phones_stay_for_the_next_server(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        there.phone()
        key, phones = there.push.public_key, there.push.phones("o-ann")
        await there.until((tmp_path / SUBSCRIPTIONS).exists)
    async with calling(tmp_path) as there:
        assert there.push.public_key == key
        assert there.push.phones("o-ann") == phones
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (KEY, SUBSCRIPTIONS)}
    assert modes == {KEY: 0o600, SUBSCRIPTIONS: 0o600}


async def test_push_that_was_turned_off_calls_no_more(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.push.forget("o-bob", ann.endpoint)
        assert there.push.phones("o-ann")
        there.push.forget("o-ann", ann.endpoint)
        there.ask()
        await there.some_looks()
        assert titles(ann) == []


async def test_a_trial_tells_what_each_service_answered(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        there.phone(), there.phone()
        there.service.answers.append((500, {}))
        answers = [answer.fate.value for _, answer in await there.push.test("o-ann")]
        assert sorted(answers) == ["accepted", "later"]
        assert await there.push.test("o-bob") == []


async def test_an_address_of_no_known_service_is_refused(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        browser = Browser("http://127.0.0.1:1/x")
        with pytest.raises(EndpointError):
            there.push.subscribe("o-ann", "p-ann", browser.subscription, PAGE)
        assert there.push.phones("o-ann") == ()


async def test_calls_follow_the_runner_that_the_server_goes_on_with(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        ann, first = there.phone(), there.runner
        there.runner = bare_runner()
        there.push.follow(there.runner)
        first.enter(bash("x", "ls", wait=first.now() + 600), None)
        await there.some_looks()
        assert titles(ann) == []
        there.ask()
        assert await there.heard(ann) == ["1 call waits in p"]
        first.close()


async def test_a_fault_with_one_phone_does_not_end_the_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(tmp_path) as there:
        ann, whole = there.phone(), module.message.waiting

        def broken(*arguments: object, **how: object) -> object:
            monkeypatch.setattr(module.message, "waiting", whole)
            raise RuntimeError(arguments)

        monkeypatch.setattr(module.message, "waiting", broken)
        there.ask("a")
        await there.until(lambda: module.message.waiting is whole)
        await there.some_looks()
        seat(there.runner).answer(1, DENY)
        assert "a phone was not called" in caplog.text
        monkeypatch.setattr(there.push._waking, "_people", {})
        there.ask("b")
        assert "1 call waits in p" in await there.heard(ann)


async def test_nobody_is_looked_up_while_nothing_waits(tmp_path: Path) -> None:
    async with calling(tmp_path) as there:
        there.phone()
        await there.some_looks()
        looked = 0

        def counted(*_: object) -> None:
            nonlocal looked
            looked += 1

        there.push._look = counted  # type: ignore[method-assign]
        await there.some_looks()
        assert looked == 0


def test_the_folders_files_are_named_as_they_are(tmp_path: Path) -> None:
    push = Push(tmp_path, Services(), lambda: TEAM, 5.0)
    assert (tmp_path / "key.pem").exists()
    assert "0" in repr(push)
    assert json.loads(push._kept.content()) == {"subscriptions": [], "gone": []}


async def test_a_denial_in_the_message_is_of_the_card_as_its_person_would_see_it(
    tmp_path: Path,
) -> None:
    async with calling(tmp_path) as there:
        ann = there.phone()
        there.ask()
        await there.heard(ann)
        (card,) = there.runner.broker.waiting()
        deny = {"act": "deny", "card": 1, "seen": card.revision}
        named = Inputs().seen(card).hex()
        assert ann.messages[0].notification["data"]["deny"] == {**deny, "seen_sha256": named}
