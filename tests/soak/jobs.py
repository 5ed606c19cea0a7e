"""What hooks ask in a soak, drawn from a seed: recorded inputs, each branded with its own number.

A job is one run of a hook. Its folder (`cwd`) is its own and nobody else's, so everything on
record is known to be about it; what the operator will want of it, its wish, is drawn with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.support.client import SAMPLES

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from crabhook.store.record import Record

SESSION_LASTS = 5  # jobs, about: so hundreds of sessions in a run of thousands
OPEN_SESSIONS = 12
BIG = 200_000  # characters of an input that does not fit into one of anything
CALL_ID = "toolu_soak_"  # and the job's number
LEFT_OPEN = 0.8  # of the calls that are to stay open, the share that denies when nobody answers
REMOTE, FAIL_CLOSED, COMPANION, REAL = 0.35, 0.3, 0.2, 0.2
"""The shares of jobs: over TCP with TLS; that deny when nobody answers; under the companion's
stance; run by the installed program, a process each, and not in a crowd."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded input, how often it is drawn, and what an operator may wish about it."""

    agent: str
    sample: str
    wishes: tuple[str, ...] = ()
    weight: int = 1


RULINGS = {"open-allow": "allow", "open-deny": "deny"}
"""What the operator says of a call once its agent went on, by wish; and nothing before."""
UNANSWERED = ("ignore", *RULINGS)
"""The wishes of those who let a hook wait in vain."""
EDGE = "edge"
"""The wish of an operator who allows a call just when its time is over."""
SHORT = 6.0  # seconds that a hook waits which waits in vain, or nearly
_CALL = (
    *("allow", "allow", "deny", "pass", "ignore", "noted", "late", "twice", "undo"),
    *RULINGS,
    EDGE,
)
_SHELL = (*_CALL, "edit", "alike")

CASES = (
    Case("claude", "PreToolUse-Bash", (*_SHELL, "ask", "ruled-allow", "ruled-deny"), 8),
    Case("claude", "PreToolUse-Write", (*_CALL, "ask"), 3),
    Case("claude", "PreToolUse-Edit", (*_CALL, "ask")),
    Case("claude", "PreToolUse-WebFetch", _CALL),
    Case("claude", "PreToolUse-mcp", _CALL),
    Case("claude", "PreToolUse-AskUserQuestion", ("answer", "answer", "deny", "ignore"), 2),
    Case("claude", "PreToolUse-ExitPlanMode", ("allow", "deny")),
    Case("claude", "PermissionRequest-Bash", (*_CALL, "ask"), 4),
    Case("claude", "PermissionRequest-Write", (*_CALL, "ask")),
    Case("claude", "PermissionRequest-mcp", _CALL),
    Case("claude", "Elicitation", ("decline", "cancel", "ignore")),
    Case("claude", "Stop", ("keep-going", "pass"), 2),
    Case("claude", "PostToolUse-Bash"),
    Case("claude", "Notification"),
    Case("claude", "UserPromptSubmit"),
    Case("claude", "SessionStart"),
    Case("claude", "SessionEnd"),
    Case("gemini", "BeforeTool-run_shell_command", _SHELL, 4),
    Case("gemini", "BeforeTool-write_file", _CALL, 2),
    Case("gemini", "BeforeTool-mcp", _CALL),
    Case("gemini", "AfterTool-run_shell_command"),
    Case("gemini", "BeforeModel"),
    Case("gemini", "SessionEnd-exit"),
    Case("codex", "PreToolUse-Bash", _CALL, 3),
    Case("codex", "PermissionRequest-Bash", (*_CALL, "ask"), 3),
    Case("codex", "PermissionRequest-apply_patch", _CALL),
    Case("codex", "PostToolUse-Bash"),
    Case("codex", "Stop", ("keep-going", "pass")),
)

