"""The team's file: signed, never older than it was, and its owner's alone."""

import base64
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from shutil import copytree
from threading import Thread

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import Role
from crabhook.team.certificates import Authority, WrongPassphraseError, new_key, plain, request_of
from crabhook.team.edit_team import (
    ATTEMPTS_KEPT,
    ChangeError,
    invitable,
    with_attempt,
    with_confirmed_passkey,
    with_key,
    with_machine,
    with_passkey,
    without_key,
    without_machine,
    without_operator,
)
from crabhook.team.folder import Folder, TeamError, founding, private
from crabhook.team.membership import (
    Machine,
    Principal,
    Scope,
    SshKey,
    Team,
    TeamRefusal,
    digest_of,
    fingerprint_of,
)
from crabhook.team.team_file import TeamReader, authority_of, read_team, serve_as, team_in, written
from tests.support.authenticator import Authenticator
from tests.support.examples import examples
from tests.support.team import PASSPHRASE, Founded, allowed, founded

NOW = time.time()


@pytest.fixture
def ours(tmp_path: Path) -> Founded:
    return founded(tmp_path / "team", NOW)


def in_force(reader: TeamReader) -> Team:
    team = reader.current()
    assert isinstance(team, Team), team
    return team


def refusal(reader: TeamReader) -> str:
    refused = reader.current()
    assert isinstance(refused, TeamRefusal), refused
    return refused.why


def test_what_is_written_is_read_again_whole(ours: Founded) -> None:
    ours.let_in("ann", Role.ADMIN, Scope(("/shop",), ("build*",), ("call",)))
    machine = Machine("build1", digest_of("t"), 5)
    team = ours.change(lambda before: replace(before, machines=(machine,)))
    assert team.version == 3
    assert in_force(ours.reader()) == team
    assert ours.reader().machine_of("t") == "build1"
    assert {path.stat().st_mode & 0o777 for path in ours.folder.path.iterdir()} == {0o600}
    assert b"PRIVATE" not in ours.folder.authority_key.read_bytes().replace(
        b"ENCRYPTED PRIVATE", b""
    )


def test_a_reader_sees_a_revocation_at_the_next_call(ours: Founded) -> None:
    certificate, _ = ours.let_in("ann")
    reader = ours.reader()
    assert isinstance(allowed(in_force(reader), certificate, NOW), Principal)
    ours.revoke("ann")
    refused = allowed(in_force(reader), certificate, NOW)
    assert isinstance(refused, TeamRefusal)
    assert "was revoked" in refused.why


def hears(told: list[str], alarms: list[str]) -> Callable[..., None]:
    """Take what a reader warns of: changes to one list, alarms to the other."""
    return lambda text, *, alarm=True: (alarms if alarm else told).append(text)


