"""A tool call, read into the parts that rules speak about."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, canonical
from crabhook.policy.calls import parts
from crabhook.policy.calls.parts import CallKind, FilePart, Part, ToolPart, Use
from crabhook.policy.calls.shell_call import Call, read_patch, shell_call
from crabhook.policy.context import Context, GlobError, alternatives
from crabhook.policy.paths import expand_home, place
from crabhook.policy.shell.programs import may_read_deep
from crabhook.vocabulary import folder_keys, path_key, vocabulary

_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]]+", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_SCALARS = (str, int, float, bool)
_OTHER_PATH = "a second path, which is not the tool's own"
ANYTHING = "\x1f"  # a file name that no pattern has: it means the whole folder


def read_call(event: Event, context: Context) -> Call | None:
    """Return the call of the event, or None for an event without one."""
    if event.tool is None:
        return None
    name = parts.canonical(event.tool.name)
    kind = parts.kind_of(event.tool.name)
    inputs = event.tool.input if isinstance(event.tool.input, dict) else {}
    scalars = {key: value for key, value in inputs.items() if isinstance(value, _SCALARS)}
    tools = frozenset(filter(None, (event.tool.name, name, parts.mcp_name(event.fields))))
    tool = ToolPart(event.tool.name, tools, scalars)
    read = _READERS.get(kind)
    if read is None:
        return Call(name, kind, (tool,), ())
    return read(_Reading(event, inputs, tool, context))


MOST_CHANGED = 50  # files of one call that are looked at


def changed_paths(event: Event) -> tuple[str, ...]:
    """Return the absolute files that a file tool's call changes; a shell's are not known."""
    tool = event.tool
    kind = parts.kind_of(tool.name) if tool else CallKind.OTHER
    if (
        tool is None
        or kind not in (CallKind.EDIT, CallKind.PATCH)
        or not isinstance(tool.input, dict)
    ):
        return ()
    if kind is CallKind.EDIT:
        named: Sequence[Value] = [tool.input.get(path_key(tool.name, event.platform, event.agent))]
    else:
        patches = (tool.input.get(key) for key in parts.PATCH_KEYS)
        text = next((patch for patch in patches if isinstance(patch, str)), "")
        named = read_patch(text).paths
    paths = [path for path in named[:MOST_CHANGED] if isinstance(path, str) and path]
    return tuple(posixpath.join(event.cwd or "/", path) for path in paths)


LONG_LINE = 400  # letters; so much of the worst line is judged in some 70 ms


def may_take_long(event: Event) -> bool:
    """Whether a thread should judge the call, told by its looks alone.

    It may read a folder with all that is in it, or its shell line is long.
    """
    if event.tool is None or not isinstance(event.tool.input, dict):
        return False
    kind = parts.kind_of(event.tool.name)
    command = event.tool.input.get("command") if kind is CallKind.COMMAND else None
    if isinstance(command, str):
        return len(command) > LONG_LINE or may_read_deep(command)
    return kind is CallKind.SEARCH


class _Reading:
    def __init__(
        self,
        event: Event,
        inputs: Mapping[str, Value],
        tool: ToolPart,
        context: Context,
    ) -> None:
        self.inputs = inputs
        self.tool = tool
        self.context = context
        self.platform = event.platform
        self.cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
        self.name = parts.canonical(tool.text)
        self.own = path_key(tool.text, event.platform, event.agent)
        self.kind = parts.kind_of(tool.text)

    def text(self, *keys: str) -> str:
        """Return the first of the inputs that is there, as text."""
        for key in keys:
            value = self.inputs.get(key)
            if isinstance(value, str) and value:
                return value
        return ""

    @property
    def path(self) -> str:
        """Return the path that the tool's input names; empty if none."""
        return self.text(self.own) if self.own else ""

    def other_files(self, use: Use, tool: str) -> tuple[FilePart, ...]:
        """Return the files that other inputs name, of other tools or of older agents."""
        values = (self.inputs.get(key) for key in parts.PATH_KEYS if key != self.own)
        paths = [value if isinstance(value, str) else canonical(value) for value in values if value]
        return tuple(self.file(path, use, tool) for path in paths)

    def call(self, *required: Part, trouble: str = "", suspected: tuple[Part, ...] = ()) -> Call:
        """Return the call of these parts; the tool itself always counts against it."""
        troubles = (trouble,) if trouble else ()
        return Call(self.name, self.kind, required, (self.tool, *suspected), troubles)

    def file(self, path: str, use: Use, *tools: str) -> FilePart:
        """Return the part for a file that the tool's input names."""
        written = {path, path.strip(" ")} - {""}
        names = written | {expand_home(name, self.context.home) for name in written}
        usable = [name for name in sorted(names) if "\0" not in name]
        places = tuple(place(name, self.cwd, self.context) for name in usable)
        against = frozenset({*self.tool.tools, *tools})
        # `Edit` alone says nothing of Write, as Claude Code reads it; a patch is both.
        own = self.tool.tools if self.kind is CallKind.EDIT else against
        return FilePart(path, use, places, against, own=own)


