"""What a strict hook prints: what people of its team have signed, and else its own fixed words."""

import hashlib
import importlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crabhook.hook import Unanswered, read_options
from crabhook.hook.fallback import fall_back
from crabhook.hook.statement import SignedTerms, terms_part
from crabhook.hook.strict import StrictCheck
from crabhook.hook.wire import WireReply, read_reply
from crabhook.team.membership import Machine, Scope, TeamGroup
from crabhook.v1 import permission_pb2 as pb
from tests.support.authenticator import Authenticator
from tests.support.hostile_answers import (
    ALLOW,
    ANN,
    ATTACKS,
    BOB,
    DENY,
    TEAM,
    Attack,
    allowed,
    signing,
)
from tests.support.rows import every_row
from tests.support.signing_people import NOW, TWO, SigningPerson
from tests.support.ssh_keys import KINDS as SSH_KINDS
from tests.support.ssh_keys import Signer
from tests.unit.hook.peers import PAYLOAD

Answer = Callable[[pb.PermissionRequest], pb.PermissionResponse]


def printed(
    folder: Path,
    answer: Answer,
    *options: str,
    file: bytes = b"",
    payload: bytes = PAYLOAD,
    ready: bool = False,
) -> WireReply:
    """Return what a strict hook prints where the server answers so."""
    path = folder / "team"
    path.write_bytes(file or TEAM.file())
    read = read_options(TEAM.options(path, *options), {})
    assert not read.problem
    try:
        check = StrictCheck(read, "id", "secret", payload)
        request = pb.PermissionRequest(
            request_id="id",
            secret="secret",
            platform=read.platform,
            payload=payload,
            stance=pb.Stance.ValueType(read.stance),
            strict=pb.StrictHook.FromString(check.wish),
        )
        response = answer(request).SerializeToString()
        while ready and check.work_ahead():
            pass
        return check.checked(read_reply(response), response)
    except Unanswered as error:
        return fall_back(read, payload, error)


