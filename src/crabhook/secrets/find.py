"""The one finder of secrets: what the record leaves out, and what a screen may cover.

A span is the whole secret.  The record replaces it; a screen decides what of
it may be covered, so that no cover ever hides a command.
"""

import re
from collections.abc import Iterator

from crabhook.secrets.context import PRIVATE_KEY, secrets_in
from crabhook.secrets.entropy import SHORTEST, by_chance
from crabhook.secrets.spans import Span
from crabhook.secrets.vendors import known_in

RANDOM = "random"

__all__ = ["PRIVATE_KEY", "RANDOM", "find", "is_plain"]

_LONG = re.compile(r"[A-Za-z0-9+/_.~:@=-]{15,}")  # what may hold a vendor's key, or a chance word
_WORD = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST},}}={{0,2}}")
_PLAIN = re.compile(r"[\w.]{0,14}|[0-9a-f-]{1,128}")  # too short, or a digest: no secret
_ONE_WORD = re.compile(r"[A-Za-z0-9_.-]+")  # in which nothing can stand before anything
_PUBLIC = re.compile(  # long and random, and meant to be seen
    r"-----BEGIN (?:[A-Z0-9 ]*PUBLIC KEY|CERTIFICATE(?: REQUEST)?|PGP SIGNATURE|SSH SIGNATURE"
    r"|PGP PUBLIC KEY BLOCK|X509 CRL)-----.*?-----END"
    r"|(?:\bh1|\bsha(?:1|256|384|512)|SHA256|\bmd5|integrity)[:=][\"']?[A-Za-z0-9+/_-]+"
    r"|data:(?:image|font|audio|video|application/wasm)[/a-z0-9.+-]*;base64,[A-Za-z0-9+/]+"
    r"|/nix/store/[0-9a-z]{32}",
    re.DOTALL,
)


def is_plain(text: str) -> bool:
    """Whether `text` is too short for a secret, or a digest; ids mostly are."""
    return _PLAIN.fullmatch(text) is not None


def find(text: str, *, by_entropy: bool = True) -> list[Span]:
    """Return where `text` holds secrets, by context first; the spans may overlap.

    Without `by_entropy` a word that only looks random is none, as ids often do.
    """
    if is_plain(text):
        return []
    spans = [] if _ONE_WORD.fullmatch(text) else list(secrets_in(text))
    return [*spans, *_words(text, by_entropy=by_entropy)]


def _words(text: str, *, by_entropy: bool) -> Iterator[Span]:
    """Return the words that are secrets by their own shape."""
    chance = []
    for long in _LONG.finditer(text):
        yield from known_in(text, *long.span())
        if by_entropy:
            words = _WORD.finditer(text, *long.span())
            chance += [word.span() for word in words if by_chance(word[0], _holds_secret)]
    public = [found.span() for found in _PUBLIC.finditer(text)] if chance else []
    for span in chance:
        if not any(start <= span[0] < stop for start, stop in public):
            yield Span(*span, RANDOM)


def _holds_secret(text: str) -> bool:
    return any(True for _ in secrets_in(text)) or any(True for _ in known_in(text))
