"""The answer to a form is shown in the form it was given to."""

from __future__ import annotations

import json
from typing import Any

from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.ui.full.dialogs.mcp_form import FillIn, answered_form

SCHEMA = {"type": "object", "properties": {"stage": {"type": "string", "enum": ["test", "live"]}}}


def an(name: str, **fields: Any) -> Event:
    whole = {"hook_event_name": name, "session_id": "s", "mcp_server_name": "deploy", **fields}
    return PLATFORMS["claude"].read(json.dumps(whole).encode())


def test_what_was_answered_stands_in_the_fields_of_the_question() -> None:
    asked = an("Elicitation", requested_schema=SCHEMA)
    result = an("ElicitationResult", action="accept", content={"stage": "live", "own": 3})
    form = FillIn(answered_form(result, [asked]))
    assert form.content() == {"stage": "live", "own": 3}
    assert [entry.asked.kind for entry in form.entries] == ["string", "integer"]
    assert form.entries[0].choices == (("test", "test"), ("live", "live"))


def test_the_question_of_another_server_or_session_is_not_taken_for_it() -> None:
    result = an("ElicitationResult", action="accept", content={})
    others = [
        an("Elicitation", requested_schema=SCHEMA, mcp_server_name="other"),
        an("Elicitation", requested_schema=SCHEMA, session_id="t"),
        an("Elicitation", requested_schema=SCHEMA, elicitation_id="1"),
    ]
    assert FillIn(answered_form(result, others)).entries == []


def test_an_answer_of_the_wrong_shape_is_an_empty_form() -> None:
    result = an("ElicitationResult", action=7, content=["x"])
    assert FillIn(answered_form(result, [])).entries == []
