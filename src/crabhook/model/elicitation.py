"""Forms of MCP servers: read from an Elicitation's schema, filled in by an operator, checked.

Source: the hook protocol's section 8, and the Model Context Protocol's
elicitation: a flat object of strings, numbers, booleans and enums.  What a
schema says beyond that is left to the JSON-Schema library, which has the last
word on whether a form may be sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from crabhook.model.bounded import bounded
from crabhook.model.errors import DecisionError
from crabhook.model.jsontext import Value, text_at

MAX_FIELDS = 200


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in.

    `kind` is the JSON type to give ("string", "number", "integer", "boolean",
    or whatever else the schema says); `choices` are the values allowed, with
    a name each where the schema has one; of an array several may be given,
    of anything else one.
    """

    name: str
    title: str
    kind: str = "string"
    description: str = ""
    required: bool = False
    choices: tuple[tuple[Value, str], ...] = ()
    default: Value = None
    format: str = ""


def read_fields(event_fields: Mapping[str, Value]) -> tuple[Field, ...]:
    """Return the fields of the form an Elicitation asks to fill in; none in URL mode.

    A property whose schema cannot be read is a text to be given as JSON.
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


def _read_field(name: str, about: Value, *, required: bool) -> Field:
    schema = about if isinstance(about, dict) else {}
    return Field(
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
    """Return the values an enum allows, named by `enumNames` or by `oneOf` titles if they are.

    An array allows several of those of its items.
    """
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict):
        return _choices({**items, "type": ""})
    listed = schema.get("enum")
    if isinstance(listed, list):
        given = schema.get("enumNames")
        names = given if isinstance(given, list) and len(given) == len(listed) else listed
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
    """Raise DecisionError, naming the field, if the values do not fit the requested schema.

    A schema that is broken itself refuses nothing: the server that sent it
    will judge the values.
    """
    schema = event_fields.get("requested_schema")
    if not isinstance(schema, dict):
        return
    from jsonschema import FormatChecker, SchemaError, ValidationError  # noqa: PLC0415 - rare, slow
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError:
        return
    except Exception as error:  # noqa: BLE001 - nested too deeply, a pattern that cannot be read
        raise DecisionError(f"the form's own rules cannot be read: {error}"[:300]) from None
    # A registry of its own: without one a reference in the schema would be fetched from anywhere.
    validator = bounded(kind)(schema, registry=Registry(), format_checker=FormatChecker())
    try:
        validator.validate(dict(content or {}))
    except ValidationError as error:
        where = "/".join(map(str, error.absolute_path))
        raise DecisionError(f"{where or 'the form'}: {error.message[:300]}") from None
    except Exception as error:  # noqa: BLE001 - a hostile schema: a bad pattern, an endless reference
        raise DecisionError(f"the form's own rules cannot be followed: {error}"[:300]) from None
