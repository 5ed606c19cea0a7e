"""A request in blocks: the only place that chooses which field is shown as what.

`body` has what a tool is given, `happening` what the event tells beside that. Names of fields
decide, not the tool's name: agents differ in tools, much less in fields. A value of an unexpected
type makes no block, and is shown as it was sent.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.elicitation import read_fields
from crabhook.model.errors import QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, first_text, object_at
from crabhook.model.question import read_questions
from crabhook.present.document import (
    AgentMessage,
    Block,
    Body,
    CommandText,
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
from crabhook.present.summary import TELLING, is_plan, is_question

_EVENT = tables(__file__, "fields")["event"]
_EVERY, _OF_TOOLS = _EVENT["every"].split(), _EVENT["tools"].split()
LABELS: dict[str, str] = _EVENT["labels"]
ASKED, ANSWERED = "Elicitation", "ElicitationResult"
"""The events in which an MCP server asks, and in which its form was answered."""
_FORMS = frozenset({ASKED, ANSWERED, "elicitation/create"})
"""Those, and the event of an ACP agent, which may ask for a server that it does not name."""
_SIDES = ("old_string", "new_string")
_COPILOTS_SIDES = ("old_str", "new_str")
_OPENCODES_SIDES = ("oldString", "newString")
_FALSE_AS_EVER = frozenset({"replace_all", "replaceAll", "run_in_background"})
_OF_PLANS = frozenset({"planFilePath"})


Choose: TypeAlias = Callable[[str, Mapping[str, Value]], Block | None]


@frozen
class Chooser:
    """How the field of an input becomes a block.

    `leads`: the block says what the call does. `of`: it does so behind the file under this name, or
    under one of several.
    """

    block: Choose
    leads: bool = False
    of: str = ""


def body(event: Event) -> Body:
    """Return what an event's tool is given."""
    if event.tool is not None and not isinstance(event.tool.input, dict):
        return Body(blocks=(OddInput({}, event.tool.input),))
    tool_input = event.given
    blocks = {"questions": _questions(tool_input)} if is_question(event) else {}
    for key, chooser in CHOOSERS.items():
        if key in tool_input and (block := chooser.block(key, tool_input)) is not None:
            blocks[key] = block
    usual = {key for key in _FALSE_AS_EVER if tool_input.get(key) is False}
    usual |= _OF_PLANS if is_plan(event) else set()
    return Body(_lead(tool_input, blocks), tuple(blocks.values()), tool_input, frozenset(usual))


def _lead(tool_input: Mapping[str, Value], blocks: Mapping[str, Block]) -> tuple[Block, ...]:
    """Return the blocks that say what a call does; none for an odd input."""
    for key, chooser in CHOOSERS.items():
        file = next((blocks[name] for name in chooser.of.split() if name in blocks), None)
        whole = blocks.get(key)
        if file is not None and isinstance(whole, TextChange | TextChanges | NewText | UnifiedDiff):
            changes = whole.edits if isinstance(whole, TextChanges) else ()
            if all(edit.change is not None for edit in changes):
                return file, whole
    for key, chooser in CHOOSERS.items():
        if chooser.leads and key in blocks:
            note = blocks.get("description") if isinstance(blocks[key], CommandText) else None
            return (
                (blocks[key], note)
                if isinstance(note, Description) and note.text
                else (blocks[key],)
            )
    key, text = first_text(tool_input, TELLING)
    return (blocks.get(key) or Name({key: text}, text),) if key else ()


def happening(event: Event) -> Body:
    """Return what an event tells beside its tool's input, without what a card shows elsewhere.

    A field that the agent's own table names is a fact also where a card shows it elsewhere, unless
    it only repeats the call.
    """
    fields = event.fields
    repeated = {key for key in event.tells if _repeats_the_call(event, fields.get(key))}
    own = {
        key: value
        for key, value in fields.items()
        if key not in repeated and not _elsewhere(event, key, value)
    }
    labels = LABELS | {key: shown.short for key, shown in event.tells.items() if shown.short}
    blocks = list[Block]()
    for key in dict.fromkeys((*labels, *event.tells)):
        short = labels.get(key, "") if key in own else ""
        shown = event.tells.get(key)
        if key in fields and key not in repeated and (short or shown):
            blocks.append(Fact({key: fields[key]}, key, fields[key], shown, short))
        if key == "message" and (entries := read_fields(fields)):
            blocks.append(McpForm({"requested_schema": fields["requested_schema"]}, entries))
    return Body((), tuple(blocks), own)


