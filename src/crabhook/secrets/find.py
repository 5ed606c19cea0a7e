"""The only finder of secrets: what the record leaves out, and what a screen may cover.

A span is the whole secret. A long word that looks random, as keys do, is a secret too. Shannon's
entropy alone takes camelCase for a key. So this counts how often a letter is followed by a letter
that follows it in words, names and abbreviations. In a random word that is at most a third of the
letters. Of random words with 20 letters and digits 1 in 150 is missed. Of 53,000 long words of
Python programs 1 in 1000 is taken for a key.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from itertools import pairwise

from crabhook.data_files import tables
from crabhook.datatypes import late_pattern
from crabhook.secrets.context import SecretSpan, lowered, secrets_in
from crabhook.secrets.programs import secrets_of_programs

RANDOM = "random"
SHORTEST = 20  # characters; a shorter random word is known by its context only

_LONG = re.compile(r"[A-Za-z0-9+/_.~:@=-]{15,}")  # what may hold a vendor's key, or a chance word
_WORD = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST},}}={{0,2}}")
_PLAIN = re.compile(r"[\w.]{0,14}+|[0-9a-f-]{1,128}+")  # too short, or a digest: no secret
_ONE_WORD = re.compile(r"[A-Za-z0-9_.-]+")  # nothing can precede a secret in such a text
_PUBLIC = late_pattern(  # long and random, and meant to be seen
    r"-----BEGIN (?:[A-Z0-9 ]*PUBLIC KEY|CERTIFICATE(?: REQUEST)?|PGP SIGNATURE|SSH SIGNATURE"
    r"|PGP PUBLIC KEY BLOCK|X509 CRL)-----.*?-----END"
    r"|(?:\bh1|\bsha(?:1|256|384|512)|SHA256|\bmd5|integrity)[:=][\"']?[A-Za-z0-9+/_-]+"
    r"|data:(?:image|font|audio|video|application/wasm)[/a-z0-9.+-]*;base64,[A-Za-z0-9+/]+"
    r"|/nix/store/[0-9a-z]{32}",
    re.DOTALL,
)


# The vendors' formats: each kind, what tells whose it is, and the secret itself.
_FORMATS: list[tuple[str, str, str]] = tables(__file__, "kinds")["formats"]
_LETTER = re.compile(r"[A-Za-z0-9](?![?*+{|])")


def _any_of(secret: str) -> str:
    """Return a pattern of all formats, by their first letter: most words then cost one look.

    `secret` is what stands for the secret of a format, with its place in the table and its pattern.
    """
    by_letter: dict[str, list[str]] = {}
    for place, (_, whose, pattern) in enumerate(_FORMATS):
        letter = whose[0] if _LETTER.match(whose) else ""
        shape = whose[len(letter) :] + secret.format(place=place, pattern=pattern)
        by_letter.setdefault(letter, []).append(shape)
    grouped = (f"{letter}(?:{'|'.join(shapes)})" for letter, shapes in by_letter.items())
    return f"(?<![A-Za-z0-9])(?:{'|'.join(grouped)})(?![A-Za-z0-9])"


_SHAPES = late_pattern(_any_of("(?P<_{place}>{pattern})"))
# The same without groups, with which it takes a tenth of the time; most texts hold no such secret.
_ANY_SHAPE = late_pattern(_any_of("{pattern}"))


def known_in(text: str, start: int = 0, stop: int | None = None) -> Iterator[SecretSpan]:
    """Return the secrets of known shape between two places of `text`."""
    end = len(text) if stop is None else stop
    if _ANY_SHAPE.search(text, start, end) is None:
        return
    for match in _SHAPES.finditer(text, start, end):
        group = match.lastgroup or "_0"
        kind = _FORMATS[int(group[1:])][0]
        yield SecretSpan(*match.span(), kind, match.start(group) - match.start())


is_plain: Callable[[str], object] = _PLAIN.fullmatch
"""True where `text` is too short for a secret, or a digest; ids mostly are."""


def is_plain_word(text: str) -> bool:
    """Whether `find` has nothing in a name or an id, where a random look tells nothing."""
    return _ONE_WORD.fullmatch(text) is not None and _ANY_SHAPE.search(text) is None


def find(text: str, *, by_entropy: bool = True) -> list[SecretSpan]:
    """Return where `text` has secrets, by context first; the spans may overlap.

    Without `by_entropy` a word that only looks random is none, as ids often do.
    """
    if is_plain(text):
        return []
    spans = [] if _ONE_WORD.fullmatch(text) else _by_context(text)
    return [*spans, *_words(text, by_entropy=by_entropy)]


def _by_context(text: str) -> list[SecretSpan]:
    lower = lowered(text)
    return [*secrets_of_programs(text, lower), *secrets_in(text, lower)]


def _words(text: str, *, by_entropy: bool) -> Iterator[SecretSpan]:
    chance = []
    for long in _LONG.finditer(text):
        yield from known_in(text, *long.span())
        if by_entropy:
            words = _WORD.finditer(text, *long.span())
            chance += [word.span() for word in words if by_chance(word[0], _holds_secret)]
    public = [match.span() for match in _PUBLIC.finditer(text)] if chance else []
    for span in chance:
        if not any(start <= span[0] < stop for start, stop in public):
            yield SecretSpan(*span, RANDOM)


def _holds_secret(text: str) -> bool:
    return bool(_by_context(text)) or any(True for _ in known_in(text))


_FEWEST = 10  # pairs to judge by
_WORDLY = 0.54  # share of expected pairs from which a word is taken for one of ours

_EXPECTED = frozenset(
    first + two
    for first, others in tables(__file__, "kinds")["followers"].items()
    for two in others
)

_DIGEST = re.compile(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)(?:-(?:[0-9a-f]+|[0-9A-F]+))*")  # and UUIDs
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_KNOWN = late_pattern(  # ids that agents and models give, and digests that say so
    r"(?:toolu|msg|req|call|resp|run|thread|asst|batch|chatcmpl|srvtoolu|file|evt)[_-]\w+"
    r"|sha(?:1|224|256|384|512)-[A-Za-z0-9+/]+={0,2}"
    r"|AAAA[BCE][23][A-Za-z0-9+/]+={0,2}"  # an SSH public key
)
_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_JOINTS = re.compile("[-_]+")
_ORDINARY = re.compile(r"(?:[a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11})?\d{0,6}")
_LETTERS = re.compile("[A-Z]?[a-z]+(?:[_-][a-z]+)*")
_PRINTABLE = 0.95


def by_chance(word: str, holds_secret: Callable[[str], bool]) -> bool:
    """Whether `word` looks like a key; `holds_secret` judges text that it is the Base64 of."""
    bare = word.rstrip("=")
    if not _mixed(bare):
        return False
    public = _ULID.fullmatch(bare) or _KNOWN.fullmatch(word)
    if len(bare) < SHORTEST or public or not _looks_random(bare):
        return False
    text = _wrapped(bare)
    return text is None or holds_secret(text)


def _looks_random(word: str) -> bool:
    parts = [part for part in word.split("/") if part]
    if len(parts) > 1 and (word.startswith("/") or any(map(_readable, parts))):
        return any(len(part) >= SHORTEST and _judged(part) for part in parts)  # it is a path
    return _judged(word)


def _judged(word: str) -> bool:
    """Whether letters of both cases, or letters and digits, alternate as in no word."""
    pieces = [piece for piece in _JOINTS.split(word) if not _DIGEST.fullmatch(piece)]
    if len(pieces) >= 3 and all(map(_ORDINARY.fullmatch, pieces)):
        return False  # such as cpython-311-x86_64-linux-gnu
    rest = "-".join(pieces)
    return len(rest) >= SHORTEST and _mixed(rest) and _share(rest, _FEWEST) < _WORDLY


def _mixed(word: str) -> bool:
    return sum(letters.search(word) is not None for letters in _CLASSES) >= 2


def _readable(part: str) -> bool:
    """Whether a piece between slashes has letters in the order of words."""
    return len(part) >= 4 and _LETTERS.fullmatch(part) is not None and _share(part, 3) >= 0.7


def _share(word: str, fewest: int) -> float:
    """Return the share of expected neighbours in `word`; 1 if there are fewer than `fewest`."""
    counted, expected, before = 0, 0.0, False
    for first, two in pairwise(word):
        letters = first.isalpha() + two.isalpha()
        if letters == 2:
            counted += 1
            hump = first.islower() and two.isupper()
            if hump and before:
                expected += 0.5  # as in camelCase; in a chance word it may be anything
            low, high = first.lower(), two.lower()  # expected, too, is a row: aaa, abc
            before = not hump and (low + high in _EXPECTED or ord(high) - ord(low) in (0, 1))
            expected += before
        elif letters and first.isalnum() and two.isalnum():
            counted += 1
    return expected / counted if counted >= fewest else 1.0


def _wrapped(word: str) -> str | None:
    """Return the text whose Base64 is `word`, or None."""
    padded = word.replace("-", "+").replace("_", "/") + "=" * (-len(word) % 4)
    try:
        text = b64decode(padded, validate=True).decode("utf-8")
    except ValueError:
        return None
    printable = sum(letter.isprintable() or letter in "\n\r\t" for letter in text)
    return text if text and printable >= _PRINTABLE * len(text) else None
