"""Our entries in a hook file of our own for GitHub Copilot CLI, each one line for the user's shell.

Any exit code but 0 denies every call. So each line prints an answer by itself where Python or
crabhook is gone. Copilot gives a hook 30 seconds unless it is told otherwise.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.errors import InstallError
from crabhook.model.event import Event
from crabhook.model.json_source import parse
from crabhook.platforms.copilot.events import EVENTS
from crabhook.platforms.copilot.write import write
from crabhook.platforms.event_table import Patience, decided
from crabhook.platforms.installation import (
    Group,
    HookSetup,
    Installation,
    SettingsScope,
    grouped,
    settings_file,
)

CAUTIONS = (
    "a hook that dies or ends with an error denies the call, and Copilot tells the model no reason",
    (
        "a hook that is late has no opinion: Copilot goes on by its own rules, and with "
        "--allow-all-tools the call runs. --fail-closed denies where no server is reached in time"
    ),
    (
        "Copilot asks about the calls of a turn one by one: as a gate, crabhook shows the next "
        "call when the one before is answered"
    ),
    "hooks of a project run only in a folder that Copilot trusts",
)

_FILES = {
    SettingsScope.USER: "hooks/crabhook.json",
    SettingsScope.PROJECT: ".github/hooks/crabhook.json",
}
settings_path = settings_file("GitHub Copilot CLI", "COPILOT_HOME", ".copilot", _FILES)


def switches(text: str) -> Iterator[str]:
    """Name each setting in `text` that keeps our hooks from running, and say what it does."""
    disabled = parse(text).member("disableAllHooks")
    if disabled and disabled.value is True:
        yield "disableAllHooks is true in this file: it switches every hook of the file off"


def troubles(path: Path, read: Callable[[Path], bytes]) -> Iterator[str]:
    """Say what the user's settings, beside the folder of hooks, make of our hooks."""
    settings = path.parent.with_name("settings.json")
    try:
        disabled = parse(read(settings).decode()).member("disableAllHooks")
    except FileNotFoundError:
        return
    except (OSError, ValueError, InstallError) as error:
        yield f"{settings} cannot be read ({error}), so whether it lets hooks run is not known"
        return
    if disabled and disabled.value is True:
        yield f"disableAllHooks is true in {settings}: it switches every hook off, ours too"


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a shell line that becomes our client.

    Without Python or crabhook it says nothing; a hook that fails closed then denies by itself.
    """
    writes = write if event in decided(EVENTS) else None
    line = installation.line(patience, Event("copilot", event), writes, "{}")
    return {"type": "command", "command": line, "timeoutSec": int(patience.timeout)}


SETTINGS = HookSetup(
    stances={
        Stance.COMPANION: "Companion: what Copilot would ask its own user comes to the operator "
        "first, and its questions and plans. What your rules deny or want asked is denied or "
        "held in every mode.",
        Stance.GATE: "Gate: every tool call is held for the operator, with --allow-all-tools as "
        "well, and what is allowed there is not asked again.",
    },
    scopes=(SettingsScope.USER, SettingsScope.PROJECT),
    groups=grouped(EVENTS, _handler),
    path=settings_path,
    switches=switches,
    troubles=troubles,
    unreachable="If no server can be reached, Copilot goes on by its own rules, and with "
    "--allow-all-tools every call runs; --fail-closed denies them instead.",
    cautions=CAUTIONS,
    versions=("1.0.66", "1.0.102"),
    beside="../settings.json",
    switch="disableAllHooks is true",
)
