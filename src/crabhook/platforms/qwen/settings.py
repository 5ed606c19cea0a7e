"""Our entries in Qwen Code's settings, each one line for bash, its timeout in milliseconds.

Qwen Code takes a timeout below 1000 for seconds and any other for milliseconds. Ours are all
milliseconds of a whole second at least, so that none can be read the other way.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.event import Event
from crabhook.model.json_source import parse
from crabhook.platforms.event_table import Patience, decided
from crabhook.platforms.installation import (
    Group,
    HookSetup,
    Installation,
    SettingsScope,
    grouped,
    settings_file,
)
from crabhook.platforms.qwen.events import EVENTS
from crabhook.platforms.qwen.write import write

NAME = "crabhook"  # the hook's name in Qwen Code's own lists
MILLISECONDS_FROM = 1000  # what Qwen Code takes for milliseconds, and all below for seconds

_MAC = sys.platform == "darwin"
_SHARED = Path("/Library/Application Support/QwenCode" if _MAC else "/etc/qwen-code")

CAUTIONS = (
    "in yolo mode Qwen Code asks nobody: there only a gate holds calls, and none can be changed",
    (
        "a hook that dies or is late lets the call run; --fail-closed denies where no server is "
        "reached, and no setting denies for a hook that was killed"
    ),
    "hooks of a project's own settings run only in a folder that Qwen Code trusts",
)

_FILES = {SettingsScope.USER: "settings.json", SettingsScope.PROJECT: ".qwen/settings.json"}
settings_path = settings_file("Qwen Code", "QWEN_HOME", ".qwen", _FILES)


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    disabled = parse(text).member("disableAllHooks")
    if disabled and disabled.value is True:
        yield "disableAllHooks is true in this file: it switches every hook off, ours too"


def milliseconds(seconds: float) -> int:
    """Return a timeout as Qwen Code reads it rightly: never a number that it takes for seconds."""
    return max(MILLISECONDS_FROM, int(seconds * 1000))


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a bash line that becomes our client.

    Without Python or crabhook Qwen Code goes on; a hook that fails closed then denies by itself.
    """
    decides = event in decided(EVENTS)
    line = installation.line(patience, Event("qwen", event), write if decides else None)
    handler: Group = {"type": "command", "name": NAME, "command": line}
    handler["timeout"] = milliseconds(patience.timeout)
    if decides:
        handler["statusMessage"] = "waiting for the crabhook operator"
    return handler


groups = grouped(EVENTS, _handler, "$", "with which Qwen Code names variables")

SETTINGS = HookSetup(
    stances={
        Stance.COMPANION: "Companion: what Qwen Code would ask its own user comes to the operator "
        "first. What your rules deny or want asked is denied or held in every mode.",
        Stance.GATE: "Gate: every tool call is held for the operator, for yolo mode as well.",
    },
    scopes=(SettingsScope.USER, SettingsScope.PROJECT),
    groups=groups,
    path=settings_path,
    switches=switches,
    unreachable="If no server can be reached, Qwen Code goes on by its own rules, and in yolo "
    "mode every call runs; --fail-closed denies them instead.",
    cautions=CAUTIONS,
    versions=("0.24.4",),
    above=(_SHARED / "settings.json",),
)
