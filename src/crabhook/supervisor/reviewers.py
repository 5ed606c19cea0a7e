"""The reviewers: the operator at the desk, asked as any hook asks, or a command of the owner's.

A command gets a review as JSON and prints its verdict as JSON. It runs to its end or the deadline,
and no process of it stays.

The ready command is Claude Code in print mode, without tools, bound to a JSON schema. An agent
wrote the reviewed text, perhaps copying a web page; so the model gets it as data, in JSON, under a
system prompt that says so.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory, TemporaryFile

from crabhook.data_files import tables
from crabhook.hook import Unanswered, read_options
from crabhook.hook.client import HookRequest
from crabhook.hook.fallback import KINDS
from crabhook.hook.wire import SUPERVISOR, WireReply
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, parse_object
from crabhook.sdk import heard
from crabhook.sdk.event import Answer, Verdict
from crabhook.sdk.operator import Asked
from crabhook.supervisor.contract import (
    Deadline,
    Occasion,
    OutOfTimeError,
    Review,
    ReviewerError,
    ReviewResult,
)
from crabhook.transcript import excerpt

FORM = '{"allow_stop": true or false, "feedback": "..."}'
MOST_PRINTED = 1 << 20
LOOK_EVERY = 0.1  # seconds, at how much it has printed
_ALLOWS = {Verdict.ALLOW: True, Verdict.DENY: False}

GUARDS = dict.fromkeys(("CRABHOOK_SUPERVISOR_HOOK", "CCC_SUPERVISOR_HOOK"), "1")
"""The variables of a reviewer's own process and all that it starts; the second name is old."""


def guarded(environment: Mapping[str, str]) -> bool:
    """Whether this process was started by a reviewer."""
    return any(environment.get(name) == value for name, value in GUARDS.items())


def judged_by_operator(
    words: Sequence[str], review: Review, deadline: Deadline
) -> tuple[ReviewResult, Asked]:
    """Return the operator's decision, and what confirms that the agent has it.

    `words` are options of crabhook's own hook that say where and how to ask. The server gets the
    input as the agent sent it, under a stance that also holds stops. Raises ReviewerError without a
    decision, OutOfTimeError at the deadline.
    """
    options = read_options(list(words), os.environb)
    options.stance = SUPERVISOR
    options.wait = deadline.left()
    request = HookRequest(options)
    try:
        reply = request.ask(review.asked.payload)
    except Unanswered as unanswered:
        if unanswered.kind == "late":
            raise OutOfTimeError from unanswered
        what, remedy = KINDS[unanswered.kind]
        raise ReviewerError(f"{what} ({unanswered}); {remedy}") from unanswered
    except BaseException:
        request.close()  # so that the card goes from the desk
        raise
    asked = Asked(reply, request)
    return finding(review, reply), asked


def finding(review: Review, reply: WireReply) -> ReviewResult:
    """Return the finding in the server's reply, with the agent's own words.

    Silence on a stop means that an operator allowed it, or had no opinion. Silence with a reason
    means that nobody was there: raises ReviewerError.
    """
    output = heard.output(reply)
    why = reply.stderr.decode("utf-8", "replace").strip()
    if why and not output and not reply.exit_code:
        raise ReviewerError(why)
    answer = heard.answer(review.asked, reply) or Answer()
    if review.occasion is Occasion.STOP:
        return ReviewResult(answer.verdict is not Verdict.KEEP_GOING, answer.reason, output)
    allow = _ALLOWS.get(answer.verdict) if answer.verdict else None
    return ReviewResult(allow, answer.reason, output)


def judged_by(
    command: Sequence[str], review: Review, deadline: Deadline, environment: Mapping[str, str]
) -> ReviewResult:
    """Return the verdict that a reviewer's command prints; raises as `printed_by` does."""
    printed = printed_by(command, review.as_json(), {**environment, **GUARDS}, deadline)
    return read_finding(printed)


def read_finding(printed: bytes) -> ReviewResult:
    """Return a command's printed verdict; raises ReviewerError for any other output."""
    try:
        members = parse_object(printed)
    except PayloadError as error:
        raise ReviewerError(f"what the reviewer printed is not {FORM}: {error}") from error
    allow, feedback = members.pop("allow_stop", None), members.pop("feedback", None)
    if not isinstance(allow, bool) or not isinstance(feedback, str) or members:
        raise ReviewerError(f"what the reviewer printed is not {FORM}")
    return ReviewResult(allow, feedback)