def verdict(reply: WireReply) -> str:
    """What Claude Code reads in a reply."""
    if not reply.stdout:
        return ""
    return str(json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecision"])


@every_row("kind", ["desk", "ssh", "passkey"])
def test_what_a_person_has_signed_is_printed(tmp_path: Path, kind: str) -> None:
    for ready in (False, True):
        reply = printed(tmp_path, lambda it: allowed(it, ANN, kind=kind), ready=ready)
        assert reply.stdout == ALLOW


@every_row("name", ATTACKS)
def test_a_hostile_server_lets_nothing_run(tmp_path: Path, name: str) -> None:
    attack: Attack = ATTACKS[name]
    for wish, verdicts in (("pass", ("", "deny")), ("ask", ("ask", "deny")), ("deny", ("deny",))):
        options = (*attack.options, f"--when-unsigned={wish}")
        reply = printed(tmp_path, attack.answer, *options, file=attack.content())
        assert verdict(reply) in verdicts
        assert attack.why in reply.stderr.decode()
        assert not reply.confirm


def test_a_quorum_is_of_different_people(tmp_path: Path) -> None:
    def both(request: pb.PermissionRequest) -> pb.PermissionResponse:
        made = signing(request, terms=TWO)
        return made.response(made.by(ANN), made.by(BOB, "passkey"))

    assert printed(tmp_path, both, "--need=2").stdout == ALLOW
    assert verdict(printed(tmp_path, both, "--need=3", "--when-unsigned=deny")) == "deny"


def test_the_people_of_every_rule_have_signed_whichever_key_each_used(tmp_path: Path) -> None:
    anns, bobs = (SignedTerms(1, (f"@{name}",)) for name in ("ANNS", "bobs"))
    signed = SignedTerms(2, ("@anns", "bob"), step_up=True)
    terms = terms_part((anns, bobs, signed))

    def all_rules(request: pb.PermissionRequest) -> pb.PermissionResponse:
        made = signing(request, terms=terms)
        return made.response(made.by(ANN), made.by(BOB, "ssh"), made.by(ANN, "passkey"))

    assert printed(tmp_path, all_rules).stdout == ALLOW


def test_a_person_who_is_in_the_groups_of_two_rules_counts_for_both(tmp_path: Path) -> None:
    terms = terms_part((SignedTerms(1, ("@anns",)), SignedTerms(1, ("@leads",))))
    groups = TeamGroup("anns", ("o-ann",)), TeamGroup("leads", ("o-ann", "o-bob"))
    file = TEAM.file(groups=groups)
    assert printed(tmp_path, lambda it: allowed(it, ANN, terms=terms), file=file).stdout == ALLOW
    assert not printed(tmp_path, lambda it: allowed(it, BOB, terms=terms), file=file).stdout


def test_a_step_of_the_ladder_counts_once_the_hook_has_waited_so_long(tmp_path: Path) -> None:
    terms = terms_part((SignedTerms(1, ("@bobs",), after=((20, "@anns"),)),))

    def later(request: pb.PermissionRequest) -> pb.PermissionResponse:
        time.sleep(0.05)
        return allowed(request, ANN, terms=terms)

    assert printed(tmp_path, later).stdout == ALLOW


def test_the_owner_of_a_machine_goes_by_the_hooks_own_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("token")
    token.chmod(0o600)
    machine = Machine("build1", hashlib.sha256(b"token").hexdigest(), owner="o-ann")
    terms = terms_part((SignedTerms(1, not_self=True),))
    shown = (f"--token-file={token}",)
    for changes, options, person, right in (
        ({"owner": "o-bob"}, shown, BOB, True),
        ({"owner": "o-bob"}, shown, ANN, False),
        ({"owner": "o-bob"}, (), ANN, True),
        ({"owner": "o-bob"}, (), BOB, False),
        ({}, (), BOB, False),
        ({"owner": "o-left"}, (), BOB, False),
        ({"owner": "o-bob", "machines": (replace(machine, revoked=NOW),)}, shown, ANN, False),
    ):
        file = TEAM.file(**{"machines": (machine,), **changes})
        reply = printed(
            tmp_path,
            lambda it, person=person: allowed(it, person, terms=terms),
            *options,
            file=file,
        )
        assert (reply.stdout == ALLOW) == right, (changes, options, person.name)


def test_the_people_of_the_installation_count_where_a_server_names_none(tmp_path: Path) -> None:
    groups = TeamGroup("leads", ("o-bob",)), TeamGroup("all", ("o-ann",))
    file = TEAM.file(groups=groups)
    for options, people, right in (
        (("--of=@leads",), (BOB,), True),
        (("--of=@Leads,ann",), (ANN,), True),
        (("--of=@leads",), (ANN,), False),
        (("--of=@leads,ann", "--need=2"), (ANN, BOB), True),
        (("--of=@leads", "--need=2"), (ANN, BOB), False),
        (("--of=@nobody",), (ANN, BOB), False),
    ):
        reply = printed(
            tmp_path, lambda it, people=people: allowed(it, *people), *options, file=file
        )
        assert (reply.stdout == ALLOW) == right, (options, people)


def test_a_hook_tells_its_server_whose_signatures_it_wants(tmp_path: Path) -> None:
    wishes = []

    def answer(request: pb.PermissionRequest) -> pb.PermissionResponse:
        wishes.append((request.strict.need, tuple(request.strict.of)))
        return allowed(request, ANN)

    printed(tmp_path, answer, "--need=2", "--of=@leads,ann")
    printed(tmp_path, answer)
    assert wishes == [(2, ("@leads", "ann")), (1, ())]


def test_a_denial_needs_a_single_person_and_says_what_that_person_wrote(tmp_path: Path) -> None:
    def answer(request: pb.PermissionRequest) -> pb.PermissionResponse:
        return allowed(request, ANN, stdout=DENY, terms=TWO)

    assert printed(tmp_path, answer, "--need=2").stdout == DENY
    for more in (b'{"x":1,' + DENY[1:], DENY.replace(b"PreToolUse", b"PermissionRequest")):
        reply = printed(tmp_path, lambda it, more=more: allowed(it, ANN, stdout=more, terms=TWO))
        assert verdict(reply) == "deny"
        assert b"looked at" not in reply.stdout


@every_row("unsigned", [DENY, ALLOW.replace(b'"allow"', b'"ask"')])
def test_what_nobody_signed_is_heeded_where_it_closes_and_its_words_are_ours(
    tmp_path: Path, unsigned: bytes
) -> None:
    reply = printed(tmp_path, lambda it: allowed(it, stdout=unsigned))
    assert verdict(reply) == verdict(WireReply(unsigned))
    assert b"looked at" not in reply.stdout


def test_a_stop_that_nobody_signed_stops_in_our_words(tmp_path: Path) -> None:
    def answer(_: pb.PermissionRequest) -> pb.PermissionResponse:
        stop = b'{"continue":false,"stopReason":"do as I say"}\n'
        return pb.PermissionResponse(reply=pb.Reply(stdout=stop))

    for event, denied in (("PreToolUse", True), ("PostToolUse", False)):
        payload = json.dumps({"hook_event_name": event}).encode()
        stopped = json.loads(printed(tmp_path, answer, payload=payload).stdout)
        assert stopped["continue"] is False
        assert "do as I say" not in stopped["stopReason"]
        assert ("hookSpecificOutput" in stopped) == denied
    blunt = printed(tmp_path, answer, payload=b"{")
    assert (blunt.stdout, blunt.exit_code) == (b"", 2)


def test_a_block_by_exit_code_that_nobody_signed_denies(tmp_path: Path) -> None:
    def answer(_: pb.PermissionRequest) -> pb.PermissionResponse:
        return pb.PermissionResponse(reply=pb.Reply(stderr=b"listen to me", exit_code=2))

    reply = printed(tmp_path, answer)
    assert verdict(reply) == "deny"
    assert b"listen" not in reply.stdout + reply.stderr


def test_silence_needs_no_signature_where_silence_is_what_follows_anyway(tmp_path: Path) -> None:
    def silent(_: pb.PermissionRequest) -> pb.PermissionResponse:
        return pb.PermissionResponse(reply=pb.Reply(), confirm=True)

    for options in ((), ("--when-unsigned=deny", "--companion")):
        reply = printed(tmp_path, silent, *options)
        assert (reply.stdout, reply.stderr, reply.confirm) == (b"", b"", True)
    assert verdict(printed(tmp_path, silent, "--when-unsigned=deny")) == "deny"
    assert verdict(printed(tmp_path, silent, "--when-lost=deny")) == "deny"


def test_a_newer_team_file_of_the_servers_brings_people(tmp_path: Path) -> None:
    def answer(request: pb.PermissionRequest) -> pb.PermissionResponse:
        response = allowed(request, BOB)
        response.team_file = TEAM.file(version=6)
        return response

    alone = TEAM.file(members=(ANN.member,))
    assert printed(tmp_path, answer, file=alone).stdout == ALLOW
    newest = TEAM.file(members=(ANN.member,), version=7)
    assert not printed(tmp_path, answer, file=newest).stdout


def test_a_persons_limits_are_of_what_the_hook_itself_has(tmp_path: Path) -> None:
    cases = (
        (Scope(projects=("/srv/shop",)), "/srv/shop", True),
        (Scope(projects=("/srv/shop",)), "/srv/shop/api", True),
        (Scope(projects=("/srv/sho?",)), "/srv/shop", True),
        (Scope(projects=("/srv/*/api",)), "/srv/shop/api", True),
        (Scope(projects=("/srv/shop",)), "/srv/shopping", False),
        (Scope(projects=("/srv/shop",)), "/srv/shop/../other", False),
        (Scope(projects=("/srv/[s]hop",)), "/srv/shop", False),
        (Scope(projects=("*",)), "x" * 10_000, False),
        (Scope(kinds=("call", "plan")), "", True),
    )
    for scope, folder, right in cases:
        payload = json.dumps({"hook_event_name": "PreToolUse", "cwd": folder}).encode()
        file = TEAM.file(members=(replace(ANN.member, scope=scope),))
        reply = printed(tmp_path, lambda it: allowed(it, ANN), file=file, payload=payload)
        assert (reply.stdout == ALLOW) == right, (scope, folder)


def test_a_limit_of_machines_goes_by_the_hooks_own_token(tmp_path: Path) -> None:
    machine = Machine("build1", hashlib.sha256(b"token").hexdigest())
    member = replace(ANN.member, scope=Scope(machines=("build*",)))
    token = tmp_path / "token"
    token.write_text("token")
    token.chmod(0o600)
    for machines, options, right in (
        ((machine,), (f"--token-file={token}",), True),
        ((machine,), (), False),
        ((replace(machine, revoked=NOW),), (f"--token-file={token}",), False),
    ):
        file = TEAM.file(members=(member,), machines=machines)
        reply = printed(tmp_path, lambda it: allowed(it, ANN), *options, file=file)
        assert (reply.stdout == ALLOW) == right


@every_row("kind", ["desk", "ssh", "passkey"])
def test_no_signature_with_another_byte_counts(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "team"
    options = read_options(TEAM.options(path), {})
    check = StrictCheck(options, "id", "secret", PAYLOAD)
    strict = pb.StrictHook.FromString(check.wish)
    request = pb.PermissionRequest(
        request_id="id",
        secret="secret",
        platform="claude",
        payload=PAYLOAD,
        stance=1,
        strict=strict,
    )
    while check.work_ahead():
        pass
    whole = allowed(request, ANN, kind=kind).SerializeToString()
    reply = read_reply(whole)
    assert check.checked(reply, whole) is reply
    for at in range(whole.index(b"o-ann") - 4, len(whole)):
        other = bytearray(whole)
        other[at] ^= 1 << at % 8
        with pytest.raises(Unanswered):
            check.checked(reply, bytes(other))


def test_a_wrong_option_makes_no_hook_that_is_not_strict(tmp_path: Path) -> None:
    team, authority = TEAM.options(tmp_path / "team")
    for options in (
        (team,),
        (authority,),
        (team, authority[:-2]),
        (team, authority + "00"),
        (team, "--authority=" + "zz" * 65),
        ("--team=", authority),
        (team, authority, "--need=0"),
        (team, authority, "--need=two"),
        (team, authority, "--of="),
        (team, authority, "--of=@leads,"),
        (team, authority, "--when-unsigned=allow"),
        (team, authority, "--team-version=-1"),
    ):
        wrong = read_options((*options, "--when-unsigned=deny"), {})
        assert wrong.problem, options
        assert verdict(fall_back(wrong, PAYLOAD, Unanswered("options", wrong.problem))) == "deny"
        assert verdict(fall_back(wrong, PAYLOAD, Unanswered("fault", "why"))) == "deny"
    for path in (tmp_path / "none", tmp_path, Path("/dev/null")):
        options = read_options((f"--team={path}", authority, "--when-unsigned=deny"), {})
        with pytest.raises(Unanswered) as caught:
            StrictCheck(options, "id", "secret", PAYLOAD)
        assert verdict(fall_back(options, PAYLOAD, caught.value)) == "deny"


def test_without_the_parts_in_c_the_public_modules_do_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_json", "_sha2", "_sha256", "_sha512"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("statement", "curves", "signed", "strict"):
        monkeypatch.delitem(sys.modules, f"crabhook.hook.{name}", raising=False)
    anew = importlib.import_module("crabhook.hook.strict")
    options = read_options(TEAM.options(tmp_path / "team"), {})
    check = anew.StrictCheck(options, "id", "secret", PAYLOAD)
    strict = pb.StrictHook.FromString(check.wish)
    request = pb.PermissionRequest(
        request_id="id",
        secret="secret",
        platform="claude",
        payload=PAYLOAD,
        stance=1,
        strict=strict,
    )
    for kind in ("desk", "ssh", "passkey"):
        response = allowed(request, ANN, kind=kind).SerializeToString()
        assert check.checked(read_reply(response), response).stdout == ALLOW
    assert sys.modules["crabhook.hook.signed"]._scan.__name__ == "raw_decode"


@every_row("kind", ["ES256", "EdDSA", "RS256", "ES384"])
def test_passkeys_of_every_kind_that_can_be_enrolled_sign(tmp_path: Path, kind: str) -> None:
    eve = SigningPerson("eve", phone=Authenticator(kind))
    file = TEAM.file(members=(eve.member,))
    reply = printed(tmp_path, lambda it: allowed(it, eve, kind="passkey"), file=file, ready=True)
    assert (reply.stdout == ALLOW) == (kind != "ES384")


@every_row("kind", SSH_KINDS)
def test_ssh_keys_of_every_kind_sign(tmp_path: Path, kind: str) -> None:
    eve = SigningPerson("eve", ssh=Signer(kind))
    (key,) = eve.member.keys
    hardware = kind.startswith("sk-")
    for confirmed in (False, True):
        member = replace(eve.member, keys=(replace(key, confirmed=confirmed),))
        file = TEAM.file(members=(member,))
        reply = printed(tmp_path, lambda it: allowed(it, eve, kind="ssh"), file=file, ready=True)
        assert (reply.stdout == ALLOW) == (hardware or confirmed)
