"""Our entries in Claude Code's settings, which start our client or send the input themselves.

The token of a hook that is sent stays out of the settings, which may be a
project's: they name the variable that Claude Code takes it from.

`PROTOCOL` is what Claude Code 2.1.330 reads (hook protocol, sections 1 to 5),
in its settings and from hooks.
"""

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from crabhook.model.document import Json, Node, parse
from crabhook.model.errors import InstallError
from crabhook.model.request import Stance
from crabhook.platforms.claude.events import EVENTS, Way
from crabhook.platforms.claude.write import PATH, STANCE, WAIT
from crabhook.platforms.installation import (
    Group,
    Installation,
    Scope,
    Settings,
    Transport,
    hooked,
    users_folder,
)
from crabhook.platforms.rows import Patience, Protocol, Reads, decided

_MANAGED: Mapping[str, str] = {"darwin": "/Library/Application Support/ClaudeCode"}
"""The folder of the managed settings, by platform; on any other it is in /etc."""

_IN_PROJECT = {Scope.PROJECT: "settings.json", Scope.LOCAL: "settings.local.json"}
_SWITCHES = {
    "disableAllHooks": "it switches every hook off, ours too",
    "allowManagedHooksOnly": "only the organisation's own hooks run, ours do not",
}

USUAL_ADDRESS = "127.0.0.1:7780"
USUAL_URL = f"http://{USUAL_ADDRESS}"
TOKEN = "CRABHOOK_TOKEN"  # noqa: S105 - the variable's name

NOT_SENT = frozenset({"SessionStart", "Setup"})
"""The events that Claude Code 2.1.330 sends to no HTTP hook."""