def printed_by(
    command: Sequence[str], stdin_bytes: bytes, environment: Mapping[str, str], deadline: Deadline
) -> bytes:
    """Return the output of a command that reads `given` on standard input, without a shell.

    Its standard error is ours. Its own process group is killed as a whole at the end or the
    deadline. Raises ReviewerError if it cannot start, fails, or prints too much; OutOfTimeError at
    the deadline.
    """
    with TemporaryFile() as stdin, TemporaryFile() as stdout:
        # No pipes: a program that does not read, or a left-behind child with the pipe, blocks
        # nothing.
        stdin.write(stdin_bytes)
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the owner's own settings name it
                list(command),
                stdin=stdin,
                stdout=stdout,
                env=dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ReviewerError(
                f"the reviewer {command[0]!r} cannot be started: {why}. "
                "See [supervisor] in the settings, and give the program's whole path"
            ) from error
        try:
            _see_to_its_end(process, command[0], stdout.fileno(), deadline)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stdout.seek(0)
        return stdout.read()


def _see_to_its_end(
    process: "subprocess.Popen[bytes]", name: str, printed: int, deadline: Deadline
) -> None:
    """Wait until the program ends well, the time is over, or it prints too much."""
    code = None
    while code is None:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(min(deadline.left(), LOOK_EVERY))
        if os.fstat(printed).st_size > MOST_PRINTED:
            raise ReviewerError(
                f"what the reviewer {name!r} prints is no verdict: "
                f"it is larger than {MOST_PRINTED >> 20} MiB"
            )
    if code:
        how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        raise ReviewerError(f"the reviewer {name!r} ended {how}: standard error says more")


INSTRUCTIONS: str = tables(__file__, "claude")["instructions"]
SCHEMA: Mapping[str, Value] = tables(__file__, "claude")["schema"]


def verdict(review: Mapping[str, Value], program: Sequence[str], instructions: str) -> str:
    """Return Claude Code's verdict on a review, as a reviewer prints it.

    `program` is Claude Code with the owner's options, such as `--model`. Raises ReviewerError. The
    supervisor's deadline ends this reviewer and all its processes.
    """
    command = [*program, *_OPTIONS, "--system-prompt", instructions]
    path = review.get("transcript_path")
    task, last_words = excerpt(path if isinstance(path, str) else "")
    material = {"task": task, "said_last": last_words, **{key: review.get(key) for key in _ASKED}}
    what = "ask its user these questions" if review.get("questions") else "stop"
    material_text = json.dumps(material, ensure_ascii=False, indent=1)
    with TemporaryDirectory(prefix="crabhook-") as nowhere:  # no project's settings count
        try:
            done = subprocess.run(  # noqa: S603 - the owner's settings name it
                command,
                input=f"It wants to {what}. May it?\n\n{material_text}\n".encode(),
                stdout=subprocess.PIPE,
                cwd=nowhere,
                env={**os.environ, **GUARDS},
                check=False,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ReviewerError(
                f"{program[0]!r} cannot be started: {why}. Give its whole path with --claude"
            ) from error
    return _verdict(done.stdout, done.returncode)


_OPTIONS = (
    "--print",
    "--output-format=json",
    f"--json-schema={json.dumps(SCHEMA)}",
    "--tools=",
    "--safe-mode",  # no hooks, no plugins, no CLAUDE.md: nothing but the question
    "--strict-mcp-config",
    "--no-session-persistence",
)

_ASKED = ("event", "iteration", "limit", "last_assistant_message", "questions")


def _verdict(printed: bytes, code: int) -> str:
    try:
        result = parse_object(printed)
    except PayloadError as error:
        raise ReviewerError(f"Claude Code printed no result (exit code {code}): {error}") from error
    output = result.get("structured_output")
    if not isinstance(output, dict):
        why = result.get("subtype")
        what = why if isinstance(why, str) else f"exit code {code}"
        sys.stderr.write(f"{result.get('result')}\n")
        raise ReviewerError(f"Claude Code's result has no verdict ({what})")
    line = json.dumps(output)
    read_finding(line.encode())
    return line
