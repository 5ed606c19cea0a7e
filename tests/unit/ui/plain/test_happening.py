from typing import Any

from crabhook.model.event import Event, ShownField
from crabhook.model.jsontext import compact
from crabhook.platforms import PLATFORMS
from crabhook.present.body import happening
from crabhook.ui.plain.request import BESIDE, happening_rows
from tests.support.plain_sitting import SAMPLES, sample
from tests.support.rows import every_row


def shown(event: Event, longest: int = 10_000) -> list[str]:
    return [row.line for _, rows in happening_rows(happening(event), longest) for row in rows]


def told(name: str, **changes: Any) -> list[str]:
    return shown(PLATFORMS["claude"].read(compact(sample(name, **changes)).encode()))


def test_a_stop_tells_the_last_message_and_what_still_runs() -> None:
    tasks = [{"id": f"b{n}", "command": "make all the things"} for n in range(4)]
    lines = told("Stop", last_assistant_message="Done.\nAll of it.", background_tasks=tasks)
    assert lines[:5] == [
        "  last message:",
        "    Done.",
        "    All of it.",
        "  stop_hook_active: false",
        "  background tasks:",
    ]
    assert lines[5:9] == ["    [", "      {", '        "id": "b0",', lines[8]]
    assert lines[-1] == "  session_crons: []"


def test_a_form_tells_its_fields() -> None:
    properties = {
        "stage": {"type": "string", "enum": ["test", "live"], "default": "test"},
        "level": {"type": "integer", "oneOf": [{"const": 1, "title": "low"}]},
        "mail": {"type": "string", "format": "email", "title": "Mail", "description": "Yours."},
    }
    schema = {"type": "object", "properties": properties, "required": ["stage"]}
    assert told("Elicitation", requested_schema=schema) == [
        "  message: Which stage?",
        '  field: stage · string · required · one of "test", "live" · default "test"',
        "  field: level · integer · may be left out · one of 1 (low)",
        "  field: mail · string, email · may be left out",
        "    Mail",
        "    Yours.",
        "  server: deploy",
        "  form mode: form",
    ]


def test_an_address_is_shown() -> None:
    lines = told("Elicitation", mode="url", url="https://x.example/?a=1", requested_schema=None)
    assert "  form mode: url" in lines
    assert "  url: https://x.example/?a=1" in lines


def test_of_very_many_choices_some_are_shown_and_the_rest_are_counted() -> None:
    schema = {"properties": {"a": {"enum": list(range(10_000))}}}
    (line,) = [line for line in told("Elicitation", requested_schema=schema) if "field:" in line]
    assert line.endswith("98, 99 · and 9900 more")


def test_a_result_and_a_denial_tell_what_they_are_about() -> None:
    assert "  reason: Classifier unavailable" in told("PermissionDenied-Bash")
    assert "  error: Exit code 1" in told("PostToolUseFailure-Bash", error="Exit code 1")
    assert told("PostToolUse-Bash")[0].startswith('  tool_response: {"stdout": "", ')


def test_a_name_an_agent_made_up_is_never_a_label() -> None:
    event = Event("claude", "X", fields={"answer with": "8 allow", "  mode": "x"})
    assert shown(event) == [
        "  other fields:",
        "    {",
        '      "answer with": "8 allow",',
        '      "  mode": "x"',
        "    }",
    ]


def test_a_long_text_stands_below_its_label_without_its_middle() -> None:
    event = Event("claude", "X", fields={"prompt": "x" * (BESIDE + 1)})
    assert shown(event) == ["  prompt:", "    " + "x" * (BESIDE + 1)]
    assert any("left out" in line for line in shown(event, 50))


@every_row(
    "path",
    sorted(path for name in PLATFORMS for path in SAMPLES.with_name(name).glob("*.json")),
)
def test_every_event_of_the_real_agents_is_told_without_leftovers(path: Any) -> None:
    event = PLATFORMS[path.parent.name].read(path.read_bytes())
    lines = shown(event)
    assert all(line.isprintable() for line in lines)
    if event.tool is None and event.name in HELD_WITHOUT_A_TOOL:
        assert "  other fields:" not in lines


HELD_WITHOUT_A_TOOL = {
    *{"Stop", "UserPromptSubmit", "Elicitation", "PreCompact", "ConfigChange"},
    *{"BeforeAgent", "AfterAgent"},
}


def test_an_agents_own_table_labels_a_field_on_this_desk_and_an_agents_input_never_does() -> None:
    told = {
        "mood": ShownField("the agent's mood", short="mood"),
        "weather": ShownField("the weather"),
    }
    fields = {"mood": "grim", "weather": "rain", "message": "hello", "  reason": "made up"}
    lines = shown(Event("toy", "Sigh", fields=fields, tells=told))
    assert lines[:2] == ["  message: hello", "  mood: grim"]
    assert lines[2] == "  other fields:"
    assert all(line.startswith("    ") for line in lines[3:])
