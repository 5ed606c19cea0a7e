"""Answers of a hostile server to a strict hook: none may let a call run.

A row forges an answer to a request. The team file lies at the hook, and has been changed as a row says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crabhook.hook.statement import SignedTerms, framed, terms_part
from crabhook.model.actor import Role
from crabhook.team.call_signature import PublicKey
from crabhook.team.certificates import Authority
from crabhook.team.membership import Device, Member, Passkey, Scope, SshKey, Team, TeamGroup
from crabhook.team.team_file import written
from crabhook.v1 import permission_pb2 as pb
from tests.support.authenticator import CAN_BE_COPIED, PRESENT
from tests.support.signing_people import NOW, TWO, Signing, SigningPerson, SigningTeam
from tests.support.ssh_keys import Signer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ALLOW = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
    b'"permissionDecisionReason":"looked at"}}\n'
)
DENY = ALLOW.replace(b'"allow"', b'"deny"')
ANN, BOB = SigningPerson("ann"), SigningPerson("bob")
TEAM = SigningTeam((ANN, BOB))

Request = pb.PermissionRequest
Signatures = list[pb.DecisionSignature]


def _same(team: Team) -> Team:
    return team


@dataclass
class Attack:
    """A forged answer, what the hook's team file says, and what the hook blames."""

    why: str
    answer: Callable[[Request], pb.PermissionResponse]
    team: Callable[[Team], Team] = _same
    options: tuple[str, ...] = ()
    file: bytes = b""

    def content(self) -> bytes:
        """The team file at the hook."""
        return self.file or written(self.team(TEAM.team), TEAM.authority)


def signing(request: Request, stdout: bytes = ALLOW, **more: object) -> Signing:
    """What a person would sign."""
    return Signing(TEAM, request, pb.Reply(stdout=stdout), **more)  # type: ignore[arg-type]


def allowed(
    request: Request, *people: SigningPerson, kind: str = "desk", **more: object
) -> pb.PermissionResponse:
    """An allow that these people have signed."""
    made = signing(request, **more)
    return made.response(*(made.by(person, kind) for person in people))


def _signed_for(**changes: object) -> Callable[[Request], pb.PermissionResponse]:
    """An allow that Ann has signed for a request with these fields."""

    def answer(request: Request) -> pb.PermissionResponse:
        other = Request()
        other.CopyFrom(request)
        for name, value in changes.items():
            setattr(other, name, value)
        return allowed(other, ANN)

    return answer


def _printed(**changes: object) -> Callable[[Request], pb.PermissionResponse]:
    """An allow that Ann has signed, with another reply than hers."""

    def answer(request: Request) -> pb.PermissionResponse:
        made = signing(request, stdout=DENY)
        response = made.response(made.by(ANN))
        response.reply.MergeFrom(pb.Reply(**changes))  # type: ignore[arg-type]
        return response

    return answer


def _changed(by: str = "desk", **changes: object) -> Callable[[Request], pb.PermissionResponse]:
    """An allow whose signature says something else than what was signed."""

    def answer(request: Request) -> pb.PermissionResponse:
        response = allowed(request, ANN, kind=by)
        for name, value in changes.items():
            setattr(response.signatures[0], name, value)
        return response

    return answer


def _by(
    person: SigningPerson, kind: str = "desk", **more: object
) -> Callable[[Request], pb.PermissionResponse]:
    return lambda request: allowed(request, person, kind=kind, **more)


def _device(**changes: object) -> Callable[[Team], Team]:
    """Change each device of Ann's."""

    def change(one: Member) -> Member:
        devices: list[Device] = [replace(device, **changes) for device in one.devices]  # type: ignore[arg-type]
        return replace(one, devices=tuple(devices)) if one.name == "ann" else one

    return lambda team: replace(team, members=tuple(map(change, team.members)))


def _member(**changes: object) -> Callable[[Team], Team]:
    """Change Ann."""

    def change(one: Member) -> Member:
        return replace(one, **changes) if one.name == "ann" else one  # type: ignore[arg-type]

    return lambda team: replace(team, members=tuple(map(change, team.members)))


def _phone(**changes: object) -> SigningPerson:
    """Ann, whose phone says something else."""
    phone = replace(ANN.phone, **changes)  # type: ignore[arg-type]
    object.__setattr__(phone, "_key", ANN.phone.private)
    return replace(ANN, phone=phone)


def _passkey(**changes: object) -> Callable[[Team], Team]:
    changed: Passkey = replace(ANN.member.passkeys[0], **changes)  # type: ignore[arg-type]
    return _member(passkeys=(changed,))


