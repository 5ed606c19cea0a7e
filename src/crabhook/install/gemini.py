"""Our entries in Gemini CLI's settings: which of its events get our hook, and how it is written.

Of the 11 events of Gemini CLI 0.61 seven are hooked.  Each entry is one line
for bash, with its timeout in milliseconds.
"""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from crabhook.install.document import parse
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

NAME = "crabhook"  # what Gemini CLI calls the hook in its own lists, and where it is switched off

DECIDED: tuple[str, ...] = ("BeforeTool",)

# An operator may ask to hold these, so their hooks can wait as long.
HOLDABLE: tuple[str, ...] = ("AfterTool", "BeforeAgent", "AfterAgent", "SessionStart")

# A server that answers late must not hold the agent up for what can only be shown to it.
OBSERVED: dict[str, Patience] = {
    "SessionEnd": Patience(timeout=10, client=5),
    "Notification": Patience(timeout=10, client=5),
}

LEFT_OUT: dict[str, str] = {
    "BeforeModel": "it fires for every request to the model, with the whole conversation in it",
    "BeforeToolSelection": "it fires for every request to the model, and nothing there is decided",
    "AfterModel": "it fires for every piece of a reply: a process each, to learn nothing",
    "PreCompress": "it fires before every request to the model, not only when it compresses",
}

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
    _refuse_variables(installation)
    patience = Patience(installation.wait + AGENT_GRACE, installation.wait + CLIENT_GRACE)
    patiences = dict.fromkeys((*DECIDED, *HOLDABLE), patience) | OBSERVED
    return {
        event: {"matcher": "*", "hooks": [_handler(installation, limits, event)]}
        for event, limits in patiences.items()
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
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME")
    if not home:
        raise InstallError("HOME is not set, so there are no user settings; name a --scope")
    return Path(home).absolute() / ".gemini" / "settings.json"


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
    return {
        "type": "command",
        "name": NAME,
        "command": _line(installation, patience, closed=_closed(installation, event)),
        "timeout": int(patience.timeout * 1000),
    }


def _closed(installation: Installation, event: str) -> bool:
    """Whether a call is denied that the operator cannot be asked about."""
    return installation.fail_closed and event in DECIDED


def _line(installation: Installation, patience: Patience, *, closed: bool) -> str:
    """Return the line for bash that becomes our client.

    With `exec`, so that the end Gemini CLI sends to the shell reaches the
    client.  Where Python or crabhook is gone a shell would end with 127, which
    denies everything, the user's prompts included; so the line says itself
    what holds then.
    """
    python, stub = installation.interpreter, installation.stub
    words = [python, "-I", "-S", "-c", START, stub, "--platform", "gemini"]
    for option, value in passed_on(installation).items():
        words += [option, value]
    words += ["--wait", str(patience.client)]
    if closed:
        words += ["--when-unreachable", "deny", "--when-lost", "deny"]
    there = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(stub)} ]"
    return f"{there} && exec {shlex.join(words)}; echo {shlex.quote(_DENIED if closed else '{}')}"


def _refuse_variables(installation: Installation) -> None:
    """Refuse what Gemini CLI would fill in, and text that UTF-8 cannot hold."""
    for value in (installation.interpreter, installation.stub, *passed_on(installation).values()):
        if "$" in value:
            raise InstallError(f"{value!r} holds $, with which Gemini CLI names variables")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InstallError(f"{value!r} is not UTF-8, as a settings file must be") from error
