"""JSON-Schema rules followed within bounds: a hostile schema must not stop the whole desk.

A pattern can take time that doubles with every letter, and references that
fan out do the same with every level.  A pattern that could be slow is left to
whoever sent it, who judges the values anyway; rules that go on and on end in
an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.protocols import Validator

MOST_STEPS = 10_000  # rules that lead to other rules, in one check
MOST_TRIES = 10**8  # ways in which a pattern may be tried on a text, estimated
LONGEST_PATTERN = 500  # letters
_REPEATS = re.compile(r"(?<!\\)[*+]|(?<!\\)\{\d*,\d*\}")
_NESTED = re.compile(r"\)[*+?{]|\\[1-9]|\(\?[^:]")  # what is repeated whole, or looks back
_LEADING = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if")
# These try patterns on names that the schema itself chose; a form has no use for them.
_BY_PATTERN = ("patternProperties", "unevaluatedProperties")

_Rule: TypeAlias = "Callable[..., Iterator[Any] | None]"
"""A rule of the library's: told the validator, the rule's value, the instance and the schema."""


class TooManyRulesError(Exception):
    """A schema's rules lead to more rules than anybody would write."""


def is_quick(pattern: object, text: str) -> bool:
    """Whether a pattern can be tried on a text in no time, whatever the two are."""
    if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN or _NESTED.search(pattern):
        return False
    repeats = len(_REPEATS.findall(pattern))
    return bool(len(text) ** (1 + repeats) <= MOST_TRIES)


def bounded(kind: type[Validator]) -> type[Validator]:
    """Return a class of validators that follows the rules of `kind` within bounds.

    It is for one check: the steps of all that it makes are counted together.
    """
    from jsonschema.validators import extend  # noqa: PLC0415 - slow to import, and rarely needed

    rules: dict[str, _Rule] = dict(kind.VALIDATORS)
    steps = iter(range(MOST_STEPS))
    own: dict[str, _Rule] = {
        "pattern": _where(rules["pattern"], _quick),
        "additionalProperties": _where(rules["additionalProperties"], _without_patterns),
    }
    own |= {name: _counted(rules[name], steps) for name in _LEADING if name in rules}
    own |= {name: lambda *_: iter(()) for name in _BY_PATTERN if name in rules}
    made: type[Validator] = extend(kind, own)  # type: ignore[no-untyped-call]
    return made


def _counted(rule: _Rule, steps: Iterator[int]) -> _Rule:
    """Return a rule that takes a step each time it is followed; without a step left it raises."""

    def counted(*asked: object) -> Iterator[Any]:
        if next(steps, None) is None:
            raise TooManyRulesError("they lead on and on")
        yield from rule(*asked) or ()

    return counted


def _where(rule: _Rule, holds: Callable[[object, object, object], bool]) -> _Rule:
    """Return a rule that is followed only where `holds` says so of value, instance and schema."""

    def followed(validator: object, *asked: object) -> Iterator[Any]:
        if holds(*asked):
            yield from rule(validator, *asked) or ()

    return followed


def _quick(pattern: object, instance: object, _schema: object) -> bool:
    return isinstance(instance, str) and is_quick(pattern, instance)


def _without_patterns(_value: object, _instance: object, schema: object) -> bool:
    return isinstance(schema, dict) and "patternProperties" not in schema