def test_a_server_that_made_no_change_itself_heeds_it_once_the_folder_was_copied(
    ours: Founded, tmp_path: Path
) -> None:
    """Of two servers one stands by: its folder is a copy, and it may lead at the next moment."""
    certificate, _ = ours.let_in("ann")
    ours.change(lambda team: with_machine(team, Machine("build1", digest_of("t"), 5)))
    theirs = Folder(tmp_path / "copied")
    copytree(ours.folder.path, theirs.path)
    standby, told = TeamReader(theirs), list[str]()
    standby.warn = hears(told, [])
    assert isinstance(allowed(in_force(standby), certificate, NOW), Principal)
    assert standby.machine_of("t") == "build1"

    ours.revoke("ann")
    ours.change(lambda team: without_machine(team, "build1", 7))
    names = in_force(ours.reader()).names
    content = ours.folder.team.read_bytes()
    theirs.team.write_bytes(content[: len(content) // 2])  # what copies does so in steps
    assert "without the team's passphrase" in refusal(standby)
    assert standby.machine_of("t") is None
    copytree(ours.folder.path, theirs.path, dirs_exist_ok=True)
    refused = allowed(in_force(standby), certificate, NOW)
    assert isinstance(refused, TeamRefusal)
    assert standby.machine_of("t") is None
    assert told == ["ann's of ann was revoked", "the machine build1 was revoked"]
    assert in_force(standby).names == names
    assert in_force(TeamReader(theirs)).names == names  # also where it begins anew


def test_a_file_put_back_to_an_older_one_lets_nobody_do_anything(ours: Founded) -> None:
    ours.let_in("ann")
    older = ours.folder.team.read_bytes()
    reader = ours.reader()
    ours.revoke("ann")
    in_force(reader)
    ours.folder.team.write_bytes(older)
    assert "somebody put an older file in its place" in refusal(reader)
    with pytest.raises(TeamError, match="version 2, and version 3 was here before"):
        ours.reader()  # a server that begins anew knows it too


def test_another_file_of_the_same_version_is_no_newer_one(ours: Founded) -> None:
    reader = ours.reader()
    other = replace(in_force(reader), name="other")
    ours.folder.team.write_bytes(written(other, ours.authority))
    assert "older file" in refusal(reader)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.replace(b'"role": "viewer"', b'"role": "admin"'), "without the team's passphrase"),
        (lambda text: b"crabhook-team-v1 AAAA\n" + text.partition(b"\n")[2], "without the team's passphrase"),
        (lambda text: b"crabhook-team-v1 A\n" + text.partition(b"\n")[2], "without the team's passphrase"),
        (lambda text: text.replace(b"team-v1", b"team-v2", 1), "without the team's passphrase"),
        (lambda text: text.replace(b"team-v1", b"team-v3", 1), "newer crabhook"),
        (lambda _: b"", "not what crabhook writes"),
        (lambda _: b"\xff" * 99, "not what crabhook writes"),
    ],
    ids=["changed", "short", "no signature", "another format", "newer", "empty", "noise"],
)  # fmt: skip
def test_a_file_that_the_authority_did_not_sign_lets_nobody_do_anything(
    spoil: object, words: str, ours: Founded
) -> None:
    ours.let_in("vic", Role.VIEWER)
    reader = ours.reader()
    ours.folder.team.write_bytes(spoil(ours.folder.team.read_bytes()))  # type: ignore[operator]
    assert words in refusal(reader)


@pytest.mark.parametrize("change", [{"members": 5}, {"members": [{}]}, {"version": "x"}, {"machines": [{"a": 1}]}, {"id": "else"}])  # fmt: skip
def test_a_signed_file_of_another_shape_is_an_error_in_words(
    change: dict[str, object], ours: Founded
) -> None:
    told = json.loads(ours.folder.team.read_bytes().partition(b"\n")[2]) | change
    body = json.dumps(told).encode()
    signature = base64.b64encode(ours.authority.sign(b"crabhook-team-v1\0" + body))
    with pytest.raises(TeamError, match="the team file"):
        read_team(b"crabhook-team-v1 " + signature + b"\n" + body, ours.authority.certificate)


def test_a_file_that_others_can_reach_or_that_is_a_link_is_refused(
    ours: Founded, tmp_path: Path
) -> None:
    reader = ours.reader()
    ours.folder.team.chmod(0o620)
    assert "others can reach it: chmod 600" in refusal(reader)
    ours.folder.team.chmod(0o600)
    in_force(reader)
    ours.folder.team.rename(tmp_path / "elsewhere")
    assert "cannot be read" in refusal(reader)
    ours.folder.team.symlink_to(tmp_path / "elsewhere")
    assert "it is a link" in refusal(reader)
    with pytest.raises(TeamError, match="cannot be read: it is a link"):
        private(ours.folder.team)


def test_a_team_put_in_the_place_of_ours_counts_for_no_server_that_runs(
    ours: Founded, tmp_path: Path
) -> None:
    reader = ours.reader()
    theirs = founded(tmp_path / "theirs", NOW)
    theirs.let_in("mallory", Role.ADMIN)
    for file in theirs.folder.path.iterdir():
        (ours.folder.path / file.name).write_bytes(file.read_bytes())
    assert "without the team's passphrase" in refusal(reader)


def test_the_authority_opens_by_its_passphrase_alone_and_a_team_is_founded_once(
    ours: Founded,
) -> None:
    assert plain(authority_of(ours.folder, PASSPHRASE).key) == plain(ours.authority.key)
    with pytest.raises(WrongPassphraseError):
        authority_of(ours.folder, "wrong horse")
    with pytest.raises(TeamError, match="there is a team already"):
        founded(ours.folder.path, NOW)
    with pytest.raises(TeamError, match=r"there is no .*missing"):
        private(ours.folder.path / "missing")
    with pytest.raises(TeamError, match="crabhook team init"):
        team_in(Folder(ours.folder.path / "nowhere"))