def _repeats_the_call(event: Event, value: Value) -> bool:
    """Whether a field says nothing but what the call's own name and input say."""
    if event.tool is None or not value:
        return False
    texts = [text for text in event.given.values() if isinstance(text, str)]
    below = f"{event.cwd}/" if event.cwd else ""
    said_already = {event.tool.name, *texts, *(text.removeprefix(below) for text in texts)}
    items = value if isinstance(value, list) else [value]
    return all(isinstance(item, str) and item in said_already for item in items)


def server_asks(event: Event) -> ServerAsks | None:
    """Return what an MCP server wants of a person; None if the event is of no server's request."""
    if event.name not in _FORMS:
        return None
    url, action = event.text("url"), event.text("action") if event.name == ANSWERED else None
    is_link = event.text("mode") == "url" or bool(url)
    server, message = event.text("mcp_server_name"), event.text("message")
    return ServerAsks(server, message, url, is_link, action)


def _elsewhere(event: Event, key: str, value: Value) -> bool:
    """Whether another part of the card shows a field, or it helps nobody to decide."""
    if key in _EVERY:
        return isinstance(value, str)
    if key == "permission_suggestions":
        return event.name == "PermissionRequest" and isinstance(value, list)
    return key == "effort" or (event.tool is not None and key in _OF_TOOLS)


def _text(make: Callable[[Mapping[str, Value], str], Block]) -> Choose:
    """Return what makes a block of a field that is a text."""

    def choose(key: str, tool_input: Mapping[str, Value]) -> Block | None:
        text = tool_input[key]
        return make({key: text}, text) if isinstance(text, str) else None

    return choose


def _change(_: str, tool_input: Mapping[str, Value]) -> TextChange | None:
    match tool_input:
        case {"old_string": str(before), "new_string": str(after)}:
            return TextChange({key: tool_input[key] for key in _SIDES}, before, after)
        case {"old_str": str(before), "new_str": str(after)}:
            return TextChange({key: tool_input[key] for key in _COPILOTS_SIDES}, before, after)
        case {"oldString": str(before), "newString": str(after)}:
            return TextChange({key: tool_input[key] for key in _OPENCODES_SIDES}, before, after)
    return None


def _changed_file(key: str, tool_input: Mapping[str, Value]) -> Block | None:
    """Return the file that a tool of Copilot's changes; a search has a path, too."""
    path, changes = tool_input[key], {"file_text", "old_str", "diff"} & tool_input.keys()
    return FilePath({key: path}, path) if isinstance(path, str) and changes else None


def _edits(key: str, tool_input: Mapping[str, Value]) -> Block | None:
    edits = tool_input[key]
    if not isinstance(edits, list) or not edits:
        return None
    changes = []
    for edit in edits:
        if not isinstance(edit, dict) or "old_string" not in edit:
            return None
        change = _change("", edit)
        sides = _SIDES if change else ()
        changes.append(ListedEdit(change, {name: edit[name] for name in edit if name not in sides}))
    return TextChanges({key: tool_input[key]}, tuple(changes))


def _questions(tool_input: Mapping[str, Value]) -> Block:
    try:
        questions = read_questions(dict(tool_input))
    except QuestionError as error:
        return Questions({}, unreadable=str(error))
    answers = object_at(tool_input, "answers")
    return Questions({"questions": tool_input["questions"]}, questions, answers=answers)


CHOOSERS: dict[str, Chooser] = {
    "file_path": Chooser(_text(FilePath)),
    "filePath": Chooser(_text(FilePath)),
    "notebook_path": Chooser(_text(FilePath)),
    "path": Chooser(_changed_file),
    "command": Chooser(_text(CommandText), leads=True),
    "description": Chooser(_text(Description)),
    "old_string": Chooser(_change, of="file_path"),
    "old_str": Chooser(_change, of="path"),
    "oldString": Chooser(_change, of="filePath"),
    "edits": Chooser(_edits, of="file_path"),
    "content": Chooser(_text(NewText), of="file_path filePath"),
    "file_text": Chooser(_text(NewText), of="path"),
    "diff": Chooser(_text(UnifiedDiff), of="path"),
    "new_source": Chooser(_text(NewText), of="notebook_path"),
    "plan": Chooser(_text(Plan), leads=True),
    "prompt": Chooser(_text(AgentMessage)),
}
"""The fields of any tool's input that are shown as more than JSON, in the order of reading."""
