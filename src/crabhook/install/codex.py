"""Our entries in Codex's hooks.json: which of its events get our hook, and how it is written.

Codex CLI 0.169 knows 12 events.  Each entry is one line for the user's shell,
with its timeout in whole seconds.
"""

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.install.errors import InstallError
from crabhook.install.events import Patience
from crabhook.install.hooks import (
    AGENT_GRACE,
    CLIENT_GRACE,
    START,
    Group,
    Installation,
    passed_on,
)
from crabhook.install.places import Scope
from crabhook.install.settings_file import LARGEST
from crabhook.model.request import Stance
from crabhook.ownfile import read_own

# PermissionRequest is the one event on which a hook can approve, and fires only
# where Codex would ask its user.  PreToolUse comes before every call, and can
# deny it or change it: the gate holds it, and a companion's rules are asked there.
DECIDED: tuple[str, ...] = ("PreToolUse", "PermissionRequest")

# An operator may ask to hold these, so their hooks can wait as long.
HOLDABLE: tuple[str, ...] = (
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "SessionStart",
)

_SOON = Patience(timeout=10, client=5)
# Codex gives these no more than 3 s, and warns where more is written.
_AT_THE_DOOR = Patience(timeout=3, client=2)

# A server that answers late must not hold the agent up for what can only be shown to it.
OBSERVED: dict[str, Patience] = {
    "SubagentStart": _SOON,
    "PreCompact": _SOON,
    "PostCompact": _SOON,
    "Interrupt": _AT_THE_DOOR,
    "SessionEnd": _AT_THE_DOOR,
}

CAUTIONS: tuple[str, ...] = (
    (
        "Codex runs a new or changed hook only after its user has reviewed it: start `codex`, "
        "which asks, or type /hooks there; until then it skips them, in `codex exec` without a word"
    ),
    (
        "only PermissionRequest can approve, and `codex exec` never sends it; there a gate's "
        "PreToolUse can deny and change what is run, and nothing is approved"
    ),
)

_GONE = "crabhook is no longer where its hooks were installed from; run crabhook install codex"
_DENIED: Mapping[str, str] = {
    "PreToolUse": '{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
    f'"permissionDecision":"deny","permissionDecisionReason":"{_GONE}"}}}}',
    "PermissionRequest": '{"hookSpecificOutput":{"hookEventName":"PermissionRequest",'
    f'"decision":{{"behavior":"deny","message":"{_GONE}"}}}}}}',
}


def groups(installation: Installation) -> dict[str, Group]:
    """Return the one matcher group that each event shall hold, in the order to be written.

    Raises InstallError if a value cannot stand in a settings file as it is.
    """
    _refuse_unwritable(installation)
    patience = Patience(installation.wait + AGENT_GRACE, installation.wait + CLIENT_GRACE)
    patiences = dict.fromkeys((*DECIDED, *HOLDABLE), patience) | OBSERVED
    return {
        event: {"hooks": [_handler(installation, limits, event)]}
        for event, limits in patiences.items()
    }


def settings_path(scope: Scope, project: Path, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of the hooks.json for `scope`, which lies beside a config.toml.

    CODEX_HOME moves the user's own, as it does for Codex.  Raises InstallError
    for a scope that Codex has not, and where there is no home to look in.
    """
    if scope is Scope.PROJECT:
        return project.absolute() / ".codex" / "hooks.json"
    if scope is not Scope.USER:
        raise InstallError(f"Codex has no settings of the scope {scope}; name user or project")
    if folder := environment.get("CODEX_HOME"):
        return Path(folder).absolute() / "hooks.json"
    if home := environment.get("HOME"):
        return Path(home).absolute() / ".codex" / "hooks.json"
    raise InstallError("HOME is not set, so there are no user settings; name a --scope")


def troubles(path: Path) -> Iterator[str]:
    """Say what the config.toml beside the hooks.json at `path` makes of our hooks."""
    file = path.with_name("config.toml")
    try:
        settings = tomllib.loads(read_own(file, LARGEST, anybodys=True).decode())
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        yield f"{file} cannot be read ({error}), so whether it lets hooks run is not known"
        return
    features = settings.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        yield f"features.hooks is false in {file}: it switches every hook off, ours too"
    hooks = settings.get("hooks")
    if isinstance(hooks, dict) and any(isinstance(groups, list) for groups in hooks.values()):
        yield (
            f"{file} holds hooks too: Codex runs those of both files, and warns of it at every "
            "start until they are in one"
        )
    if settings.get("approval_policy") == "never":
        yield (
            f'approval_policy is "never" in {file}: Codex asks nobody there, so nothing can be '
            "approved, and without --gate nothing is held but what your rules speak of"
        )


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    decides = event in DECIDED
    handler: Group = {
        "type": "command",
        "command": _line(installation, patience, event if decides else ""),
        "timeout": int(patience.timeout),
    }
    if decides:
        handler["statusMessage"] = "waiting for the crabhook operator"
    return handler


def _line(installation: Installation, patience: Patience, decided: str) -> str:
    """Return the line for the shell that becomes our client; `decided` is an event that it decides.

    With `exec`, so that the end Codex sends to the shell reaches the client.
    Where Python or crabhook is gone Codex goes on; a hook that fails closed
    says no itself then.
    """
    python, stub = installation.interpreter, installation.stub
    words = [python, "-I", "-S", "-c", START, stub, "--platform", "codex"]
    if installation.stance is Stance.COMPANION:
        words.append("--companion")
    for option, value in passed_on(installation).items():
        words += [option, value]
    words += ["--wait", str(patience.client)]
    if not (decided and installation.fail_closed):
        return f"exec {shlex.join(words)}"
    words += ["--when-unreachable", "deny", "--when-lost", "deny"]
    there = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(stub)} ]"
    return f"{there} && exec {shlex.join(words)}; echo {shlex.quote(_DENIED[decided])}"


def _refuse_unwritable(installation: Installation) -> None:
    """Refuse text that UTF-8 cannot hold, as a settings file must."""
    for value in (installation.interpreter, installation.stub, *passed_on(installation).values()):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InstallError(f"{value!r} is not UTF-8, as a settings file must be") from error
