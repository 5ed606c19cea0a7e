"""Secrets known by what precedes them: headers, flags, addresses, key blocks, assignments.

A quoted value is a secret up to its closing quote. A mere reference (`$TOKEN`,
`os.environ["TOKEN"]`, `<your token>`) is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from crabhook.data_files import tables
from crabhook.datatypes import late_pattern


class SecretSpan(NamedTuple):
    """Where a secret is: from, up to, and its kind; its first `shown` letters are public."""

    start: int
    stop: int
    kind: str
    shown: int = 0


def lowered(text: str) -> str:
    """Return `text` in lower case, every character in its own place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def places(text: str, word: str) -> Iterator[int]:
    """Return every place of `word` in `text`."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def united(spans: list[SecretSpan]) -> Iterator[SecretSpan]:
    """Return the spans in order, overlapping spans joined, of the kind listed first."""
    joined: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(
        (span.start, span.stop, rank, span.kind) for rank, span in enumerate(spans)
    ):
        if joined and start < joined[-1][1]:
            before = joined.pop()
            best = min(before[2:], (rank, kind))
            joined.append((before[0], max(before[1], stop), *best))
        else:
            joined.append((start, stop, rank, kind))
    return (SecretSpan(start, stop, kind) for start, stop, _, kind in joined)


PRIVATE_KEY = "private-key"

_KINDS = tables(__file__, "kinds")
_REFERENCES = _KINDS["references"]
_BEFORE_KEY = "|".join(f"(?<={word})|(?<={word}[_-])" for word in _REFERENCES["keys"].split())

# What a name contains, and how it must continue (and what must precede it).
_CORES = ("pass", "pwd", "secret", "token", "key", "auth", "signature", "psk")
_OF_PASSWORDS = (
    r"(?:pass(?:word|wd|phrase|code|wort)|(?<=[_-])pass|(?<=[_-])pwd|(?<=(?:ssh|key))pass"
    r"|(?<=(?:smtp|user))pass|(?<=store)pass|(?<![a-z])psk)"
)
_NAME = (
    rf"(?:{_OF_PASSWORDS}|secret|token|(?:{_BEFORE_KEY})key"
    r"|authtoken|(?<![a-z])(?<=_)auth|(?<=access)signature)"
)
_SUFFIX = r"(?:[_-](?:b64|base64|value|dev|prod|production|staging|test|live|old|new|\d+)|\d{1,2})?"
_ENDING = late_pattern(_NAME + _SUFFIX)
_PASSWORD = re.compile(_OF_PASSWORDS)
# Words that are names of a password only alone, and only for a value with a letter.
_SHORT_NAME = late_pattern(
    r"(?:(?<![\w.-])|(?<=\.)(?=pass\s{0,4}=(?!=)))(?:pass|pwd)(?=[\"']?\s{0,4}[:=](?![:=])\s{0,4}"
    r"(?:[\"'](?!\d+\b)[^\s\"'`]{4,}[\"']|(?!\d+\b)[^\s\"'`]{4,}(?:[\"'\s,;)&]|\Z)))"
)

_QUOTED = late_pattern(
    r"\\?[\"']?\]?\s{0,8}(?:=>|:=|=|:)\s{0,8}(?P<quote>\\?[\"'`])"
    r"(?P<secret>(?:(?!(?P=quote))(?:\\[^\n]|[^\n])){1,4096})(?P=quote)"
)
_BARE = late_pattern(r"(?:=|:[-+?=]?(?=\S))(?P<secret>[^\s\"'`;,&|)}\]<>\\]+)")
_TO_LINE_END = late_pattern(
    r"[\"']?(?:[ \t]{0,8}[=:]|(?:(?<=password)|(?<=passcode)|(?<=passphrase))[ \t]is:)[ \t]{1,8}"
    r"(?P<secret>(?:[^\s\"'#]|(?<=\S)#)+?)[,;]?[ \t]*(?:(?<=\s)#[^\n]*)?$",
    re.MULTILINE,
)
_LINE_SO_FAR = late_pattern(r"[ \t>|+-]{0,40}(?:(?:export|set|-)\s{1,4})?[\"']?[\w.-]{0,80}")
# A setting that `echo` prints ends with its quote, its line or the command.
_TO_PRINTED_END = late_pattern(
    r"[ \t]{0,8}[=:][ \t]{1,8}(?P<secret>(?:[^\s\"'\\|;&]|\\(?![nrt\"']))+)(?:[\s\"';&|]|\\|\Z)"
)
# The last line of such a text ends with its quote.
_TO_LAST_QUOTE = late_pattern(
    r"[ \t]{0,8}[=:][ \t]{1,8}(?P<secret>[^\s\"'\\|;&()]+)(?:\\n)?[\"']\s{0,4}(?:\d?>|[|;&)]|$)",
    re.MULTILINE,
)
_PRINTED_SO_FAR = late_pattern(
    r"[^\n]{0,160}(?:\\n|(?:\b(?:echo|printf|print|puts|Write-Output|Write-Host|Add-Content|Set-Content)"
    r"(?:\s+-\w+){0,3}|<<<)\s*[$(]?[\"']?)[ \t>|+-]{0,40}[\w.-]{0,80}"
)
_LABEL = late_pattern(r"[ \t>*|+-]{0,40}(?:[A-Za-z][\w']{0,20} ){0,3}[\w.-]{0,40}")
_LIKE_A_KEY = late_pattern(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.~-]{12}")
# An element or an attribute of XML.
_ELEMENT = late_pattern(r">(?P<secret>[^<>\n]{1,400})</")
_ATTRIBUTE = late_pattern(
    r"[\"']\s{1,4}value=(?P<quote>[\"'])(?P<secret>[^\"'\n]{1,400})(?P=quote)"
)
# A word that is an option, and what stands behind it.
_OPTION = late_pattern(
    r"(?:\s{1,4}|[\"'],\s{0,4}(?=[\"']))(?!-)(?P<quote>[\"'])?"
    r"(?P<secret>(?(quote)(?!(?P=quote))[^\n]|[^\s\"'`;,&|)}\]<>\\]){1,400})"
)
_OPTION_SO_FAR = late_pattern(r"(?<![\w-])-(?!no-)[A-Za-z][\w.-]{0,40}|(?<![\w-])-")

# Any environment variable that ends in KEY, save public ones.
_VARIABLE = late_pattern(r"(?<!PUBLIC_)(?<![a-z])KEY=[\"']?(?P<secret>[^\s\"'`;,&|)}\]<>\\]{8,})")

# A shell's variable whose value is quoted, however long, with blanks and quotes in it.
_SHELL_VALUE = (
    r"=\$?(?:\"(?P<double>(?:\\.|[^\"\\]){1,4096})(?:\"|\Z)|'(?P<single>[^']{1,4096})(?:'|\Z)"
    r"|(?P<bare>(?:[^\s\"'`;&|<>()\\$]|\\.){1,4096}))"
)
_SHELL = tuple(
    (f"{name}=", late_pattern(f"{before}{name}{_SHELL_VALUE}", re.DOTALL))
    for before, names in _KINDS["shell_variables"].items()
    for name in names.split()
)


def assigned_in(text: str, lower: str) -> Iterator[SecretSpan]:
    """Return the secrets that are assigned to something named as one; `lower`: in lower case."""
    for core in _CORES:
        if core not in lower:
            continue
        for place in places(lower, core):
            name = _ENDING.match(lower, place) or _SHORT_NAME.match(lower, place)
            if name and (span := _assigned(text, name)):
                yield SecretSpan(*span, "assigned")
    if "=" in text:
        yield from _of_variables(text)


def _of_variables(text: str) -> Iterator[SecretSpan]:
    """Return the secrets that are values of a shell's variables."""
    for shell_name, shell in _SHELL:
        for place in places(text, shell_name):
            if (value := shell.match(text, place)) and not _is_to_fill_in(value):
                yield SecretSpan(*value.span(value.lastgroup or 0), "assigned")
    for place in places(text, "KEY="):
        if (value := _VARIABLE.match(text, place)) and not is_reference(value["secret"]):
            yield SecretSpan(*value.span("secret"), "assigned")


