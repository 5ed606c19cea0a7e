"""Our entries in Claude Code's settings, which start our client or send the input themselves.

The token of a sent hook stays out of the settings, which may be a project's: they name the variable
that has it.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.json_source import Node, parse
from crabhook.model.jsontext import Value, object_at, text_at
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.event_table import Patience, decided
from crabhook.platforms.installation import (
    Around,
    Group,
    HookSetup,
    Installation,
    PluginFile,
    SettingsScope,
    Transport,
    Unseen,
    grouped,
    settings_file,
)
from crabhook.platforms.sending import STANCE, TOKEN, WAIT, endpoint, is_sent

_MANAGED: Mapping[str, str] = {"darwin": "/Library/Application Support/ClaudeCode"}
"""The folder of the managed settings, by platform; on any other it is in /etc."""

_FILES = {
    SettingsScope.USER: "settings.json",
    SettingsScope.PROJECT: ".claude/settings.json",
    SettingsScope.LOCAL: ".claude/settings.local.json",
}
_SWITCHES = {
    "disableAllHooks": "it switches every hook off, ours too",
    "allowManagedHooksOnly": "only the organisation's own hooks run, ours do not",
}

NOT_SENT = frozenset({"SessionStart", "Setup"})
"""The events that Claude Code 2.1.330 sends to no HTTP hook."""


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a request if possible, else our client."""
    decides = event in decided(EVENTS)
    closed = decides and installation.fail_closed
    entry: Group
    if installation.url is not None and event not in NOT_SENT:
        stance, wait = installation.stance.value, str(patience.client)
        headers = {"Authorization": f"Bearer ${TOKEN}", STANCE: stance, WAIT: wait}
        entry = {"type": "http", "url": endpoint(installation.url, "claude"), "headers": headers}
        entry["allowedEnvVars"] = [TOKEN]
    else:  # in exec form: no shell, no search of PATH, no `site`
        interpreter, *args = installation.client(patience, decides=decides)
        entry = {"type": "command", "command": interpreter, "args": args}
    entry["timeout"] = patience.timeout
    if closed:
        entry["onFailure"] = "block"
    if decides:
        entry["statusMessage"] = "waiting for the crabhook operator"
    return entry


groups = grouped(EVENTS, _handler, "${", "which Claude Code would replace")
_unmanaged = settings_file("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", _FILES)


