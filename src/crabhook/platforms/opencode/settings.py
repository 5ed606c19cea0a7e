"""Our plugin in OpenCode's folder of plugins: a file that is all ours.

`plugin.js` beside this module is its text. One line of it differs by installation: the server's
address, the stance, how long to wait, and the file with the token. The token itself is never in it.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from crabhook.model.card import Stance
from crabhook.model.errors import InstallError, PayloadError
from crabhook.model.json_source import Node, parse, uncommented
from crabhook.model.jsontext import parse_object, text_at
from crabhook.platforms.event_table import Patience
from crabhook.platforms.installation import (
    CLIENT_GRACE,
    USUAL_WAIT,
    Around,
    Group,
    HookSetup,
    Installation,
    OwnFile,
    PluginFile,
    SettingsScope,
    Transport,
    grouped,
    settings_file,
)
from crabhook.platforms.opencode.events import EVENTS
from crabhook.platforms.sending import STANCE, USUAL_URL, WAIT, endpoint, is_sent, served

_NAME = "plugins/crabhook.js"
_FILES = {
    SettingsScope.USER: f"opencode/{_NAME}",
    SettingsScope.PROJECT: f".opencode/{_NAME}",
}
settings_path = settings_file("OpenCode", "XDG_CONFIG_HOME", ".config", _FILES)

_LINE = "const SETTINGS = "
_EMPTY = f"{_LINE}{{}};\n"


@cache
def plugin() -> str:
    """Return the plugin as it is before an installation."""
    return Path(__file__).with_name("plugin.js").read_text("utf-8")


def _handler(installation: Installation, patience: Patience, _: str) -> Group:
    """Return an event's handler, which says what the plugin's line does; it is sent as JSON."""
    url = endpoint(installation.url or USUAL_URL, "opencode")
    closed = installation.fail_closed or installation.stance is Stance.GATE
    headers = {STANCE: installation.stance.value, WAIT: str(patience.client)}
    return {
        "type": "http",
        "url": url,
        "headers": headers,
        "tokenFile": installation.token_file or "",
        "timeout": patience.timeout,
        **({"onFailure": "block"} if closed else {}),
    }


groups = grouped(EVENTS, _handler)


def text(entries: Mapping[str, Group]) -> str:
    """Return the plugin's whole text for these entries."""
    handler = _of_a_call(entries)
    headers = handler["headers"]
    line = {
        "url": handler["url"],
        "stance": headers[STANCE],
        "wait": int(headers[WAIT]),
        "closed": handler.get("onFailure") == "block",
        "token": handler["tokenFile"],
        "serve": " ".join(("crabhook serve", *served(handler["url"]))),
    }
    before, after = plugin().split(_EMPTY)
    return f"{before}{_LINE}{json.dumps(line)};\n{after}"


def _of_a_call(entries: Mapping[str, Group]) -> dict[str, Any]:
    """Return the handler of the event before a call: the others say no more."""
    handlers: Any = entries["tool.execute.before"]["hooks"]
    handler: dict[str, Any] = handlers[0]
    return handler


def read(content: str) -> dict[str, Group]:
    """Return the entries that a plugin of ours was written for. Raises InstallError."""
    line = next((line for line in content.splitlines() if line.startswith(_LINE)), "")
    try:
        written = parse_object(line.removeprefix(_LINE).rstrip("; ").encode())
        stance = Stance(text_at(written, "stance"))
    except (PayloadError, ValueError) as error:
        raise InstallError(f"its line of settings cannot be read: {error}") from error
    wait = written.get("wait")
    return groups(
        Installation(
            interpreter="",
            stub="",
            stance=stance,
            fail_closed=written.get("closed") is True,
            wait=max(1, wait - CLIENT_GRACE) if isinstance(wait, int) else USUAL_WAIT,
            token_file=text_at(written, "token") or None,
            url=text_at(written, "url"),
        )
    )


_CONFIGURATIONS = ("opencode.json", "opencode.jsonc")


