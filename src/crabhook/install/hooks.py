"""Our entries in Claude Code's settings: how they are written, and how they are known again."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crabhook.install import overhttp
from crabhook.install.document import Json
from crabhook.install.errors import InstallError
from crabhook.install.events import DECIDED, HOLDABLE, OBSERVED, Patience
from crabhook.model.request import Stance

# Claude Code's timers end here: 2**31 milliseconds, near 24.8 days.
MAX_TIMEOUT = 2_147_483
USUAL_WAIT = 86_400  # seconds: a day, so that "wait longer" reaches beyond the server's own hour
CLIENT_GRACE = 30  # seconds the client waits longer than a question may stand
AGENT_GRACE = 60  # seconds the agent waits longer than that
MAX_WAIT = MAX_TIMEOUT - AGENT_GRACE

# Runs the stub, the next argument, as if Python had been given it as its script.
# Not done by Python itself, because that exits with 2 where the script is
# missing, and 2 is how a hook blocks: with crabhook removed and its entries
# left behind, every prompt would be refused.  This way it exits with 1, which
# is a notice, or what `onFailure` makes of it.
START = "import sys;del sys.argv[0];__file__=sys.argv[0];exec(open(__file__).read())"

# Of the hook's own folder in any installation, within a shell's line as well.
_STUB = re.compile(r"""(?:^|[/\\\s"'=])crabhook[/\\]hook[/\\]run\.py(?=$|[\s"';&|)])""")
_FIRST_WORD = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")

Group = dict[str, object]


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything that decides how the entries look.

    `wait` is how long a question may stand at most, in seconds; the server's
    own default is shorter, and the operator can extend it until then.  `url` is
    where the agent sends its hooks itself, None where it starts our client.
    """

    interpreter: str
    stub: str
    stance: Stance = Stance.COMPANION
    fail_closed: bool = False
    wait: int = USUAL_WAIT
    server: str | None = None
    token_file: str | None = None
    tls_ca: str | None = None
    url: str | None = None


def groups(installation: Installation) -> dict[str, Group]:
    """Return the one matcher group that each event shall hold, in the order to be written.

    Raises InstallError if a value cannot stand in a settings file as it is.
    """
    _refuse_placeholders(installation)
    patience = Patience(installation.wait + AGENT_GRACE, installation.wait + CLIENT_GRACE)
    patiences = dict.fromkeys((*DECIDED, *HOLDABLE), patience) | OBSERVED
    return {
        event: {"hooks": [_handler(installation, limits, event)]}
        for event, limits in patiences.items()
    }


def is_ours(handler: Json) -> bool:
    """Say whether a handler runs crabhook's client, wherever that lies, or sends to a server.

    The supervisor is not the client: its owner writes its entries, and takes them out.
    """
    if not isinstance(handler, dict) or handler.get("type") != "command":
        return overhttp.is_ours(handler)
    command, args = handler.get("command"), handler.get("args")
    words = [command, *(args if isinstance(args, list) else [])]
    if any(isinstance(word, str) and "supervisor-hook" in word.split() for word in words):
        return False
    if any(isinstance(word, str) and _STUB.search(word) for word in words):
        return True
    if not isinstance(command, str):
        return False
    program = _program(command, exec_form=isinstance(args, list))
    return program.rpartition("/")[2] == "crabhook"


def _program(command: str, *, exec_form: bool) -> str:
    """Return the program that `command` starts: all of it, or the first word of a shell's line."""
    found = None if exec_form else _FIRST_WORD.match(command)
    return next(word for word in found.groups() if word is not None) if found else command


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a request where the event can be one, else our client."""
    decides = event in DECIDED
    closed = decides and installation.fail_closed
    if installation.url is not None and event not in overhttp.NOT_SENT:
        url = overhttp.endpoint(installation.url)
        entry = overhttp.handler(url, installation.stance, patience, closed=closed)
    else:
        entry = _command(installation, patience, closed=closed)
    if decides:
        entry["statusMessage"] = "waiting for the crabhook operator"
    return entry


def _command(installation: Installation, patience: Patience, *, closed: bool) -> Group:
    """Return one handler in exec form: no shell, no search of PATH, no `site`.

    `-I -S` halve the interpreter's start; the stub finds its package by its
    own path, so it needs neither.
    """
    args = ["-I", "-S", "-c", START, installation.stub]
    if installation.stance is Stance.COMPANION:
        args.append("--companion")
    for option, value in passed_on(installation).items():
        args += [option, value]
    args += ["--wait", str(patience.client)]
    if closed:
        args += ["--when-unreachable", "deny", "--when-lost", "deny"]
    handler: Group = {
        "type": "command",
        "command": installation.interpreter,
        "args": args,
        "timeout": patience.timeout,
    }
    if closed:
        handler["onFailure"] = "block"
    return handler


def passed_on(installation: Installation) -> Mapping[str, str]:
    """Return the client's options that were given."""
    given = {
        "--server": installation.server,
        "--token-file": installation.token_file,
        "--tls-ca": installation.tls_ca,
    }
    return {option: value for option, value in given.items() if value is not None}


def _refuse_placeholders(installation: Installation) -> None:
    """Refuse `${...}`, which Claude Code would fill in, and text that UTF-8 cannot hold."""
    values = [installation.interpreter, installation.stub, *passed_on(installation).values()]
    for value in values:
        if "${" in value:
            raise InstallError(f"{value!r} holds ${{, which Claude Code would replace")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InstallError(f"{value!r} is not UTF-8, as a settings file must be") from error
