"""What a person's passkey signed to open a call, as the record keeps it."""

from crabhook.datatypes import frozen


@frozen
class CallProof:
    """A passkey's signature of a call.

    `signed` is the text that was signed, with the digest of `request`, the call's bytes.
    `assertion` is the signature as a browser gives it, in JSON.
    """

    signed: bytes
    request: bytes
    assertion: str