SERVER_WAIT = (
    40.0  # seconds that the server lets a request stand: some hooks wait longer, some less
)
RULES = """
[[rule]]
verdict = "allow"
match = "Bash(echo ruled-allow *)"

[[rule]]
verdict = "deny"
match = "Bash(echo ruled-deny *)"
note = "the soak's own rule"
"""
"""The rule file of the soak's operator; nothing else asks about these two commands."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a hook: what it is given, and how it is installed.

    `call` is the number of the first job about the same call; `wait` and `reconnect` are seconds,
    and so is `thought`, for which the operator thinks about it; `at` is when it starts, in seconds
    of its load. A job that asks `again` makes the very same call, in the folder of the first.
    """

    number: int
    call: int
    agent: str
    sample: str
    session: str
    wish: str
    payload: bytes
    tool_input: Any
    remote: bool
    real: bool
    companion: bool
    fail_closed: bool
    wait: float
    reconnect: float
    thought: float
    at: float = 0.0
    again: bool = False

    @property
    def folder(self) -> str:
        """The agent's folder: the job's mark on everything recorded of it, but of one `again`."""
        return f"/soak/{self.call if self.again else self.number}"

    @property
    def event(self) -> str:
        """The name of its event."""
        return self.sample.partition("-")[0]

    @property
    def word(self) -> str:
        """What the operator's reasons and notes about it hold, and no others."""
        return f"word-{self.call}-"

    @property
    def options(self) -> list[str]:
        """The hook's options, but for where the server is."""
        options = ["--platform", self.agent, "--wait", f"{self.wait:g}"]
        options += ["--reconnect", f"{self.reconnect:g}"]
        options += ["--companion"] * self.companion
        wish = ["--when-unreachable", "deny", "--when-lost", "deny"]
        return [*options, *wish] if self.fail_closed else options


def number_of(folder: str) -> int | None:
    """Return the number of the job whose folder this is; None where it is nobody's."""
    number = folder.removeprefix("/soak/")
    return int(number) if number != folder and number.isdigit() else None


def job_of(record: Record) -> int | None:
    """Return the number of the job that a record is about, by its call's id or its folder."""
    number = record.tool_use_id.removeprefix(CALL_ID)
    if number != record.tool_use_id and number.isdigit():
        return int(number)
    return number_of(record.cwd)


