"""Whether the agent's user has let our hooks run, where the agent asks for that."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from crabhook.doctor import commands
from crabhook.doctor.entry import Entry
from crabhook.doctor.facts import Case, Settings
from crabhook.doctor.finding import Finding, Status, several
from crabhook.install.document import Json, Number
from crabhook.install.errors import InstallError
from crabhook.install.places import Scope
from crabhook.install.settings_file import LARGEST
from crabhook.ownfile import read_own

_ID = "hook.permitted"


def permitted(case: Case) -> Iterator[Finding]:
    """Whether the agent was told to run our hooks, if it wants to be told."""
    look = _LOOKS.get(case.row.name)
    if look is not None and case.entries:
        yield from look(case)


def _reviewed(case: Case) -> Iterator[Finding]:
    """Codex 0.169 runs a hook whose definition was reviewed, and keeps a hash of each.

    It is kept in the user's config.toml, under the file, the event and the
    hook's place: the hash of the definition as JSON with sorted keys.
    """
    path = case.row.agent.path(Scope.USER, case.wish.project, os.environ)
    known = _hashes(path.with_name(case.row.beside))
    missing, changed = list[str](), list[str]()
    for settings in case.hooked:
        for one in settings.ours:
            kept = next((known[key] for key in _keys(settings, one) if key in known), None)
            if kept is None:
                missing.append(one.event)
            elif kept != _hash(one):
                changed.append(one.event)
    if not (missing or changed):
        yield Finding(_ID, Status.OK, "its user has reviewed the hooks as they are")
        return
    what = f"not reviewed as they are: {several([*missing, *changed])}"
    means = f"{case.title} skips these hooks, in `codex exec` without a word"
    advice = "it asks when it begins: trust crabhook's hooks there, or with /hooks"
    # Another version may hash otherwise; one that has never heard of them skips them for sure.
    status = Status.FAULT if missing else Status.WARNING
    yield Finding(_ID, status, what, means, case.row.agent.program, advice)


def _hashes(path: Path) -> Mapping[str, str]:
    try:
        hooks = tomllib.loads(read_own(path, LARGEST, anybodys=True).decode()).get("hooks", {})
    except (OSError, ValueError):
        return {}  # that it cannot be read is a finding of its own
    states = hooks.get("state") if isinstance(hooks, dict) else None
    if not isinstance(states, dict):
        return {}
    return {
        key: str(state.get("trusted_hash")) for key, state in states.items() if type(state) is dict
    }


def _keys(settings: Settings, one: Entry) -> Iterator[str]:
    event = re.sub(r"(?<!^)([A-Z])", r"_\1", one.event).lower()
    for path in (settings.path, Path(os.path.realpath(settings.path))):
        yield f"{path}:{event}:{one.group}:{one.place}"


def _hash(one: Entry) -> str:
    event = re.sub(r"(?<!^)([A-Z])", r"_\1", one.event).lower()
    handler = {key: _plain(value) for key, value in one.handler.items()} | {"async": False}
    definition = {"event_name": event, "hooks": [handler]}
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _plain(value: Json) -> object:
    return json.loads(value.literal) if isinstance(value, Number) else value


def _trusted(case: Case) -> Iterator[Finding]:
    """Gemini CLI 0.61 runs no hook at all in a folder that is not trusted.

    Of the folders in trustedFolders.json that hold the project the longest
    counts; `security.folderTrust.enabled` is true unless it is false.
    """
    path = case.row.agent.path(Scope.USER, case.wish.project, os.environ)
    folders = path.with_name("trustedFolders.json")
    try:
        trust = None if _trusts_all(path) else _trust(folders, case.wish.project)
    except (OSError, ValueError, InstallError) as error:
        mend = commands.edit(folders, str(error))
        yield Finding(_ID, Status.UNKNOWN, f"{folders} cannot be read: {error}", mend=mend)
        return
    means = f"{case.title} runs no hook at all in {case.wish.project}, and says nothing"
    if trust == "DO_NOT_TRUST":
        what, mend = f"{folders} says not to trust this folder", commands.edit(folders)
        yield Finding(_ID, Status.FAULT, what, means, mend)
    elif trust == "":
        what = "nobody has said yet whether this folder is trusted"
        advice = "it asks when it begins; in a folder where you use it no other way, /permissions"
        yield Finding(_ID, Status.WARNING, what, means, case.row.agent.program, advice)
    else:
        yield Finding(_ID, Status.OK, f"{case.wish.project} is a folder that it trusts")


def _trusts_all(settings: Path) -> bool:
    """Whether the user has switched the trust of folders off."""
    if not settings.exists():
        return False
    document = json.loads(read_own(settings, LARGEST, anybodys=True))
    security = document.get("security") if isinstance(document, dict) else None
    trust = security.get("folderTrust") if isinstance(security, dict) else None
    return isinstance(trust, dict) and trust.get("enabled") is False


def _trust(folders: Path, project: Path) -> str:
    """Return the word on the project's folder; nothing where there is none."""
    if not folders.exists():
        return ""
    document = json.loads(read_own(folders, LARGEST, anybodys=True))
    words = document if isinstance(document, dict) else {}
    here = Path(os.path.realpath(project))
    holding = [
        (len(folder), str(word))
        for folder, word in words.items()
        if here.is_relative_to(
            os.path.realpath(os.path.dirname(folder) if word == "TRUST_PARENT" else folder)  # noqa: PTH120 - as Gemini CLI does
        )
    ]
    return max(holding)[1] if holding else ""


_LOOKS: Mapping[str, Callable[[Case], Iterator[Finding]]] = {
    "codex": _reviewed,
    "gemini": _trusted,
}
