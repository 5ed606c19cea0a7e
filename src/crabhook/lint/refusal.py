"""Whether a script's words to people say that something is refused."""

import re

# Past and present of refusing, and the words people put in front of a refusal.
_REFUSING = re.compile(
    r"\b(?:block(?:ed|ing|s)?|den(?:y|ied|ies|ying)|refus(?:e|ed|es|ing)|forbid(?:den|s)?"
    r"|reject(?:ed|s|ing)?|prohibit(?:ed|s)?|disallow(?:ed|s)?|not\s+(?:allowed|permitted))\b",
    re.IGNORECASE,
)
_NOT_REFUSING = re.compile(
    r"\b(?:(?:not|never|without|would(?:n't)?|may|could|if)\W*|no\s+)$", re.IGNORECASE
)
_FIRST = re.compile(r"\W*(?:\w+\W+)?$")
_NAMED = re.compile(r"(?:^|_)(?:block|deny|refuse|reject|forbid)(?:_|$)")


def refuses(words: str, *, first: bool = False) -> bool:
    """Whether the words say that something is refused; `first`: near their very beginning."""
    for found in _REFUSING.finditer(words):
        before = words[: found.start()]
        if not _NOT_REFUSING.search(before) and (not first or _FIRST.fullmatch(before)):
            return True
    return False


def named_for_refusing(function: str) -> bool:
    """Whether a function's name says that it refuses, as `block` and `deny_call` do."""
    return _NAMED.search(function) is not None
