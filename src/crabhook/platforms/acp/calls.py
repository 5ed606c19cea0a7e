"""The call in an agent's request, in the names of tools and inputs that rules know.

ACP has no names of tools, only nine kinds, and each agent fills a request in another way. An agent
that tells its own name of the tool has the call as its hooks have it. Any other call is named by
its kind, as `Bash`, `Edit`, `Write`, `Read` or `WebFetch` of Claude Code. A kind without such a
tool is the name itself. A title is no command: the model may have written it. Only of Gemini CLI
it is known to be the command, letter by letter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from crabhook.data_files import tables
from crabhook.model.event import ToolCall
from crabhook.model.jsontext import Value, object_at, text_at

_AGENTS: Mapping[str, Mapping[str, str]] = tables(__file__, "agents")
_PATHS = ("file_path", "filePath", "filepath", "fileName", "path")
# A file beside the first: rules take any of these inputs for one, and allow no call that has it.
_OTHER_PATHS = ("path", "absolute_path", "notebook_path", "dir_path", "directory")
_Input = dict[str, Value]


def agent_of(fields: Mapping[str, Value]) -> Mapping[str, str]:
    """Return the row of the agent that a request comes from; nothing for an unknown agent."""
    return _AGENTS.get(text_at(object_at(fields, "agent"), "name"), {})


def call_of(fields: Mapping[str, Value]) -> ToolCall | None:
    """Return the call that a request of the proxy is about; None where it is about no call."""
    call = object_at(fields, "tool_call")
    if not call:
        return None
    use_id, agent = text_at(call, "toolCallId"), agent_of(fields)
    own = call.get("rawInput")
    if (name := _text_in(call, agent.get("tool", ""))) and isinstance(own, dict):
        return ToolCall(name, own, use_id)
    kind = text_at(call, "kind") or "other"
    name, tool_input = _KINDS.get(kind, _other)(call, agent)
    return ToolCall(name or kind, tool_input, use_id)


def subagent_of(fields: Mapping[str, Value]) -> str:
    """Return the id that the agent's hooks give the subagent of a call; empty for the main agent.

    With the id one call asked about twice is one card, and another agent's like call is not.
    """
    call, places = object_at(fields, "tool_call"), agent_of(fields).get("subagent", "").split()
    parts = [_text_in(call, place) for place in places]
    return "-".join(parts) if all(parts) else ""


def _text_in(call: Mapping[str, Value], where: str) -> str:
    *outer, key = where.split(".")
    for part in outer:
        call = object_at(call, part)
    return text_at(call, key)


def raw_of(call: Mapping[str, Value]) -> _Input:
    """Return a copy of the tool's own input, as far as the agent tells it."""
    return dict(object_at(call, "rawInput"))


def _other(call: Mapping[str, Value], _: Mapping[str, str]) -> tuple[str, _Input]:
    return "", _described(call, raw_of(call))


def _described(call: Mapping[str, Value], tool_input: _Input) -> _Input:
    """Add the title, where no part of the input says the same."""
    title = text_at(call, "title")
    if title and "description" not in tool_input and title not in tool_input.values():
        tool_input["description"] = title
    return tool_input


def _execute(call: Mapping[str, Value], agent: Mapping[str, str]) -> tuple[str, _Input]:
    raw = raw_of(call)
    if text_at(raw, "command"):
        return "Bash", _described(call, raw)
    title = text_at(call, "title")
    if agent.get("command") != "title" or not title:
        return _other(call, agent)
    about = " ".join(texts_of(call))
    return "Bash", {"command": title, **_folder(about), **({"description": about} if about else {})}


def _folder(about: str) -> _Input:
    """Return where a command of Gemini CLI runs, as its explanation begins: "[in FOLDER] …".

    A folder whose name has a bracket can be read in two ways, and no rule allows what has two.
    """
    lead = "[in "
    if not about.startswith(lead):
        return {}
    short, long = about[len(lead) :].partition("]")[0], about[len(lead) :].rpartition("]")[0]
    return {"cwd": short} if short == long else {"cwd": [short, long]}


