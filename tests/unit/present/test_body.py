"""Which fields of an input become which blocks: the one table of it, for all faces."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.elicitation import read_fields
from crabhook.model.event import Event, ShownField, ToolCall
from crabhook.present.body import CHOOSERS, body, happening, server_asks
from crabhook.present.document import (
    AgentMessage,
    Block,
    Body,
    CommandText,
    Counts,
    Description,
    Fact,
    FilePath,
    ListedEdit,
    McpForm,
    Name,
    NewText,
    OddInput,
    Plan,
    Questions,
    ServerAsks,
    TextChange,
    TextChanges,
    UnifiedDiff,
)
from tests.support.rows import every_row

PATH = {"file_path": "/a.py"}
SIDES = {"old_string": "x", "new_string": "y"}
FILE, CHANGE = FilePath(PATH, "/a.py"), TextChange(SIDES, "x", "y")
EDITS = [{**SIDES, "replace_all": True}, {"old_string": "c", "new_string": 5}]
NOTE = Description({"description": "why"}, "why")


def field(kind: Any, key: str, text: str = "t") -> Block:
    block: Block = kind({key: text}, text)
    return block


def of(tool_input: Any, tool: str = "Any") -> Body:
    return body(Event("claude", "PreToolUse", tool=ToolCall(tool, tool_input)))


LEADS: dict[str, tuple[Any, tuple[Block, ...], set[str]]] = {
    # what it is: the input, what leads, the names of the fields that the lead leaves over
    "a command": ({"command": "ls"}, (field(CommandText, "command", "ls"),), set()),
    "with the agent's own words": (
        {"command": "ls", "description": "why"},
        (field(CommandText, "command", "ls"), NOTE),
        set(),
    ),
    "without words": (
        {"command": "ls", "description": ""},
        (field(CommandText, "command", "ls"),),
        {"description"},
    ),
    "a change": ({**PATH, **SIDES, "replace_all": True}, (FILE, CHANGE), {"replace_all"}),
    "a change of no file": (SIDES, (), set(SIDES)),
    "several changes": (
        {**PATH, "edits": EDITS[:1]},
        (FILE, TextChanges({"edits": EDITS[:1]}, (ListedEdit(CHANGE, {"replace_all": True}),))),
        set(),
    ),
    "changes of which one is none": ({**PATH, "edits": EDITS}, (FILE,), {"edits"}),
    "a new file": ({**PATH, "content": "t"}, (FILE, field(NewText, "content")), set()),
    "a cell": (
        {"notebook_path": "/n", "new_source": "t"},
        (field(FilePath, "notebook_path", "/n"), field(NewText, "new_source")),
        set(),
    ),
    "a file before a command": (
        {**PATH, **SIDES, "command": "ls"},
        (FILE, CHANGE),
        {"command"},
    ),
    "a file": ({**PATH, "limit": 5}, (FILE,), {"limit"}),
    "a plan": ({"plan": "t", "x": 1}, (field(Plan, "plan"),), {"x"}),
    "a page": ({"url": "t", "prompt": "p"}, (field(Name, "url"),), {"prompt"}),
    "a new file of Copilot's": (
        {"path": "/a.py", "file_text": "t"},
        (field(FilePath, "path", "/a.py"), field(NewText, "file_text")),
        set(),
    ),
    "a change of Copilot's": (
        {"path": "/a.py", "old_str": "x", "new_str": "y"},
        (
            field(FilePath, "path", "/a.py"),
            TextChange({"old_str": "x", "new_str": "y"}, "x", "y"),
        ),
        set(),
    ),
    "a diff of Copilot's": (
        {"path": "/a.py", "diff": "@@\n+x\n"},
        (field(FilePath, "path", "/a.py"), field(UnifiedDiff, "diff", "@@\n+x\n")),
        set(),
    ),
    "a folder to search": (
        {"pattern": "p", "path": "/a"},
        (field(Name, "path", "/a"),),
        {"pattern"},
    ),
    "a word to an agent": ({"prompt": "t"}, (field(AgentMessage, "prompt"),), set()),
    "words alone": ({"description": "why"}, (NOTE,), set()),
    "nothing that is known": ({"title": "t"}, (), {"title"}),
    "fields of another type": ({"command": [1], "file_path": 5}, (), {"command", "file_path"}),
    "no object": ("ls", (), set()),
}


@every_row("tool_input, lead, rest", LEADS.values())
def test_what_says_what_a_call_does_leads(
    tool_input: Any, lead: tuple[Block, ...], rest: set[str]
) -> None:
    asked = of(tool_input)
    assert asked.lead == lead
    assert asked.rest(asked.lead).keys() == rest


BLOCKS: dict[str, tuple[Any, tuple[Block, ...]]] = {
    "a change of no file": (SIDES, (CHANGE,)),
    "a file before its change": ({**SIDES, **PATH}, (FILE, CHANGE)),
    "changes of which one is none": (
        {"edits": EDITS},
        (
            TextChanges(
                {"edits": EDITS},
                (ListedEdit(CHANGE, {"replace_all": True}), ListedEdit(None, EDITS[1])),
            ),
        ),
    ),
    "what is about no file has no block of its own": (
        {"url": "u", "prompt": "t"},
        (field(AgentMessage, "prompt"),),
    ),
    **{
        f"edits that are {edits!r}": ({"edits": edits}, ())
        for edits in ([], ["x"], [{"other": 1}], {"old_string": "a"}, None)
    },
    "no object": ("ls", (OddInput({}, "ls"),)),
    **{f"a {key} that is no text": ({key: [1]}, ()) for key in CHOOSERS},
}


@every_row("tool_input, blocks", BLOCKS.values())
def test_each_block_stands_for_its_fields(tool_input: Any, blocks: tuple[Block, ...]) -> None:
    assert of(tool_input).blocks == blocks


def test_questions_are_a_block_of_their_tool_alone() -> None:
    asked = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    (block,) = of(asked, "AskUserQuestion").blocks
    assert isinstance(block, Questions)
    assert [question.text for question in block.questions] == ["Which?"]
    assert of(asked, "AskUserQuestion").rest([block]) == {}
    assert of(asked).blocks == ()


def test_unreadable_questions_say_why_and_stand_for_no_field() -> None:
    asked = of({"questions": []}, "AskUserQuestion")
    (block,) = asked.blocks
    assert isinstance(block, Questions)
    assert block.unreadable
    assert asked.rest(asked.blocks) == {"questions": []}


@pytest.mark.parametrize(
    ("block", "counts"),
    [
        (CHANGE, (1, 1)),
        (
            TextChanges({}, (ListedEdit(CHANGE, {}), ListedEdit(None, {}), ListedEdit(CHANGE, {}))),
            (2, 2),
        ),
        (NewText({}, "a\nb\n"), (2, None)),
        (NewText({}, "a\nb…"), None),
        (TextChange({}, "a", "b…"), None),
        (
            TextChanges({}, (ListedEdit(CHANGE, {}), ListedEdit(TextChange({}, "a…", "b"), {}))),
            None,
        ),
    ],
)
def test_a_change_counts_its_lines_where_it_has_all_of_them(
    block: TextChange | TextChanges | NewText, counts: Counts | None
) -> None:
    assert block.counts == counts
    assert block.whole is (counts is not None)


def test_a_diff_counts_its_lines_without_the_names_of_its_files() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
    assert UnifiedDiff({}, diff).counts == (2, 1)
    assert UnifiedDiff({}, f"{diff[:-3]}…").counts is None


def happens(
    fields: dict[str, Any], told: dict[str, ShownField] | None = None, **event: Any
) -> Body:
    return happening(Event("claude", "Sigh", fields=fields, tells=told or {}, **event))


def fact(key: str, value: Any, short: str = "", told: ShownField | None = None) -> Fact:
    return Fact({key: value}, key, value, told, short)


MOOD, AGENT = ShownField("the agent's mood", short="mood"), ShownField("the subagent")
REASON = ShownField("it was denied, because")
SCHEMA = {"properties": {"stage": {"type": "string"}}}

FACTS: dict[str, tuple[dict[str, Any], dict[str, ShownField], tuple[Block, ...], set[str]]] = {
    # what is told: the fields, the agent's own table, the blocks, the fields that are left over
    "in the order of one table, then the agent's": (
        {"mood": "grim", "reason": "r", "message": "m", "x": 1},
        {"mood": MOOD, "reason": REASON},
        (
            fact("message", "m", "message"),
            fact("reason", "r", "reason", REASON),
            fact("mood", "grim", "mood", MOOD),
        ),
        {"x"},
    ),
    "what every event has, unless its table names it": (
        {"session_id": "s", "cwd": "/", "agent_type": "Explore"},
        {"agent_type": AGENT},
        (fact("agent_type", "Explore", "", AGENT),),
        set(),
    ),
    "what every event has, of another type": ({"session_id": 5}, {}, (), {"session_id"}),
    "a form behind its message": (
        {"mode": "form", "requested_schema": SCHEMA, "message": "m"},
        {},
        (
            fact("message", "m", "message"),
            McpForm({"requested_schema": SCHEMA}, read_fields({"requested_schema": SCHEMA})),
            fact("mode", "form", "form mode"),
        ),
        set(),
    ),
    "a form without fields": (
        {"requested_schema": {"type": "x"}},
        {},
        (),
        {"requested_schema"},
    ),
}


@pytest.mark.parametrize(("fields", "told", "facts", "rest"), FACTS.values(), ids=FACTS)
def test_what_an_event_tells_beside_its_tools_input(
    fields: dict[str, Any], told: dict[str, ShownField], facts: tuple[Block, ...], rest: set[str]
) -> None:
    tells = happens(fields, told)
    assert tells.blocks == facts
    assert tells.rest(tells.blocks).keys() == rest


def test_the_tools_own_fields_are_told_with_the_tool_alone() -> None:
    fields = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}}
    assert happens(fields).fields == fields
    assert happens(fields, tool=ToolCall("Bash", {}, "t1")).fields == {}


PATTERNS = {"patterns": ShownField("patterns"), "permission": ShownField("asks for")}


def test_a_field_that_only_repeats_the_call_is_not_told_again() -> None:
    tool = ToolCall("bash", {"command": "make x", "file": "/p/src/a.py"})
    fields = {"permission": "bash", "patterns": ["make x", "src/a.py"]}
    again = happens(fields, PATTERNS, tool=tool, cwd="/p")
    assert (again.blocks, again.fields) == ((), {})
    more = happens(fields | {"patterns": ["make x", "rm y"]}, PATTERNS, tool=tool, cwd="/p")
    assert [block.key for block in more.of(Fact)] == ["patterns"]


@pytest.mark.parametrize("odd", [{"a": 1}, [{"a": "make x"}], [["make x"]], 7, True])
def test_a_field_of_any_kind_is_told_where_texts_are_expected(odd: Any) -> None:
    tool = ToolCall("bash", {"command": "make x"})
    told = happens({"patterns": odd}, PATTERNS, tool=tool)
    assert [block.key for block in told.of(Fact)] == ["patterns"]


ASKS = {"mcp_server_name": "pay", "message": "Sign in."}


@pytest.mark.parametrize(
    ("name", "fields", "asks"),
    [
        ("Elicitation", {"mode": "form"}, ServerAsks("pay", "Sign in.", "", is_link=False)),
        ("Elicitation", {"mode": "url"}, ServerAsks("pay", "Sign in.", "", is_link=True)),
        ("Elicitation", {"url": "u"}, ServerAsks("pay", "Sign in.", "u", is_link=True)),
        ("Elicitation", {"url": 7}, ServerAsks("pay", "Sign in.", "", is_link=False)),
        (
            "ElicitationResult",
            {"action": "accept"},
            ServerAsks("pay", "Sign in.", "", is_link=False, action="accept"),
        ),
        ("ElicitationResult", {}, ServerAsks("pay", "Sign in.", "", is_link=False, action="")),
        ("Notification", {"url": "u"}, None),
    ],
)
def test_what_an_mcp_server_wants(
    name: str, fields: dict[str, Any], asks: ServerAsks | None
) -> None:
    assert server_asks(Event("claude", name, fields={**ASKS, **fields})) == asks


def test_suggestions_are_shown_elsewhere_where_they_can_be_taken() -> None:
    fields: dict[str, Any] = {"permission_suggestions": []}
    assert happens(fields).fields == fields
    assert happening(Event("claude", "PermissionRequest", fields=fields)).fields == {}


def test_answers_stand_beside_their_questions() -> None:
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    asked = of({"questions": questions, "answers": {"Which?": "A"}}, "AskUserQuestion")
    (block,) = asked.of(Questions)
    assert block.answers == {"Which?": "A"}
    assert asked.rest([block]).keys() == {"answers"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(sorted(SIDES)), inner),
    max_leaves=8,
)
keys = st.sampled_from([*CHOOSERS, "new_string", "questions", "url"]) | st.text()


@given(st.dictionaries(keys, values), st.sampled_from(["Any", "AskUserQuestion", "ExitPlanMode"]))
def test_no_field_is_lost_or_changed(tool_input: dict[str, Any], tool: str) -> None:
    asked = of(tool_input, tool)
    for blocks in (asked.lead, asked.blocks, ()):
        told = asked.rest(blocks)
        for block in blocks:
            assert not told.keys() & block.fields.keys()
            told |= block.fields
        assert told == tool_input
    every = [key for block in asked.every for key in block.fields]
    assert sorted(every) == sorted(tool_input)
