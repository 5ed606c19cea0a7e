"""Rule files: TOML in, rules out; every error names its line.

    unprotect = ["ci"]                       # the user's own file only

    [[rule]]
    verdict = "allow"                        # deny, ask-operator, ask-agent's-user, pass
    match = ["Bash(npm run *)", "Edit(./src/**)"]
    note = "why"
    scope = { project = "~/work/shop", mode = "acceptEdits" }
    expires = 2027-01-31T00:00:00Z

    [[rule]]
    verdict = "ask-operator"                 # the keys below are for this verdict alone
    match = "Bash(terraform apply *)"
    need = 2                                 # different people
    of = ["@leads", "ann"]                   # names and groups of the team
    not_self = true                          # nobody whose own machine asks
    after = [["2m", "@oncall"], ["10m", "@all"]]
    step_up = true                           # a passkey or an SSH key signs each yes

    [[risk]]
    match = "Bash(deploy *)"
    level = 2                                # or none, caution, danger
    words = "deploys to production"

    [[test]]
    allow = ["pytest -q"]                    # or deny, or ask; texts of one tool
    tool = "Bash"
    project = "~/work/shop"                  # the user's own file only
    why = "what the test is for"

A rule that is wrong makes the whole file wrong: half a law is no law.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from crabhook.model.ballot import LadderStep, Terms
from crabhook.model.card import Level
from crabhook.policy import rule
from crabhook.policy.matcher import Matcher, parse_matcher

MAX_BYTES = 8 * 1024 * 1024
_TERMS_KEYS = ("need", "of", "not_self", "after", "step_up")
_RULE_KEYS = ("verdict", "match", "note", "scope", "expires", *_TERMS_KEYS)
_RISK_KEYS = ("match", "level", "words")
_TEST_KEYS = (*rule.Expected, "tool", "project", "why")
_KEYS = ("rule", "unprotect", "risk", "test")
MOST_TESTED = 1000  # calls of one file: half a second, at each change
_SCOPE_KEYS = tuple(field.name for field in fields(rule.RuleScope))


def read_rules(
    text: str, name: str, folder: str = "", trust: rule.Trust = rule.Trust.FULL
) -> rule.RuleSet:
    """Return the rules in a file's text.

    `name` is the file's name in errors and rulings. `folder` is the project of the file, empty for
    the user's own. Raises RuleFileError for the first unknown or wrong thing.
    """
    return _RuleFileReader(text, name, project=bool(folder)).read(folder, trust)


class _RuleFileReader:
    def __init__(self, text: str, name: str, *, project: bool) -> None:
        self._text = text
        self._name = name
        self._project = project
        self._lines = FileLines(text)

    def read(self, folder: str, trust: rule.Trust) -> rule.RuleSet:
        """Return the file's rules."""
        tables = self._toml()
        for key in tables:
            if key not in _KEYS:
                what = f"there is no {key!r} in a rule file. Known are: {', '.join(_KEYS)}"
                raise self._wrong(self._lines.of_key(key), what)
        rules = tuple(self._rule(*numbered) for numbered in enumerate(self._listed(tables, "rule")))
        risks = tuple(self._risk(*numbered) for numbered in enumerate(self._listed(tables, "risk")))
        unprotect = self._unprotect(tables.get("unprotect", []))
        tested = (self._tests(*numbered) for numbered in enumerate(self._listed(tables, "test")))
        tests = tuple(chain.from_iterable(tested))
        if len(tests) > MOST_TESTED:
            what = f"the tests hold more than {MOST_TESTED} calls"
            raise self._wrong(tests[MOST_TESTED].line, what)
        return rule.RuleSet(rules, folder, trust, unprotect, risks, tests)

    def _listed(self, tables: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        listed = tables.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
            raise self._wrong(self._lines.of_key(name), f"{name}s are tables, as in [[{name}]]")
        return listed

    def _risk(self, number: int, table: Mapping[str, Any]) -> rule.RiskRule:
        at = partial(FileLines(self._text, "risk").of_rule, number)
        for key in (*table, *_RISK_KEYS):
            if key not in _RISK_KEYS:
                what = f"there is no {key!r} in a risk. Known are: {', '.join(_RISK_KEYS)}"
                raise self._wrong(at(key), what)
            if key not in table:
                raise self._wrong(at(), f"the risk has no {key}")
        level, words, texts = (
            self._value(at, key, table[key]) for key in ("level", "words", "match")
        )
        matchers = self._matchers(at, texts, restricts=True)
        if self._project and level is Level.NONE:
            message = "level must be 1 or 2: a project's file may only raise a risk"
            raise self._wrong(at("level"), message)
        return rule.RiskRule(level, words, texts, matchers, self._name, at())

    def _tests(self, number: int, table: Mapping[str, Any]) -> Iterator[rule.RuleTest]:
        """Yield a test for each call that the table names."""
        at = partial(FileLines(self._text, "test").of_rule, number)
        for key in table:
            if key not in _TEST_KEYS:
                what = f"there is no {key!r} in a test. Known are: {', '.join(_TEST_KEYS)}"
                raise self._wrong(at(key), what)
        values = {key: self._value(at, key, value) for key, value in table.items()}
        if "project" in values and self._project:
            raise self._wrong(at("project"), "a project's file is tested in its own project")
        wanted = [expected for expected in rule.Expected if expected in values]
        if not wanted:
            raise self._wrong(at(), f"the test has none of: {', '.join(rule.Expected)}")
        about = {key: values[key] for key in ("tool", "project", "why") if key in values}
        for expected in wanted:
            for text in values[expected]:
                line = at(expected, text)
                yield rule.RuleTest(expected, text, origin=self._name, line=line, **about)

    def _toml(self) -> dict[str, Any]:
        if len(self._text) > MAX_BYTES:
            raise self._wrong(1, f"it is longer than {MAX_BYTES} characters")
        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            raise self._wrong(self._lines.of_error(str(error)), f"not TOML: {error}") from error
        except RecursionError as error:
            raise self._wrong(1, "not TOML that can be read: it is nested too deeply") from error

    def _rule(self, number: int, table: Mapping[str, Any]) -> rule.Rule:
        at, values = partial(self._lines.of_rule, number), dict[str, Any]()
        for key, value in table.items():
            if key not in _RULE_KEYS:
                what = f"there is no {key!r} in a rule. Known are: {', '.join(_RULE_KEYS)}"
                raise self._wrong(at(key), what)
            values[key] = self._value(at, key, value)
        for key in ("verdict", "match"):
            if key not in values:
                raise self._wrong(at(), f"the rule has no {key}")
        verdict, texts = values.pop("verdict"), values.pop("match")
        matchers = self._matchers(at, texts, restricts=verdict.restricts)
        who = {key: values.pop(key) for key in _TERMS_KEYS if key in values}
        if who and verdict is not rule.RuleVerdict.ASK_OPERATOR:
            key = next(iter(who))
            what = f"{key} says who may allow a call: the verdict must be ask-operator"
            raise self._wrong(at(key), what)
        read = rule.Rule(verdict, texts, matchers, origin=self._name, line=at(), **values)
        return replace(read, terms=Terms(**who, rule=read.where)) if who else read

    def _value(self, at: Callable[[str], int], key: str, value: object) -> Any:  # noqa: ANN401
        try:
            return _READERS[key](value)
        except ValueError as error:
            raise self._wrong(at(key), f"{key} {error}") from None

    def _matchers(
        self, at: Callable[[str, str], int], texts: Iterable[str], *, restricts: bool
    ) -> tuple[Matcher, ...]:
        matchers = []
        for text in texts:
            try:
                matchers.append(parse_matcher(text, restricts=restricts))
            except ValueError as error:
                raise self._wrong(at("match", text), f"match {text!r} {error}") from None
        return tuple(matchers)

    def _unprotect(self, value: object) -> frozenset[str]:
        line = self._lines.of_key("unprotect")
        if value and self._project:
            what = "only the user's own rule file may take something off the protected list"
            raise self._wrong(line, what)
        try:
            names = _texts(value) if value else ()
        except ValueError as error:
            raise self._wrong(line, f"unprotect {error}") from None
        if not names:
            return frozenset()
        from crabhook.policy.protected import ENTRY_NAMES  # few files name one

        for name in names:
            if name not in ENTRY_NAMES:
                entries = ", ".join(ENTRY_NAMES)
                raise self._wrong(
                    line, f"nothing protected is called {name!r}. Known are: {entries}"
                )
        return frozenset(names)

    def _wrong(self, line: int, what: str) -> rule.RuleFileError:
        return rule.RuleFileError(self._name, line, what)


def _verdict(value: object) -> rule.RuleVerdict:
    try:
        return rule.RuleVerdict(str(value))
    except ValueError:
        raise ValueError(f"must be one of: {', '.join(rule.RuleVerdict)}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004 - as the others: the value is wrong
    return value


def _texts(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise ValueError("must be a text, or a list of texts")
    return tuple(map(_text, listed))


def _scope(value: object) -> rule.RuleScope:
    if not isinstance(value, dict):
        raise ValueError('must be a table, as in { mode = "plan" }')  # noqa: TRY004 - as above
    for key in value:
        if key not in _SCOPE_KEYS:
            raise ValueError(f"has no {key!r}. Known are: {', '.join(_SCOPE_KEYS)}")
    scope = rule.RuleScope(**{key: _texts(texts) for key, texts in value.items()})
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in scope.project):
        raise ValueError("names a project that is not an absolute path")
    return scope


def _calls(value: object) -> tuple[str, ...]:
    calls = _texts(value)
    if not all(call.strip() for call in calls):
        raise ValueError("holds an empty text")
    return calls


def _tool(value: object) -> str:
    tool = _text(value)
    if not re.fullmatch(r"[\w.:-]+", tool):
        raise ValueError("must be the name of one tool, as in Bash or Edit")
    return tool


def _folder(value: object) -> str:
    folder = _text(value)
    if not folder.startswith(("/", "~/")):
        raise ValueError("must be an absolute path, or begin with ~/")
    return folder


def _expires(value: object) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("must be a date and time with its zone, as in 2027-01-31T00:00:00Z")
    return value


def _level(value: object) -> Level:
    names = {level.name.lower(): level for level in Level}
    if isinstance(value, str) and value in names:
        return names[value]
    if type(value) is int and value in [int(level) for level in Level]:
        return Level(value)
    raise ValueError(f"must be 0, 1 or 2, or one of: {', '.join(names)}")


def _words(value: object) -> str:
    words = _text(value).strip()
    if not words or len(words) > LONGEST_WORDS or not words.isprintable():
        raise ValueError(f"must be one line of 1 to {LONGEST_WORDS} letters")
    return words


MOST_NEEDED = 20  # people; votes of more would fit no line
_LENGTH = re.compile(r"([1-9][0-9]{0,4})([smh])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def _need(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_NEEDED:
        raise ValueError(f"must be a number of people, 1 to {MOST_NEEDED}")
    return value


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - as above
    return value


def _people(value: object) -> tuple[str, ...]:
    people = _texts(value)
    if not all(map(_SELECTOR.fullmatch, people)):
        raise ValueError('must hold names of people, or groups as in "@leads"')
    return people


def _steps(value: object) -> tuple[LadderStep, ...]:
    listed = value if isinstance(value, list) else []
    steps = [_step(pair) for pair in listed]
    if not steps:
        raise ValueError('must be a list of pairs, as in [["2m", "@oncall"]]')
    return tuple(steps)


def _step(pair: object) -> LadderStep:
    match pair:
        case [str(length), str(whom)] if (read := _LENGTH.fullmatch(length)) and (
            _SELECTOR.fullmatch(whom)
        ):
            return LadderStep(float(int(read[1]) * _SECONDS[read[2]]), whom)
    raise ValueError('must hold pairs of a time and people, as in ["2m", "@oncall"]')


_SELECTOR = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)

LONGEST_WORDS = 80

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "verdict": _verdict,
    "match": _texts,
    "note": _text,
    "scope": _scope,
    "expires": _expires,
    "level": _level,
    "words": _words,
    **dict.fromkeys(rule.Expected, _calls),
    "tool": _tool,
    "project": _folder,
    "why": _text,
    "need": _need,
    "of": _people,
    "not_self": _yes_or_no,
    "after": _steps,
    "step_up": _yes_or_no,
}


_HEADER = re.compile(r"\s*\[+[^\[\],]*\]+\s*(#.*)?$")  # of a table; no part of a list
_KEY = re.compile(r"\s*([\w\"'-]+)\s*[.=]")
# What begins a text of several lines, is a text in the line, or a comment.
_TEXT = re.compile(r"\"{3}|'{3}|\"(?:\\.|[^\"\\])*[\"\\]?|'[^']*'?|#.*", re.DOTALL)


class FileLines:
    """A rule file's lines, counted from 1, and which rule, or other table, each belongs to."""

    def __init__(self, text: str, table: str = "rule") -> None:
        begins = re.compile(rf"\s*\[\[\s*[\"']?{table}[\"']?\s*\]\]")
        self._table = table
        self._subtable = re.compile(rf"\s*\[\s*[\"']?{table}[\"']?\s*\.")
        self._lines = text.split("\n")
        # By their numbers: those that begin outside a text of several lines.
        self._heads = dict(_outside_long_texts(self._lines))
        self.starts = [number for number, line in self._heads.items() if begins.match(line)]

    def of_rule(self, number: int, key: str = "", holding: str = "") -> int:
        """Return the line of a rule (from 0), of a key in it, or of a text in that key's value."""
        if number >= len(self.starts):
            return self.of_key(self._table)
        start, end = self.starts[number], self.end_of(number)
        section = re.compile(rf"\s*\[\s*{self._table}\s*\.\s*{re.escape(key)}\s*\]")
        held = {holding, holding.replace("\\", "\\\\").replace('"', '\\"')} - {""}
        for line in range(start, end + 1) if key else ():
            head = self._heads.get(line, "")
            name = _KEY.match(head)
            if section.match(head) or (name and name[1].strip("\"'") == key):
                values = enumerate(self._lines[line - 1 : end], line)
                return next(
                    (at for at, text in values if any(piece in text for piece in held)), line
                )
        return start

    def of_key(self, key: str) -> int:
        """Return the line of a key outside every rule, or of a table of that name."""
        for number, line in self._heads.items():
            name = _KEY.match(line) or re.match(r"\s*\[+\s*([\w\"'-]+)", line)
            if name and name[1].strip("\"'") == key:
                return number
        return 1

    def of_error(self, message: str) -> int:
        """Return the line that TOML's reader names in its message."""
        match = re.search(r"line (\d+)", message)
        return int(match[1]) if match else max(1, len("\n".join(self._lines).rstrip().split("\n")))

    def end_of(self, number: int) -> int:
        """Return the last line that belongs to a rule: not a blank or a comment after it."""
        last = self.starts[number]
        for line in range(last + 1, len(self._lines) + 1):
            head = self._heads.get(line, "a text goes on")
            if _HEADER.match(head) and not self._subtable.match(head):
                break
            if head.strip() and not head.lstrip().startswith("#"):
                last = line
        return last

    def without(self, number: int) -> str:
        """Return the file's text without that rule; all else stays."""
        start, end = self.starts[number], self.end_of(number)
        before, after = self._lines[: start - 1], self._lines[end:]
        if before and not before[-1].strip() and after and not after[0].strip():
            after = after[1:]
        return "\n".join([*before, *after])


def _outside_long_texts(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each line that begins outside a text of several lines, with its number."""
    quote = ""
    for number, line in enumerate(lines, 1):
        if not quote:
            yield number, line
        at = 0
        while match := (re.compile(quote) if quote else _TEXT).search(line, at):
            at = match.end()
            quote = match[0] if not quote and match[0] in ('"""', "'''") else ""