def settings_path(scope: SettingsScope, project: Path, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of Claude Code's settings file for `scope`."""
    if scope is SettingsScope.MANAGED:
        return Path(_MANAGED.get(sys.platform, "/etc/claude-code"), "managed-settings.json")
    return _unmanaged(scope, project, environment)


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    document = parse(text if text.strip(" \t\r\n\ufeff") else "{}")
    for key, effect in _SWITCHES.items():
        if (node := document.member(key)) and node.value is True:
            yield f"{key} is true in this file: {effect}"
    yield from _sending_switches(document, _urls(document))


def overridden(scope: SettingsScope | None, switch: str) -> bool:
    """Whether a switch, found in the settings of a scope, leaves managed hooks running."""
    name = switch.partition(" ")[0]
    return name == "allowManagedHooksOnly" or (
        name == "disableAllHooks" and scope is not SettingsScope.MANAGED
    )


def _urls(document: Node) -> set[str]:
    """Return where our own entries send to, in a document of any shape."""
    hooks = document.member("hooks")
    events = [event.node for event in hooks.elements] if hooks else []
    groups = [group.node.member("hooks") for event in events for group in event.elements]
    handlers = [item.node.value for group in groups if group for item in group.elements]
    return {
        str(handler["url"])
        for handler in handlers
        if isinstance(handler, dict) and is_sent(handler)
    }


def _sending_switches(document: Node, urls: set[str]) -> Iterator[str]:
    """Name each setting in `document` that stops sending to `urls`."""
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
    """Whether a pattern matches a URL: `*` is anything, no path is every path."""
    written = ".*".join(map(re.escape, pattern.rstrip("/").split("*")))
    return re.fullmatch(f"{written}(?:/.*)?", url) is not None


_MANIFEST = Path(".claude-plugin", "plugin.json")
_USUAL = Path("hooks", "hooks.json")
_DIRS = "CLAUDE_CODE_PLUGIN_DIRS"


def brought(around: Around) -> Iterator[PluginFile]:
    """Yield the hooks of the plugins that are on in a project (Claude Code 2.1.330).

    An installed plugin runs where `enabledPlugins` is true, by the last settings in the order of
    `SettingsScope`. One below `skills` of the user's or project's folder runs unless false. Plugins
    of `--plugin-dir` are in no file, those of CLAUDE_CODE_PLUGIN_DIRS in the
    environment, which settings may set.
    """
    try:
        own = settings_path(SettingsScope.USER, around.project, around.environment).parent
    except InstallError:  # no home: then no plugins of the user's either
        return
    enabled: dict[str, Value] = {}
    named_dirs = [around.environment.get(_DIRS, "")]
    for scope in SettingsScope:
        settings = around.object_in(settings_path(scope, around.project, around.environment))
        enabled |= object_at(settings, "enabledPlugins")
        named_dirs.append(text_at(object_at(settings, "env"), _DIRS))
    named = around.environment.get("CLAUDE_CODE_PLUGIN_CACHE_DIR")
    plugins = Path(named) if named else own / "plugins"
    for name in (name for name, value in enabled.items() if value is True):
        for root in dict.fromkeys(_installed(around, plugins, name)):
            yield from _hooks_of(around, root, name)
    for folder in filter(None, os.pathsep.join(named_dirs).split(os.pathsep)):
        yield from _files_of(around, Path(folder), "")
    for skills in dict.fromkeys((own / "skills", around.project / ".claude" / "skills")):
        for folder in around.names(skills):
            root = skills / folder
            if manifest := around.object_in(root / _MANIFEST):
                name = f"{text_at(manifest, 'name') or folder}@skills-dir"
                if enabled.get(name) is not False:
                    yield from _hooks_of(around, root, name)


def _installed(around: Around, plugins: Path, name: str) -> Iterator[Path]:
    """Yield the folders of a plugin, from a marketplace that is a folder."""
    bare, _, marketplace = name.rpartition("@")
    shop_entry = object_at(around.object_in(plugins / "known_marketplaces.json"), marketplace)
    if text_at(object_at(shop_entry, "source"), "source") == "directory":
        shop = Path(text_at(shop_entry, "installLocation"))
        offered = around.object_in(shop / ".claude-plugin" / "marketplace.json").get("plugins")
        for plugin in offered if isinstance(offered, list) else ():
            if (
                isinstance(plugin, dict)
                and plugin.get("name") == bare
                and text_at(plugin, "source")
            ):
                yield shop / text_at(plugin, "source")
                return
    there = object_at(around.object_in(plugins / "installed_plugins.json"), "plugins").get(name)
    for plugin in there if isinstance(there, list) else ():
        if isinstance(plugin, dict) and (path := text_at(plugin, "installPath")):
            yield Path(path)


def _hooks_of(around: Around, root: Path, name: str) -> Iterator[PluginFile]:
    """Yield the hook files of a plugin that a command switches off by its name."""
    yield from _files_of(around, root, shlex.join(["claude", "plugin", "disable", name]))


def _files_of(around: Around, root: Path, without: str) -> Iterator[PluginFile]:
    """Yield a plugin's hook files: the usual file, and its manifest's."""
    yield PluginFile(root / _USUAL, without)
    more = around.object_in(root / _MANIFEST).get("hooks")
    if isinstance(more, dict):
        yield PluginFile(root / _MANIFEST, without)
    for path in more if isinstance(more, list) else [more]:
        if isinstance(path, str):
            yield PluginFile(root / path, without)


SETTINGS = HookSetup(
    stances={
        Stance.COMPANION: "Companion: Claude Code asks its own user as always, the operator "
        "may answer too, and the first answer wins. What your rules deny or want asked is "
        "denied or held in every mode.",
        Stance.GATE: "Gate: every tool call is held for the operator before Claude Code's own "
        "rules see it.",
    },
    scopes=tuple(SettingsScope),
    groups=groups,
    path=settings_path,
    switches=switches,
    unreachable="If no server can be reached, Claude Code goes on by its own rules.",
    transports=tuple(Transport),
    versions=("2.1.200", "2.1.332"),
    overridden=overridden,
    owns=is_sent,
    once=True,
    brought=brought,
    unseen=(
        Unseen(
            "the shell lines of skills and custom commands (!`…`)",
            "2.1.332",
            'or write "disableSkillShellExecution": true into its settings, so that none runs',
            "claude update",
        ),
    ),
)