def troubles(path: Path, read_file: Callable[[Path], bytes]) -> Iterator[str]:
    """Say what OpenCode's own settings beside our plugin do to what it asks about."""
    folder = path.parent.parent
    places = (folder, folder.parent) if folder.name == ".opencode" else (folder,)
    for place in (place / name for place in places for name in _CONFIGURATIONS):
        try:
            document = parse(uncommented(read_file(place).decode(), commas=True))
        except (OSError, ValueError, InstallError):  # it is not there, or OpenCode says so itself
            continue
        yield from _weakened(place, document)


def _weakened(path: Path, document: Node) -> Iterator[str]:
    """Say which permissions of a configuration do something else than they seem to."""
    asked, plan = _at(document, "permission", "edit"), _at(document, *_PLAN)
    if asked and asked.value == "ask" and not (plan and plan.value == "deny"):
        yield (
            f'{path} has "edit" asked, which opens it to the plan agent too: give that one '
            '"agent": {"plan": {"permission": {"edit": "deny"}}}'
        )


_PLAN = ("agent", "plan", "permission", "edit")


def _at(node: Node | None, *keys: str) -> Node | None:
    """Return the value at a path of keys; None without one."""
    for key in keys:
        node = node.member(key) if node else None
    return node


_MODULES = (".js", ".ts", ".mjs", ".cjs", ".mts")
_PLUGIN_FOLDERS = ("plugins", "plugin")


def brought(around: Around) -> Iterator[PluginFile]:
    """Yield the other plugins that OpenCode loads in a project (1.18.33).

    They run in its own process, and may change a call behind ours.
    """
    scopes = (SettingsScope.USER, SettingsScope.PROJECT)
    try:
        ours = [settings_path(scope, around.project, around.environment) for scope in scopes]
    except InstallError:  # no home: then no plugins of the user's either
        return
    for path in ours:
        root = path.parent.parent
        for folder in (root / name for name in _PLUGIN_FOLDERS):
            for name in around.names(folder):
                if (folder / name) not in ours and name.endswith(_MODULES):
                    file = folder / name
                    yield PluginFile(file, shlex.join(["mv", str(file), f"{file}.off"]), name)
        places = (root, root.parent) if root.name == ".opencode" else (root,)
        for file in (place / name for place in places for name in _CONFIGURATIONS):
            listed = around.object_in(file).get("plugin")
            for plugin in listed if isinstance(listed, list) else ():
                first = plugin[0] if isinstance(plugin, list) and plugin else plugin
                yield PluginFile(file, "", str(first))


PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - the variable's name


def exposed(environment: Mapping[str, str]) -> Iterator[str]:
    """Say who else can answer in the person's place, where OpenCode is started from here."""
    if not environment.get(PASSWORD):
        yield (
            f"{PASSWORD} is not set: where OpenCode listens, as `opencode serve`, `web` and `acp` "
            "do, every program of this machine can answer what it asks, the agent's own too"
        )


SETTINGS = HookSetup(
    stances={
        Stance.COMPANION: "Companion: what OpenCode would ask its own user, and its questions, "
        "come to the operator too, and the first answer wins. What your rules deny or want asked "
        "is denied or held before every call.",
        Stance.GATE: "Gate: every tool call is held for the operator before OpenCode's own "
        "permissions see it, and what is allowed there is not asked again.",
    },
    scopes=(SettingsScope.USER, SettingsScope.PROJECT),
    groups=groups,
    path=settings_path,
    unreachable="If no server can be reached, OpenCode goes on by its own permissions, which ask "
    "about little; --fail-closed denies instead.",
    cautions=(
        (
            "OpenCode asks about little by itself: for a companion, set what it shall ask, as with "
            '"permission": {"bash": "ask", "webfetch": "ask"} in opencode.json. A gate holds every '
            "call"
        ),
        (
            '"always" in OpenCode\'s own dialog allows later calls in all sessions of its server, '
            "unseen; crabhook never answers so"
        ),
        (
            "in `opencode acp` the editor's own dialog stays open after the operator's answer, and "
            "`opencode run` rejects at once what it should ask: use a gate there"
        ),
        "OpenCode started with --pure loads no plugins, so nothing is held then",
    ),
    transports=(Transport.HTTP,),
    owns=is_sent,
    versions=("1.18.33",),
    troubles=troubles,
    brought=brought,
    exposed=exposed,
    own=OwnFile(mark=plugin().partition("\n")[0], text=text, read=read),
    closed=frozenset({Stance.GATE}),
)
