"""Two hundred hooks at once, an operator who tells each its own name, and chance that kills them.

Every call is denied with its own name as the reason, so an answer that reached another hook would
be seen at once.
"""

from __future__ import annotations

import random
import re
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.client import Answer, Client, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.mortal import MortalServer

NOT_TAKEN = "crabhook cannot ask the operator"
"""What a hook says that found no server, or lost it before its request was taken."""

RECONNECT = 60.0  # seconds; longer than any test leaves its hooks without a server
_HEADER = re.compile(r"#(\d+) PreToolUse Bash ")
_CALL = re.compile(r"    echo (call-\d+)")


@dataclass(eq=False)
class Hook:
    """One hook, by the name of its call; `killed`: nobody waits for its answer any more."""

    call: str
    client: Client
    killed: bool = False


@dataclass(repr=False)
class Ends:
    """How the hooks ended: with an answer, killed, not taken by any server, or as none should."""

    answered: dict[str, str] = field(default_factory=dict)
    killed: set[str] = field(default_factory=set)
    not_taken: set[str] = field(default_factory=set)
    wrong: dict[str, Answer] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"{len(self.answered)} answered, {len(self.killed)} killed, "
            f"{len(self.not_taken)} not taken, {len(self.wrong)} wrong"
        )


class Fleet:
    """Hooks of one server; `chance` says which of them are killed."""

    def __init__(self, server: MortalServer, chance: random.Random) -> None:
        self._server, self._chance = server, chance
        self._hooks: list[Hook] = []
        self._launched = 0
        self.ends = Ends()

    def __repr__(self) -> str:
        return f"<Fleet {len(self._hooks)} wait, {self.ends!r}>"

    @property
    def waiting(self) -> int:
        """How many had not ended when last looked at."""
        return len(self._hooks)

    def launch(self, many: int) -> None:
        """Start so many hooks, each with a call of its own."""
        for _ in range(many):
            self._launched += 1
            call = f"call-{self._launched}"
            payload = sample(
                "PreToolUse-Bash",
                tool_input={"command": f"echo {call}"},
                tool_use_id=call,
                session_id=f"session-{self._launched % 7}",
            )
            options = ("--reconnect", str(RECONNECT))
            self._hooks.append(Hook(call, Client(self._server.address, payload, *options)))

    def shoot(self, many: int) -> None:
        """Kill so many of the hooks that have no answer yet, as chance will have it."""
        alive = [hook for hook in self._hooks if hook.client.poll() is None]
        for hook in self._chance.sample(alive, min(many, len(alive))):
            hook.client.kill()
            hook.killed = True

    def freeze(self, many: int) -> set[str]:
        """Stop so many of the hooks, so that they neither take an answer nor go; return their calls."""
        alive = [hook for hook in self._hooks if hook.client.poll() is None]
        frozen = self._chance.sample(alive, many)
        for hook in frozen:
            hook.client.send_signal(signal.SIGSTOP)
            hook.killed = True
        return {hook.call for hook in frozen}

    def shoot_the_frozen(self) -> None:
        """Kill those that were stopped."""
        for hook in self._hooks:
            if hook.killed:
                hook.client.kill()

    def gather(self) -> int:
        """Take in the answers of all hooks that have ended; return how many still wait."""
        ended = [hook for hook in self._hooks if hook.client.poll() is not None]
        self._hooks = [hook for hook in self._hooks if hook not in ended]
        for hook in ended:
            self._take_in(hook)
        return len(self._hooks)

    def sink(self) -> None:
        """Kill whatever still waits; a test that failed leaves no process behind."""
        for hook in self._hooks:
            hook.client.kill()
            hook.client.finish()

    def _take_in(self, hook: Hook) -> None:
        answer, ends = hook.client.finish(), self.ends
        if answer.stdout:
            try:
                ends.answered[hook.call] = answer.output["hookSpecificOutput"][
                    "permissionDecisionReason"
                ]
            except (ValueError, KeyError):
                ends.wrong[hook.call] = answer
        elif hook.killed and answer.code < 0:
            ends.killed.add(hook.call)
        elif answer.silent and NOT_TAKEN in answer.stderr:
            ends.not_taken.add(hook.call)
        else:
            ends.wrong[hook.call] = answer


class Operator:
    """Decides whatever the server shows, one card after the other, as long as it lives.

    `pause` is how many seconds are between two decisions.
    """

    def __init__(self, server: MortalServer, pause: Callable[[], float]) -> None:
        self._server, self._pause = server, pause
        self._number = ""  # of a card whose call is still to be read
        self._enough = threading.Event()
        self.typed = 0

    def decide(self, seconds: float) -> None:
        """Decide until the server's end, for that many seconds, or until it is enough."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._server.speaks:
            for line in self._server.lines(min(left, 0.2)):
                self._read(line)
            if self._enough.is_set() and not self._number:
                return

    def _read(self, line: str) -> None:
        if header := _HEADER.match(line):
            self._number = header[1]
        elif (call := _CALL.fullmatch(line)) and self._number:
            self.typed += self._server.say(f"{self._number} deny {call[1]}")
            self._number = ""
            time.sleep(self._pause())

    def stop(self) -> None:
        """End `decide` after the card that is being read: the next operator begins with a whole one."""
        self._enough.set()

    def in_the_background(self, seconds: float) -> threading.Thread:
        """Decide while the test does something else; join the thread."""
        thread = threading.Thread(target=self.decide, args=(seconds,))
        thread.start()
        return thread
