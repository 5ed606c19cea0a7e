"""Rule files: TOML in, rules out; every error names its line.

    unprotect = ["ci"]                       # the user's own file only

    [[rule]]
    verdict = "allow"                        # deny, ask-operator, ask-agent's-user, pass
    match = ["Bash(npm run *)", "Edit(./src/**)"]
    note = "why"
    scope = { project = "~/work/shop", mode = "acceptEdits" }
    expires = 2027-01-31T00:00:00Z

A rule that is wrong makes the whole file wrong: half a law is no law.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from crabhook.model.errors import CrabhookError
from crabhook.policy.lines import FileLines
from crabhook.policy.matcher import Matcher
from crabhook.policy.protected import ENTRY_NAMES
from crabhook.policy.rule import Rule, RuleScope, RuleSet, RuleVerdict, Trust
from crabhook.policy.syntax import parse_matcher

MAX_BYTES = 8 * 1024 * 1024
_RULE_KEYS = ("verdict", "match", "note", "scope", "expires")
_SCOPE_KEYS = tuple(field.name for field in fields(RuleScope))


class RuleFileError(CrabhookError):
    """A rule file that cannot be used; `line` is where, from 1."""

    def __init__(self, name: str, line: int, what: str) -> None:
        super().__init__(f"{name}, line {line}: {what}")
        self.line = line


def read_rules(text: str, name: str, folder: str = "", trust: Trust = Trust.FULL) -> RuleSet:
    """Return the rules in a file's text.

    `name` is what errors and rulings call the file.  `folder` is the project
    whose file it is, empty for the user's own.  Raises RuleFileError for the
    first thing in it that is unknown or wrong.
    """
    return _Reader(text, name, project=bool(folder)).read(folder, trust)


class _Reader:
    """Reads one file."""

    def __init__(self, text: str, name: str, *, project: bool) -> None:
        self._text = text
        self._name = name
        self._project = project
        self._lines = FileLines(text)

    def read(self, folder: str, trust: Trust) -> RuleSet:
        """Return the file's rules."""
        tables = self._toml()
        for key in tables:
            if key not in {"rule", "unprotect"}:
                what = f"there is no {key!r} in a rule file; known are: rule, unprotect"
                raise self._wrong(self._lines.of_key(key), what)
        listed = tables.get("rule", [])
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise self._wrong(self._lines.of_key("rule"), "rules are tables, as in [[rule]]")
        rules = tuple(self._rule(number, one) for number, one in enumerate(listed))
        return RuleSet(rules, folder, trust, self._unprotect(tables.get("unprotect", [])))

    def _toml(self) -> dict[str, Any]:
        if len(self._text) > MAX_BYTES:
            raise self._wrong(1, f"it is longer than {MAX_BYTES} characters")
        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            raise self._wrong(self._lines.of_error(str(error)), f"not TOML: {error}") from error
        except RecursionError as error:
            raise self._wrong(1, "not TOML that can be read: it is nested too deeply") from error

    def _rule(self, number: int, table: Mapping[str, Any]) -> Rule:
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in _READERS:
                what = f"there is no {key!r} in a rule; known are: {', '.join(_RULE_KEYS)}"
                raise self._wrong(self._lines.of_rule(number, key), what)
            values[key] = self._value(number, key, _READERS[key], value)
        line = self._lines.of_rule(number)
        for key in ("verdict", "match"):
            if key not in values:
                raise self._wrong(line, f"the rule has no {key}")
        verdict: RuleVerdict = values["verdict"]
        texts: tuple[str, ...] = values["match"]
        matchers = tuple(self._matcher(number, text, verdict) for text in texts)
        note, expires = values.get("note", ""), values.get("expires")
        scope = values.get("scope", RuleScope())
        return Rule(verdict, texts, matchers, note, scope, expires, self._name, line)

    def _matcher(self, number: int, text: str, verdict: RuleVerdict) -> Matcher:
        try:
            return parse_matcher(text, restricts=verdict.restricts)
        except ValueError as error:
            line = self._lines.of_rule(number, "match", text)
            raise self._wrong(line, f"match {text!r} {error}") from None

    def _value(self, number: int, key: str, read: Callable[[Any], Any], value: object) -> object:
        try:
            return read(value)
        except ValueError as error:
            raise self._wrong(self._lines.of_rule(number, key), f"{key} {error}") from None

    def _unprotect(self, value: object) -> frozenset[str]:
        line = self._lines.of_key("unprotect")
        if value and self._project:
            what = "only the user's own rule file may take something off the protected list"
            raise self._wrong(line, what)
        try:
            names = _texts(value) if value else ()
        except ValueError as error:
            raise self._wrong(line, f"unprotect {error}") from None
        for name in names:
            if name not in ENTRY_NAMES:
                known = ", ".join(ENTRY_NAMES)
                raise self._wrong(line, f"nothing protected is called {name!r}; known are: {known}")
        return frozenset(names)

    def _wrong(self, line: int, what: str) -> RuleFileError:
        return RuleFileError(self._name, line, what)


def _verdict(value: object) -> RuleVerdict:
    try:
        return RuleVerdict(str(value))
    except ValueError:
        raise ValueError(f"must be one of: {', '.join(RuleVerdict)}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004 - as the others: the value is wrong
    return value


def _texts(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise ValueError("must be a text, or a list of texts")
    return tuple(map(_text, listed))


def _scope(value: object) -> RuleScope:
    if not isinstance(value, dict):
        raise ValueError('must be a table, as in { mode = "plan" }')  # noqa: TRY004 - as above
    for key in value:
        if key not in _SCOPE_KEYS:
            raise ValueError(f"has no {key!r}; known are: {', '.join(_SCOPE_KEYS)}")
    scope = RuleScope(**{key: _texts(one) for key, one in value.items()})
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in scope.project):
        raise ValueError("names a project that is not an absolute path")
    return scope


def _expires(value: object) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("must be a date and time with its zone, as in 2027-01-31T00:00:00Z")
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "verdict": _verdict,
    "match": _texts,
    "note": _text,
    "scope": _scope,
    "expires": _expires,
}
