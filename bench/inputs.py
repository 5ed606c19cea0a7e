"""What is measured on: events recorded from the real agent, rule files of any size, the sizes."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

_SAMPLES = Path(__file__).parents[1] / "tests" / "samples"
_RECORDED = _SAMPLES / "claude"

DECIDED_EVENT = "PreToolUse-Bash"
OBSERVED_EVENT = "Stop"
WRITING_EVENT = "PreToolUse-Write"
RULED = "ruled-by-the-bench"
"""The session whose calls are decided by the rules; calls of every other session wait."""

_T = TypeVar("_T")
SMALLEST = os.environ.get("CRABHOOK_BENCH") == "smallest"
"""Whether each section is to run once in its smallest size: that it runs is what is proven."""

# Only an answer releases these: rules never decide them.
_ASKING = ("AskUserQuestion", "ExitPlanMode")


def sized(full: _T, smallest: _T) -> _T:
    """Return a section's size: of a whole run, or of the proof that it runs."""
    return smallest if SMALLEST else full


def calls_of_tools() -> Sequence[str]:
    """Return the names of the recorded events before a call of a tool that rules can decide."""
    names = sorted(path.stem for path in _RECORDED.glob("PreToolUse-*.json"))
    return [name for name in names if not any(tool in name for tool in _ASKING)]


def new_call(
    sample: str,
    *,
    session: str = "",
    tool_input: Mapping[str, Any] | None = None,
    platform: str = "claude",
) -> bytes:
    """Return the recorded event `sample` as another call of a tool.

    It is in `session`, or in a session of its own; `tool_input` is put over the recorded input.
    It is a single line, as the agent writes it: the samples are indented for people.
    """
    event = json.loads((_SAMPLES / platform / f"{sample}.json").read_text(encoding="utf-8"))
    event["session_id"] = session or token_hex(16)
    if "tool_use_id" in event:
        event["tool_use_id"] = f"toolu_{token_hex(12)}"
    if tool_input is not None:
        event["tool_input"] |= tool_input
    return json.dumps(event, separators=(",", ":")).encode()


# What the recorded calls of tools need, so that each of them is allowed.
_DECIDING = (
    "Bash(echo *)",
    "Bash(touch *)",
    "Edit(//home/dev/project/**)",
    "Read(//home/dev/project/**)",
    "WebFetch(domain:example.com)",
    "mcp__deploy__release",
    "Agent(general-purpose)",
    "Skill(greet *)",
    "ToolSearch",
)

# Rules as people have them: of every kind, each about something else.
_OTHERS = (
    ("allow", "Bash(tool{} run *)"),
    ("deny", "Bash(tool{} publish *)"),
    ("allow", "Edit(/src/module{}/**)"),
    ("deny", "Read(~/private{}/**)"),
    ("ask-operator", "WebFetch(domain:host{}.example.net)"),
    ("allow", "mcp__server{}__get"),
)


def rule_file(size: int) -> str:
    """Return the text of a file of `size` rules, of which the last decide the session RULED."""
    return "".join(_rules(size, lambda number: _OTHERS[number % len(_OTHERS)]))


def crowded_rule_file(size: int) -> str:
    """Return the same, but every other rule begins with the word of the recorded shell line.

    The index finds rules by that word, so it spares none of them: the worst a file can be.
    """
    return "".join(_rules(size, lambda _: ("deny", "Bash(echo word{} *)")))


def _rules(size: int, other: Callable[[int], tuple[str, str]]) -> Iterator[str]:
    for number in range(size - len(_DECIDING)):
        verdict, matcher = other(number)
        yield _rule(verdict, matcher.format(number))
    for matcher in _DECIDING:
        yield _rule("allow", matcher) + f'scope = {{ session = "{RULED}" }}\n'


def _rule(verdict: str, matcher: str) -> str:
    return f'[[rule]]\nverdict = "{verdict}"\nmatch = "{matcher}"\n'