@frozen
class CommandLine:
    """The input of a tool that runs commands: the line and its folder.

    `loosened`: it asks for more than its sandbox permits. `trouble`: why the folder is unsure.
    """

    text: str
    cwd: str
    loosened: bool = False
    trouble: str = ""


def command_line(event: Event, context: Context) -> CommandLine | None:
    """Return the line that the event's tool would run; None for other tools."""
    if event.tool is None or parts.kind_of(event.tool.name) is not CallKind.COMMAND:
        return None
    inputs = event.tool.input if isinstance(event.tool.input, dict) else {}
    reading = _Reading(event, inputs, ToolPart(event.tool.name, frozenset()), context)
    return _command_line(reading)


def _command_line(reading: _Reading) -> CommandLine:
    keys = folder_keys(reading.tool.text, reading.platform)
    folders = dict.fromkeys(folder for key in keys if (folder := reading.text(key)))
    cwd = posixpath.join(reading.cwd, *list(folders)[:1])
    loosened = any(reading.inputs.get(key) for key in vocabulary().loosening)
    several = len(folders) > 1 or any(
        not isinstance(reading.inputs.get(key, ""), str) for key in keys
    )
    trouble = "a folder to run in that can be read in several ways" if several else ""
    return CommandLine(reading.text("command"), cwd, loosened, trouble)


def _command(reading: _Reading) -> Call:
    tools = frozenset({*reading.tool.tools, "Bash"})
    line = _command_line(reading)
    call = shell_call(line.text, line.cwd, tools, reading.tool, reading.context)
    keys = ", ".join(sorted(key for key in parts.RUNNING_KEYS if reading.inputs.get(key)))
    more = (
        "more than its sandbox permits" if line.loosened else "",
        line.trouble,
        f"an input beside the line that may change what runs: {keys}" if keys else "",
    )
    return replace(call, troubles=(*call.troubles, *filter(None, more)))


def _one_file(reading: _Reading, use: Use, tool: str) -> Call:
    """Read a call about the file in the tool's input; other paths are suspected."""
    others = reading.other_files(use, tool)
    trouble = _OTHER_PATH if others else _path_trouble(reading.path)
    return reading.call(reading.file(reading.path, use, tool), trouble=trouble, suspected=others)


def _path_trouble(path: str) -> str:
    if not path:
        return "it names no file"
    if any(not letter.isprintable() for letter in path):
        return "a file's name with characters that cannot be seen"
    if path != path.strip(" "):
        return "a file's name with blanks before or after it, which its tool may take away"
    return ""


