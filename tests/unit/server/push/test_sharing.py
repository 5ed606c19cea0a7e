"""The phones that servers of a record share: what each has as it begins to lead."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Role
from crabhook.server.core.documents import Documents
from crabhook.server.push.endpoints import Services
from crabhook.server.push.push import Push
from crabhook.server.push.sharing import PhonesOnRecord, SealedRecord
from crabhook.server.push.subscriptions import SUBSCRIPTIONS, Subscriptions, kept_in
from crabhook.store.opening import open_writer
from crabhook.store.record import PHONES
from crabhook.store.recorder import Recorder
from crabhook.team.membership import Member, Passkey, Team, TeamRefusal
from crabhook.team.server_seal import ServerSeal
from tests.support.push_house import until
from tests.support.push_service import Browser
from tests.support.runners import bare_runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crabhook.server.core.runner import Runner

PAGE = "https://desk.example"
MOZILLA = "https://updates.push.services.mozilla.com/wpush/v2/"
RECORD = SealedRecord("postgresql://nowhere", ServerSeal(bytes(32)))


class LeadingServer:
    """A server as it begins to lead, with what is in its folder and on record."""

    def __init__(self, folder: Path, recorder: Recorder) -> None:
        assert recorder.journal
        self.documents = Documents(recorder, recorder.journal, {})
        self.runner: Runner = bare_runner(recorder, texts=self.documents)
        self.kept: Subscriptions = kept_in(folder, Services())
        self.on_record = PhonesOnRecord(self.kept, RECORD, lambda: None)
        self.on_record.begin(self.runner)
        self.kept.write(self.kept.content())

    def subscribe(self, name: str) -> str:
        """Have a phone subscribe here; return its id."""
        made = subscribe(self.kept, name)
        self.on_record.put(self.runner)
        self.kept.write(self.kept.content())
        return made

    @property
    def version(self) -> object:
        return self.documents.edition(PHONES)

    @property
    def names(self) -> list[str]:
        return names(self.kept)


def subscribe(kept: Subscriptions, name: str) -> str:
    sent = {**Browser("").subscription, "endpoint": f"{MOZILLA}{name}"}
    return kept.add("o-ann", "p-1", sent, PAGE, 1.0).id


def names(kept: Subscriptions) -> list[str]:
    return sorted(phone.url.rpartition("/")[2] for phone in kept)


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(lambda: open_writer(tmp_path / "state"))
    yield made
    made.close()


def test_the_next_leader_has_the_phones_and_keys_of_both(
    tmp_path: Path, recorder: Recorder
) -> None:
    first = LeadingServer(tmp_path / "a", recorder)
    first.subscribe("x")
    alone = kept_in(tmp_path / "b", Services())
    subscribe(alone, "y")
    alone.write(alone.content())
    second = LeadingServer(tmp_path / "b", recorder)
    assert second.names == ["x", "y"]
    assert second.kept.key.public == first.kept.key.public
    keys = [second.kept.key_of(phone).public for phone in second.kept]
    assert set(keys) == {first.kept.key.public, alone.key.public}
    again = LeadingServer(tmp_path / "a", recorder)
    assert again.names == ["x", "y"]
    assert [key.public for key in again.kept.book.keys] == [first.kept.key.public, alone.key.public]


def test_who_was_forgotten_at_one_server_does_not_come_back_with_another(
    tmp_path: Path, recorder: Recorder
) -> None:
    first = LeadingServer(tmp_path / "a", recorder)
    off, gone = first.subscribe("off"), first.subscribe("gone")
    first.subscribe("kept")
    second = LeadingServer(tmp_path / "b", recorder)
    second.kept.forget(off)
    second.kept.lose(gone, 2.0)
    second.on_record.put(second.runner)
    again = LeadingServer(tmp_path / "a", recorder)
    assert again.names == ["kept"]
    assert [lost.service for lost in again.kept.gone("o-ann")] == ["Mozilla"]


def test_the_record_has_a_version_for_each_phone_and_none_for_a_note(
    tmp_path: Path, recorder: Recorder
) -> None:
    server = LeadingServer(tmp_path / "a", recorder)
    assert server.version
    phone, before = server.subscribe("x"), server.version
    server.kept.note(phone, shown=5, accepted=4, trouble="it answered 500")
    server.on_record.put(server.runner)
    assert server.version == before
    assert LeadingServer(tmp_path / "a", recorder).version == before
    server.kept.forget(phone)
    server.on_record.put(server.runner)
    assert server.version != before


@pytest.mark.parametrize(
    "text",
    [
        "junk",
        json.dumps({"subscriptions": [], "gone": []}),
        ServerSeal(bytes(31) + b"\1").sealed(PHONES, b"{}"),
        RECORD.seal.sealed("rules", b"{}"),
        RECORD.seal.sealed(PHONES, b"[]"),
        RECORD.seal.sealed(PHONES, b'{"subscriptions": [], "gone": [], "keys": [1]}'),
        RECORD.seal.sealed(PHONES, b'{"subscriptions": [], "gone": [], "keys": ["x"]}'),
    ],
    ids=range(7),
)
def test_phones_that_no_server_of_the_team_wrote_are_not_used_and_said(
    tmp_path: Path, recorder: Recorder, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = LeadingServer(tmp_path / "a", recorder)
    first.subscribe("x")
    first.runner.keep(first.documents.next(PHONES, text, "somebody"))
    again = LeadingServer(tmp_path / "a", recorder)
    assert again.names == ["x"]
    assert "the phones on record are not used" in caplog.text
    assert LeadingServer(tmp_path / "b", recorder).names == ["x"]


def test_phones_of_a_server_alone_stay_its_own_until_the_record_has_them(
    tmp_path: Path, recorder: Recorder
) -> None:
    LeadingServer(tmp_path / "a", recorder).subscribe("x")
    alone = kept_in(tmp_path / "b", Services())
    subscribe(alone, "y")
    alone.write(alone.content())
    shutil.rmtree(tmp_path / "state")
    server = LeadingServer(tmp_path / "b", recorder)
    assert server.names == ["x", "y"]
    assert not server.kept.copied
    assert not kept_in(tmp_path / "b", Services()).copied


def test_a_server_that_is_handed_over_puts_nothing_on_record(
    tmp_path: Path, recorder: Recorder
) -> None:
    server = LeadingServer(tmp_path / "a", recorder)
    before = server.version
    server.runner.hand_over()
    server.subscribe("x")
    assert server.version == before


async def test_a_phone_whose_passkey_was_revoked_leaves_the_record(
    tmp_path: Path, recorder: Recorder
) -> None:
    passkey = Passkey("p-1", "", "", "desk.example", "phone", 0, 2**40)
    team = Team("t", "ours", 1, (Member("o-ann", "ann", Role.DECIDER, passkeys=(passkey,)),))
    first = LeadingServer(tmp_path / "a", recorder)
    first.subscribe("x")
    push = Push(tmp_path / "b", Services(), lambda: team, 5.0, RECORD)
    push.follow(first.runner)
    assert [phone.url for phone in push.phones("o-ann")] == [f"{MOZILLA}x"]
    keeping, before = asyncio.ensure_future(push.keep()), first.version
    team = Team("t", "ours", 2, (Member("o-ann", "ann", Role.DECIDER),))
    push._news.set()
    await until(lambda: first.version != before)
    assert push.phones("o-ann") == ()
    assert LeadingServer(tmp_path / "c", recorder).names == []
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping


async def test_phones_that_came_while_a_server_was_alone_join_the_others_again(
    tmp_path: Path, recorder: Recorder
) -> None:
    LeadingServer(tmp_path / "a", recorder).subscribe("x")
    alone = Push(tmp_path / "a", Services(), lambda: TeamRefusal("none"), 5.0)
    subscribe(alone._kept, "y")
    await alone._save()
    assert "copied" not in (tmp_path / "a" / SUBSCRIPTIONS).read_text()
    LeadingServer(tmp_path / "b", recorder).subscribe("z")
    assert LeadingServer(tmp_path / "a", recorder).names == ["x", "y", "z"]
