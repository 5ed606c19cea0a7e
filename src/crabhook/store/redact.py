"""Replaces secrets with marks, before recording.

A mark has the kind, the length and the fingerprint: `[redacted github-token len=40 #3fa9c1d2]`.
Redacting twice changes nothing more, nothing raises, and the result is bounded.
"""

import hmac
import math
import re
from collections.abc import Callable
from functools import lru_cache

from crabhook.model.jsontext import MAX_DEPTH, Value
from crabhook.secrets.context import is_reference, names_a_secret, united
from crabhook.secrets.find import find, is_plain, is_plain_word

MAX_NAME = 4096  # characters of a column that an agent fills; a longer one is cut
MAX_TEXT = 32_768  # characters kept of a text
MAX_VALUE = 131_072  # characters and values kept of a body, in all
SHORT = 200  # characters; results for texts up to this length are cached
REMEMBERED = 8192  # cached texts, and as many names
_LOOK_PAST = 4096  # characters read past the cut, since a secret may cross it
_ROOM = 1000  # characters left for marks when a text is cut
_ROUNDS = 8  # a mark can uncover a secret behind it; a second round is rare

_MARK = re.compile(r"(\[(?:redacted [a-z0-9-]{1,40}|cut) len=\d{1,12} #[0-9a-f]{8}\])")


def fingerprint(key: bytes, secret: str) -> str:
    """Return eight hexadecimal digits that tell nothing about `secret` without the key."""
    text = secret.encode("utf-8", "surrogatepass")
    return hmac.digest(key, text, "sha256").hex()[:8]


class Redactor:
    """Redacts with one key: in a record, equal secrets have equal marks."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        # Names, ids and folders repeat.
        self._short = lru_cache(maxsize=2 * REMEMBERED)(self._settled)
        self.short_field = lru_cache(maxsize=REMEMBERED)(self.field)

    def text(self, text: str) -> str:
        """Return `text` without its secrets, cut after MAX_TEXT characters."""
        if len(text) <= SHORT:
            # Ids, which do not repeat, are mostly plain.
            return text if is_plain(text) else self._short(text, by_entropy=True)
        return self._bounded(text, by_entropy=True)

    def named(self, text: str) -> str:
        """Return a text under a name that announces a secret: its mark, or a mere reference."""
        clean = self.text(text)
        return clean if is_reference(text) or _MARK.search(clean) else self.mark("named", text)

    def name(self, text: str) -> str:
        """Return a name or an id without secrets of known shape or context, cut, valid as UTF-8."""
        if len(text) > SHORT:
            clean = self._bounded(text[:MAX_NAME], by_entropy=False)
        elif is_plain(text) or is_plain_word(text):
            return text
        else:
            clean = self._short(text, by_entropy=False)
        return clean.encode("utf-8", "backslashreplace").decode()

    def value(self, value: Value) -> Value:
        """Return a JSON value without secrets in texts and names, and within MAX_VALUE."""
        return _Walk(self).value(value, 0, self.text)

    def field(self, key: str) -> tuple[str, bool]:
        """Return a field's name without secrets, and whether the name announces a secret."""
        name = self.text(key)
        return name, names_a_secret(_MARK.sub("", name) if "[" in name else name)

    def mark(self, kind: str, secret: str) -> str:
        """Return the mark for a secret."""
        return f"[redacted {kind} len={len(secret)} #{fingerprint(self._key, secret)}]"

    def cut(self, rest: str) -> str:
        """Return the mark for a text that was too long."""
        return f"[cut len={len(rest)} #{fingerprint(self._key, rest)}]"

    def _bounded(self, text: str, *, by_entropy: bool) -> str:
        if len(text) <= MAX_TEXT:
            return self._settled(text, by_entropy=by_entropy)
        seen = text[: MAX_TEXT + _LOOK_PAST]
        clean = self._settled(seen, by_entropy=by_entropy)
        kept = self._settled(_without_half_a_mark(clean[: MAX_TEXT - _ROOM]), by_entropy=by_entropy)
        mark = self.cut(text)
        return kept + mark if len(kept) + len(mark) <= MAX_TEXT else mark

    def _settled(self, text: str, *, by_entropy: bool) -> str:
        """Redact until nothing changes any more, or nothing is left."""
        for _ in range(_ROUNDS):
            clean = self._once(text, by_entropy=by_entropy)
            if clean == text:
                return text
            text = clean
        return self.mark("unsettled", text)

    def _once(self, text: str, *, by_entropy: bool) -> str:
        if "[" not in text:  # no mark without this
            return self._piece(text, by_entropy=by_entropy)
        pieces = _MARK.split(text)  # every second piece is a mark
        return "".join(
            piece if place % 2 else self._piece(piece, by_entropy=by_entropy)
            for place, piece in enumerate(pieces)
        )

    def _piece(self, text: str, *, by_entropy: bool) -> str:
        spans = find(text, by_entropy=by_entropy)
        if not spans:
            return text
        parts, end = [], 0
        for start, stop, kind, _ in united(spans):
            parts += [text[end:start], self.mark(kind, text[start:stop])]
            end = stop
        return "".join([*parts, text[end:]])


def _without_half_a_mark(text: str) -> str:
    begun = text.rfind("[redacted ")
    return text[:begun] if begun >= 0 and "]" not in text[begun:] else text


class _Walk:
    """A walk through a value with a budget; `redacted` is what redacts its texts."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._left = MAX_VALUE

    def value(self, value: Value, depth: int, redacted: Callable[[str], str]) -> Value:
        """Return `value` redacted."""
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            return "[left out]"
        if not isinstance(value, str):
            if isinstance(value, dict):
                return self._object(value, depth + 1, redacted)
            if isinstance(value, list):
                few = value[: self._left + 1]
                return [self.value(inner, depth + 1, redacted) for inner in few]
            if value is None or isinstance(value, bool):
                return value
            no_json = isinstance(value, float) and not math.isfinite(value)
            if redacted == self._redactor.text and not no_json:
                return value
            value = repr(value)
        clean = redacted(value)
        if len(clean) > self._left:
            clean = self._redactor.cut(value)
        self._left -= len(clean)
        return clean

    def _object(
        self, value: dict[str, Value], depth: int, redacted: Callable[[str], str]
    ) -> dict[str, Value]:
        clean: dict[str, Value] = {}
        for key, inner in value.items():
            if self._left < 0:
                clean["[left out]"] = "[left out]"
                break
            cover_name = self._redactor.short_field if len(key) <= SHORT else self._redactor.field
            name, secret = cover_name(key)
            while name in clean:
                name += "'"
                secret = names_a_secret(_MARK.sub("", name))
            clean[name] = self.value(inner, depth, self._redactor.named if secret else redacted)
        return clean
