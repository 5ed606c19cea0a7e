"""The phones that are called, and the file that keeps them."""

import json
import stat
from pathlib import Path

import pytest

from crabhook.model.errors import CrabhookError
from crabhook.server.push.endpoints import Services
from crabhook.server.push.subscriptions import (
    GONE_KEPT,
    IN_ALL,
    OF_PASSKEY,
    OF_PERSON,
    SubscriptionError,
    Subscriptions,
)
from tests.support.push_service import Browser

PAGE = "https://desk.example"
MOZILLA = "https://updates.push.services.mozilla.com/wpush/v2/"


def phone(name: object = "x") -> dict[str, object]:
    return {**Browser("").subscription, "endpoint": f"{MOZILLA}{name}"}


def kept(path: Path) -> Subscriptions:
    subscriptions = Subscriptions(path / "subscriptions.json", Services())
    subscriptions.load()
    return subscriptions


def written(subscriptions: Subscriptions, path: Path) -> Subscriptions:
    subscriptions.write(subscriptions.content())
    return kept(path)


def test_what_was_kept_is_read_again_by_its_owner_alone(tmp_path: Path) -> None:
    before = kept(tmp_path)
    mine = before.add("o-ann", "p-1", phone(), PAGE, 100.0)
    lost = before.add("o-ann", "p-2", phone("y"), PAGE, 100.0)
    before.note(mine.id, accepted=120, shown=121, trouble="it answered 500")
    before.lose(lost.id, 130.0)
    after = written(before, tmp_path)
    assert list(after) == list(before)
    assert after.get(mine.id) == before.get(mine.id)
    assert [gone.service for gone in after.gone("o-ann")] == ["Mozilla"]
    assert stat.S_IMODE((tmp_path / "subscriptions.json").stat().st_mode) == 0o600


def test_the_file_of_a_server_that_shares_nothing_has_no_key_and_no_word_of_others(
    tmp_path: Path,
) -> None:
    before = kept(tmp_path)
    before.add("o-ann", "p-1", phone(), PAGE, 100.0)
    content = json.loads(before.content())
    assert content.keys() == {"subscriptions", "gone"}
    assert "server_key" not in content["subscriptions"][0]
    assert not (tmp_path / "key.pem").exists()


def test_a_change_is_noticed_and_nothing_else(tmp_path: Path) -> None:
    subscriptions = kept(tmp_path)
    assert not subscriptions.changed
    mine = subscriptions.add("o-ann", "p-1", phone(), PAGE, 100.0)
    assert subscriptions.changed
    subscriptions.content()
    subscriptions.note(mine.id, accepted=0)
    subscriptions.note("other", accepted=9)
    subscriptions.forget("other")
    assert not subscriptions.changed
    subscriptions.forget(mine.id)
    assert subscriptions.changed


def test_the_same_browser_again_is_one_phone_of_who_came_last(tmp_path: Path) -> None:
    subscriptions = kept(tmp_path)
    subscriptions.add("o-ann", "p-1", phone(), PAGE, 100.0)
    subscriptions.add("o-bob", "p-2", phone(), PAGE, 200.0)
    assert [each.person for each in subscriptions] == ["o-bob"]


def test_of_too_many_the_oldest_goes(tmp_path: Path) -> None:
    subscriptions = kept(tmp_path)
    for number in range(OF_PASSKEY + 2):
        subscriptions.add("o-ann", "p-1", phone(number), PAGE, number)
    assert [each.since for each in subscriptions] == list(range(2, OF_PASSKEY + 2))
    for number in range(OF_PERSON + 2):
        subscriptions.add("o-ann", f"p-{number}", phone(f"b{number}"), PAGE, number)
    assert len(subscriptions.of("o-ann")) == OF_PERSON
    for number in range(IN_ALL + 2):
        subscriptions.add(f"o-{number}", "p", phone(f"c{number}"), PAGE, number)
    assert len(subscriptions) == IN_ALL
    assert len(subscriptions.content()) < 4 << 20
    for each in subscriptions:
        subscriptions.lose(each.id, 1.0)
    assert sum(len(subscriptions.gone(f"o-{number}")) for number in range(IN_ALL + 2)) == GONE_KEPT


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "x",
        {},
        {"endpoint": f"{MOZILLA}x"},
        {"endpoint": f"{MOZILLA}x", "keys": None},
        {"endpoint": f"{MOZILLA}x", "keys": {"p256dh": 1, "auth": 2}},
        {**Browser("").subscription, "endpoint": None},
        {**Browser("").subscription, "endpoint": "http://127.0.0.1/x"},
        {**Browser("").subscription, "endpoint": "https://evil.example/x"},
        {"endpoint": f"{MOZILLA}x", "keys": {"p256dh": "A" * 4096, "auth": "A" * 4096}},
        {"endpoint": f"{MOZILLA}\ud800", "keys": Browser("").subscription["keys"]},
    ],
    ids=range(12),
)
def test_what_no_browser_sends_is_refused(tmp_path: Path, sent: object) -> None:
    subscriptions = kept(tmp_path)
    with pytest.raises(CrabhookError):
        subscriptions.add("o-ann", "p-1", sent, PAGE, 1.0)
    assert not len(subscriptions)
    assert not subscriptions.changed


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"subscriptions": [{"id": "x"}], "gone": []}',
        b'{"subscriptions": [1], "gone": []}',
        b'{"subscriptions": [], "gone": [{"person": 1, "passkey": "", "service": "", "at": 1}]}',
        b"[" * 100_000,
        b'{"subscriptions": [], "gone": [], "keys": ["x"]}',
        b'{"subscriptions": [], "gone": [], "keys": [1]}',
    ],
    ids=range(10),
)
def test_a_file_that_is_not_ours_is_told_of_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "subscriptions.json"
    path.write_bytes(content)
    with pytest.raises(SubscriptionError):
        kept(tmp_path)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    subscriptions = Subscriptions(tmp_path / "file" / "subscriptions.json", Services())
    with pytest.raises(SubscriptionError):
        subscriptions.write(b"{}")


def test_nothing_secret_is_in_a_name(tmp_path: Path) -> None:
    mine = kept(tmp_path).add("o-ann", "p-1", phone("secret"), PAGE, 1.0)
    assert "secret" not in repr(mine)
    assert mine.auth not in repr(mine)
