"""Who may decide a call, by the signed team file: groups, owners of machines, limits, sign-ins."""

import pytest

from crabhook.model.actor import Role
from crabhook.model.ballot import Electorate
from crabhook.model.event import Event
from crabhook.team.edit_team import (
    ChangeError,
    news,
    with_group,
    with_machine,
    with_owner,
    without_operator,
)
from crabhook.team.electorate import electorate_of
from crabhook.team.membership import Device, Machine, Member, Scope, Team, TeamRefusal

NOW = 1_000.0
CALL = Event("claude", "PreToolUse", session="s", cwd="/shop/api")


def member(name: str, role: Role = Role.DECIDER, *, until: int = 2_000, **more: object) -> Member:
    device = Device(f"d-{name}", f"{name}'s", f"print of {name}", 0, until)
    return Member(f"o-{name}", name, role, devices=(device,), **more)  # type: ignore[arg-type]


def team(*members: Member) -> Team:
    return Team("t", "shop", 1, members or (member("ann"), member("bob", Role.ADMIN)))


def names(of: Electorate) -> list[str]:
    return [voter.name for voter in of.voters]


def test_deciders_and_admins_who_can_sign_in_may_decide() -> None:
    people = (member("ann"), member("eve", Role.VIEWER), member("old", until=999))
    assert names(electorate_of(team(*people), CALL, NOW)) == ["ann"]


def test_a_limit_keeps_a_person_out_where_the_card_is_beyond_it() -> None:
    shop = member("ann", scope=Scope(projects=("/shop",)))
    other = member("bob", scope=Scope(projects=("/other",)))
    assert names(electorate_of(team(shop, other), CALL, NOW)) == ["ann"]


def test_without_a_usable_team_there_is_nobody() -> None:
    assert electorate_of(None, CALL, NOW) == electorate_of(TeamRefusal("x"), CALL, NOW)
    assert not electorate_of(None, CALL, NOW).voters


def test_groups_and_the_owner_of_the_machine_come_from_the_team_file() -> None:
    shop = with_machine(team(), Machine("build1", "digest"))
    shop = with_owner(with_group(shop, "@leads", ("Bob",)), "ann", "build1")
    there = electorate_of(shop, Event("claude", "PreToolUse", machine="build1"), NOW)
    assert [(voter.name, voter.groups, voter.own) for voter in there.voters] == [
        ("ann", (), True),
        ("bob", ("@leads",), False),
    ]
    assert there.owner_known
    assert not electorate_of(shop, CALL, NOW).owner_known, "whose the server's machine is"
    assert electorate_of(with_owner(shop, "bob", ""), CALL, NOW).owner_known


def test_who_leaves_the_team_leaves_its_groups_and_comes_back_as_somebody_else() -> None:
    shop = with_group(team(), "leads", ("ann", "bob"))
    left = without_operator(shop, "ann", None, 0)
    assert [group.members for group in left.groups] == [("o-bob",)]
    assert not without_operator(left, "bob", None, 0).groups


def test_what_changes_is_told() -> None:
    before = with_machine(team(), Machine("build1", "digest"))
    after = with_owner(
        with_owner(with_group(before, "leads", ("ann",)), "bob", ""), "ann", "build1"
    )
    assert list(news(before, after)) == [
        "the machine build1 is ann's from now on",
        "the server's own machine is bob's from now on",
        "the group @leads is ann from now on",
    ]
    assert list(news(after, with_group(after, "leads", ()))) == ["the group @leads has ended"]


@pytest.mark.parametrize(
    ("group", "people"), [("all", ("ann",)), ("no name", ("ann",)), ("leads", ("zoe",)), ("x", ())]
)
def test_a_wrong_group_is_refused(group: str, people: tuple[str, ...]) -> None:
    with pytest.raises(ChangeError):
        with_group(team(), group, people)


def test_an_unknown_machine_has_no_owner() -> None:
    with pytest.raises(ChangeError, match="no machine build9"):
        with_owner(team(), "ann", "build9")
