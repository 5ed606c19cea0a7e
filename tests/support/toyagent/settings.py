"""How crabhook is installed into the toy agent, and what the toy reads."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from crabhook.model.request import Stance
from crabhook.platforms.installation import Group, Installation, Scope, Settings, hooked
from crabhook.platforms.rows import Protocol
from tests.support.toyagent import EVENTS, QUESTION_TOOL


def groups(installation: Installation) -> dict[str, Group]:
    """Return the matcher group that each event shall hold."""
    installation.refuse()
    return {
        event: {
            "hooks": [
                {
                    "type": "command",
                    "command": shlex.join(
                        installation.client(patience, "--platform", "toy", closed=False)
                    ),
                    "timeout": patience.timeout,
                }
            ]
        }
        for event, patience in hooked(EVENTS, installation)
    }


def settings_path(_: Scope, __: Path, environment: Mapping[str, str]) -> Path:
    """Return where the toy keeps its settings."""
    return Path(environment["HOME"], ".toy", "settings.json")


SETTINGS = Settings(
    stances={Stance.GATE: "Gate: every call of the toy is held."},
    scopes=(Scope.USER,),
    groups=groups,
    path=settings_path,
    unreachable="If no server can be reached, the toy plays on.",
    versions=("1.0.0",),
)

PROTOCOL = Protocol(
    name="toy",
    title="Toy Agent",
    unit=1,
    timeout=30,
    events={name: row.reads for name, row in EVENTS.items()},
    tools=frozenset({"toy_shell", QUESTION_TOOL}),
    mcp="mcp__server__tool",
    nested=frozenset(),
    decisions=frozenset({"allow", "deny"}),
    folder=".toy",
    spoken=frozenset({"ToyCall"}),
)