def test_while_the_note_cannot_be_written_who_was_revoked_is_out_and_the_rest_goes_on(
    ours: Founded,
) -> None:
    """As on a full disk: nothing is raised to a call, it is said, and it is tried again."""
    ann, bob = ours.let_in("ann"), ours.let_in("bob")
    reader, alarms = ours.reader(), list[str]()
    reader.warn = hears([], alarms)
    ours.folder.newest.unlink()
    ours.folder.newest.mkdir()
    ours.revoke("bob")
    for _ in range(3):
        team = in_force(reader)
        assert isinstance(allowed(team, ann[0], NOW), Principal)
        assert "was revoked" in str(allowed(team, bob[0], NOW))
        assert "an older team file in its place" in reader.trouble
    assert not alarms
    ours.folder.newest.rmdir()
    in_force(reader)
    assert not reader.trouble
    assert ours.folder.newest.read_bytes() == b"4\n"


def test_a_folder_that_holds_no_team_is_none_and_is_put_aside_when_one_is_founded(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path / "team")
    folder.path.mkdir()
    (folder.path / "authority.key").write_text("of a team whose file is gone")
    assert not folder.exists
    with founding(folder) as new:
        founded(new.path, NOW)
    assert folder.exists
    (left,) = tmp_path.glob("team-left-*/authority.key")
    assert "is gone" in left.read_text()
    with pytest.raises(TeamError, match="a team already"), founding(folder):
        pass
    assert {one.name for one in tmp_path.iterdir()} == {left.parent.name, "team"}


def test_of_two_foundings_at_once_one_counts_and_the_other_is_told(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "team")

    def found_late() -> None:
        with founding(folder) as late:
            founded(late.path, NOW, "late")
            with founding(folder) as early:
                founded(early.path, NOW, "early")
                assert late.team.exists()

    with pytest.raises(TeamError, match="cannot be written"):
        found_late()
    assert team_in(folder).name == "early"
    assert [one.name for one in tmp_path.iterdir()] == ["team"]


