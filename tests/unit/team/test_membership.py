"""Who is in the team, and what each may do: the table of permissions, scopes, and devices' times."""

import base64
import hashlib
from dataclasses import replace

import pytest

from crabhook.model.actor import Role
from crabhook.team.membership import (
    CLOSING,
    NOT_IN_TEAM,
    Device,
    Machine,
    Member,
    Permission,
    Principal,
    Scope,
    Target,
    Team,
    TeamRefusal,
    digest_of,
    fingerprint_of,
)

NOW = 1_800_000_000


def pem(der: bytes) -> str:
    body = base64.encodebytes(der).decode()
    return f"-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n"


def device(name: str, **given: int) -> Device:
    known = fingerprint_of(pem(name.encode()))
    closing = fingerprint_of(pem(f"{name} closing".encode()))
    return replace(Device(f"d-{name}", name, known, NOW - 10, NOW + 10, closing), **given)


SHOP = Scope(projects=("/home/ann/shop",), machines=("build*",), kinds=("call", "plan"))
TEAM = Team(
    "id",
    "ours",
    1,
    (
        Member("o-vic", "vic", Role.VIEWER, devices=(device("vic"),)),
        Member("o-dee", "dee", Role.DECIDER, devices=(device("dee"), device("old", revoked=NOW))),
        Member("o-ann", "ann", Role.ADMIN, devices=(device("ann"), device("late", until=NOW))),
        Member("o-sam", "sam", Role.ADMIN, SHOP, (device("sam"), device("early", since=NOW + 1))),
    ),
    (Machine("build1", digest_of("t1")), Machine("build2", digest_of("t2"), revoked=NOW)),
)


def principal(name: str) -> Principal:
    found = TEAM.identify(pem(name.encode()), NOW)
    assert isinstance(found, Principal), found
    return found


def test_each_role_may_do_what_the_table_says_and_nothing_else() -> None:
    viewer = {Permission.WATCH, Permission.READ, Permission.UNCOVER}
    admin = {Permission.ORDER, Permission.REMEMBER, Permission.TEAM}
    may = {"vic": viewer, "dee": set(Permission) - admin, "ann": set(Permission)}
    for name, permissions in may.items():
        assert {
            permission for permission in Permission if TEAM.may(principal(name), permission) is None
        } == permissions
        assert {
            permission
            for permission in Permission
            if TEAM.may(principal(name), permission, Target("/x", "y", "z")) is None
        } == permissions
    refused = TEAM.may(principal("vic"), Permission.ALLOW)
    assert refused == TeamRefusal("only a decider can allow, and vic is a viewer")


def test_a_key_that_lies_unencrypted_looks_and_closes_and_opens_nothing() -> None:
    closing = principal("ann closing")
    assert closing.closing
    assert {
        permission for permission in Permission if TEAM.may(closing, permission) is None
    } == CLOSING
    assert not CLOSING & {
        Permission.ALLOW,
        Permission.ORDER,
        Permission.REMEMBER,
        Permission.TEAM,
        Permission.ADJUST,
        Permission.NOTE,
    }
    assert TEAM.may(principal("vic closing"), Permission.DENY)  # the key adds nothing to the role


@pytest.mark.parametrize(
    ("target", "within"),
    [
        (Target("/home/ann/shop", "build1", "call"), True),
        (Target("/home/ann/shop/web", "build7", "plan"), True),
        (Target("/home/ann/shop/../bank", "build1", "call"), False),
        (Target("/home/ann/shopping", "build1", "call"), False),
        (Target("/home/ann/shop", "laptop", "call"), False),
        (Target("/home/ann/shop", "build1", "question"), False),
        (Target("", "build1", "call"), False),
        (Target("/home/ann/shop", "", "call"), False),
        (Target("/home/ann/shop", "build1", ""), False),
    ],
)
def test_who_is_limited_does_nothing_about_a_card_not_known_to_be_within(
    target: Target, within: bool
) -> None:
    for permission in Permission:
        assert (TEAM.may(principal("sam"), permission, target) is None) is within


def test_who_is_limited_does_nothing_that_reaches_beyond_any_card() -> None:
    free = {
        permission for permission in Permission if TEAM.may(principal("sam"), permission) is None
    }
    assert free == {Permission.WATCH, Permission.READ, Permission.UNCOVER}  # and of no card
    refused = TEAM.may(principal("sam"), Permission.ORDER)
    assert refused
    assert "projects /home/ann/shop; machines build*; kinds call, plan" in refused.why


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("old", "old of dee was revoked on 2027-01-15"),
        ("old closing", "revoked"),
        ("late", "ended on 2027-01-15"),
        ("early", "is a clock wrong?"),
        ("another team's", "no device in the team"),
    ],
)
def test_a_certificate_that_does_not_count_is_refused_in_words(name: str, words: str) -> None:
    found = TEAM.identify(pem(name.encode()), NOW)
    assert isinstance(found, TeamRefusal)
    assert words in found.why


@pytest.mark.parametrize("text", ["", "nonsense", b"\xff\0", pem(b""), "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----", "é" * 9])  # fmt: skip
def test_what_is_no_certificate_is_nobodys_even_of_a_device_without_a_closing_key(
    text: str | bytes,
) -> None:
    bare = replace(device("ann"), closing="")
    team = Team("id", "ours", 1, (Member("o", "ann", Role.ADMIN, devices=(bare,)),))
    assert team.identify(text, NOW) == NOT_IN_TEAM


def test_a_certificate_is_known_by_its_own_bytes_and_not_by_what_follows_it() -> None:
    assert fingerprint_of(pem(b"a") + pem(b"b")) == hashlib.sha256(b"a").hexdigest()
    ann = principal("ann")
    assert (ann.operator, ann.device, ann.closing) == ("o-ann", "d-ann", False)


@pytest.mark.parametrize(("token", "machine"), [("t1", "build1"), ("t2", None), ("", None), ("é", None), (digest_of("t1"), None)])  # fmt: skip
def test_a_machine_is_known_by_its_token_until_that_is_revoked(
    token: str, machine: str | None
) -> None:
    assert TEAM.machine_of(token) == machine


def test_no_token_is_told_in_a_picture_of_the_team() -> None:
    assert digest_of("t1") not in repr(TEAM)
