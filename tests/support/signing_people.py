"""People of a team who sign what a strict hook is to print, each by a key of one kind."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from crabhook.hook.statement import (
    NAMESPACE,
    SignedTerms,
    SignedVote,
    of_call,
    of_reply,
    statement,
    terms_part,
    ticket_digest,
)
from crabhook.model.actor import Role
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import vote_of
from crabhook.team.call_signature import PublicKey
from crabhook.team.certificates import Authority, new_key, signing_key_of
from crabhook.team.membership import Device, Member, SshKey, Team, TeamGroup, fingerprint_of
from crabhook.team.team_file import written
from crabhook.v1 import permission_pb2 as pb
from tests.support.authenticator import FAR, Authenticator
from tests.support.ssh_keys import Signer

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

NOW = int(time.time())
TWO = terms_part((SignedTerms(2),))
"""What a card that needs two people has its signers say."""


@dataclass
class SigningPerson:
    """A member of the team with a desk, an SSH key in hardware and a passkey."""

    name: str
    role: Role = Role.DECIDER
    desk: ed25519.Ed25519PrivateKey = field(default_factory=lambda: signing_key_of(new_key()))
    ssh: Signer = field(default_factory=lambda: Signer("sk-ssh-ed25519@openssh.com"))
    phone: Authenticator = field(default_factory=Authenticator)

    @property
    def member(self) -> Member:
        """The person as the team file has them."""
        signing = self.desk.public_key().public_bytes_raw().hex()
        device = Device(f"d-{self.name}", "laptop", "", NOW - 1_000_000, FAR, signing=signing)
        ssh = SshKey(str(PublicKey.parse(self.ssh.line)), since=NOW - 1_000_000)
        passkey = self.phone.passkey(self.name)
        return Member(
            f"o-{self.name}",
            self.name,
            self.role,
            devices=(device,),
            keys=(ssh,),
            passkeys=(passkey,),
        )


@dataclass
class SigningTeam:
    """A team with its authority; the statement is signed as desks and pages do it."""

    people: tuple[SigningPerson, ...]
    authority: Authority = field(default_factory=lambda: Authority.new("ours", NOW))

    @property
    def team(self) -> Team:
        """The team at version 5; each person is alone in a group of the same name."""
        members = tuple(person.member for person in self.people)
        groups = tuple(TeamGroup(f"{each.name}s", (each.id,)) for each in members)
        return Team(fingerprint_of(self.authority.certificate), "ours", 5, members, groups=groups)

    def file(self, **changes: object) -> bytes:
        """The team's file, signed."""
        return written(replace(self.team, **changes), self.authority)  # type: ignore[arg-type]

    @property
    def pinned(self) -> str:
        """The authority as an installed command names it."""
        return self.team.id + authority_point(self.authority.key).hex()

    def options(self, path: Path, *more: str) -> tuple[str, ...]:
        """Write the file; return the options of a strict hook."""
        if not path.exists():
            path.write_bytes(self.file())
        return f"--team={path}", f"--authority={self.pinned}", *more


def authority_point(key: ec.EllipticCurvePrivateKey) -> bytes:
    """An authority's public key, compressed."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


@dataclass
class Signing:
    """How a person signs; a forger changes some of it."""

    team: SigningTeam
    request: pb.PermissionRequest
    reply: pb.Reply
    verdict: str = "allow"
    card: int = 12
    terms: bytes = b""
    ago: float = 0.0

    def by(self, person: SigningPerson, kind: str = "desk") -> pb.DecisionSignature:
        """Sign by the person's desk, SSH key or passkey."""
        key = {
            "desk": f"d-{person.name}",
            "ssh": PublicKey.parse(person.ssh.line).fingerprint,
            "passkey": f"p-{person.name}",
        }[kind]
        vote = SignedVote(
            verdict=self.verdict,
            card=self.card,
            terms=self.terms,
            operator=f"o-{person.name}",
            key=key,
            signed_at_ms=round((time.time() - self.ago) * 1000),
        )
        text = self.statement(vote)
        made = pb.DecisionSignature(
            kind=pb.SignatureKind.Value(f"SIGNATURE_KIND_{kind.upper()}"),
            operator_id=vote.operator,
            key_id=vote.key,
            signed_at_ms=vote.signed_at_ms,
            verdict=vote.verdict,
            card=vote.card,
            terms=vote.terms,
        )
        if kind == "desk":
            made.signature = person.desk.sign(text)
        elif kind == "ssh":
            made.signature = person.ssh.signature(text, NAMESPACE)
        else:
            assertion = person.phone.sign(hashlib.sha256(text).digest())
            made.signature = assertion.signature
            made.authenticator_data = assertion.authenticator_data
            made.client_data_json = assertion.client_data
        return made

    def kept(self, person: SigningPerson, kind: str = "desk") -> DecisionSignature:
        """What the person signs, as the record keeps it."""
        sent = self.by(person, kind)
        bare = DecisionSignature(
            self.request.request_id,
            sent.kind,
            sent.operator_id,
            sent.key_id,
            sent.signed_at_ms,
            sent.verdict,
            sent.card,
            sent.terms,
            sent.signature,
            sent.authenticator_data,
            sent.client_data_json,
        )
        return replace(bare, statement=self.statement(vote_of(bare)))

    def statement(self, vote: SignedVote) -> bytes:
        """What is signed."""
        request = self.request
        call = of_call(
            team=request.strict.team_id,
            request_id=request.request_id,
            ticket=ticket_digest(request.secret),
            platform=request.platform,
            stance=request.stance,
            payload=hashlib.sha256(request.payload).digest(),
        )
        return statement(
            call, of_reply(self.reply.stdout, self.reply.stderr, self.reply.exit_code), vote
        )

    def response(self, *signatures: pb.DecisionSignature) -> pb.PermissionResponse:
        """The answer with these signatures."""
        return pb.PermissionResponse(reply=self.reply, signatures=signatures)
