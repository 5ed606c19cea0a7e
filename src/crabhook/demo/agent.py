"""The scripted agent: starts the true hook client with inputs recorded from a real Claude Code."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from importlib import resources

from crabhook import hook

SESSION_PAUSE = 0.8  # seconds between two calls, so that a person sees each come


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded hook input: the tool it asks about, and the bytes."""

    tool: str
    payload: bytes


def calls() -> Iterator[Call]:
    """Yield the recorded inputs in their order: a command, an edit, questions, a plan."""
    folder = resources.files("crabhook.demo") / "inputs"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        payload = file.read_bytes()
        yield Call(json.loads(payload)["tool_name"], payload)


async def play(server: str, tell: Callable[[str], Awaitable[None]]) -> None:
    """Make each call in turn, as an agent does; `tell` hears what the agent would read.

    A client is started as the installed hook is, with the server's address.
    """
    command = [sys.executable, "-I", "-S", f"{hook.__path__[0]}/run.py", "--server", server]
    for call in calls():
        await asyncio.sleep(SESSION_PAUSE)
        client = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            stdout, _ = await client.communicate(call.payload)
        except asyncio.CancelledError:
            client.kill()
            await client.wait()
            raise
        answer = stdout.decode().strip() or "nothing: no opinion, so the agent asks its own user"
        await tell(f"agent reads for {call.tool}: {answer}")
    await asyncio.sleep(SESSION_PAUSE)
