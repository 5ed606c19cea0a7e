"""Signed decisions as DSSE envelopes of in-toto statements, for the tools of supply chains.

People sign crabhook's own statement of a decision, and no JSON. So the server signs the envelope,
and the envelope has what people signed, with their signatures.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from crabhook.datatypes import frozen
from crabhook.export.item import ExportItem
from crabhook.hook.statement import SignedTerms, terms_in
from crabhook.model.jsontext import Value, compact
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import StatementFields
from crabhook.store.record import RecordKind

PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "urn:crabhook:signed-decision:v1"

SignaturesIn = Callable[[Mapping[str, Value]], Sequence[DecisionSignature]]
"""Returns the signatures in a record's data."""


@frozen
class EnvelopeSigner:
    """Who signs envelopes: the id of its key, and how it signs."""

    key: str
    sign: Callable[[bytes], bytes]


def pae(payload: bytes) -> bytes:
    """Return what is signed of an envelope with this payload, as DSSE encodes it."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def envelopes(
    item: ExportItem, signed: Sequence[DecisionSignature], signer: EnvelopeSigner
) -> Iterator[str]:
    """Yield an envelope for each hook for which people signed this decision, a line each."""
    if item.record.kind != RecordKind.DECIDED:
        return
    for request, group in groupby(signed, attrgetter("request_id")):
        payload = compact(_statement(item, request, tuple(group))).encode("ascii")
        made: list[Value] = [{"keyid": signer.key, "sig": _base64(signer.sign(pae(payload)))}]
        envelope: dict[str, Value] = {
            "payloadType": PAYLOAD_TYPE,
            "payload": _base64(payload),
            "signatures": made,
        }
        yield compact(envelope)


def _statement(
    item: ExportItem, request: str, signed: tuple[DecisionSignature, ...]
) -> dict[str, Value]:
    fields, record = StatementFields.read(signed[0].statement), item.record
    subject: Value = {"name": request, "digest": {"sha256": fields.payload.hex()}}
    reply: Value = {
        "stdout": {"sha256": fields.stdout.hex()},
        "stderr": {"sha256": fields.stderr.hex()},
        "exitCode": int.from_bytes(fields.exit_code, "big"),
    }
    people: list[Value] = [
        {
            "operator": each.operator,
            "key": each.key,
            "kind": each.kind,
            "signedAt": each.signed_at,
            "terms": [_terms(terms) for terms in terms_in(each.terms)],
            "statement": _base64(each.statement),
            "signature": _base64(each.signature),
            "authenticatorData": _base64(each.authenticator_data),
            "clientDataJSON": _base64(each.client_data),
        }
        for each in signed
    ]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [subject],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "team": fields.team.hex(),
            "platform": fields.platform.decode("utf-8", "replace"),
            "verdict": record.verdict,
            "card": record.card,
            "tool": record.tool,
            "session": record.session,
            "decidedAt": record.at,
            "record": {"seq": record.seq, "sha256": record.hash.hex()},
            "reply": reply,
            "signatures": people,
        },
    }


def _terms(terms: SignedTerms) -> Value:
    """Return what one rule asked of those who sign, as one of them saw it."""
    after: list[Value] = [{"afterMs": after, "to": to} for after, to in terms.after]
    return {
        "need": terms.need,
        "of": list(terms.of),
        "notSelf": terms.not_self,
        "stepUp": terms.step_up,
        "after": after,
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