_SOFTWARE = Signer("ssh-ed25519")
_SOFT = replace(ANN, ssh=_SOFTWARE)
_UNTOUCHED = replace(ANN, ssh=replace(ANN.ssh, flags=0))
_MALLORY = replace(SigningPerson("mallory"), name="ann")
_OTHERS = SigningTeam((ANN, BOB), Authority.new("theirs", NOW))
_SMALL = bytes(31) + b"\x80"  # a point of order four


def _with_file(file: bytes) -> Callable[[Request], pb.PermissionResponse]:
    def answer(request: Request) -> pb.PermissionResponse:
        response = allowed(request, ANN)
        response.team_file = file
        return response

    return answer


def _anybodys(request: Request) -> pb.PermissionResponse:
    response = allowed(request, ANN)
    response.signatures[0].signature = _SMALL + bytes(32)
    return response


def _doubled(request: Request) -> pb.PermissionResponse:
    made = signing(request)
    return made.response(made.by(ANN), made.by(ANN, "passkey"), made.by(ANN, "ssh"), made.by(ANN))


def _wanting(*terms: SignedTerms) -> bytes:
    """What a person signs who saw these terms."""
    return terms_part(terms)


_OF_ANN, _OF_BOB = SignedTerms(1, ("@anns",)), SignedTerms(1, ("@bobs",))
_BOTH_GROUPS = _wanting(_OF_ANN, _OF_BOB)


def _by_both_groups(terms: bytes) -> Callable[[Request], pb.PermissionResponse]:
    """An allow that Ann signed under the terms of two rules, told as one under these terms."""

    def answer(request: Request) -> pb.PermissionResponse:
        response = allowed(request, ANN, terms=_BOTH_GROUPS)
        response.signatures[0].terms = terms
        return response

    return answer


def _one_list_each(request: Request) -> pb.PermissionResponse:
    """Ann saw both rules, and her other signature is of a list before the second rule."""
    whole, short = signing(request, terms=_BOTH_GROUPS), signing(request, terms=_wanting(_OF_ANN))
    return whole.response(short.by(ANN, "passkey"), whole.by(ANN))


def _doubled_for_groups(request: Request) -> pb.PermissionResponse:
    made = signing(request, terms=_BOTH_GROUPS)
    return made.response(*(made.by(ANN, kind) for kind in ("desk", "passkey", "ssh")))


def _two_of_one_group(request: Request) -> pb.PermissionResponse:
    return allowed(request, ANN, BOB, terms=_wanting(SignedTerms(2, ("@anns",))))


def _many(request: Request) -> pb.PermissionResponse:
    made = signing(request)
    false = made.by(_MALLORY)
    return made.response(*([false] * 5_000))


def _presence(request: Request) -> pb.PermissionResponse:
    made = signing(request)
    response = made.response(made.by(ANN, "ssh"))
    response.signatures[0].signature = ANN.ssh.signature(b"anything")
    return response


def _enrolment(request: Request) -> pb.PermissionResponse:
    made = signing(request)
    response = made.response(made.by(ANN, "passkey"))
    said = response.signatures[0].client_data_json
    response.signatures[0].client_data_json = said.replace(b"webauthn.get", b"webauthn.create")
    return response


def _stretched(kind: str, more: bytes) -> Callable[[Request], pb.PermissionResponse]:
    def answer(request: Request) -> pb.PermissionResponse:
        response = allowed(request, ANN, kind=kind)
        response.signatures[0].signature += more
        return response

    return answer


def _in_another_form(request: Request) -> pb.PermissionResponse:
    """An ECDSA signature whose r has a zero before it."""
    response = allowed(request, ANN, kind="passkey")
    whole = response.signatures[0].signature
    r = b"\0" + whole[4 : 4 + whole[3]]
    body = b"\x02" + bytes((len(r),)) + r + whole[4 + whole[3] :]
    response.signatures[0].signature = b"\x30" + bytes((len(body),)) + body
    return response


def _with_more(request: Request) -> pb.PermissionResponse:
    response = allowed(request, ANN, kind="passkey")
    response.signatures[0].client_data_json += b" {}"
    return response


