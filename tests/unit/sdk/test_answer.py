"""What events' methods make, before any platform's words for it.

They are in `crabhook.sdk.events.calls`, on `crabhook.sdk.event`; see events/test_events.py.
"""

import pytest

from crabhook.sdk import (
    Answer,
    Elicitation,
    Platform,
    PostToolUse,
    PreToolUse,
    UserPromptSubmit,
    Verdict,
    on,
    read_event,
)
from crabhook.sdk.event import Platform as FromItsModule
from crabhook.sdk.events.calls import words
from crabhook.sdk.running import Handler
from tests.unit.sdk import samples


def test_an_answer_says_nothing_but_what_it_was_given() -> None:
    nothing = Answer()
    assert not any(nothing)
    assert nothing  # so that `ask_operator(event) or ...` takes every answer
    told = nothing.telling_user("u")
    assert (told.user_message, nothing.user_message) == ("u", "")


def test_the_events_methods_make_their_answers() -> None:
    call = samples.event("claude", "PreToolUse-Bash")
    assert isinstance(call, PreToolUse)
    assert call.allow() == Answer(Verdict.ALLOW)
    assert call.allow(context="c") == Answer(Verdict.ALLOW, context="c")
    assert call.ask("r") == Answer(Verdict.ASK, "r")
    assert call.deny("r") == Answer(Verdict.DENY, "r")
    assert call.context("c") == Answer(context="c")
    assert call.tell_user("u") == Answer(user_message="u")
    assert call.halt("h") == Answer(halt="h")
    assert call.rewrite({"a": 1}, context="c") == Answer(context="c", updated_input={"a": 1})
    result = samples.event("claude", "PostToolUse-Bash")
    assert isinstance(result, PostToolUse)
    assert result.replace_output("o") == Answer(output="o")
    prompt = samples.event("claude", "UserPromptSubmit")
    assert isinstance(prompt, UserPromptSubmit)
    assert prompt.block("r") == prompt.refusal("r") == Answer(Verdict.DENY, "r")
    form = samples.event("claude", "Elicitation")
    assert isinstance(form, Elicitation)
    assert form.accept({"a": 1}) == Answer(Verdict.ACCEPT, content={"a": 1})
    assert [form.decline().verdict, form.cancel().verdict] == ["decline", "cancel"]


def test_an_event_says_what_it_is_and_nothing_of_what_it_holds() -> None:
    assert repr(samples.event("claude", "PreToolUse-Bash")) == "<PreToolUse: Bash of claude>"
    assert repr(samples.event("gemini", "AfterAgent")) == "<Stop: AfterAgent of gemini>"


@pytest.mark.parametrize(("reason", "said"), [("a", "a"), (" a\n", "a"), (7, "7")])
def test_a_reason_is_text(reason: object, said: str) -> None:
    assert words(reason) == said


def test_a_handler_is_made_by_on() -> None:
    handler = on(PreToolUse)(lambda event: event.deny("r"))
    assert isinstance(handler, Handler)
    assert handler.takes(read_event({"hook_event_name": "BeforeTool"}))
    assert not handler.takes(read_event({"hook_event_name": "Stop"}))
    assert FromItsModule is Platform
