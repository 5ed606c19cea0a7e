"""Our entries in Codex's hooks.json, each one line for the user's shell, with whole seconds."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from crabhook.model.card import Stance
from crabhook.model.event import Event
from crabhook.model.json_source import Number
from crabhook.model.jsontext import object_at
from crabhook.platforms.codex.events import EVENTS
from crabhook.platforms.codex.write import write
from crabhook.platforms.event_table import Patience, decided
from crabhook.platforms.installation import (
    ConsentSources,
    Group,
    HookApproval,
    HookSetup,
    Installation,
    Registered,
    SettingsScope,
    grouped,
    settings_file,
)

_BESIDE = "config.toml"

CAUTIONS: tuple[str, ...] = (
    (
        "Codex runs a new or changed hook only after its user has reviewed it: start `codex`, "
        "which asks, or type /hooks there. Until then it skips them, in `codex exec` without a word"
    ),
    (
        "only PermissionRequest can approve, and `codex exec` never sends it: there a gate's "
        "PreToolUse can deny and change what is run, and nothing is approved"
    ),
)

_FILES = {SettingsScope.USER: "hooks.json", SettingsScope.PROJECT: ".codex/hooks.json"}
settings_path = settings_file("Codex", "CODEX_HOME", ".codex", _FILES)


def troubles(path: Path, read: Callable[[Path], bytes]) -> Iterator[str]:
    """Say what the config.toml beside the hooks.json at `path` makes of our hooks."""
    file = path.with_name(_BESIDE)
    try:
        settings = tomllib.loads(read(file).decode())
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        yield f"{file} cannot be read ({error}), so whether it lets hooks run is not known"
        return
    if object_at(settings, "features").get("hooks") is False:
        yield f"features.hooks is false in {file}: it switches every hook off, ours too"
    if any(isinstance(groups, list) for groups in object_at(settings, "hooks").values()):
        yield (
            f"{file} holds hooks too: Codex runs those of both files, and warns of it at every "
            "start until they are in one"
        )
    if settings.get("approval_policy") == "never":
        yield (
            f'approval_policy is "never" in {file}: Codex asks nobody there, so nothing can be '
            "approved. Without --gate only calls are held that your rules name"
        )


def _handler(installation: Installation, patience: Patience, event: str) -> Group:
    """Return an event's handler: a shell line that becomes our client.

    Without Python or crabhook Codex goes on; a hook that fails closed then denies by itself.
    """
    decides = event in decided(EVENTS)
    line = installation.line(patience, Event("codex", event), write if decides else None)
    handler: Group = {"type": "command", "command": line, "timeout": int(patience.timeout)}
    if decides:
        handler["statusMessage"] = "waiting for the crabhook operator"
    return handler


groups = grouped(EVENTS, _handler)


def permitted(sources: ConsentSources) -> Iterator[HookApproval]:
    """Say whether the user has reviewed the hooks: Codex 0.169 keeps a hash of each in config.toml.

    It hashes the definition as JSON with sorted keys.
    """
    hashes = _hashes(sources)
    missing, changed = list[str](), list[str]()
    for hook in sources.entries:
        kept = next((hashes[key] for key in _keys(sources, hook) if key in hashes), None)
        if kept is None:
            missing.append(hook.event)
        elif kept != _hash(hook):
            changed.append(hook.event)
    if not (missing or changed):
        yield HookApproval(let=True, what="its user has reviewed the hooks as they are")
        return
    what = "not reviewed as they are"
    means = "Codex skips these hooks, in `codex exec` without a word"
    advice = "it asks when it begins: trust crabhook's hooks there, or with /hooks"
    # Another version may hash otherwise; one that has never heard of them skips them for sure.
    let = False if missing else None
    yield HookApproval(let, what, means, advice, events=(*missing, *changed))


def _hashes(sources: ConsentSources) -> Mapping[str, str]:
    try:
        document = tomllib.loads(sources.read(sources.settings.with_name(_BESIDE)).decode())
    except (OSError, ValueError):
        return {}  # another finding reports that it is unreadable
    states = object_at(object_at(document, "hooks"), "state")
    return {
        key: str(state.get("trusted_hash")) for key, state in states.items() if type(state) is dict
    }


def _keys(sources: ConsentSources, hook: Registered) -> Iterator[str]:
    for path in (hook.path, sources.real(hook.path)):
        yield f"{path}:{_snake(hook.event)}:{hook.group}:{hook.place}"


def _hash(hook: Registered) -> str:
    handler = {
        key: json.loads(value.literal) if isinstance(value, Number) else value
        for key, value in hook.handler.items()
    }
    definition = {"event_name": _snake(hook.event), "hooks": [handler | {"async": False}]}
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()


SETTINGS = HookSetup(
    stances={
        Stance.COMPANION: "Companion: what Codex would ask its own user is held for the "
        "operator first. Codex's dialog comes up when the operator passes. What your rules "
        "deny or ask about is denied or held under every policy.",
        Stance.GATE: "Gate: every tool call is held for the operator before Codex's own rules "
        "see it, and what is allowed there is not asked again.",
    },
    scopes=(SettingsScope.USER, SettingsScope.PROJECT),
    groups=groups,
    path=settings_path,
    unreachable="If no server can be reached, Codex goes on by its own rules.",
    cautions=CAUTIONS,
    troubles=troubles,
    versions=("0.145.0", "0.171.0"),
    beside=_BESIDE,
    switch="features.hooks is false",
    permitted=permitted,
)