def groups(installation: Installation) -> dict[str, Group]:
    """Return the one matcher group that each event shall hold, in the order to be written.

    Raises InstallError if a value cannot stand in a settings file as it is.
    """
    installation.refuse("${", "which Claude Code would replace")
    return {
        event: {"hooks": [_handler(installation, patience, event)]}
        for event, patience in hooked(EVENTS, installation)
    }


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a request where the event can be one, else our client."""
    decides = event in decided(EVENTS)
    closed = decides and installation.fail_closed
    if installation.url is not None and event not in NOT_SENT:
        entry = _sent(endpoint(installation.url), installation.stance, patience)
    else:  # in exec form: no shell, no search of PATH, no `site`
        interpreter, *args = installation.client(patience, closed=closed)
        entry = {"type": "command", "command": interpreter, "args": args}
        entry["timeout"] = patience.timeout
    if closed:
        entry["onFailure"] = "block"
    if decides:
        entry["statusMessage"] = "waiting for the crabhook operator"
    return entry


def _sent(url: str, stance: Stance, patience: Patience) -> Group:
    """Return the handler that sends an event to `url`."""
    return {
        "type": "http",
        "url": url,
        "headers": {
            "Authorization": f"Bearer ${TOKEN}",
            STANCE: stance.value,
            WAIT: str(patience.client),
        },
        "allowedEnvVars": [TOKEN],
        "timeout": patience.timeout,
    }


def settings_path(scope: Scope, project: Path, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of Claude Code's settings file for `scope`.

    CLAUDE_CONFIG_DIR moves the user's own settings, as it does for Claude Code; nothing
    moves the managed ones.  Raises InstallError where there is no home to look in.
    """
    if scope is Scope.MANAGED:
        return Path(_MANAGED.get(sys.platform, "/etc/claude-code"), "managed-settings.json")
    if scope in _IN_PROJECT:
        return project.absolute() / ".claude" / _IN_PROJECT[scope]
    return users_folder(environment, "CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def endpoint(text: str) -> str:
    """Return the URL that hooks are sent to, of a server's; raises InstallError for none.

    A URL that this function returned is returned as it is.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    plain = parts.scheme in ("http", "https") and host and parts.path in ("", "/", PATH)
    if not plain or parts.username or parts.query or parts.fragment or not text.isascii():
        raise InstallError(f"{text!r} is no server's URL; write one as {USUAL_URL}")
    if parts.scheme == "http" and not _loopback(host):
        raise InstallError(
            f"{text!r} leads to another machine, and the token would go there in the clear; "
            "that takes https, and a server with --tls-cert and --tls-key"
        )
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{f':{port}' if port is not None else ''}{PATH}"


def served(url: str) -> tuple[str, ...]:
    """Return the options of `crabhook serve` that open the door at `url`, with FILE for the files.

    A name other than the loopback's has to be told to the server, or it turns away who uses it.
    Raises ValueError for what is no URL.
    """
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    where = f"[{host}]" if ":" in host else host
    if not tls:
        return ("--http", f"{where}:{port}")
    files = ("--tls-cert", "FILE", "--tls-key", "FILE")
    if _loopback(host):
        return ("--http", f"{where}:{port}", *files)
    name = () if _is_number(host) else ("--http-name", host)
    return ("--http", f"0.0.0.0:{port}", *name, *files)


def export(token_file: str) -> str:
    """Return the command that puts the token in `token_file` where the agent is started."""
    return f'export {TOKEN}="$(cat {shlex.quote(token_file)})"'


def is_ours(entry: Json) -> bool:
    """Say whether a handler sends to a crabhook: its path alone could be anybody's."""
    if not isinstance(entry, dict) or entry.get("type") != "http":
        return False
    url, headers = entry.get("url"), entry.get("headers")
    sent = isinstance(url, str) and url.partition("?")[0].endswith(PATH)
    return sent and isinstance(headers, dict) and STANCE.lower() in map(str.lower, headers)


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    document = parse(text if text.strip(" \t\r\n\ufeff") else "{}")
    for key, effect in _SWITCHES.items():
        node = document.member(key)
        if node is not None and node.value is True:
            yield f"{key} is true in this file: {effect}"
    yield from _sending_switches(document, _urls(document))


def overridden(scope: Scope | None, switch: str) -> bool:
    """Whether a switch, found in the settings of a scope, leaves managed hooks running."""
    name = switch.partition(" ")[0]
    return name == "allowManagedHooksOnly" or (
        name == "disableAllHooks" and scope is not Scope.MANAGED
    )


def _urls(document: Node) -> set[str]:
    """Return where our own entries are sent to, if they are; the document's shape may be any."""
    hooks = document.member("hooks")
    events = [event.node for event in hooks.elements] if hooks else []
    groups = [group.node.member("hooks") for event in events for group in event.elements]
    handlers = [item.node.value for group in groups if group for item in group.elements]
    return {str(one["url"]) for one in handlers if isinstance(one, dict) and is_ours(one)}


def _sending_switches(document: Node, urls: set[str]) -> Iterator[str]:
    """Name each setting in `document` that keeps hooks from being sent to `urls`."""
    allowed = _texts(document.member("allowedHttpHookUrls"))
    if allowed is not None:
        for url in sorted(urls):
            if not any(_matches(pattern, url) for pattern in allowed):
                yield f"allowedHttpHookUrls in this file does not name {url}: nothing is sent there"
    variables = _texts(document.member("httpHookAllowedEnvVars"))
    if urls and variables is not None and TOKEN not in variables:
        yield f"httpHookAllowedEnvVars in this file does not name {TOKEN}: no token is shown"


def _texts(node: Node | None) -> list[str] | None:
    if node is None or not isinstance(node.value, list):
        return None
    return [text for text in node.value if isinstance(text, str)]


def _matches(pattern: str, url: str) -> bool:
    """Whether a pattern names a URL: `*` stands for anything, and no path for every path."""
    written = ".*".join(map(re.escape, pattern.rstrip("/").split("*")))
    return re.fullmatch(f"{written}(?:/.*)?", url) is not None


def _loopback(host: str) -> bool:
    return host == "localhost" or (_is_number(host) and ip_address(host).is_loopback)


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


SETTINGS = Settings(
    stances={
        Stance.COMPANION: "Companion: Claude Code asks its own user as always, the operator "
        "may answer too, and the first answer wins.  What your rules deny or want asked is "
        "denied or held in every mode.",
        Stance.GATE: "Gate: every tool call is held for the operator before Claude Code's own "
        "rules see it.",
    },
    scopes=tuple(Scope),
    groups=groups,
    path=settings_path,
    switches=switches,
    unreachable="If no server can be reached, Claude Code goes on by its own rules.",
    transports=tuple(Transport),
    versions=("2.1.330",),
    overridden=overridden,
    owns=is_ours,
    once=True,
)


# The names in use and, after them, the old ones that still match.
_TOOLS = """
Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode
EnterWorktree ExitPlanMode ExitWorktree Glob Grep KillShell LS LSP ListAgents
ListMcpResourcesTool Monitor MultiEdit NotebookEdit NotebookRead PowerShell Read
ReadMcpResourceDirTool ReadMcpResourceTool SendMessage SendUserMessage SetGoal Skill
SlashCommand TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete
TodoRead TodoWrite ToolSearch WebFetch WebSearch Workflow Write
Task KillBash ListPeers Brief ListMcpResources ReadMcpResource ReadMcpResourceDir ProposeGoal
"""

_ELSEWHERE: Mapping[str, str] = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "edit_file": "Edit",
    "glob": "Glob",
    "grep_search": "Grep",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
    "apply_patch": "Edit",
    "Shell": "Bash",
    "Terminal": "Bash",
}


def _reads(name: str) -> Reads:
    """Return what is read on an event: exit code 2 is in vain where no verdict blocks."""
    blocking = {Way.PERMISSION, Way.BLOCK, Way.EXIT, Way.ACTION}
    row = EVENTS[name]
    blocks = name == "WorktreeCreate" or not blocking.isdisjoint(row.verdicts.values())
    return replace(row.reads, silent=not blocks)


_EVENTS = {name: _reads(name) for name in EVENTS}

PROTOCOL = Protocol(
    name="claude",
    title="Claude Code",
    unit=1,
    timeout=600,
    events=_EVENTS,
    tools=frozenset(_TOOLS.split()),
    mcp="mcp__server__tool",
    nested=frozenset(key for one in _EVENTS.values() for key in one.specific)
    - {"decision", "content"},
    decisions=frozenset({"approve", "block"}),
    permissions=frozenset({"allow", "deny", "ask", "defer"}),
    elsewhere=_ELSEWHERE,
    handler_types=frozenset({"command", "http", "mcp_tool", "prompt", "agent"}),
    folder=".claude",
    switches=(
        (("disableAllHooks",), True, "it switches every hook off"),
        (("allowManagedHooksOnly",), True, "only the organisation's own hooks run"),
    ),
    names="_|-, ",
    whole_values=True,
    sets_environment=True,
    variables=("CLAUDE_PROJECT_DIR",),
    spoken=frozenset({"permissionDecision", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"}),
)