def _is_to_fill_in(value: re.Match[str]) -> bool:
    """Whether a shell's value is a reference, or a hint for the person who fills it in."""
    inside = value[value.lastgroup or 0]
    if value["bare"] is not None and "\\" not in inside:
        return True  # another check below decides this
    return is_reference(inside)


def _assigned(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value of a secret's name is, or None if it has none or a mere reference."""
    end = name.end()
    value: re.Match[str] | None
    if (value := _QUOTED.match(text, end) or _ATTRIBUTE.match(text, end)) is not None:
        named = not _PASSWORD.match(name[0]) and _IDENTIFIER.fullmatch(value["secret"])
        is_none = named or is_reference(value["secret"]) or _repeats(text, end, value["secret"])
        return None if is_none else value.span("secret")
    if value := _BARE.match(text, end):
        of_shell = text[name.start() : end].isupper()
        is_mere = is_reference if of_shell else is_code
        is_none = is_mere(value["secret"]) or _repeats(text, end, value["secret"])
        return None if is_none else value.span("secret")
    return _behind_a_blank(text, name)


def _behind_a_blank(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Return where a value stands that a blank or a bracket parts from its name."""
    start, end = name.span()
    letter = text[end : end + 1]
    value: re.Match[str] | None = None
    is_mere = is_code
    if letter == ">" and text.rfind("<", max(0, start - 40), start) >= 0:
        value, is_mere = _ELEMENT.match(text, end), is_reference
    elif letter.isspace() or letter in "\"':=":
        value = _to_an_end(text, start, end, labelled=_PASSWORD.match(name[0]) is not None)
        if not value and _is_option(text, start):
            value, is_mere = _OPTION.match(text, end), is_placeholder
    if not value or is_mere(value["secret"]) or _repeats(text, end, value["secret"]):
        return None
    return value.span("secret")


_LONGEST_NAME = 60
_NO_LETTER = re.compile(r"[\W_]+")


def _repeats(text: str, end: int, value: str) -> bool:
    """Whether a value only repeats the name that ends at `end`, as constants and imports do."""
    if len(value) > _LONGEST_NAME:
        return False
    word = _NO_LETTER.sub("", value.rpartition(".")[2]).lower()
    before = _NO_LETTER.sub("", text[max(0, end - 2 * len(value) - 8) : end]).lower()
    return word.isalpha() and before.endswith(word)


def _to_an_end(text: str, start: int, end: int, *, labelled: bool) -> re.Match[str] | None:
    """Return the value of a setting's name, and not of prose; `labelled`: words may precede it."""
    begun = text.rfind("\n", max(0, start - 200), start) + 1
    if _LINE_SO_FAR.fullmatch(text, begun, start):
        return _TO_LINE_END.match(text, end) or _TO_LAST_QUOTE.match(text, end)
    if _PRINTED_SO_FAR.fullmatch(text, begun, start):
        return _TO_PRINTED_END.match(text, end)
    if _LABEL.fullmatch(text, begun, start):
        value = _TO_LINE_END.match(text, end)
        return value if value and (labelled or _LIKE_A_KEY.match(value["secret"])) else None
    return None


def _is_option(text: str, place: int) -> bool:
    """Whether the word that goes on at `place` is an option with one dash."""
    begun = max(text.rfind(blank, max(0, place - 50), place) for blank in " \t\n\"'") + 1
    return _OPTION_SO_FAR.fullmatch(text, begun, place) is not None


# Names of JSON fields whose value, whatever it looks like, is a secret.
_FIELD = late_pattern(
    rf"[\w.-]*?{_NAME}{_SUFFIX}|.*\bpass(?:word|phrase)\b.*|pwd|pass|authorization|(?:set-)?cookie",
    re.DOTALL,
)


@lru_cache(maxsize=4096)
def names_a_secret(field: str) -> bool:
    """Whether a field of this name holds a secret."""
    return len(field) <= 200 and _FIELD.fullmatch(field.lower()) is not None


def _hints() -> Iterator[str]:
    """Yield the patterns of hints, their words spelt out and their blanks widened."""
    words, nouns = ("|".join(_REFERENCES[kind].split()) for kind in ("words", "nouns"))
    for hint in _REFERENCES["hints"]:
        spelt = hint.replace("<w>", f"(?:{words})").replace("<s>", f"(?:{nouns})")
        yield spelt.replace(" ", "[-_ ]")


def _any(*tables_of_patterns: Iterable[str]) -> re.Pattern[str]:
    patterns = [pattern for table in tables_of_patterns for pattern in table]
    return late_pattern(
        "|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.DOTALL
    )


_CAPITALS = late_pattern(
    r"(?:[A-Z]+[_-])*(?:PASSWORD|PASSWD|PASSPHRASE|PASS|SECRET|TOKEN|KEY|AUTH|CREDENTIALS?|PW|PWD|CODE|VALUE)"
    r"(?:[_-][A-Z]+)*"
)
_PLACEHOLDER = _any(_REFERENCES["anywhere"], _hints())
_REFERENCE = _any(_REFERENCES["anywhere"], _hints(), _REFERENCES["settings"])
_CODE = _any(_REFERENCES["anywhere"], _hints(), _REFERENCES["settings"], _REFERENCES["code"])
_PATH = late_pattern(r"(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?")
_IDENTIFIER = late_pattern(
    r"(?:[a-z]+|[A-Z]+)(?:_[a-zA-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[A-Za-z_]+::\w+"
)


def is_placeholder(value: str) -> bool:
    """Whether a word of a command stands for a secret that a shell or a person fills in."""
    bare = value.strip().rstrip(",;")
    return not bare or _PLACEHOLDER.fullmatch(bare) is not None or _is_named(bare)


def is_reference(value: str) -> bool:
    """Whether a value only says where the secret is to come from, or is no value at all."""
    bare = value.strip().rstrip(",;")
    return not bare or _REFERENCE.fullmatch(bare) is not None or _is_named(bare)


def is_code(value: str) -> bool:
    """Whether a bare word is such a value, or a name in a program."""
    bare = value.strip().rstrip(",;")
    if not bare or _CODE.fullmatch(bare) or _is_named(bare):
        return True
    return _IDENTIFIER.fullmatch(bare) is not None


def _is_named(bare: str) -> bool:
    """Whether it is a path, or the name of a secret in capitals, as manuals write it."""
    return len(bare) < 200 and bool(_PATH.fullmatch(bare) or _CAPITALS.fullmatch(bare))


def value_of(bare: str = r"[^\s\"']", most: int = 400) -> str:
    """Return the pattern of a value: quoted, up to the same quote, or a run of `bare` letters."""
    closed = rf"(?P<quote>[\"'])(?!\s)(?=[^\r\n]{{1,{most}}}?(?P=quote))"
    inside = r"(?!(?P=quote))[^\r\n]"
    return rf"(?:{closed}|[\"']?)(?P<secret>(?(quote)(?:{inside})|{bare}){{1,{most}}})"


_MERE = {"word": is_placeholder, "setting": is_reference, "code": is_code}
"""What a row of the tables takes for no secret, by how a value of its context is read."""


class SecretContext:
    """Where secrets of a kind occur: a row of `context` in `kinds.toml`.

    Searching for its `starts` first makes ordinary text cheap.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.kind: str = row["kind"]
        self.starts: list[str] = row["starts"].split()
        self._row = row
        self.is_last: bool = row.get("last", False)
        self._is_mere = _MERE[row.get("mere", "setting")]

    @cached_property  # at the first need: most texts have none of the starts
    def _pattern(self) -> re.Pattern[str]:
        row = self._row
        secret = f"(?P<secret>{row['secret']})" if "secret" in row else ""
        value = secret or value_of(row["bare"], row["most"])
        pattern = row.get("before", "") + value + row.get("after", "")
        return re.compile(pattern, 0 if row.get("exact") else re.IGNORECASE)

    def found_in(self, text: str, lower: str, start: str) -> Iterator[SecretSpan]:
        """Return the secrets in `text` after `start`; `lower` is the same in lower case."""
        end = 0
        for place in places(lower, start):
            if place < end or not (match := self._pattern.match(text, place)):
                continue
            end = match.end()
            if self.kind == PRIVATE_KEY or not self._is_mere(match["secret"]):
                yield SecretSpan(*match.span("secret"), self.kind)


_CONTEXTS = tuple(map(SecretContext, _KINDS["context"]))
# What several starts share: a text without this fragment has none of them.
_SHARED = ("auth", "pass", "token", "://", "login", "connect(", "credential(")


def _gated(*, last: bool) -> tuple[tuple[str, tuple[tuple[str, SecretContext], ...]], ...]:
    """Return the rows by what a text must have for any of their starts to be in it."""
    gated: dict[str, list[tuple[str, SecretContext]]] = {}
    for row in _CONTEXTS:
        for start in row.starts if row.is_last is last else ():
            gate = next((shared for shared in _SHARED if shared in start), start)
            gated.setdefault(gate, []).append((start, row))
    return tuple((gate, tuple(rows)) for gate, rows in gated.items())


_BY_START, _LAST = _gated(last=False), _gated(last=True)


def secrets_in(text: str, lower: str) -> Iterator[SecretSpan]:
    """Return the secrets in `text` that what precedes them reveals; `lower`: in lower case."""
    yield from _behind_starts(_BY_START, text, lower)
    yield from assigned_in(text, lower)
    yield from _behind_starts(_LAST, text, lower)


def _behind_starts(
    gated: tuple[tuple[str, tuple[tuple[str, SecretContext], ...]], ...], text: str, lower: str
) -> Iterator[SecretSpan]:
    for gate, rows in gated:
        if gate in lower:
            for start, row in rows:
                if start is gate or start in lower:
                    yield from row.found_in(text, lower, start)
