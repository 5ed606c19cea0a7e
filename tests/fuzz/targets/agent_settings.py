"""Other programs' settings, edited: our hooks in and out again, and every other byte as it was."""

from __future__ import annotations

import json
from typing import Any

from crabhook.install.entries import count, events_in, with_hooks, without_hooks
from crabhook.model.errors import DocumentError, InstallError
from crabhook.model.json_source import Number, as_json, parse
from crabhook.platforms import HOOKED
from crabhook.platforms.claude.settings import switches
from crabhook.platforms.installation import Installation
from tests.fuzz.mutation import values, words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of

OURS = Installation("/usr/bin/python3", "/opt/crabhook/hook/run.py")
GROUPS = [
    agent.settings.groups(Installation(OURS.interpreter, OURS.stub, agent.settings.stance))
    for agent in HOOKED.values()
]


def law(data: bytes) -> None:
    """The bytes are a settings file."""
    text = text_of(data)
    _as_the_json_module_reads_it(text)
    for groups in GROUPS:
        try:
            installed = with_hooks(text, groups)
        except InstallError as error:
            _refused_by_both(text, error)
            return
        assert with_hooks(installed, groups) == installed
        assert count(installed) >= len(groups)
        list(switches(installed))
        bare = without_hooks(installed)
        assert count(bare) == 0
        if not count(text) and not _holds_nothing(text):
            assert bare == text, (bare, text)
        assert _others(installed) == _others(text)


def _as_the_json_module_reads_it(text: str) -> None:
    """What we read the json module reads alike; only keys that come twice we refuse alone."""
    try:
        ours = parse(text)
    except DocumentError as error:
        assert str(error).startswith("line ")
        return
    theirs = json.loads(text.removeprefix("\ufeff"), parse_int=Number, parse_float=Number)
    assert ours.value == theirs


def _refused_by_both(text: str, error: InstallError) -> None:
    assert str(error)
    try:
        without_hooks(text)
    except InstallError:
        return
    raise AssertionError("taken out of what nothing can be put into")


def _holds_nothing(text: str) -> bool:
    """Whether something in it is empty that ours are put in.

    It goes with ours where it is a list or an object of hooks, and where it is the whole, the
    blanks inside it do.
    """
    if not text.strip(" \t\r\n\ufeff"):
        return True
    document = parse(text)
    if not document.elements or document.member("hooks") is None:
        return not document.elements
    events = events_in(document)
    groups = [group for event in events for group in event.groups]
    full = [events, *(event.groups for event in events)]
    return not all(full) or not all(group.handlers.elements for group in groups)


def _others(text: str) -> Any:
    """All but the hooks, as values."""
    value = parse(text).value if text.strip(" \t\r\n\ufeff") else {}
    assert isinstance(value, dict)
    return {key: one for key, one in value.items() if key != "hooks"}


_TEXTS = words.of(["{", "}", "[", "]", ":", ",", '"hooks"', '"PreToolUse"', '"matcher"', "\n", "\r\n", "\t", "  ", "//", "/*", "\ufeff", "1.0", "1e400", "-0", "null", "true", '"\\ud83d"', "NaN"])  # fmt: skip
_HANDLER = {"type": "command", "command": "/usr/bin/crabhook", "args": ["x"]}
_GROUP = {"matcher": "Bash", "hooks": [_HANDLER, {"type": "command", "command": "echo"}]}
_TREES = values.of(hooks=({}, [], {"PreToolUse": [_GROUP]}), PreToolUse=([], [_GROUP], [{"hooks": []}]), matcher=("", "*"))  # fmt: skip


def seeds() -> list[bytes]:
    """Settings as people have them, in several hands."""
    told: dict[str, Any] = {"model": "x", "n": 1.5, "permissions": {"allow": ["Bash(ls)"]}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "PreToolUse": [_GROUP]}}  # fmt: skip
    texts = [json.dumps(told, indent=how) for how in (None, 2, 4, "\t")]
    texts += [
        "{}",
        "{\n}\n",
        "",
        " \n",
        '{"hooks":{}}',
        '{ "a": 1 }',
        texts[1].replace("\n", "\r\n"),
    ]
    assert as_json(told)
    texts += [with_hooks(text, groups) for text in (texts[0], texts[3]) for groups in GROUPS[:1]]
    return [text.encode() for text in texts]


TARGET = Target(
    law,
    lambda data, chance: (_TREES if chance.random() < 0.5 else _TEXTS)(data, chance),
    seeds,
    longest=8192,
)
