"""`crabhook push`: what its person reads of phones and of a trial, with a push service on loopback."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from crabhook import config
from crabhook.cli import main
from crabhook.model.actor import Role
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.team.membership import Member, Passkey
from tests.support.push_service import Browser, PushService, push_service
from tests.support.team import founded


class Elsewhere:
    """A push service in a thread of its own, for a command has a loop of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.service: PushService
        self._ended = asyncio.Event()
        self._begun = threading.Event()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self._serve(),))

    async def _serve(self) -> None:
        async with push_service() as self.service:
            self._begun.set()
            await self._ended.wait()

    def __enter__(self) -> PushService:
        self.thread.start()
        self._begun.wait()
        return self.service

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self._ended.set)
        self.thread.join()
        self.loop.close()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PushService]:
    """A push service that the settings name, and a team of two with a passkey each."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    members = tuple(
        Member(f"o-{name}", name, Role.DECIDER, passkeys=(passkey(name),))
        for name in ("amy", "ben")
    )
    team = founded(config.team_folder(), time())
    team.change(lambda now: replace(now, members=(*now.members, *members)))
    with Elsewhere() as service:
        config.config_folder().mkdir(parents=True)
        settings = f'[push]\nservices = ["{service.address}"]\n'
        (config.config_folder() / "settings.toml").write_text(settings)
        yield service


def passkey(name: str) -> Passkey:
    return Passkey(f"p-{name}", f"c-{name}", "", "desk.example", f"{name}'s phone", 0, 2**40)


def server(service: PushService) -> Push:
    """Return what a server has of the phones."""
    return Push(
        config.push_folder(), Services([service.address]), lambda: pytest.fail("no look"), 5.0
    )


def subscribed(service: PushService, *names: str) -> list[Browser]:
    push, browsers = server(service), [service.browser() for _ in names]
    for name, browser in zip(names, browsers, strict=True):
        push.subscribe(f"o-{name}", f"p-{name}", browser.subscription, "https://desk.example")
    push._kept.write(push._kept.content())
    return browsers


def test_a_trial_says_what_the_service_answered_and_that_no_report_came(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    (browser,) = subscribed(service, "amy")
    assert main(["push", "test", "--within", "0.1"]) == 0
    out = capsys.readouterr().out
    assert [sent.notification["tag"] for sent in browser.messages] == ["trial"]
    assert "amy's phone" in out
    assert "no report came" in out
    assert browser.endpoint not in out


def test_a_trial_says_that_the_phone_showed_it(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    (browser,) = subscribed(service, "amy")

    def worker() -> None:
        while not browser.messages:
            pass
        push = server(service)  # the server's process has the same key and phones
        assert push.reported(browser.messages[0].notification["data"]["token"])
        push._kept.write(push._kept.content())

    reporting = threading.Thread(target=worker)
    reporting.start()
    try:
        assert main(["push", "test", "amy"]) == 0
    finally:
        reporting.join()
    assert "the phone showed it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "words"), [(410, "turn notifications on again"), (503, "503"), (413, "413")]
)
def test_a_trial_that_nobody_takes_is_a_failure(
    service: PushService, capsys: pytest.CaptureFixture[str], status: int, words: str
) -> None:
    (browser,) = subscribed(service, "amy")
    service.answers.append((status, {}))
    assert main(["push", "test", "amy"]) == 1
    assert words in capsys.readouterr().out
    assert not browser.messages


def test_a_trial_is_of_one_persons_phones(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    browsers = subscribed(service, "amy", "ben")
    assert main(["push", "test"]) == 1
    assert "amy, ben" in capsys.readouterr().err
    assert main(["push", "test", "ben", "--within", "0.1"]) == 0
    assert [len(browser.messages) for browser in browsers] == [0, 1]
    assert main(["push", "test", "zoe"]) == 1
    assert "zoe" in capsys.readouterr().err


def test_a_phone_of_a_revoked_passkey_is_not_tried(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    (browser,) = subscribed(service, "amy")
    push = server(service)
    push.subscribe("o-amy", "p-revoked", service.browser().subscription, "https://desk.example")
    push._kept.write(push._kept.content())
    assert main(["push", "test", "--within", "0.1"]) == 0
    assert "1 phone of amy" in capsys.readouterr().out
    assert [len(each.messages) for each in service.browsers.values()] == [1, 0]
    assert browser.messages


def test_the_list_says_what_became_of_each_phone_and_no_address(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    amys, bens = subscribed(service, "amy", "ben")
    push = server(service)
    (phone,) = push.phones("o-amy")
    push._kept.note(phone.id, accepted=86400, shown=86400, trouble="it answered 500")
    push._kept.lose(push.phones("o-ben")[0].id, 86400)
    push._kept.write(push._kept.content())
    assert main(["push"]) == 0
    out = capsys.readouterr().out
    for words in ("amy", "it answered 500", "1970-01-0", "ben's phone: takes no calls any more"):
        assert words in out
    assert main(["push", "list", "amy", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["phones"]
    assert (shown["device"], shown["accepted"]) == ("amy's phone", 86400)
    assert not {amys.endpoint, bens.endpoint} & {*shown.values()}


def test_the_list_of_the_team_says_which_device_is_called(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    subscribed(service, "amy")
    assert main(["team", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    (called,) = [number for number, row in enumerate(rows) if "called there" in row]
    assert "amy's phone" in rows[called - 1]
    assert "never called" in rows[called]
    (config.push_folder() / "subscriptions.json").write_text("broken")
    assert main(["team", "list"]) == 0
    assert "called there" not in capsys.readouterr().out


def test_where_no_phone_is_it_says_how_one_comes_to_be(
    service: PushService, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["push", "list"], ["push", "test"]):
        assert main(words) == 1
        assert "turn notifications on" in capsys.readouterr().err
    assert main(["push", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"phones": []}
