"""Our entries in Gemini CLI's settings, each one line for bash, with its timeout in milliseconds.

`PROTOCOL` is what Gemini CLI 0.61 reads, in its settings and from hooks.
"""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os.path import dirname
from pathlib import Path

from crabhook.model.document import parse
from crabhook.model.errors import InstallError
from crabhook.model.jsontext import Value, object_at
from crabhook.model.request import Stance
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.installation import (
    Group,
    Installation,
    Look,
    Permission,
    Scope,
    Settings,
    hooked,
    users_folder,
)
from crabhook.platforms.rows import Patience, Protocol, decided

NAME = "crabhook"  # what Gemini CLI calls the hook in its own lists, and where it is switched off

_MAC = sys.platform == "darwin"
_SHARED = Path("/Library/Application Support/GeminiCli") if _MAC else Path("/etc/gemini-cli")

_TRUST = "in a folder that is not trusted Gemini CLI runs no hooks at all, and says nothing"
_DIALOGS = (
    "an allow does not answer Gemini CLI's own dialog, which follows; with --approval-mode yolo "
    "none does, and the operator is the one gate"
)
CAUTIONS = (_TRUST, _DIALOGS)

_GONE = "crabhook is no longer where its hooks were installed from; run crabhook install gemini"
_DENIED = '{"decision":"deny","reason":"' + _GONE + '"}'


def groups(installation: Installation) -> dict[str, Group]:
    """Return the one matcher group that each event shall hold, in the order to be written.

    Raises InstallError if a value cannot stand in Gemini CLI's settings as it is.
    """
    installation.refuse("$", "with which Gemini CLI names variables")
    return {
        event: {"matcher": "*", "hooks": [_handler(installation, patience, event)]}
        for event, patience in hooked(EVENTS, installation)
    }


