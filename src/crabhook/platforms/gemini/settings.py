"""Our entries in Gemini CLI's settings: each a line for bash, its timeout in milliseconds."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os.path import dirname
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.event import Event
from crabhook.model.json_source import parse
from crabhook.model.jsontext import Value, object_at, text_at
from crabhook.platforms.event_table import Patience, decided
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.gemini.write import write
from crabhook.platforms.installation import (
    Around,
    ConsentSources,
    Group,
    HookApproval,
    HookSetup,
    Installation,
    PluginFile,
    SettingsScope,
    grouped,
    settings_file,
)

NAME = "crabhook"  # the hook's name in Gemini CLI's own lists and switches

_MAC = sys.platform == "darwin"
_SHARED = Path("/Library/Application Support/GeminiCli") if _MAC else Path("/etc/gemini-cli")

_TRUST = "in a folder that is not trusted Gemini CLI runs no hooks at all, and says nothing"
_DIALOGS = (
    "an allow does not answer Gemini CLI's own dialog, which follows. With --approval-mode yolo "
    "no dialog does, and the operator is the only gate"
)
CAUTIONS = (_TRUST, _DIALOGS)

_FILES = dict.fromkeys((SettingsScope.USER, SettingsScope.PROJECT), ".gemini/settings.json")
settings_path = settings_file("Gemini CLI", "GEMINI_CLI_HOME", "", _FILES)


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
    """Return an event's handler: a bash line that becomes our client.

    Without Python or crabhook a shell would end with 127, which denies everything, even prompts; so
    the line prints its own answer.
    """
    gate = replace(installation, stance=Stance.GATE)
    writes = write if event in decided(EVENTS) else None
    return {
        "type": "command",
        "name": NAME,
        "command": gate.line(patience, Event("gemini", event), writes, "{}"),
        "timeout": int(patience.timeout * 1000),
    }


groups = grouped(EVENTS, _handler, "$", "with which Gemini CLI names variables", matcher="*")


def permitted(sources: ConsentSources) -> Iterator[HookApproval]:
    """Say whether the project is in a trusted folder, without which no hook runs.

    The longest folder in trustedFolders.json above the project counts;
    `security.folderTrust.enabled` is true by default.
    """
    folders = sources.settings.with_name("trustedFolders.json")
    try:
        trust = _trust(sources, folders)
    except (OSError, ValueError, InstallError) as error:
        what = f"{folders} cannot be read: {error}"
        yield HookApproval(let=None, what=what, edit=folders, readable=False)
        return
    means = f"Gemini CLI runs no hook at all in {sources.project}, and says nothing"
    if trust == "DO_NOT_TRUST":
        yield HookApproval(
            let=False, what=f"{folders} says not to trust this folder", means=means, edit=folders
        )
    elif trust == "":
        what = "nobody has said yet whether this folder is trusted"
        advice = "it asks when it begins. In a folder that you use in no other way, /permissions"
        yield HookApproval(let=None, what=what, means=means, advice=advice)
    else:
        yield HookApproval(let=True, what=f"{sources.project} is a folder that it trusts")


def _trust(sources: ConsentSources, folders: Path) -> str | None:
    """Return the trust in the project's folder; "" for no entry, None where trust is off."""
    security = object_at(_object(sources, sources.settings), "security")
    if object_at(security, "folderTrust").get("enabled") is False:
        return None
    here = sources.real(sources.project)
    holding = [
        (len(folder), str(word))
        for folder, word in _object(sources, folders).items()
        if here.is_relative_to(
            sources.real(Path(dirname(folder) if word == "TRUST_PARENT" else folder))  # noqa: PTH120 - as Gemini CLI does
        )
    ]
    return max(holding)[1] if holding else ""


def _object(sources: ConsentSources, path: Path) -> Mapping[str, Value]:
    """Return the object in a file; empty without one."""
    try:
        document = json.loads(sources.read(path))
    except FileNotFoundError:
        return {}
    return document if isinstance(document, dict) else {}


def brought(around: Around) -> Iterator[PluginFile]:
    """Yield the hooks of the extensions that are on in a project (Gemini CLI 0.61.0).

    The last fitting rule in extension-enablement.json counts. A linked extension is elsewhere.
    """
    try:
        user = settings_path(SettingsScope.USER, around.project, around.environment)
    except InstallError:  # no home: then no extensions either
        return
    extensions = user.with_name("extensions")
    enablement = around.object_in(extensions / "extension-enablement.json")
    for folder in around.names(extensions):
        root = extensions / folder
        metadata = around.object_in(root / ".gemini-extension-install.json")
        if metadata.get("type") == "link" and text_at(metadata, "source"):
            root = Path(text_at(metadata, "source"))
        name = text_at(around.object_in(root / "gemini-extension.json"), "name")
        rules = object_at(enablement, name).get("overrides")
        if name and _is_on(rules if isinstance(rules, list) else [], around.project):
            without = shlex.join(["gemini", "extensions", "disable", name])
            yield PluginFile(root / "hooks" / "hooks.json", without)


def _is_on(rules: list[Value], project: Path) -> bool:
    """Whether the last rule that fits the project has no `!`."""
    fitting = [
        rule
        for rule in rules
        if isinstance(rule, str)
        and re.fullmatch(
            re.sub(r"(/?)\\\*", r"(?:\1.*)?", re.escape(rule.removeprefix("!"))), f"{project}/"
        )
    ]
    return not (fitting and fitting[-1].startswith("!"))


SETTINGS = HookSetup(
    stances={
        Stance.GATE: "Gate: every tool call is held for the operator before Gemini CLI's own "
        "policy sees it.",
    },
    scopes=(SettingsScope.USER, SettingsScope.PROJECT),
    groups=groups,
    path=settings_path,
    switches=switches,
    unreachable="If no server can be reached, Gemini CLI goes on by its own policy, and in "
    "yolo mode every call runs. With --fail-closed they are denied instead.",
    cautions=CAUTIONS,
    versions=("0.61.0",),
    above=(_SHARED / "settings.json",),
    permitted=permitted,
    brought=brought,
)
