"""Whether the calls on record that a passkey opened were signed by it: by the team's file alone."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from crabhook.desk.acts import ACTS
from crabhook.model.actor import Operator, ShownBy
from crabhook.store.actors import actor_in
from crabhook.store.record import Record, RecordKind, iso, may_be_by_passkey
from crabhook.store.verify import RecordFinding
from crabhook.team.call_signature import SIGNED_AS, fields_of
from crabhook.team.membership import Team
from crabhook.team.passkeys import Assertion, PasskeyError, verify

_OF_CARDS = (RecordKind.DECIDED, RecordKind.VOTED)
_SOON = 2  # seconds that a decision may take, from the look at the team's file to the record


class FalseProofError(Exception):
    """A record whose signature is not what it should be; says why."""


class UnknownKeyError(Exception):
    """A record whose passkey is not in the team's file any more."""


@dataclass
class Proofs:
    """Takes each record, and counts what is true of it.

    `unknown` are of passkeys that the team's file does not have any more. `revoked` are of passkeys
    that were revoked later. `digests` are of requests of which the record has the digest alone.
    """

    team: Team
    true: int = 0
    unknown: int = 0
    revoked: int = 0
    digests: int = 0
    false: list[RecordFinding] = field(default_factory=list)
    _signed: set[bytes] = field(default_factory=set)

    @property
    def number(self) -> int:
        """How many calls a passkey opened."""
        return self.true + self.unknown + len(self.false)

    @property
    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        numbers = {"true": self.true, "false": len(self.false), "unknown": self.unknown}
        return {**numbers, "revoked_later": self.revoked, "digests": self.digests}

    def told(self) -> Iterator[str]:
        """Yield what was verified, a sentence each; nothing where no passkey opened a call."""
        if not self.number:
            return
        yield f"Passkeys opened {self.number} calls: {self.true} signatures are true."
        if self.unknown:
            yield (
                f"{self.unknown} signatures cannot be verified: their passkeys are not in the "
                "team's file, since their people were revoked."
            )
        if self.revoked:
            yield f"{self.revoked} true signatures are of passkeys that were revoked later."
        if self.digests:
            yield (
                f"{self.digests} true signatures cover words that the record does not keep: there "
                "were secrets in them, or beside them."
            )

    def take(self, record: Record) -> None:
        """Verify a record that says that a passkey opened its call."""
        if not may_be_by_passkey(record):
            return
        data = record.data()
        who = actor_in(data)
        proof = data.get("proof")
        if not isinstance(proof, Mapping):
            by_passkey = isinstance(who, Operator) and who.shown == ShownBy.PASSKEY
            if data.get("signed"):  # the passkey signed the decision itself
                return
            if record.kind in _OF_CARDS and by_passkey:
                self._is_false(record, "it says that a passkey opened it, and has no signature")
            return
        try:
            self._verify(record, proof, who.id if isinstance(who, Operator) else "")
        except UnknownKeyError:
            self.unknown += 1
        except (FalseProofError, PasskeyError) as error:
            self._is_false(record, str(error))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._is_false(record, "what the passkey signed cannot be read")
        else:
            self.true += 1

    def _is_false(self, record: Record, why: str) -> None:
        self.false.append(RecordFinding(record.seq, f"its passkey's signature is none: {why}"))

    def _verify(self, record: Record, proof: Mapping[str, Any], operator: str) -> None:
        signed = base64.b64decode(proof["signed"], validate=True)
        if signed in self._signed:
            raise FalseProofError("the same signature is on record twice")
        self._signed.add(signed)
        kind, team, person, _, _, digest, _ = fields_of(signed)
        if kind != SIGNED_AS or team.decode() != self.team.id:
            raise FalseProofError("it is of another team")
        if person.decode() != operator:
            raise FalseProofError("it is of another person than the record says")
        assertion = Assertion.from_json(proof["assertion"])
        whose = self.team.passkey(assertion.name)
        if whose is None:
            raise UnknownKeyError
        member, passkey = whose
        if member.id != operator:
            raise FalseProofError(f"its passkey is {member.name}'s")
        if passkey.revoked and str(record.at) > iso(passkey.revoked + _SOON):
            raise FalseProofError(f"its passkey on {passkey.name} was revoked before")
        verify(assertion, sha256(signed).digest(), passkey, PagesOf(passkey.rp))
        if (request := proof.get("request")) is None:
            self.digests += 1
        else:
            _compare(record, str(request).encode(), digest)
        self.revoked += bool(passkey.revoked)


def _compare(record: Record, request: bytes, digest: bytes) -> None:
    """Raise FalseProofError where the signed request is not what is on record."""
    if sha256(request).digest() != digest:
        raise FalseProofError("the request on record is not what was signed")
    asked = json.loads(request)
    if record.kind not in _OF_CARDS:
        return
    if asked.get("card") != record.card:
        raise FalseProofError("it is for another card")
    act = ACTS.get(str(asked.get("act")))
    if act is not None and act.gives is not None and act.gives != record.verdict:
        raise FalseProofError(f"it is to {act.gives}, and the record says {record.verdict}")


class PagesOf:
    """The origins of all pages of a host: which of them this server had is not on record.

    Of any host, where none is given: a passkey signs for pages of its own host alone.
    """

    def __init__(self, host: str = "") -> None:
        self._host = host

    def __contains__(self, origin: object) -> bool:
        return isinstance(origin, str) and self._host in ("", urlsplit(origin).hostname)