def settings_path(scope: Scope, project: Path, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of Gemini CLI's settings file for `scope`.

    GEMINI_CLI_HOME takes the place of the home folder, as it does for Gemini
    CLI.  Raises InstallError where there is no home to look in.
    """
    if scope is Scope.PROJECT:
        return project.absolute() / ".gemini" / "settings.json"
    if scope is not Scope.USER:
        raise InstallError(f"Gemini CLI has no settings of the scope {scope}; name user or project")
    return users_folder(environment, "GEMINI_CLI_HOME", "") / ".gemini" / "settings.json"


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    config = parse(text).member("hooksConfig")
    enabled = config and config.member("enabled")
    if enabled and enabled.value is False:
        yield "hooksConfig.enabled is false in this file: it switches every hook off, ours too"
    disabled = config and config.member("disabled")
    if disabled and NAME in (element.node.value for element in disabled.elements):
        yield f'hooksConfig.disabled in this file lists "{NAME}": our hooks do not run'


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    closed = installation.fail_closed and event in decided(EVENTS)
    return {
        "type": "command",
        "name": NAME,
        "command": _line(installation, patience, closed=closed),
        "timeout": int(patience.timeout * 1000),
    }


def _line(installation: Installation, patience: Patience, *, closed: bool) -> str:
    """Return the line for bash that becomes our client.

    With `exec`, so that the end Gemini CLI sends to the shell reaches the
    client.  Where Python or crabhook is gone a shell would end with 127, which
    denies everything, the user's prompts included; so the line says itself
    what holds then.
    """
    gate = replace(installation, stance=Stance.GATE)
    words = gate.client(patience, "--platform", "gemini", closed=closed)
    otherwise = shlex.quote(_DENIED if closed else "{}")
    return f"{installation.there()} && exec {shlex.join(words)}; echo {otherwise}"


def permitted(look: Look) -> Iterator[Permission]:
    """Say whether the project is in a folder that is trusted, without which no hook runs.

    Of the folders in trustedFolders.json that hold the project the longest
    counts; `security.folderTrust.enabled` is true unless it is false.
    """
    folders = look.settings.with_name("trustedFolders.json")
    try:
        trust = None if _trusts_all(look) else _trust(look, folders)
    except (OSError, ValueError, InstallError) as error:
        what = f"{folders} cannot be read: {error}"
        yield Permission(let=None, what=what, edit=folders, readable=False)
        return
    means = f"Gemini CLI runs no hook at all in {look.project}, and says nothing"
    if trust == "DO_NOT_TRUST":
        yield Permission(
            let=False, what=f"{folders} says not to trust this folder", means=means, edit=folders
        )
    elif trust == "":
        what = "nobody has said yet whether this folder is trusted"
        advice = "it asks when it begins; in a folder where you use it no other way, /permissions"
        yield Permission(let=None, what=what, means=means, advice=advice)
    else:
        yield Permission(let=True, what=f"{look.project} is a folder that it trusts")


def _trusts_all(look: Look) -> bool:
    """Whether the user has switched the trust of folders off."""
    security = object_at(_object(look, look.settings), "security")
    return object_at(security, "folderTrust").get("enabled") is False


def _trust(look: Look, folders: Path) -> str:
    """Return the word on the project's folder; nothing where there is none."""
    here = look.real(look.project)
    holding = [
        (len(folder), str(word))
        for folder, word in _object(look, folders).items()
        if here.is_relative_to(
            look.real(Path(dirname(folder) if word == "TRUST_PARENT" else folder))  # noqa: PTH120 - as Gemini CLI does
        )
    ]
    return max(holding)[1] if holding else ""


def _object(look: Look, path: Path) -> Mapping[str, Value]:
    """Return the object in a file, an empty one where there is no file or another value."""
    try:
        document = json.loads(look.read(path))
    except FileNotFoundError:
        return {}
    return document if isinstance(document, dict) else {}


SETTINGS = Settings(
    stances={
        Stance.GATE: "Gate: every tool call is held for the operator before Gemini CLI's own "
        "policy sees it.",
    },
    scopes=(Scope.USER, Scope.PROJECT),
    groups=groups,
    path=settings_path,
    switches=switches,
    unreachable="If no server can be reached, Gemini CLI goes on by its own policy, and in "
    "yolo mode every call runs; --fail-closed denies them instead.",
    cautions=CAUTIONS,
    versions=("0.61.0",),
    above=(_SHARED / "settings.json",),
    permitted=permitted,
)


_TOOLS = """
run_shell_command read_file write_file replace glob grep_search search_file_content
list_directory web_fetch google_web_search write_todos update_topic list_background_processes
read_background_output activate_skill invoke_agent enter_plan_mode exit_plan_mode ask_user
read_many_files get_internal_docs read_mcp_resource list_mcp_resources complete_task
"""

_ELSEWHERE: Mapping[str, str] = {
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "UserPromptSubmit": "BeforeAgent",
    "Stop": "AfterAgent",
    "PreCompact": "PreCompress",
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "MultiEdit": "replace",
    "Glob": "glob",
    "Grep": "grep_search",
    "grep": "grep_search",
    "LS": "list_directory",
    "ls": "list_directory",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
    "Task": "invoke_agent",
    "Agent": "invoke_agent",
    "shell": "run_shell_command",
}

_EVENTS = {name: row.reads for name, row in EVENTS.items()}

PROTOCOL = Protocol(
    name="gemini",
    title="Gemini CLI",
    unit=0.001,
    timeout=60,
    events=_EVENTS,
    tools=frozenset(_TOOLS.split()),
    mcp="mcp_server_tool",
    nested=frozenset({"additionalContext", "tool_input", "toolConfig", "tailToolCallRequest"}),
    decisions=frozenset({"allow", "approve", "deny", "block", "ask"}),
    elsewhere=_ELSEWHERE,
    strict_event_name=False,
    folder=".gemini",
    marks=frozenset({"hooksConfig"}),
    comments=True,
    switches=((("hooksConfig", "enabled"), False, "it switches every hook off"),),
    variables=("GEMINI_PROJECT_DIR",),
    spoken=frozenset({"BeforeTool", "AfterTool", "BeforeAgent", "run_shell_command"}),
    input_key="tool_input",
    listed="_|",
    goes_on=frozenset({1}),
    heeds_silence=False,
    any_output=True,
)
