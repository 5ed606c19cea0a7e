"""What a call costs as its input grows, from a line to a file of a million characters.

The installed hook as a process, and one POST on a kept connection; the
operator allows them all.  Every round has every size once, in random order.
"""

import random
from collections.abc import Sequence
from functools import partial
from statistics import median

from bench import goals
from bench.candidate import Candidate
from bench.candidates import gate_installation, installed_command
from bench.errors import BenchError
from bench.events import WRITING_EVENT, new_call
from bench.found import Series
from bench.httpclient import HttpClient
from bench.serving import Server, running_server
from bench.sizes import sized

# Bytes; the smallest is a Write of next to nothing.
SIZES = sized((600, 10_000, 100_000, 1_000_000), (600, 10_000))
ROUNDS = sized(15, 2)
_LINE = "a line of text as people write it\n"
_WRITTEN = len(_LINE) + 1  # as JSON has it: the end of a line takes two bytes


def measure(rounds: int = ROUNDS) -> Sequence[Series]:
    """Return what each way costs at each size, seconds."""
    hook: dict[int, list[float]] = {size: [] for size in SIZES}
    post: dict[int, list[float]] = {size: [] for size in SIZES}
    with running_server() as server:
        client = HttpClient(server.http_port, server.authorization)
        with client.connected() as line:
            for number in range(rounds + 1):
                for size in random.sample(SIZES, len(SIZES)):
                    whole = _hook(server, size)
                    answer = client.post(line, call_of(size)).wall
                    if number:
                        hook[size].append(whole)
                        post[size].append(answer)
    return [
        Series("bytes of an input", what, {size: median(took[size]) for size in SIZES})
        for what, took in ((goals.HELD, hook), (goals.POST_KEPT, post))
    ]


def call_of(size: int) -> bytes:
    """Return a new call of Write whose whole input has `size` bytes."""
    base = len(new_call(WRITING_EVENT, tool_input={"content": ""}))
    if size < base:
        raise BenchError(f"the least call of Write has {base} bytes, more than {size}")
    lines, rest = divmod(size - base, _WRITTEN)
    return new_call(WRITING_EVENT, tool_input={"content": _LINE * lines + "x" * rest})


def _hook(server: Server, size: int) -> float:
    command = installed_command("PreToolUse", gate_installation())
    candidate = Candidate(goals.HELD, command, partial(call_of, size), "allow")
    return candidate.run(server.environment).wall