ATTACKS: Mapping[str, Attack] = {
    "nobody signed": Attack("nobody has signed", allowed),
    "another input was shown": Attack("false", _signed_for(payload=b'{"command":"ls"}')),
    "an earlier invocation": Attack("false", _signed_for(request_id="x" * 32, secret="y" * 32)),
    "another secret": Attack("false", _signed_for(secret="y" * 32)),
    "another agent": Attack("false", _signed_for(platform="codex")),
    "another stance": Attack("false", _signed_for(stance=pb.STANCE_COMPANION)),
    "another stdout": Attack("false", _printed(stdout=ALLOW)),
    "another stderr": Attack("false", _printed(stdout=ALLOW, stderr=b"run it")),
    "another exit code": Attack("false", _printed(stdout=ALLOW, exit_code=3)),
    "signed long ago": Attack("another time", _by(ANN, ago=90_000)),
    "signed in the future": Attack("another time", _by(ANN, ago=-90_000)),
    "another verdict": Attack("false", _changed(verdict="deny")),
    "another card": Attack("false", _changed(card=13)),
    "fewer people than were signed": Attack("false", _by_both_groups(b"")),
    "other people than were signed": Attack("false", _by_both_groups(_wanting(_OF_ANN))),
    "another time": Attack("false", _changed(signed_at_ms=NOW * 1000)),
    "another person": Attack("not in the team file", _changed(operator_id="o-bob")),
    "nobody": Attack("does not have that person", _changed(operator_id="o-eve")),
    "another key": Attack("not in the team file", _changed(key_id="d-bob")),
    "another kind": Attack("not in the team file", _changed(kind=2)),
    "no kind": Attack("kind is not known", _changed(kind=0)),
    "a strange kind": Attack("kind is not known", _changed(kind=77)),
    "a stranger's key": Attack("false", _by(_MALLORY)),
    "a stranger's SSH key": Attack("not in the team file", _by(_MALLORY, "ssh")),
    "a stranger's passkey": Attack("false", _by(_MALLORY, "passkey")),
    "an empty signature": Attack("false", _changed(signature=b"")),
    "a long signature": Attack("too long", _changed(signature=bytes(10_000))),
    "thousands of signatures": Attack("false", _many),
    "a truncated quorum": Attack("1 of 2", _by(ANN, terms=TWO)),
    "a quorum of installation": Attack("1 of 2", _by(ANN), options=("--need=2",)),
    "people whom the installation does not name": Attack(
        "0 of 1 people of @bobs", _by(ANN), options=("--of=@bobs",)
    ),
    "a quorum of one person": Attack("1 of 2", _doubled, options=("--need=2",)),
    "a rule's people left out": Attack("0 of 1 people of @bobs", _by(ANN, terms=_BOTH_GROUPS)),
    "a rule's people left out of one list": Attack("0 of 1 people of @bobs", _one_list_each),
    "one person for two groups": Attack("0 of 1 people of @bobs", _doubled_for_groups),
    "people of another group": Attack("1 of 2 people of @anns", _two_of_one_group),
    "a group that the server has made up": Attack(
        "0 of 1 people of @leads", _by(ANN, terms=_wanting(SignedTerms(1, ("@leads",))))
    ),
    "a group that has lost its person": Attack(
        "0 of 1 people of @anns",
        _by(ANN, terms=_wanting(_OF_ANN)),
        lambda team: replace(team, groups=(TeamGroup("anns", ()),)),
    ),
    "a step of the ladder that has not come": Attack(
        "0 of 1 people of @bobs",
        _by(ANN, terms=_wanting(SignedTerms(1, ("@bobs",), after=((600_000, "@anns"),)))),
    ),
    "the owner of the machine": Attack(
        "the owner of the machine does not count",
        _by(ANN, terms=_wanting(SignedTerms(1, not_self=True))),
        lambda team: replace(team, owner="o-ann"),
    ),
    "a machine without an owner": Attack(
        "names no owner", _by(ANN, terms=_wanting(SignedTerms(1, not_self=True)))
    ),
    "a desk where a passkey has to sign": Attack(
        "by a passkey or an SSH key", _by(ANN, terms=_wanting(SignedTerms(1, step_up=True)))
    ),
    "terms that nobody can read": Attack("cannot be read", _by(ANN, terms=b"\0\0\0\1")),
    "terms of a later version": Attack(
        "cannot be read", _by(ANN, terms=framed(framed(b"\0\1", b"\4", b"", b"")))
    ),
    "long terms": Attack("too long", _by(ANN, terms=_wanting(SignedTerms(1, ("x" * 9_000,))))),
    "a person who left": Attack(
        "not have that person",
        _by(ANN),
        lambda team: replace(team, members=tuple(one for one in team.members if one.name == "bob")),
    ),
    "a revoked device": Attack("revoked", _by(ANN), _device(revoked=NOW - 60)),
    "a device that ended": Attack("ended", _by(ANN), _device(until=NOW - 60)),
    "a device that begins later": Attack("begins later", _by(ANN), _device(since=NOW + 7200)),
    "a device that never signed": Attack("invite it again", _by(ANN), _device(signing="")),
    "a key of small order": Attack("small order", _anybodys, _device(signing=_SMALL.hex())),
    "a key that is no key": Attack("cannot be used", _by(ANN), _device(signing="ff" * 32)),
    "a viewer": Attack("does not decide", _by(ANN), _member(role=Role.VIEWER)),
    "a person of other projects": Attack(
        "other projects", _by(ANN), _member(scope=Scope(projects=("/srv/x*",)))
    ),
    "a person of other machines": Attack(
        "other machines", _by(ANN), _member(scope=Scope(machines=("build*",)))
    ),
    "a person of questions": Attack("kinds", _by(ANN), _member(scope=Scope(kinds=("question",)))),
    "a software key": Attack(
        "without a person",
        _by(_SOFT, "ssh"),
        _member(keys=(SshKey(str(PublicKey.parse(_SOFTWARE.line))),)),
    ),
    "a key that nobody touched": Attack("nobody touched", _by(_UNTOUCHED, "ssh")),
    "an SSH key for something else": Attack(
        "something else",
        _presence,
    ),
    "a passkey without a person": Attack("no fingerprint", _by(_phone(flags=0), "passkey")),
    "a passkey that verified nobody": Attack(
        "no fingerprint", _by(_phone(flags=PRESENT), "passkey")
    ),
    "a passkey of another host": Attack("another host", _by(_phone(rp="evil.example"), "passkey")),
    "a page of another host": Attack(
        "another host", _by(_phone(origin="https://evil.example"), "passkey")
    ),
    "a page whose host ends alike": Attack(
        "another host", _by(_phone(origin="https://evildesk.example"), "passkey")
    ),
    "a page in the clear": Attack(
        "another host", _by(_phone(origin="http://desk.example"), "passkey")
    ),
    "a page in a page": Attack("page of its own", _by(_phone(cross_origin=True), "passkey")),
    "an enrolment": Attack("page of its own", _enrolment),
    "a passkey that can be copied now": Attack(
        "has changed", _by(_phone(flags=ANN.phone.flags | CAN_BE_COPIED), "passkey")
    ),
    "a revoked passkey": Attack("revoked", _by(ANN, "passkey"), _passkey(revoked=NOW - 60)),
    "a passkey on a machine of agents": Attack(
        "machine of agents", _by(ANN, "passkey"), _passkey(agents_machine=True)
    ),
    "what the phone says of another call": Attack("not this call", _changed("passkey", card=13)),
    "an older team file": Attack("older file", _by(ANN), options=("--team-version=6",)),
    "another team's file": Attack("has not signed it", _by(ANN), file=_OTHERS.file()),
    "an edited team file": Attack(
        "has not signed it", _by(ANN), file=TEAM.file().replace(b'"decider"', b'"admin"', 1)
    ),
    "no team file": Attack("not what this version", _by(ANN), file=b"{}"),
    "a team of the same authority's with another id": Attack(
        "another team's", _by(ANN), file=TEAM.file(id="00" * 32)
    ),
    "an SSH signature of another card": Attack("false", _changed("ssh", card=13)),
    "what is no SSH signature": Attack("no SSH signature", _changed("ssh", signature=b"SSHSIGx")),
    "an SSH signature with a string more": Attack("cannot be read", _stretched("ssh", b"\0" * 4)),
    "an SSH signature with a byte more": Attack("cannot be read", _stretched("ssh", b"\0")),
    "a passkey's signature with a byte more": Attack(
        "cannot be read", _stretched("passkey", b"\0")
    ),
    "a passkey's signature in another form": Attack("cannot be read", _in_another_form),
    "a browser's word that is no JSON": Attack(
        "cannot be read", _changed("passkey", client_data_json=b"{")
    ),
    "a browser's word with more behind it": Attack("cannot be read", _with_more),
    "a newer team file that has revoked": Attack(
        "revoked",
        _with_file(written(_device(revoked=NOW)(replace(TEAM.team, version=6)), TEAM.authority)),
    ),
    "a forged newer team file": Attack(
        "revoked",
        _with_file(_OTHERS.file(version=9)),
        _device(revoked=NOW),
    ),
    "an older team file of the server's": Attack(
        "revoked", _with_file(TEAM.file(version=4)), _device(revoked=NOW)
    ),
}
