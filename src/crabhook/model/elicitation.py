"""Forms of MCP servers: read from an Elicitation's schema, filled in by an operator, checked.

Source: the hook protocol's section 8, and the Model Context Protocol's elicitation: a flat object
of strings, numbers, booleans and enums. The JSON-Schema library checks everything beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.errors import DecisionError
from crabhook.model.jsontext import Value, text_at

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_FIELDS = 200
MOST_STEPS = 10_000  # rules that lead to other rules, in one check
MOST_TRIES = 10**8  # ways in which a pattern may be tried on a text, estimated
LONGEST_PATTERN = 500  # letters
_REPEATS = re.compile(r"(?<!\\)[*+]|(?<!\\)\{\d*,\d*\}")
_NESTED = re.compile(r"\)[*+?{]|\\[1-9]|\(\?[^:]")  # repeats a group, or refers back
_LEADING = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if")
# These try patterns on names that the schema itself chose; a form has no use for them.
_BY_PATTERN = ("patternProperties", "unevaluatedProperties")

_Rule: TypeAlias = Callable[..., Iterator[Any] | None]
"""A rule of the library's: told the validator, the rule's value, the instance and the schema."""


@frozen
class FormField:
    """One thing to fill in.

    `kind`: the JSON type, as "string" or "number", or the schema's word. `choices`: the allowed
    values with their names; an array may have several.
    """

    name: str
    title: str
    kind: str = "string"
    description: str = ""
    required: bool = False
    choices: tuple[tuple[Value, str], ...] = ()
    default: Value = None
    format: str = ""


def read_fields(event_fields: Mapping[str, Value]) -> tuple[FormField, ...]:
    """Return the fields of an Elicitation's form; none in URL mode.

    A property with an unreadable schema is a text in JSON.
    """
    schema = event_fields.get("requested_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return ()
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    return tuple(
        _read_field(name, about, required=name in required)
        for name, about in list(properties.items())[:MAX_FIELDS]
    )


def _read_field(name: str, about: Value, *, required: bool) -> FormField:
    schema = about if isinstance(about, dict) else {}
    return FormField(
        name=name,
        title=text_at(schema, "title") or name,
        kind=text_at(schema, "type") or "string",
        description=text_at(schema, "description"),
        required=required,
        choices=_choices(schema),
        default=schema.get("default"),
        format=text_at(schema, "format"),
    )


def _choices(schema: Mapping[str, Value]) -> tuple[tuple[Value, str], ...]:
    """Return an enum's values, named by `enumNames` or by `oneOf` titles.

    An array has the choices of its items.
    """
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict):
        return _choices({**items, "type": ""})
    listed = schema.get("enum")
    if isinstance(listed, list):
        enum_names = schema.get("enumNames")
        names = (
            enum_names
            if isinstance(enum_names, list) and len(enum_names) == len(listed)
            else listed
        )
        return tuple((value, str(name)) for value, name in zip(listed, names, strict=True))
    options = schema.get("oneOf", schema.get("anyOf"))
    if not isinstance(options, list):
        return ()
    return tuple(
        (option["const"], text_at(option, "title") or str(option["const"]))
        for option in options
        if isinstance(option, dict) and "const" in option
    )


def check_content(event_fields: Mapping[str, Value], content: Mapping[str, Value] | None) -> None:
    """Raise DecisionError, naming the field, if the values do not fit the schema.

    A broken schema refuses nothing: its server will judge.
    """
    schema = event_fields.get("requested_schema")
    if not isinstance(schema, dict):
        return
    from jsonschema import FormatChecker, SchemaError, ValidationError  # rare, slow
    from jsonschema.validators import validator_for
    from referencing import Registry

    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError:
        return
    except Exception as error:  # noqa: BLE001 - nested too deeply, a pattern that cannot be read
        raise DecisionError(f"the form's own rules cannot be read: {error}"[:300]) from None
    # Our own registry: otherwise the library would fetch references from anywhere.
    validator = bounded(kind)(schema, registry=Registry(), format_checker=FormatChecker())
    try:
        validator.validate(dict(content or {}))
    except ValidationError as error:
        where = "/".join(map(str, error.absolute_path))
        raise DecisionError(f"{where or 'the form'}: {error.message[:300]}") from None
    except Exception as error:  # noqa: BLE001 - a hostile schema: a bad pattern, an endless reference
        raise DecisionError(f"the form's own rules cannot be followed: {error}"[:300]) from None


# A hostile schema must not stop the desk. A pattern's time can double with every letter, and a fan
# of references with every level. A possibly slow pattern is left to the server, which checks the
# values anyway; endless rules end in an error.


class TooManyRulesError(Exception):
    """A schema's rules lead to more rules than anybody would write."""


def is_quick(pattern: object, text: str) -> bool:
    """Whether a pattern can be tried on any text in no time."""
    if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN or _NESTED.search(pattern):
        return False
    repeats = len(_REPEATS.findall(pattern))
    return bool(len(text) ** (1 + repeats) <= MOST_TRIES)


def bounded(kind: type[Validator]) -> type[Validator]:
    """Return a bounded class of validators like `kind`, for one check; they share one count."""
    from jsonschema.validators import extend  # slow to import, and rarely needed

    rules: dict[str, _Rule] = dict(kind.VALIDATORS)
    steps = iter(range(MOST_STEPS))
    own: dict[str, _Rule] = {
        "pattern": _where(
            rules["pattern"],
            lambda pattern, text, _: isinstance(text, str) and is_quick(pattern, text),
        ),
        "additionalProperties": _where(
            rules["additionalProperties"],
            lambda _, __, schema: isinstance(schema, dict) and "patternProperties" not in schema,
        ),
    }
    own |= {name: _counted(rules[name], steps) for name in _LEADING if name in rules}
    own |= {name: lambda *_: iter(()) for name in _BY_PATTERN if name in rules}
    made: type[Validator] = extend(kind, own)  # type: ignore[no-untyped-call]
    return made


def _counted(rule: _Rule, steps: Iterator[int]) -> _Rule:
    """Return a rule that counts its steps, and raises without a step left."""

    def counted(*asked: object) -> Iterator[Any]:
        if next(steps, None) is None:
            raise TooManyRulesError("they lead on and on")
        yield from rule(*asked) or ()

    return counted


def _where(rule: _Rule, holds: Callable[[object, object, object], bool]) -> _Rule:
    """Return a rule for those value, instance and schema where `holds` is true."""

    def followed(validator: object, *asked: object) -> Iterator[Any]:
        if holds(*asked):
            yield from rule(validator, *asked) or ()

    return followed
