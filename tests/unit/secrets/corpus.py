"""The corpus of secrets and of innocent text, expanded.

The files hold no secret, not even a false one that a scanner could take for
true: a secret is built from a pattern such as `ghp_{alnum:36}`, with the same
pseudo-random letters every time.
"""

import random
import re
import uuid
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits

FOLDER = Path(__file__).parents[2] / "samples" / "secrets"

_ALPHABETS = {
    "alnum": ascii_letters + digits,
    "url": ascii_letters + digits + "-_",
    "b64": ascii_letters + digits + "+/",
    "upper": ascii_uppercase + "234567",
    "hex": "0123456789abcdef",
    "digits": digits,
}
_HOLE = re.compile(r"\{(alnum|url|b64|upper|hex|digits|is|uuid|wrap):?([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Sample:
    """A line of the corpus; of `secrets` nothing may be left in what is recorded."""

    kind: str
    text: str
    secrets: tuple[str, ...] = ()


def secrets() -> list[Sample]:
    """Return the samples that hold secrets."""
    return [_expanded(kind, text) for kind, text in _rows("secrets.tsv")]


def innocent() -> list[Sample]:
    """Return the samples that must stay as they are."""
    return [Sample(kind, _plain(text)) for kind, text in _rows("innocent.tsv")]


# Passwords as people choose them: with the words that programs use for names and for hints.
_WORDS = (
    *("hunter2secret", "sunflower", "Summer2024!", "correct-horse-battery", "my_db_pass1"),
    *("p4ss/w0rd+x", "Tr0ub4dor", "topsecret", "some-words-9", "enterSandman1"),
)
_PHRASES = ("some words of mine", "my own secret words", "change the world 9", "the quick token")
_QUOTED = ("'{pw}'", '"{pw}"')


def commands() -> list[str]:
    """Return the lines that hold a password: `{pw}`, or `{pwd}` for one with a letter and a digit."""
    return (FOLDER / "commands.txt").read_text(encoding="utf-8").splitlines()


def with_passwords(line: str) -> list[Sample]:
    """Return a line of `commands` with each password that may stand there."""
    words = [word for word in _WORDS if "{pw}" in line or (not word.isalpha() and "/" not in word)]
    if "{pwd}" in line:
        words = [word for word in words if any(letter.isdigit() for letter in word)]
    words += _PHRASES if any(quoted in line for quoted in _QUOTED) else ()
    text = _plain(line)
    return [
        Sample("password", text.replace("{pw}", word).replace("{pwd}", word), (word,))
        for word in words
    ]


def everyday() -> list[Sample]:
    """Return lines of every day's work that hold no secret."""
    return [Sample(kind, _plain(text)) for kind, text in _rows("everyday.tsv")]


def _rows(name: str) -> list[tuple[str, str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [(kind, text) for kind, _, text in (line.partition("\t") for line in lines)]


def _expanded(kind: str, pattern: str) -> Sample:
    chance = random.Random(pattern)
    found: list[str] = []

    def fill(hole: re.Match[str]) -> str:
        found.append(_built(chance, hole[1], hole[2]))
        return found[-1]

    text = _HOLE.sub(fill, pattern)
    return Sample(kind, _plain(text), tuple(one for one in found if len(one) >= 5))


def _built(chance: random.Random, how: str, what: str) -> str:
    if how == "is":
        return what
    if how == "wrap":
        return b64encode(what.encode()).decode()
    if how == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128)))
    letters = "".join(chance.choices(_ALPHABETS[how], k=int(what)))
    return letters if letters[0] not in "-_/+" else f"k{letters[1:]}"


def _plain(text: str) -> str:
    for escape, meaning in ((r"\\n", "\0"), (r"\n", "\n"), (r"\r", "\r"), ("\0", r"\n")):
        text = text.replace(escape, meaning)
    return text
