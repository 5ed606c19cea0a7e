"""One hook entry in an agent's settings: what it starts, for how long, and whom it asks.

All entries together tell the installation, and what this version would write for it.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import dropwhile
from pathlib import Path
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.hook import Options, read_options
from crabhook.install import program
from crabhook.install.entries import own_file, with_hooks
from crabhook.install.program import AffectedHooks
from crabhook.lint.configuration.command import commands
from crabhook.model.card import Stance
from crabhook.model.json_source import Json, Number, as_json, parse
from crabhook.platforms.installation import (
    CLIENT_GRACE,
    MAX_WAIT,
    USUAL_WAIT,
    Group,
    Installation,
    StrictHooks,
)
from crabhook.platforms.interface import Platform
from crabhook.platforms.sending import STANCE, WAIT, is_sent
from crabhook.server.address import asked_address, default_address

Words: TypeAlias = tuple[str, ...]

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_TESTS = ("[", "test")
_STUB = "crabhook/hook/run.py"

_USUAL_ONCE = 3600  # written by default, until the server's address was written too


@frozen(slots=False)
class HookEntry:
    """One handler that an agent's settings register for an event.

    `command` are the words that start it, none where only a shell could tell. `timeout` is in the
    agent's unit, None without one. `group` and `place` are its place among the event's handlers,
    `matcher` names its tools; None without one.
    """

    event: str
    handler: Mapping[str, Json]
    command: Words
    timeout: float | None
    group: int = 0
    place: int = 0
    matcher: Json = None

    @property
    def told(self) -> str:
        """The command in one line, for a person."""
        command = self.handler.get("command")
        named = command if isinstance(command, str) else self.handler.get("url")
        return shlex.join(self.command) if self.command else str(named or self.handler.get("type"))

    @property
    def url(self) -> str:
        """The address that the agent itself sends to; empty for a program."""
        url = self.handler.get("url") if is_sent(dict(self.handler)) else None
        return url if isinstance(url, str) else ""

    @property
    def interpreter(self) -> str:
        """The program that is started."""
        return self.command[0] if self.command else ""

    @property
    def stub(self) -> str:
        """The stub that the program runs; empty for the `crabhook` command."""
        return next((word for word in self.command if word.endswith(_STUB)), "")

    @property
    def is_of_this_installation(self) -> bool:
        """Whether it starts the stub beside us by our interpreter, whichever of its names."""
        theirs = Path(self.interpreter)
        same = any(
            theirs.parent == ours.parent and theirs.resolve() == ours.resolve()
            for ours in program.interpreters()
        )
        return same and self.stub == program.stub()

    @property
    def arguments(self) -> Words:
        """The client's arguments, or those that it would have without a client."""
        if self.url:
            return tuple(self._headed())
        begin = self.command.index(self.stub) + 1 if self.stub else 1
        return self.command[begin:]

    def _headed(self) -> Iterator[str]:
        """Yield arguments equal to the handler's headers and its failure setting."""
        headers = self.handler.get("headers")
        written = headers if isinstance(headers, dict) else {}
        named = {name.lower(): value for name, value in written.items() if isinstance(value, str)}
        if named.get(STANCE.lower()) == Stance.COMPANION:
            yield "--companion"
        if wait := named.get(WAIT.lower()):
            yield from ("--wait", wait)
        if token := self.handler.get("tokenFile"):
            yield from ("--token-file", str(token))
        if self.handler.get("onFailure") == "block":
            yield from ("--when-unreachable", "deny", "--when-lost", "deny")

    def reached_by(self, reach: AffectedHooks) -> bool:
        """Whether a variable with this reach affects the started program, if any."""
        if self.url:
            return False
        through_a_shell = not isinstance(self.handler.get("args"), list)
        before_the_stub = self.command[: self.command.index(self.stub)] if self.stub else ()
        return {
            AffectedHooks.SEARCHED: not self.interpreter.startswith("/"),
            AffectedHooks.PYTHON: "-I" not in before_the_stub,
            AffectedHooks.SHELL: through_a_shell,
        }.get(reach, True)

    def given(self, option: str) -> str | None:
        """Return the value of a client's option; the last value counts."""
        value_of = None
        for place, word in enumerate(self.arguments):
            name, equals, value = word.partition("=")
            if name == option:
                value_of = value if equals else "".join(self.arguments[place + 1 : place + 2])
        return value_of

    @cached_property
    def options(self) -> Options:
        """What our client understands of that, in the environment we are in; it opens no file."""
        words, rest = list[str](), list(self.arguments)
        while rest:
            word = rest.pop(0)
            if word == "--token-file":
                del rest[:1]
            elif not word.startswith("--token-file="):
                words.append(word)
        return self._read(words)

    def asking(self) -> Options:
        """Return the same with the token that it shows, to ask the server as it would."""
        return self._read(self.arguments)

    def _read(self, words: Sequence[str]) -> Options:
        environment = {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
        options = read_options(words, environment)
        if self.given("--server") is None and b"CRABHOOK_SERVER" not in environment:
            options.server = str(default_address())
        return options


def entry(
    event: str, handler: Mapping[str, Json], group: int = 0, place: int = 0, matcher: Json = None
) -> HookEntry:
    """Return what a handler of `event` says."""
    command, args = handler.get("command"), handler.get("args")
    timeout = handler.get("timeoutSec", handler.get("timeout"))  # Copilot's name, and all others'
    words: Words = ()
    if isinstance(command, str):
        words = (command, *map(str, args)) if isinstance(args, list) else _started(command)
    seconds = float(timeout.literal) if isinstance(timeout, Number) else None
    return HookEntry(event, handler, words, seconds, group, place, matcher)


def _started(line: str) -> Words:
    """Return the first command of a shell's line that is no test, without `exec`."""
    for command in commands(line):
        words = tuple(dropwhile(lambda word: word == "exec" or _ASSIGNMENT.match(word), command))
        if words and words[0] not in _TESTS:
            return words
    return ()


def installation(agent: Platform, entries: Sequence[HookEntry]) -> Installation:
    """Return how the entries were installed, as far as they tell it; for the program they start."""
    with_stub = next((entry for entry in entries if entry.stub), None)
    waits = [entry.options.wait for entry in entries if entry.given("--wait")]
    server = _first(entries, "--server")
    wait = int(max(waits)) - CLIENT_GRACE if waits else USUAL_WAIT
    if server is None and wait == _USUAL_ONCE:
        wait = USUAL_WAIT
    companion = any("--companion" in entry.arguments for entry in entries)
    stance = Stance.COMPANION if companion else Stance.GATE
    return Installation(
        interpreter=with_stub.interpreter if with_stub else program.interpreter(),
        stub=with_stub.stub if with_stub else program.stub(),
        stance=stance if stance in agent.settings.stances else agent.settings.stance,
        fail_closed=any(entry.given("--when-unreachable") == "deny" for entry in entries),
        wait=min(max(wait, 1), MAX_WAIT),
        server=server or asked_address(),
        token_file=_first(entries, "--token-file"),
        tls_ca=_first(entries, "--tls-ca"),
        url=next((entry.url for entry in entries if entry.url), None),
        strict=_strict(entries),
    )


def _strict(entries: Sequence[HookEntry]) -> StrictHooks | None:
    team, authority = _first(entries, "--team"), _first(entries, "--authority")
    if team is None or authority is None:
        return None
    options = entries[0].options
    wish = _first(entries, "--when-unsigned") or "pass"
    return StrictHooks(team, authority, options.team_version, options.need, wish, options.of)


def differences(
    text: str,
    entries: Sequence[HookEntry],
    wanted: Mapping[str, Group],
) -> dict[str, str]:
    """Return, by event, how our `entries` in `text` differ from what this version would write.

    A file that is all ours differs as a whole.
    """
    own = own_file(text)
    if with_hooks(text, wanted, own) == text:
        return {}
    if own is not None:
        return dict.fromkeys(wanted, "is written otherwise")
    here = {entry.event for entry in entries}
    differing = {event: "is missing" for event in wanted if event not in here}
    differing |= dict.fromkeys(sorted(here - set(wanted)), "is not hooked any more")
    hooks = parse(text).member("hooks")
    there = hooks.value if hooks and isinstance(hooks.value, dict) else {}
    for event, group in wanted.items():
        ours = [entry for entry in entries if entry.event == event]
        groups = there.get(event)
        whole = isinstance(groups, list) and as_json(group) in groups
        if ours and not (whole and len(ours) == 1):
            differing[event] = "is written otherwise"
    return differing


def _first(entries: Sequence[HookEntry], option: str) -> str | None:
    return next((value for entry in entries if (value := entry.given(option))), None)