def test_a_server_given_other_names_keeps_its_key_so_that_no_kill_leaves_half_a_pair(
    ours: Founded,
) -> None:
    before = ours.reader().server_pair()
    serve_as(ours.folder, ours.authority, ("other.example",), NOW)
    after = ours.reader().server_pair()
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_two_changes_at_once_are_both_made(ours: Founded) -> None:
    names = [f"m{n}" for n in range(8)]

    def add(name: str) -> None:
        machine = Machine(name, digest_of(name))
        ours.change(lambda team: replace(team, machines=(*team.machines, machine)))

    threads = [Thread(target=add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    team = in_force(ours.reader())
    assert team.version == 9
    assert sorted(one.name for one in team.machines) == names


class Door(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Says who called, as a service that asks the team at each call."""

    def __init__(self, reader: TeamReader) -> None:
        self.reader = reader

    def service(self, _: object) -> object:
        return grpc.unary_unary_rpc_method_handler(self.who)

    async def who(self, _: bytes, context: object) -> bytes:
        (shown,) = context.auth_context()["x509_pem_cert"]  # type: ignore[attr-defined]
        team = self.reader.current()
        assert isinstance(team, Team)
        found = allowed(team, shown, NOW)
        return (found.why if isinstance(found, TeamRefusal) else found.operator).encode()


async def called(ours: Founded, certificate: bytes, key: bytes, root: bytes) -> str:
    """Call a server of ours over real TLS; return who it says we are, or "no TLS"."""
    server = grpc.aio.server()
    reader = ours.reader()
    server.add_generic_rpc_handlers((Door(reader),))
    pair = reader.server_pair()
    demand = grpc.ssl_server_credentials([pair], reader.authority, require_client_auth=True)
    port = server.add_secure_port("127.0.0.1:0", demand)
    await server.start()
    try:
        shown = grpc.ssl_channel_credentials(root, key, certificate)
        async with grpc.aio.secure_channel(f"127.0.0.1:{port}", shown) as channel:
            answer: bytes = await channel.unary_unary("/x/Who")(b"", timeout=60)
            return answer.decode()
    except grpc.aio.AioRpcError:
        return "no TLS"
    finally:
        await server.stop(0)


async def test_over_real_tls_a_device_of_the_team_is_known_and_another_is_not(
    ours: Founded, tmp_path: Path
) -> None:
    root = ours.authority.certificate
    ann, bob = ours.let_in("ann"), ours.let_in("bob")
    assert await called(ours, *ann, root) == "o-ann"
    ours.revoke("bob")
    assert "revoked" in await called(ours, *bob, root)
    key = new_key()  # signed by our authority, but in no team file: as after a restored backup
    unlisted = ours.authority.for_device(request_of(key), "o-ann", "d-ann", NOW)
    assert "no device in the team" in await called(ours, unlisted, plain(key), root)
    old = ours.authority.for_device(request_of(key), "o-ann", "d-ann", NOW - 400 * 86_400)
    assert await called(ours, old, plain(key), root) == "no TLS"
    theirs = founded(tmp_path / "theirs", NOW)
    assert await called(ours, *theirs.let_in("ann"), root) == "no TLS"
    assert await called(ours, *ann, theirs.authority.certificate) == "no TLS"
    alone = Authority.new("ann", NOW)
    assert await called(ours, alone.certificate, plain(alone.key), root) == "no TLS"


async def test_over_real_tls_an_ed25519_certificate_of_our_own_authority_is_refused(
    ours: Founded,
) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([])
    issuer = x509.load_pem_x509_certificate(ours.authority.certificate).subject
    begins = datetime.now(UTC) - timedelta(hours=1)
    builder = x509.CertificateBuilder(issuer, name, key.public_key(), 7)
    builder = builder.not_valid_before(begins).not_valid_after(begins + timedelta(days=9))
    made = builder.sign(ours.authority.key, SHA256()).public_bytes(Encoding.PEM)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    assert await called(ours, made, text, ours.authority.certificate) == "no TLS"


def test_the_reader_looks_again_only_when_the_file_is_another(ours: Founded) -> None:
    reader = ours.reader()
    team = in_force(reader)
    assert in_force(reader) is team
    os.utime(ours.folder.team)
    assert in_force(reader) == team
    assert in_force(reader) is not team


def test_who_comes_and_goes_is_told_and_why_nobody_may_do_anything(ours: Founded) -> None:
    ours.let_in("ann", Role.ADMIN)
    reader = ours.reader()
    told, alarms = list[str](), list[str]()
    reader.warn = hears(told, alarms)
    ours.let_in("bob", Role.DECIDER, Scope(kinds=("call",)))
    ours.change(lambda team: with_machine(team, Machine("build1", digest_of("t"), 5)))
    ours.revoke("bob")
    in_force(reader)
    in_force(reader)
    ours.change(lambda team: without_machine(team, "build1", 7))
    ours.change(lambda team: without_operator(team, "ann", None, 7))
    in_force(reader)
    assert told == [
        "bob has come into the team with bob's, as decider, limited to kinds call",
        "bob's of bob was revoked",
        "the machine build1 has come into the team",
        "ann was revoked",
        "the machine build1 was revoked",
    ]
    assert not alarms
    content = ours.folder.team.read_bytes()
    ours.folder.team.unlink()
    assert "cannot be read" in refusal(reader)
    assert "cannot be read" in reader.trouble
    ours.folder.team.write_bytes(content)
    ours.folder.team.chmod(0o600)
    in_force(reader)
    assert not reader.trouble
    assert len(alarms) == 1
    assert "nobody elsewhere may do anything" in alarms[0]
    assert len(told) == 5


def test_the_keys_of_a_person_are_kept_told_and_let_go(ours: Founded) -> None:
    ours.let_in("ann")
    reader, told = ours.reader(), list[str]()
    reader.warn = hears(told, [])
    line = "sk-ssh-ed25519@openssh.com AAAA"
    first, again = SshKey(line, "old", 5), SshKey(line, "blue", 6)
    for key in (first, again):
        ours.change(lambda team, key=key: with_key(team, "Ann", key))  # type: ignore[misc]
        in_force(reader)
    assert in_force(reader).members[0].keys == (again,)
    with pytest.raises(ChangeError, match="no such key"):
        ours.change(lambda team: without_key(team, "ann", "another"))
    with pytest.raises(ChangeError, match="nobody called eve"):
        ours.change(lambda team: with_key(team, "eve", first))
    ours.change(lambda team: without_key(team, "ann", line))
    assert in_force(reader).members[0].keys == ()
    new, gone = "shows presence from now on", "shows presence no more"
    assert told == [
        f"an SSH key of ann {how}: sk-ssh-ed25519@openssh.com {name}"
        for how, name in ((new, "old"), (new, "blue"), (gone, "blue"))
    ]


def test_a_persons_passkeys_are_kept_told_and_revoked_as_devices_are(ours: Founded) -> None:
    ours.let_in("ann")
    ann = in_force(ours.reader()).members[0]
    zoe = invitable(in_force(ours.reader()), "zoe", Role.DECIDER, Scope(kinds=("call",)))
    reader, told = ours.reader(), list[str]()
    reader.warn = hears(told, [])
    phone, desktop, first = Authenticator(), Authenticator(), Authenticator()

    def change(with_change: Callable[[Team], Team]) -> Team:
        ours.change(with_change)
        return in_force(reader)

    passkey = phone.passkey("ann's", aaguid="x", backup_eligible=True, backed_up=True)
    team = change(lambda team: with_passkey(team, ann, passkey))
    # A device of hers has the name already, and each has to be revoked by its own.
    assert team.members[0].passkeys == (replace(passkey, name="ann's-2"),)
    assert team.passkey(passkey.credential) == (team.members[0], replace(passkey, name="ann's-2"))
    for member in (ann, zoe):
        with pytest.raises(ChangeError, match="in the team already"):
            change(lambda team, member=member: with_passkey(team, member, passkey))  # type: ignore[misc]
    change(lambda team: with_passkey(team, zoe, first.passkey("phone")))
    theirs = desktop.passkey("desktop", agents_machine=True)
    change(lambda team: with_passkey(team, ann, theirs))
    change(lambda team: with_confirmed_passkey(team, "Ann", "desktop"))
    for name, device, words in (
        ("ann", "desktop", "counts already"),
        ("ann", "other", "has no passkey"),
        ("eve", "desktop", "has no passkey"),
    ):
        with pytest.raises(ChangeError, match=words):
            change(partial(with_confirmed_passkey, name=name, device=device))
    for device in ("ann's-2", theirs.id):
        change(partial(without_operator, name="ann", device=device, at=7))
    with pytest.raises(ChangeError, match="no device ann's-2"):
        change(partial(without_operator, name="ann", device="ann's-2", at=8))
    assert [key.revoked for key in in_force(reader).members[1].passkeys] == [7, 7]
    with pytest.raises(ChangeError, match="in the team already"):  # nor by who lost it
        change(lambda team: with_passkey(team, ann, passkey))
    change(partial(without_operator, name="zoe", device=None, at=9))
    assert told == [
        "ann has come into the team with a passkey on ann's-2, as decider",
        "zoe has come into the team with a passkey on phone, as decider, limited to kinds call",
        "ann has come into the team with a passkey on desktop, as decider",
        "an admin vouches for the passkey of ann on desktop",
        "the passkey of ann on ann's-2 was revoked",
        "the passkey of ann on desktop was revoked",
        "zoe was revoked",
    ]


def test_a_file_from_before_passkeys_is_read(ours: Founded) -> None:
    ours.let_in("ann")
    team = in_force(ours.reader())
    old = json.loads(written(team, ours.authority).partition(b"\n")[2])
    for member in old["members"]:
        del member["passkeys"], member["keys"]
    body = json.dumps(old).encode()
    signature = base64.b64encode(ours.authority.sign(b"crabhook-team-v1\0" + body)).decode()
    content = f"crabhook-team-v1 {signature}\n".encode() + body
    assert read_team(content, ours.authority.certificate) == team


def test_attempts_that_were_refused_are_told_once_and_the_last_are_kept(ours: Founded) -> None:
    reader, told = ours.reader(), list[str]()
    reader.warn = hears([], told)
    for number in range(ATTEMPTS_KEPT + 5):
        ours.change(lambda team, n=number: with_attempt(team, f"try {n}", 5))  # type: ignore[misc]
        in_force(reader)
    assert in_force(reader).attempts[0].what == "try 5"
    assert told == [
        f"somebody was not let into the team: try {n}" for n in range(ATTEMPTS_KEPT + 5)
    ]


SIGNED = Authority.new("ours", NOW)
GOOD = written(Team(fingerprint_of(SIGNED.certificate), "ours", 1), SIGNED)


@given(st.one_of(
    st.binary(max_size=300),
    st.builds(lambda at, new: GOOD[:at] + new + GOOD[at + 1 :], st.integers(0, len(GOOD) - 1), st.binary(max_size=3)),
))  # fmt: skip
@examples(80)
def test_a_file_of_any_bytes_is_the_one_that_was_signed_or_an_error_in_words(data: bytes) -> None:
    try:
        team = read_team(data, SIGNED.certificate)
    except TeamError:
        assert data != GOOD
    else:
        assert team == read_team(GOOD, SIGNED.certificate)
        assert data.partition(b"\n")[2] == GOOD.partition(b"\n")[2]
