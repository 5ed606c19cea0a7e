"""Replies that a hook prints only if people of the team have signed them."""

from dataclasses import field

from crabhook.datatypes import frozen


@frozen
class SignedOnly:
    """What a statement names of a request whose hook prints signed replies alone.

    `payload` is the hook's standard input byte for byte. `ticket`: the digest by which a statement
    names the ticket, without its secret.
    """

    payload: bytes = field(repr=False)
    ticket: bytes


@frozen
class DecisionSignature:
    """A person's signature of what one hook is to print.

    `kind`: by which kind of key, as `SignatureKind` numbers it. `operator` and `key` are ids in the
    team's file. `signed_at` is in milliseconds since 1970, on the signer's clock. `terms`: who has
    to sign, as the signer saw it. `statement`: the signed bytes, which a hook makes by itself. A
    passkey has `authenticator_data` and `client_data` too.
    """

    request_id: str
    kind: int
    operator: str
    key: str
    signed_at: int
    verdict: str
    card: int
    terms: bytes
    signature: bytes = field(repr=False)
    authenticator_data: bytes = field(default=b"", repr=False)
    client_data: bytes = field(default=b"", repr=False)
    statement: bytes = field(default=b"", repr=False)