class Source:
    """Draws jobs without end, numbered from 1."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._jobs = self._sessions = 0
        self._later: list[Job] = []
        self._open: dict[str, list[str]] = {"claude": [], "gemini": [], "codex": []}

    def __repr__(self) -> str:
        return f"<Source {self._jobs} jobs, {self._sessions} sessions>"

    def load(self, many: int, seconds: float, *, patient: bool = False) -> list[Job]:
        """Return so many jobs that start within so many seconds; `patient`: none is let wait out.

        Calls that are made again, and not within these seconds, are of the next load that may wait.
        """
        due = [] if patient else self._later
        jobs = [replace(job, at=round(self._chance.uniform(0, seconds), 3)) for job in due]
        self._later = self._later if patient else []
        while len(jobs) < many:
            at = round(self._chance.uniform(0, seconds), 3)
            call = list(self._call(patient))
            jobs += [replace(job, at=at + 0.2 * n) for n, job in enumerate(call)]
            for job in self._made_again(call[0]):
                soon = at + self._chance.uniform(SHORT + 0.5, SHORT + 4)
                if soon < seconds:
                    jobs.append(replace(job, at=round(soon, 3)))
                else:
                    self._later.append(job)
        return sorted(jobs, key=lambda job: job.at)

    def undecided(self, many: int, *, end: float) -> list[Job]:
        """Return so many that nobody decides in time, and that stay open: with and without a ruling."""
        case = next(case for case in CASES if "open-allow" in case.wishes)
        jobs = []
        for number in range(many):
            wish = UNANSWERED[number % len(UNANSWERED)]
            job = self._job(case, wish, self._session(case.agent), patient=True)
            at = round(self._chance.uniform(0, end), 3)
            jobs.append(replace(job, companion=False, fail_closed=True, at=at))
        return jobs

    def doomed(self, many: int, *, begin: float, end: float) -> list[Job]:
        """Return so many that the operator lets wait, longer than anybody will: they are shot."""
        case = next(case for case in CASES if "ignore" in case.wishes)
        found = []
        for number in range(many):
            job = self._job(case, "ignore", self._session(case.agent), patient=True)
            at = round(self._chance.uniform(begin, end), 3)
            remote = number % 2 == 0
            found.append(replace(job, real=True, remote=remote, companion=False, wait=60.0, at=at))
        return found

    def _call(self, patient: bool) -> Iterator[Job]:
        """Yield the job or two of one call."""
        chance = self._chance
        case = chance.choices(CASES, [case.weight for case in CASES])[0]
        wish = chance.choice(case.wishes) if case.wishes else ""
        if patient and wish in (*UNANSWERED, EDGE):
            wish = "pass"
        session = self._session(case.agent)
        job = self._job(case, wish, session, patient)
        yield job
        if case.sample == "PreToolUse-Bash" and case.agent == "claude" and chance.random() < 0.15:
            yield self._again(job)

    def _job(self, case: Case, wish: str, session: str, patient: bool) -> Job:
        self._jobs += 1
        number, chance = self._jobs, self._chance
        wait = 60.0 if patient else chance.choice((8.0, 12.0, 20.0, 30.0))
        in_vain = wish in UNANSWERED
        thought = round(chance.uniform(0, 1.0 if patient else 4.0), 3)
        share = LEFT_OPEN if wish == EDGE or wish in RULINGS else FAIL_CLOSED
        job = Job(
            number=number,
            call=number,
            agent=case.agent,
            sample=case.sample,
            session=session,
            wish=wish,
            payload=b"",
            tool_input=None,
            remote=chance.random() < REMOTE,
            real=chance.random() < REAL,
            companion=case.agent != "gemini" and chance.random() < COMPANION,
            fail_closed=chance.random() < share,
            wait=SHORT if in_vain or wish == EDGE else wait,
            reconnect=chance.choice((4.0, 8.0)),
            thought=round(SHORT - 1 + chance.uniform(0, 1.5), 3) if wish == EDGE else thought,
        )
        return _written(job, big=chance.random() < 0.02)

    def _made_again(self, job: Job) -> Iterator[Job]:
        """Yield jobs that make the call of that one again, which may be open or ruled on by then."""
        fields = json.loads(job.payload)
        if job.wish not in RULINGS or job.event != "PreToolUse" or "tool_use_id" not in fields:
            return
        for _ in range(self._chance.choice((0, 1, 1, 2))):
            self._jobs += 1
            payload = json.dumps(fields | {"tool_use_id": f"{CALL_ID}{self._jobs}"}).encode()
            yield replace(job, number=self._jobs, payload=payload, again=True)

    def _again(self, job: Job) -> Job:
        """Return the PermissionRequest of a call whose PreToolUse is that job."""
        self._jobs += 1
        other = replace(job, number=self._jobs, sample="PermissionRequest-Bash", companion=False)
        fields = json.loads(other.payload)
        fields |= {"hook_event_name": "PermissionRequest", "cwd": other.folder}
        del fields["tool_use_id"]
        return replace(other, payload=json.dumps(fields).encode())

    def _session(self, agent: str) -> str:
        known = self._open[agent]
        if not known or self._chance.random() < 1 / SESSION_LASTS:
            self._sessions += 1
            known.append(f"soak-{agent}-{self._sessions}")
            del known[:-OPEN_SESSIONS]
        return self._chance.choice(known)


def _written(job: Job, *, big: bool) -> Job:
    """Return the job with its recorded input, its own brand on the input and on the call's id."""
    fields = json.loads(_recorded(job.agent, job.sample))
    fields |= {"session_id": job.session, "cwd": job.folder}
    if "tool_use_id" in fields:
        fields["tool_use_id"] = f"{CALL_ID}{job.number}"
    if "tool_input" in fields:
        fields["tool_input"] = _branded(fields["tool_input"], job)
    if big and "content" in (fields.get("tool_input") or ()):
        fields["tool_input"]["content"] = "a line that is written\n" * (BIG // 23)
    return replace(job, payload=json.dumps(fields).encode(), tool_input=fields.get("tool_input"))


@cache
def _recorded(agent: str, sample: str) -> str:
    return (SAMPLES / agent / f"{sample}.json").read_text(encoding="utf-8")


def _branded(value: Any, job: Job) -> Any:
    """Return a tool's input that no other job has."""
    if "command" in value and job.sample != "PermissionRequest-apply_patch":
        kind = job.wish if job.wish.startswith("ruled-") else "soak"
        return value | {"command": f"echo {kind} {job.number}"}
    key = next((key for key in value if isinstance(value[key], (str, list))), None)
    if key is None:
        return value | {"soak": job.number}
    if isinstance(value[key], str):
        return value | {key: f"{value[key]} soak {job.number}"}
    first, *rest = value[key]
    return value | {key: [first | {"question": f"{first['question']} {job.number}"}, *rest]}
