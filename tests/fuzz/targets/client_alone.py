"""The hook client without a server: its options, and what it tells the agent of any input.

It never allows, and it keeps a wish to deny. The event's name is the name that a JSON reader finds.
"""

from __future__ import annotations

import json
from random import Random

from crabhook.hook import _OPTIONS, Options, Unanswered, read_options
from crabhook.hook.fallback import KINDS, event_name, fall_back
from tests.fuzz.mutation import plain, words
from tests.fuzz.payloads import MUTATION, samples, says_allow
from tests.fuzz.target import Target

WISHES = ("pass", "ask", "deny")
_ARGUMENTS = words.of([*_OPTIONS, "--companion", *WISHES, "claude", "gemini", "codex", "=", "0", "1e9", "nan", "\0", "-", "unix:", "\ud800"])  # fmt: skip


def law(data: bytes) -> None:
    """A line of arguments, NUL between two; from the first newline on, the hook's input."""
    line, _, payload = data.partition(b"\n")
    arguments = line.decode("utf-8", "surrogateescape").split("\0")
    options = read_options([one for one in arguments if not one.startswith("--token-file")], {})
    assert options.wait > 0
    assert {options.when_unreachable, options.when_lost} <= set(WISHES)
    problem = options.problem or "it\x1b[2J is \ud800 gone"
    for kind in KINDS:
        _says_no_more_than_wished(options, payload, Unanswered(kind, problem, len(data) % 20))


def _says_no_more_than_wished(options: Options, payload: bytes, why: Unanswered) -> None:
    reply = fall_back(options, payload, why)
    said = json.loads(reply.stdout) if reply.stdout else {}
    assert not says_allow(said)
    assert reply.stderr.decode().removesuffix("\n").isprintable()
    assert reply.exit_code in (0, 2)
    named = event_name(payload)
    told = _as_json_has_it(payload)
    assert told is None or named == (told[0] or None) or (named, told[0]) == ("", ""), (named, told)
    of_kinds = dict.fromkeys(("lost", "late"), options.when_lost)
    of_kinds["unsigned"] = options.when_unsigned or options.when_lost
    wish = of_kinds.get(why.kind, options.when_unreachable)
    calls = {"claude": "PreToolUse", "gemini": "BeforeTool", "codex": "PreToolUse"}
    if wish == "deny" and named == calls.get(options.platform, named):
        assert reply.exit_code == 2 or "deny" in json.dumps(said)


def _as_json_has_it(payload: bytes) -> tuple[str] | None:
    """The event's name as a JSON reader finds it; None where there is no object."""
    try:
        value = json.loads(payload.decode(), parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name = value.get("hook_event_name")
    return (name if isinstance(name, str) else "",)


def _refused(name: str) -> None:
    raise ValueError(name)


def mutated(data: bytes, chance: Random) -> bytes:
    """Vary the arguments, or the input."""
    line, _, payload = data.partition(b"\n")
    if chance.random() < 0.5:
        return _ARGUMENTS(line, chance).replace(b"\n", b"") + b"\n" + payload
    vary = MUTATION if chance.random() < 0.7 else plain.mutated
    return line + b"\n" + vary(payload, chance)


def seeds() -> list[bytes]:
    """Arguments as hooks are installed with, before recorded inputs."""
    line = b"--companion\0--wait\x005\0--when-unreachable\0deny\0--when-lost\0deny\0--platform\0"
    return [
        line + platform.encode() + b"\n" + payload
        for platform in ("claude", "gemini", "codex")
        for payload in samples(platform)[:4]
    ]


TARGET = Target(law, mutated, seeds)
