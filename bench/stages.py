"""Where a decision by a rule spends its time: the server's own parts, in this process, no socket.

A message is read, judged, recorded and answered as `server/grpc/permission.py` does it,
with the server's own parts.  What `decisions` measures beyond the sum of these
is gRPC, the event loop and the desk that is told.
"""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.asking import written
from bench.errors import BenchError
from bench.events import calls_of_tools, new_call
from bench.figures import spread
from bench.found import Found, Wishes
from bench.lawbook import RULED, lawbook
from bench.sizes import sized
from bench.table import table
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.intake import Intake
from crabhook.server.core.law import Law, NoRules
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.server.grpc import permission
from crabhook.store.change import Change
from crabhook.store.opening import open_writer
from crabhook.store.record import Retention
from crabhook.store.recorder import Recorder
from crabhook.v1 import permission_pb2 as pb

RULES = 1_000
CALLS = sized(3_000, 50)
WARMING = sized(300, 10)
_KEEP = Retention(days=1, size=1 << 40)

READING, JUDGING, RECORDING = "reading the message", "judging by the rules", "writing the record"
REST, ANSWERING = "the broker, and what tells the desk", "writing the answer"
_STAGES = (READING, JUDGING, RECORDING, REST, ANSWERING)


class Stopwatch:
    """Seconds spent in each stage of the call under way, and of those before."""

    def __init__(self) -> None:
        self.now: dict[str, float] = dict.fromkeys(_STAGES, 0.0)
        self.calls: list[Mapping[str, float]] = []

    def spent(self, stage: str, since: float) -> None:
        """Count what has passed since then to a stage."""
        self.now[stage] += perf_counter() - since

    def next(self) -> None:
        """End a call; what it took within the broker is not counted twice."""
        self.now[REST] -= self.now[JUDGING] + self.now[RECORDING]
        self.calls.append(self.now)
        self.now = dict.fromkeys(_STAGES, 0.0)


class _TimedRecorder(Recorder):
    watch: Stopwatch

    def write(self, *changes: Change) -> bool:
        """Write as the recorder does, by the clock."""
        since = perf_counter()
        try:
            return super().write(*changes)
        finally:
            self.watch.spent(RECORDING, since)


class _TimedRules(NoRules):
    """The rulings of a law, by the clock."""

    def __init__(self, law: Law, watch: Stopwatch) -> None:
        self._law, self._watch = law, watch

    async def judge(self, event: Event, /, *, long: bool) -> Ruling | None:
        """Judge as the law does."""
        since = perf_counter()
        try:
            return await self._law.judge(event, long=long)
        finally:
            self._watch.spent(JUDGING, since)


def measure(_: Wishes) -> Found:
    """Have many calls decided, one after the other."""
    with TemporaryDirectory(prefix="bench-", dir="/tmp") as folder:
        calls = asyncio.run(_decided(Path(folder)))
    return Found(_text(calls), {"stages": {one: [call[one] for call in calls] for one in _STAGES}})


async def _decided(folder: Path) -> list[Mapping[str, float]]:
    watch, samples = Stopwatch(), calls_of_tools()
    (folder / "rules.toml").write_text(lawbook(RULES), encoding="utf-8")
    law = Law(RuleFiles(folder))
    recorder = _TimedRecorder(lambda: open_writer(folder / "record", _KEEP))
    recorder.watch = watch

    with closing(recorder):
        runner = Runner(Parts(PLATFORMS, recorder, rules=_TimedRules(law, watch)))
        intake = Intake(runner)
        for number in range(WARMING + CALLS):
            call = new_call(samples[number % len(samples)], session=RULED)
            await _decide(written(call), runner, intake, watch)
        runner.close()
    return watch.calls[WARMING:]


async def _decide(message: bytes, runner: Runner, intake: Intake, watch: Stopwatch) -> None:
    """Do what the port does with a message; raise BenchError where it is not allowed."""
    since = perf_counter()
    request = pb.PermissionRequest.FromString(message)
    if fault := permission.fault_of(request, PLATFORMS):
        raise BenchError(fault)
    event = PLATFORMS[request.platform].read(request.payload)
    asked = permission.request_of(request, event, runner.now(), 3600)
    watch.spent(READING, since)
    since = perf_counter()
    pending = await intake.enter(asked)
    watch.spent(REST, since)
    if pending.given is None:
        raise BenchError(f"no rule decides {event!r}")
    since = perf_counter()
    answer = permission.response_of(pending.given, confirm=pending.confirm).SerializeToString()
    watch.spent(ANSWERING, since)
    watch.next()
    if b'"allow"' not in answer:
        raise BenchError(f"an answer that was not due: {answer!r}")


def _text(calls: list[Mapping[str, float]]) -> str:
    """Return the median of each stage; the whole is the median of the sums."""
    whole = median(sum(call.values()) for call in calls)
    rows = []
    for stage in _STAGES:
        found = spread([call[stage] for call in calls])
        quartiles = f"{found.low * 1e6:.0f}-{found.high * 1e6:.0f}"
        rows.append((stage, f"{found.median * 1e6:.0f}", quartiles, f"{found.median / whole:.0%}"))
    rows.append(("all of it", f"{whole * 1e6:.0f}", "", ""))
    header = ("of a decision by a rule", "median µs", "quartiles", "share")
    return table(header, rows) + f"So {1 / whole:.0f} a second, if nothing had to carry them.\n"
