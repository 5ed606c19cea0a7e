"""A card as HTML. Run as a module, it draws the kept cards anew: look at them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.commands import Claim
from crabhook.model.actor import Operator
from crabhook.model.decision import Decision, Verdict
from crabhook.present.cover import masked
from crabhook.present.safe import safe
from crabhook.ui.web.acts import buttons, command_of
from crabhook.ui.web.card import card as article
from crabhook.ui.web.queue import row
from crabhook.ui.web.texts import MOST_LETTERS, SHOWN
from tests.support.desk import PlayedDesk
from tests.support.rows import every_row
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import call, happening
from tests.unit.ui.web.cards import (
    CARDS,
    KINDS,
    PERMISSION,
    SUGGESTED,
    desk_of,
    desk_with,
)
from tests.unit.ui.web.reading import Element, call_of, read
from tests.unit.ui.web.test_html import TEXTS, UNSAFE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.card import Card

SAMPLES = Path(__file__).parents[3] / "samples" / "web"
SEEN = bytes(range(4))
FOLDER = "/home/ann/api-server"
RULES = NO_RM.replace("deny", "ask-operator").replace("use trash", "look at deletions")
CHANGE = {
    "file_path": f"{FOLDER}/auth.ts",
    "old_string": "check(user);\nreturn token(user, 60);\n",
    "new_string": "check(user);\nreturn token(user, 3600);\n",
}
KEPT: dict[str, Mapping[str, Any]] = {
    "command": call("Bash", {"command": "rm -rf ../cache && npm ci", "description": "Clean build"}),
    "change": call("Edit", CHANGE),
    "tool": call("mcp__github__create_issue", {"title": "A bug", "labels": ["a", "b"], "n": 3}),
    "plan": CARDS["plan"],
    "questions": CARDS["questions"],
    "form": CARDS["form"],
    "link": happening(
        "Elicitation",
        mcp_server_name="github",
        mode="url",
        message="Sign in.",
        url="https://github.example/login",
    ),
    "stop": CARDS["stop"],
}


def shown(card: Card, desk: PlayedDesk, **options: Any) -> Element:
    return read(article(card, desk.replica, SEEN, **options)).one("article")


def kept(kind: str) -> str:
    """Return a card line by line, without what an act means: that is of the table of acts."""
    desk, card = desk_with(KEPT[kind], judge=judge_by(RULES, FOLDER))
    html = re.sub(' title="[^"]*"', "", article(card, desk.replica, SEEN))
    return html.replace("><", ">\n<") + "\n"


@every_row("kind", KEPT)
def test_each_kind_of_card_is_as_it_was_when_somebody_last_looked(kind: str) -> None:
    expected = (SAMPLES / f"{kind}.html").read_text(encoding="utf-8")
    assert kept(kind) == expected, "python -m tests.unit.ui.web.test_card draws them anew"


def test_every_card_that_is_kept_is_of_a_kind() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == {f"{kind}.html" for kind in KEPT}


HOSTILE: dict[str, Any] = {
    "command": lambda text: call("Bash", {"command": f"a {text}", "description": text, text: text}),
    "change": lambda text: call(
        "Edit", {"file_path": text, "old_string": text, "new_string": f"{text}b"}
    ),
    "write": lambda text: call("Write", {"file_path": text, "content": text}),
    "tool": lambda text: call(f"T{text}", {text: [text, {text: text}], "password": text}),
    "odd": lambda text: call("T", [text]),
    "plan": lambda text: call("ExitPlanMode", {"plan": f"# {text}"}, **PERMISSION),
    "questions": lambda text: call(
        "AskUserQuestion",
        {
            "questions": [
                {
                    "question": f"q{text}",
                    "header": text,
                    "options": [{"label": f"l{text}", "description": text, "preview": text}],
                }
            ]
        },
    ),
    "form": lambda text: happening(
        "Elicitation",
        mcp_server_name=text,
        message=text,
        requested_schema={
            "type": "object",
            "properties": {
                f"p{text}": {"title": text, "description": text, "default": text},
                "c": {"enum": [text]},
            },
        },
    ),
    "link": lambda text: happening(
        "Elicitation", mcp_server_name=text, mode="url", message=text, url=text
    ),
    "stop": lambda text: happening("Stop", last_assistant_message=text),
    "suggestion": lambda text: call(
        **PERMISSION,
        permission_suggestions=[{**SUGGESTED, "rules": [{"toolName": text, "ruleContent": text}]}],
    ),
    "where": lambda text: {
        **call("Bash", {"command": "ls"}),
        "cwd": f"/{text}",
        "permission_mode": text,
        "agent_id": f"x{text}",
        "agent_type": text,
        "session_id": f"s{text}",
    },
}
OURS = frozenset(
    [
        "article",
        "header",
        "h2",
        "h3",
        "p",
        "time",
        "div",
        "section",
        "pre",
        "span",
        "b",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "form",
        "label",
        "input",
        "textarea",
        "select",
        "option",
        "button",
        "strong",
        "fieldset",
        "legend",
        "br",
        "code",
    ]
)


@given(st.sampled_from(sorted(HOSTILE)), TEXTS)
def test_no_text_of_an_agent_is_an_element_or_a_letter_that_acts(kind: str, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    desk, card = desk_with(HOSTILE[kind](text))
    html = article(card, desk.replica, SEEN)
    elements = read(html).all()
    assert {element.tag for element in elements} <= OURS
    assert not [
        name for element in elements for name in element.attributes if name.startswith("on")
    ]
    assert not {each for each in html if unicodedata.category(each) in UNSAFE} - {"\n", "\t"}


@given(st.text(st.characters(codec="utf-8", exclude_characters=" \t\n"), min_size=1, max_size=30))
def test_a_command_is_shown_letter_by_letter(command: str) -> None:
    desk, card = desk_with(call("Bash", {"command": command}))
    line = shown(card, desk).all("section", data_block="command")[0].one("pre")
    assert line.words == safe(masked(command))


def lines(count: int) -> str:
    return "\n".join(f"echo {number}" for number in range(count))


def test_a_long_text_is_all_there_and_says_how_much_of_it_is_folded() -> None:
    desk, card = desk_with(call("Bash", {"command": lines(100)}))
    command = shown(card, desk).one("section", data_block="command")
    assert (command.get("data-lines"), command.get("data-whole")) == ("100", "yes")
    assert [line.words for line in command.all("span", class_="line")] == lines(100).split("\n")
    more = command.one("details", class_="more")
    assert more.one("summary").words == f"{100 - SHOWN} more lines"
    assert len(more.all("span", class_="line")) == 100 - SHOWN


LONG: dict[str, Any] = {
    "command": ({"command": "x " * MOST_LETTERS}, f"{MOST_LETTERS} more letters"),
    "change": ({"file_path": "a", "old_string": "a\n" * 9_000, "new_string": ""}, "more letters"),
    "new": ({"file_path": "a", "content": "a\n" * 9_000}, "14001 more letters"),
    "fields": ({"a": [[1] * 300] * 30}, "the end of it"),
}


@every_row("kind", LONG)
def test_what_is_too_long_for_a_page_says_so_and_is_not_whole(kind: str) -> None:
    tool_input, rest = LONG[kind]
    desk, card = desk_with(call("Write" if kind == "new" else "Tool", tool_input))
    page = shown(card, desk)
    assert page.get("data-whole") == "no"
    block = page.one("section", data_block=kind)
    assert block.get("data-whole") == "no"
    assert rest in block.one("p", class_="warning").words
    assert len(article(card, desk.replica, SEEN)) < 2 * MOST_LETTERS


def test_secrets_are_nowhere_on_a_page_until_somebody_asks() -> None:
    secret = "ghp_" + "a1B2" * 9
    rule = {**SUGGESTED, "rules": [{"toolName": "Bash", "ruleContent": f"curl -u x:{secret}"}]}
    for payload in (
        call("Bash", {"command": f"curl -H 'x: {secret}'"}),
        call("mcp__a__b", {"token": secret, "x": 1}),
        call("ExitPlanMode", {"plan": f"1. Send {secret}"}),
        call(hook_event_name="PostToolUse", tool_response={"stdout": f"token {secret}"}),
        {
            **call("Bash", {"command": f"echo {secret}"}),
            **PERMISSION,
            "permission_suggestions": [rule],
        },
    ):
        desk, card = desk_with(payload)
        covered, bare = (article(card, desk.replica, SEEN, covers=each) for each in (True, False))
        assert secret not in covered
        assert secret not in row(card, desk.replica, lambda _: SEEN)
        assert "Show the secrets" in covered
        assert secret in bare
        assert "Cover the secrets" in bare
    desk, card = desk_with(call("Bash", {"command": "ls"}))
    assert "the secrets" not in article(card, desk.replica, SEEN)


@every_row("kind", [*KEPT])
def test_nothing_is_json_but_in_details(kind: str) -> None:
    desk, card = desk_with(KEPT[kind])
    words = shown(card, desk).without("details").words
    for name in ("requested_schema", "properties", "multiSelect", '": '):
        assert name not in words
    assert not re.search(r"[{\[]\s*$", words, re.MULTILINE)


@every_row("kind", KINDS)
def test_each_act_is_a_button_once_and_to_deny_stands_at_the_foot(kind: str) -> None:
    desk, card = desk_of(kind)
    page = shown(card, desk)
    form = page.one("form", class_="acts")
    offered = buttons(card, desk.replica)
    here = {button.get("data-act") for button in form.all("button")}
    here |= {
        "always-deny" if button.get("data-denies") else "always-allow"
        for button in form.all("button", class_="ask")
    }
    assert here - {"wait-longer", "snooze", ""} == {each.act for each in offered}
    first = [button.get("data-act") for button in form.one("div", class_="first").all("button")]
    closing = [each.act for each in offered if each.closes]
    assert first[0] == closing[0] if closing else first
    assert len(first) == len(set(first))


@every_row("kind", KINDS)
def test_a_tap_on_a_button_without_a_field_decides_the_card(kind: str) -> None:
    desk, card = desk_of(kind)
    page = shown(card, desk)
    for button in page.all("button", class_="act"):
        if "data-needs" not in button.attributes or button.get("data-value"):
            if button.get("data-field") in ("content", "input", "rule"):
                continue
            command = command_of(call_of(button, page), card, desk.replica)
            assert command.id.startswith("tap-")


def test_a_form_is_filled_in_by_the_names_of_its_fields() -> None:
    desk, card = desk_of("form")
    page = shown(card, desk)
    names = {field.get("data-name") for field in page.all("input", data_field="content")}
    assert names == {"f1", "f2", "f3", "f4", "f5"}
    groups = {field.get("name") for field in page.all("input", type_="radio")}
    assert groups == {f"f{place}-of-{card.number}" for place in (2, 4)}


def test_everything_that_is_typed_has_a_label_and_every_id_is_once() -> None:
    for payload in KEPT.values():
        desk, card = desk_with(payload)
        page = shown(card, desk)
        labelled = [
            field
            for label in page.all("label")
            for field in label.all()
            if field.tag in ("input", "textarea", "select")
        ]
        fields = [field for tag in ("input", "textarea", "select") for field in page.all(tag)]
        assert len(labelled) == len(fields)
        assert all(group.inner[0].tag == "legend" for group in page.all("fieldset"))  # type: ignore[union-attr]
        ids = [element.get("id") for element in page.all() if element.get("id")]
        assert len(ids) == len(set(ids))
        for bar in page.all("span", class_="bar"):
            assert bar.get("aria-hidden") == "true"


def test_each_line_of_a_plan_has_a_button_for_a_note_while_it_waits() -> None:
    desk, card = desk_of("plan")
    numbers = shown(card, desk).all("button", class_="number")
    assert [number.get("data-line") for number in numbers] == ["1", "2", "3", "4"]
    desk.answer(card.number, Decision(Verdict.DENY, reason="no"))
    over = desk.card(card.number)
    assert over is not None
    assert not shown(over, desk).all("button")


def test_a_plan_tells_what_changed_since_the_one_that_was_denied() -> None:
    desk, card = desk_of("plan")
    assert not shown(card, desk).all("details", class_="since")
    desk.answer(card.number, Decision(Verdict.DENY, reason="no"))
    desk.ask(call("ExitPlanMode", {"plan": "# Plan\n\n1. Delete nothing\n2. Build"}, **PERMISSION))
    since = shown(desk.waiting()[-1], desk).one("details", class_="since")
    assert since.one("span", class_="removed").words == "- 1. Delete everything"
    assert since.one("span", class_="added").words == "+ 1. Delete nothing"


def test_a_text_with_hidden_letters_is_edited_as_json_and_warned_of() -> None:
    desk, card = desk_with(call("Bash", {"command": "echo a\u202eb"}))
    page = shown(card, desk)
    edited = page.one("textarea", data_field="input").words
    assert edited == '\n{\n  "command": "echo a\\u202eb"\n}'
    assert "1 hidden character" in page.one("div", class_="asked").words
    assert page.one("section", data_block="command").one("span", class_="mark").words == "⟨U+202E⟩"


def test_a_card_that_ended_says_how_and_by_whom_and_offers_nothing() -> None:
    desk, card = desk_of("call")
    ann = Operator("ann", "Ann", "laptop")
    decided = replace(card)
    desk.answer(card.number, Decision(Verdict.DENY, reason="not on a Friday"))
    over = desk.card(card.number)
    assert over is not None
    assert over.decided is not None
    by_ann = replace(over, decided=replace(over.decided, by=ann))
    page = shown(by_ann, desk)
    assert page.get("data-state") == "decided"
    assert page.get("data-ended") == "DENIED by Ann at laptop"
    assert "not on a Friday" in page.one("p", class_="state").words
    assert not page.all("button")
    assert decided.requests == over.requests


def test_what_an_alarm_tells_stands_above_the_request() -> None:
    desk, card = desk_of("call")
    page = shown(replace(card, alarms=("another file ran: <b>",)), desk)
    assert page.one("p", class_="alarm").words == "! another file ran: <b>"


def test_who_else_looks_or_holds_an_answer_is_told() -> None:
    desk, card = desk_of("call")
    other = PlayedDesk.__mro__[1](desk.runner, Operator("ann", "Ann", "laptop"))  # a LocalDesk
    due = desk.now() + 2
    other.submit(Claim(card.number, verdict=Verdict.ALLOW, due=due))
    assert "Ann allows it in 2 s" in shown(card, desk).one("p", class_="noted", role="status").words


def test_the_last_calls_of_the_session_are_listed() -> None:
    desk, _ = desk_of("call")
    desk.ask(call(hook_event_name="PostToolUse", tool_input={"command": "make"}))
    desk.ask(call("Bash", {"command": "ls"}))
    page = shown(desk.waiting()[-1], desk)
    assert "make" in page.one("ol", class_="calls").words


if __name__ == "__main__":
    SAMPLES.mkdir(exist_ok=True)
    for name in KEPT:
        (SAMPLES / f"{name}.html").write_text(kept(name), encoding="utf-8")
