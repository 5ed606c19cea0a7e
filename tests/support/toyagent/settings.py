"""How crabhook is installed into the toy agent."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.platforms.event_table import Patience
from crabhook.platforms.installation import Group, HookSetup, Installation, SettingsScope, grouped
from tests.support.toyagent import EVENTS


def _handler(installation: Installation, patience: Patience, _: str) -> Group:
    words = installation.client(patience, "--platform", "toy", decides=False)
    return {"type": "command", "command": shlex.join(words), "timeout": patience.timeout}


groups = grouped(EVENTS, _handler)


def settings_path(_: SettingsScope, __: Path, environment: Mapping[str, str]) -> Path:
    """Return where the toy keeps its settings."""
    return Path(environment["HOME"], ".toy", "settings.json")


SETTINGS = HookSetup(
    stances={Stance.GATE: "Gate: every call of the toy is held."},
    scopes=(SettingsScope.USER,),
    groups=groups,
    path=settings_path,
    unreachable="If no server can be reached, the toy plays on.",
    versions=("1.0.0",),
)
