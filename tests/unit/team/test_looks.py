"""What the last looks at the identity provider take away, and that no look and no loss of one opens."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.hook.signed import SigningTeam, UnsignedError
from crabhook.model.actor import Role
from crabhook.model.event import Event
from crabhook.team import edit_team, looking
from crabhook.team.electorate import electorate_of
from crabhook.team.identity import Identity, OidcPolicy
from crabhook.team.looking import LooksAgain
from crabhook.team.looks import SKEW, LastLook, confirmed, keep_looks, looks_in, one_round
from crabhook.team.membership import Permission, Principal, Team, TeamGroup, TeamRefusal
from crabhook.team.team_file import TeamReader, team_in
from tests.support.identity_provider import policy_of
from tests.support.lying_provider import provider
from tests.support.signing_people import authority_point
from tests.support.team import Founded, allowed, founded

if TYPE_CHECKING:
    from pathlib import Path

ISSUER = "http://127.0.0.1:1"
"""Where nobody listens."""
ANN = Identity(ISSUER, "s1", "ann")
BOUND = 3600


class House:
    """A team with ann, who joined by the provider, and eve, who did not."""

    def __init__(self, folder: Path, issuer: str = ISSUER) -> None:
        self.now = time.time()
        self.team: Founded = founded(folder / "team", self.now)
        self.ann, _ = self.team.let_in("ann", Role.ADMIN)
        self.eve, _ = self.team.let_in("eve", Role.ADMIN)
        self.policy: OidcPolicy = policy_of(issuer, bound=BOUND)
        self.identity = replace(ANN, issuer=issuer)
        self.team.change(self._with_ann)

    def _with_ann(self, team: Team) -> Team:
        members = (
            replace(one, identity=self.identity) if one.name == "ann" else one
            for one in team.members
        )
        leads = (TeamGroup("leads", ("o-ann", "o-eve")), TeamGroup("own", ("o-ann",)))
        return replace(team, members=tuple(members), oidc=self.policy, groups=leads)

    def look(self, **changes: Any) -> LastLook:
        look = LastLook(
            "o-ann", self.identity, int(self.now), Role.ADMIN, ("leads",), "secret", "n"
        )
        look = replace(look, **changes)
        keep_looks(self.team.folder, [(look, None)])
        return look

    def reader(self) -> TeamReader:
        return self.team.reader()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def now_in(reader: TeamReader) -> Team:
    team = reader.current()
    assert isinstance(team, Team)
    return team


def may(house: House, reader: TeamReader, permission: Permission = Permission.ALLOW) -> str:
    """Why ann may not do this, empty where she may; eve always may."""
    team = now_in(reader)
    assert isinstance(allowed(team, house.eve, house.now), Principal)
    answer = allowed(team, house.ann, house.now, permission)
    return answer.why if isinstance(answer, TeamRefusal) else ""


def test_who_was_never_looked_at_or_whose_look_is_deleted_may_nothing(house: House) -> None:
    reader = house.reader()
    assert "no server here has looked" in may(house, reader, Permission.WATCH)
    house.look()
    assert not may(house, reader)
    house.team.folder.looks.unlink()
    assert "no server here has looked" in may(house, reader, Permission.WATCH)
    house.look(identity=replace(ANN, subject="s2"))
    assert "no server here has looked" in may(house, reader, Permission.DENY)
    house.team.folder.looks.write_text("[")
    assert "no server here has looked" in may(house, reader, Permission.DENY)
    assert "cannot be read" in reader.trouble


def test_beyond_the_bound_a_person_looks_and_closes_and_is_back_with_the_next_look(
    house: House,
) -> None:
    heard: list[str] = []
    house.look()
    reader = house.reader()
    reader.warn = lambda words, **_: heard.append(words)
    assert not may(house, reader)
    house.look(at=int(house.now) - BOUND - 1)
    assert "may look and close, not open" in may(house, reader)
    assert "may look and close, not open" in may(house, reader, Permission.ORDER)
    for permission in (Permission.WATCH, Permission.DENY, Permission.HOLD, Permission.STOP):
        assert not may(house, reader, permission)
    assert any("may look and close" in words for words in heard)
    house.look()
    assert not may(house, reader)
    assert heard[-1] == "ann is confirmed again"


def test_a_look_of_the_future_counts_no_more_than_an_old_look(house: House) -> None:
    house.look(at=int(house.now + SKEW) + 60)
    assert "may look and close" in may(house, house.reader())


def test_the_bound_passes_without_a_file_that_changes(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.look()
    reader = house.reader()
    assert not may(house, reader)
    later = house.now + BOUND + 1
    monkeypatch.setattr("crabhook.team.team_file.time", lambda: later)
    assert "may look and close" in may(house, reader)
    monkeypatch.setattr("crabhook.team.team_file.time", lambda: house.now)
    assert not may(house, reader)  # a clock that was set back is asked again


def test_who_is_out_loses_every_device_and_comes_back_by_no_later_look(house: House) -> None:
    heard: list[tuple[str, bool]] = []
    house.look()
    reader = house.reader()
    reader.warn = lambda words, alarm=True: heard.append((words, alarm))
    before = house.team.folder.team.read_bytes()
    house.look(ended="gone", ended_at=int(house.now), token="")
    for permission in Permission:
        assert "ann is out: gone" in may(house, reader, permission)
    (device,) = next(one.devices for one in now_in(reader).members if one.name == "ann")
    assert device.revoked
    (told,) = (words for words, alarm in heard if words.startswith("ann is out") and alarm)
    assert "`crabhook team revoke ann`" in told, "strict hooks read the signed file alone"
    assert "ann is out" in may(house, house.reader(), Permission.WATCH)  # after a restart too
    assert house.team.folder.team.read_bytes() == before  # nobody signed anything


def test_the_role_and_the_groups_of_a_look_only_take_away(house: House) -> None:
    house.look(role=Role.VIEWER, groups=())
    reader = house.reader()
    assert "ann is a viewer" in may(house, reader)
    team = now_in(reader)
    assert [(group.name, group.members) for group in team.groups] == [
        ("leads", ("o-eve",)),  # which the provider fills
        ("own", ("o-ann",)),  # which it does not
    ]
    house.team.change(
        lambda team: replace(
            team, members=tuple(replace(one, role=Role.VIEWER) for one in team.members)
        )
    )
    house.look(role=Role.ADMIN)
    assert next(one.role for one in now_in(reader).members if one.name == "ann") is Role.VIEWER


def test_who_is_in_doubt_has_no_vote(house: House) -> None:
    call = Event("claude", "PreToolUse", session="s", cwd="/shop")
    reader = house.reader()
    for at, names in ((int(house.now), ["ann", "eve"]), (1, ["eve"])):
        house.look(at=at)
        voters = electorate_of(now_in(reader), call, house.now).voters
        assert sorted(voter.name for voter in voters) == names


def test_another_provider_or_none_closes_who_joined_by_the_first(house: House) -> None:
    house.look()
    reader = house.reader()
    other = replace(house.policy, issuer="https://evil.example")
    house.team.change(lambda team: edit_team.with_policy(team, other))
    assert "the team asks https://evil.example now" in may(house, reader)
    house.team.change(lambda team: edit_team.with_policy(team, None))
    assert "the team asks no identity provider now" in may(house, reader)


def test_a_team_that_asks_a_provider_is_in_a_file_that_older_programs_refuse(
    tmp_path: Path, house: House
) -> None:
    plain = founded(tmp_path / "plain", house.now)
    assert plain.folder.team.read_bytes().startswith(b"crabhook-team-v1 ")
    assert b"oidc" not in plain.folder.team.read_bytes()
    content = house.team.folder.team.read_bytes()
    assert content.startswith(b"crabhook-team-v2 ")
    assert team_in(house.team.folder).oidc == house.policy
    assert b"doubt" not in content
    assert b"secret" not in content
    house.team.folder.team.write_bytes(content.replace(b"team-v2", b"team-v1", 1))
    with pytest.raises(Exception, match="without the team's passphrase"):
        house.reader()


def test_a_strict_hook_reads_that_file_too(house: House) -> None:
    team = team_in(house.team.folder)
    authority = bytes.fromhex(team.id) + authority_point(house.team.authority.key)
    content = house.team.folder.team.read_bytes()
    assert SigningTeam(content, authority, 1).version == team.version
    for other in (b"team-v1", b"team-v3"):
        with pytest.raises(UnsignedError):
            SigningTeam(content.replace(b"team-v2", other, 1), authority, 1)


def test_what_is_taken_away_is_a_text_for_the_record_without_a_secret(house: House) -> None:
    house.look()
    reader = house.reader()
    assert reader.taken_away == {}
    for changes, words in (
        ({"role": Role.DECIDER, "groups": ()}, "decider, not admin, not in @leads"),
        ({"at": 1}, "looks and closes"),
        ({"ended": "gone", "ended_at": 1}, "out"),
    ):
        house.look(**changes)
        assert reader.taken_away == {"ann": words}


async def test_the_token_of_who_was_revoked_is_forgotten(house: House) -> None:
    house.look()
    reader = house.reader()
    house.team.change(lambda team: edit_team.without_operator(team, "ann", None, 1))
    await LooksAgain(house.team.folder, reader.current).round()
    assert looks_in(house.team.folder) == {}
    assert "secret" not in house.team.folder.looks.read_text()


def test_an_account_has_one_person_and_a_person_one_account(house: House) -> None:
    team = team_in(house.team.folder)
    ann, eve = team.members
    device = replace(ann.devices[0], id="d-new", fingerprint="f")
    with pytest.raises(edit_team.ChangeError, match="that account is ann"):
        edit_team.with_identity(team, replace(eve, identity=ANN), device, ())
    other = replace(ann, identity=replace(ANN, subject="s2"))
    with pytest.raises(edit_team.ChangeError, match="revoke the person first"):
        edit_team.with_identity(team, other, device, ())
    after = edit_team.with_identity(team, ann, device, ("shop",), ended=7)
    (anew,) = (one for one in after.members if one.name == "ann")
    assert [one.revoked for one in anew.devices] == [7, 0]  # what ended does not come back
    assert after.groups_of("o-ann") == ("@leads", "@own", "@shop")


def test_a_look_of_before_a_new_join_does_not_replace_what_the_join_wrote(house: House) -> None:
    old = house.look()
    new = house.look(token="new")
    keep_looks(house.team.folder, [(replace(old, ended="gone"), old)])
    assert looks_in(house.team.folder)["o-ann"] == new
    assert house.team.folder.looks.stat().st_mode & 0o777 == 0o600
    assert "secret" not in repr(old)


async def test_a_provider_that_nobody_reaches_ends_nobody_and_is_said(house: House) -> None:
    look = house.look()
    reader = house.reader()
    again = LooksAgain(house.team.folder, reader.current)
    with one_round(house.team.folder) as alone:
        assert alone
        assert not await again.round()
    assert await again.round()
    assert "no way to 127.0.0.1:1" in again.trouble
    assert "1 person may open until" in again.trouble
    after = looks_in(house.team.folder)["o-ann"]
    assert replace(after, trouble="") == look
    assert not may(house, reader)


async def test_each_round_keeps_what_the_provider_said_and_asks_for_nobody_who_is_out(
    tmp_path: Path,
) -> None:
    async with provider() as (double, _):
        house = House(tmp_path, double.issuer)
        house.look(nonce="")
        reader = house.reader()
        again = LooksAgain(house.team.folder, reader.current)

        async def tokens_after_a_round() -> list[str]:
            double.asked.clear()
            await again.round()
            assert again.trouble == ""
            return [form["refresh_token"] for what, form in double.asked if what == "token"]

        assert await tokens_after_a_round() == ["secret"]
        assert await tokens_after_a_round() == ["r2"]  # which the first round was given
        assert "ann is a decider" in may(house, reader, Permission.ORDER)  # it signed an admin
        double.answers.append({"error": "invalid_grant"})
        assert await tokens_after_a_round() == ["r2"]
        ended = looks_in(house.team.folder)["o-ann"]
        assert (ended.token, "confirms them no more" in ended.ended) == ("", True)
        assert "ann is out" in may(house, reader, Permission.WATCH)
        assert await tokens_after_a_round() == []


async def test_a_server_looks_by_itself_and_without_the_package_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.look()
    missing = ModuleNotFoundError(name="jwt")

    def need() -> None:
        raise missing

    monkeypatch.setattr("crabhook.team.provider.need_reader", need)
    again = LooksAgain(house.team.folder, house.reader().current)
    monkeypatch.setattr(looking, "TICK", 60.0)  # it looks first, and then waits
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(again.keep(), 1)
    assert again.trouble == looking.NOT_INSTALLED


def test_nobody_by_a_provider_costs_no_look(house: House) -> None:
    team = replace(team_in(house.team.folder), members=())
    assert confirmed(team, {}, house.now)[0] is team