def _search(reading: _Reading) -> Call:
    """Read a search: an allow must cover the whole folder, a denial hits what it searches.

    All content of the folder counts if a glob of the search may select it.
    """
    folder = reading.path or reading.cwd
    inside = _inside(reading, folder)
    others = reading.other_files(Use.READ, "Read")
    try:
        globs = tuple(
            dict.fromkeys(glob for text in _globs(reading) for glob in alternatives(text))
        )
        trouble = ""
    except GlobError as error:
        globs, trouble = (), str(error)
    suspected = [
        replace(reading.file(path, Use.READ, "Read"), glob=True)
        for glob in globs or _globs(reading)
        for path in [glob if glob[:1] in "/~" else f"{folder}/{glob}"]
    ]
    whole = reading.file(folder, Use.READ, "Read")
    if reading.name != "LS":  # which tells names, and reads no file
        whole = replace(whole, deep=parts.Deep(globs))
        others = tuple(replace(other, deep=parts.Deep(globs)) for other in others)
        # the agent may search there in place of the folder
        others += tuple(_inside(reading, other.text) for other in others)
    if any(".." in glob.split("/") or glob[:1] in ("/", "~") for glob in globs):
        trouble = "a pattern that leaves the folder"
    trouble = trouble or (_OTHER_PATH if others else _path_trouble(folder))
    part = replace(inside, text=folder)
    return reading.call(part, trouble=trouble, suspected=(whole, *suspected, *others))


def _inside(reading: _Reading, folder: str) -> FilePart:
    """Return the part for all that a folder holds."""
    return reading.file(f"{folder.rstrip('/')}/{ANYTHING}", Use.READ, "Read")


def _globs(reading: _Reading) -> list[str]:
    keys = ["pattern"] if reading.name == "Glob" else ["glob", "include_pattern"]
    if reading.own != "paths" or not reading.path:  # a folder of Copilot's is no pattern
        keys.append("paths")
    return [text for key in (*keys, "include") for text in _texts(reading.inputs.get(key))]


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str) and item)


def _patch(reading: _Reading) -> Call:
    patch = read_patch(reading.text(*parts.PATCH_KEYS))
    files = [reading.file(path, Use.WRITE, "Edit", "Write") for path in patch.paths]
    odd = next(filter(None, map(_path_trouble, patch.paths)), "")
    if sum(bool(reading.inputs.get(key)) for key in parts.PATCH_KEYS) > 1:
        odd = "a second patch, in another input"
    return reading.call(*files, trouble=odd or patch.trouble)


def _fetch(reading: _Reading) -> Call:
    """Read a fetch: its address, or every address in its prompt, which WebFetch does not fetch."""
    address = reading.text("url")
    addresses = [address] if address else []
    if not (address and reading.tool.text == "WebFetch"):
        addresses += _ADDRESS.findall(reading.text("prompt"))
    fetched, trouble = [], "" if addresses else "it names no address"
    for target in addresses:
        host = _host(target)
        if not _HOST.fullmatch(host) or re.search(r"[\s\\\x00-\x1f\x7f-\U0010ffff]|//.*@", target):
            trouble = "an address that programs may read in several ways"
        elif not _ADDRESS.match(target):
            trouble = "an address that is not of HTTP"
        fetched.append(parts.FetchPart(target, host, reading.tool.tools))
    return reading.call(*fetched, trouble=trouble)


def _host(address: str) -> str:
    try:
        host = urlsplit(address.strip().replace("\\", "/")).hostname
    except ValueError:
        return ""
    return (host or "").lower().rstrip(".")


def _agent(reading: _Reading) -> Call:
    name = reading.text("subagent_type", "agent_type", "agent_name") or "general-purpose"
    return reading.call(parts.NamePart(name, name, reading.tool.tools))


def _skill(reading: _Reading) -> Call:
    name = reading.text("skill", "name", "command")
    whole = f"{name} {reading.text('args', 'arguments')}".strip()
    return reading.call(parts.NamePart(whole, name, reading.tool.tools))


_READERS: Mapping[CallKind, Callable[[_Reading], Call]] = {
    CallKind.COMMAND: _command,
    CallKind.READ: partial(_one_file, use=Use.READ, tool="Read"),
    CallKind.SEARCH: _search,
    CallKind.EDIT: partial(_one_file, use=Use.WRITE, tool="Edit"),
    CallKind.PATCH: _patch,
    CallKind.FETCH: _fetch,
    CallKind.AGENT: _agent,
    CallKind.SKILL: _skill,
    CallKind.ASKING: lambda reading: reading.call(
        reading.tool, trouble="only an answer releases it, and rules give none"
    ),
}