def _files(call: Mapping[str, Value], *paths: str) -> tuple[_Input, _Input]:
    """Return the files of a call, and what else its own input says."""
    raw = raw_of(call)
    own = (text for key in _PATHS if (text := text_at(raw, key)))
    every = list(dict.fromkeys(filter(None, (*own, *paths, *places_of(call)))))
    files: _Input = dict(zip(("file_path", *_OTHER_PATHS), every, strict=False))
    return files, {key: value for key, value in raw.items() if key not in _PATHS}


def _edit(call: Mapping[str, Value], _: Mapping[str, str]) -> tuple[str, _Input]:
    changes = list(_diffs(call))
    files, rest = _files(call, *(path for path, _, _ in changes))
    if len(changes) == 1 and not changes[0][1]:
        return "Write", _described(call, {**files, "content": changes[0][2], **rest})
    if len(changes) == 1:
        before, after = changes[0][1:]
        change: _Input = {"old_string": before, "new_string": after}
        return "Edit", _described(call, {**files, **change, **rest})
    if changes:
        edits: list[Value] = [
            {"file_path": path, "old_string": before, "new_string": after}
            for path, before, after in changes
        ]
        return "MultiEdit", _described(call, {**files, "edits": edits, **rest})
    return "Edit", _described(call, {**files, **rest})


def _read(call: Mapping[str, Value], _: Mapping[str, str]) -> tuple[str, _Input]:
    files, rest = _files(call)
    return "Read", _described(call, {**files, **rest})


def _fetch(call: Mapping[str, Value], agent: Mapping[str, str]) -> tuple[str, _Input]:
    raw = raw_of(call)
    return ("WebFetch", _described(call, raw)) if text_at(raw, "url") else _other(call, agent)


def _plan(call: Mapping[str, Value], _: Mapping[str, str]) -> tuple[str, _Input]:
    raw = raw_of(call)
    plan = text_at(raw, "plan") or "\n\n".join(texts_of(call)) or text_at(call, "title")
    return "ExitPlanMode", {**raw, "plan": plan}


_KINDS: Mapping[str, Callable[[Mapping[str, Value], Mapping[str, str]], tuple[str, _Input]]] = {
    "execute": _execute,
    "edit": _edit,
    "read": _read,
    "fetch": _fetch,
    "switch_mode": _plan,
}


def objects_at(holder: Mapping[str, Value], key: str) -> Sequence[Mapping[str, Value]]:
    """Return the objects of a list under a key; other items are left out."""
    items = holder.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _diffs(call: Mapping[str, Value]) -> Iterator[tuple[str, str, str]]:
    """Yield each change in a call's content: the file, the text before and the text after."""
    for item in objects_at(call, "content"):
        if item.get("type") == "diff":
            yield text_at(item, "path"), text_at(item, "oldText"), text_at(item, "newText")


def texts_of(call: Mapping[str, Value]) -> list[str]:
    """Return the texts in a call's content."""
    content = (object_at(item, "content") for item in objects_at(call, "content"))
    return [text for item in content if (text := text_at(item, "text"))]


def places_of(call: Mapping[str, Value]) -> list[str]:
    """Return the files that a call names."""
    return [path for item in objects_at(call, "locations") if (path := text_at(item, "path"))]


def terminals_of(call: Mapping[str, Value]) -> list[str]:
    """Return the editor's terminals in which a call runs."""
    return [
        terminal
        for item in objects_at(call, "content")
        if (terminal := text_at(item, "terminalId"))
    ]


def options_of(fields: Mapping[str, Value], kind: str) -> list[Mapping[str, Value]]:
    """Return the options of this kind that a request offers. The kind decides, never the id."""
    return [option for option in objects_at(fields, "options") if option.get("kind") == kind]
