"""Text as the shell unquotes it: backslashes, `$'…'`, braces."""

import re
from collections.abc import Sequence

_ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {"n": "\n", "t": "\t", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b"}
_LETTERS |= {"f": "\f", "r": "\r", "v": "\v"}
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})|([a-zA-Z])\.\.([a-zA-Z])")
_WILD = re.compile(r"(?<!\\)[*?\[]")

_DIRECTIVE = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]")

MAX_BRACES = 16  # of one word
MAX_WORDS = 64  # of one word's braces; more is a trouble, not a list


def unescape(text: str) -> str:
    """Return an unquoted word without its backslashes; a backslash at a line's end joins."""
    return re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""), flags=re.DOTALL)


def unescape_quoted(text: str) -> str:
    """Return the inside of double quotes without the backslashes that mean something there."""
    return re.sub(r'\\([$`"\\])', r"\1", text.replace("\\\n", ""))


def ansi(text: str) -> str:
    """Return the inside of `$'…'` as the characters that it stands for."""
    return _ANSI.sub(_ansi_letter, text)


def _ansi_letter(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8) & 0xFF)
    if match["control"]:
        return chr(ord(match["control"]) & 0x1F)
    digits = match["hex"] or match["short"] or match["long"]
    if digits:
        number = int(digits, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _LETTERS.get(match["letter"], match["letter"])


def formatted(words: Sequence[str]) -> str:
    """Return what `printf` makes of its format and the words behind it, once through the format."""
    given = iter([word for word in words if word != "--"])
    return _DIRECTIVE.sub(lambda _: next(given, ""), next(given, ""))


def has_wildcard(text: str) -> bool:
    """Whether an unquoted word may become the names of files."""
    return _WILD.search(text) is not None


def braces(text: str) -> list[str] | None:
    """Return the words that an unquoted word's braces make, or None for none.

    Raises OverflowError past MAX_WORDS or MAX_BRACES.
    """
    if text.count("{") > MAX_BRACES:
        raise OverflowError
    match = _BRACES.search(text)
    while match is not None and not _choices(match[1]):
        match = _BRACES.search(text, match.end())
    if match is None:
        return None
    words: list[str] = []
    for choice in _choices(match[1]):
        word = text[: match.start()] + choice + text[match.end() :]
        words.extend(braces(word) or [word])
        if len(words) > MAX_WORDS:
            raise OverflowError
    return words


def _choices(inside: str) -> list[str]:
    if "," in inside:
        return inside.split(",")
    if match := _RANGE.fullmatch(inside):
        letters = match[3] is not None
        first, last = (ord(match[3]), ord(match[4])) if letters else (int(match[1]), int(match[2]))
        if abs(last - first) >= MAX_WORDS:
            raise OverflowError
        step = 1 if last >= first else -1
        return [chr(n) if letters else str(n) for n in range(first, last + step, step)]
    return []
