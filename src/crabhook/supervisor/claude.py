"""The ready reviewer: Claude Code in print mode, without tools, bound to a JSON schema.

What is reviewed was written by an agent, perhaps in the words of a page it
has read; so it is put before the model as data, in JSON, under a system
prompt that says so, and the model has no tool but its verdict.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, parse_object
from crabhook.supervisor.contract import ReviewerError
from crabhook.supervisor.reviewers import read_finding, with_guard
from crabhook.tables import tables
from crabhook.transcript import excerpt

INSTRUCTIONS: str = tables(__file__, "claude")["instructions"]
SCHEMA: Mapping[str, Value] = tables(__file__, "claude")["schema"]


def verdict(review: Mapping[str, Value], program: Sequence[str], instructions: str) -> str:
    """Return Claude Code's verdict on a review, as a reviewer prints it.

    `program` is Claude Code with options of the owner's, such as `--model`.
    Raises ReviewerError.  It has no deadline of its own: the supervisor ends
    its reviewers, and all that they have started.
    """
    command = [*program, *_OPTIONS, "--system-prompt", instructions]
    with TemporaryDirectory(prefix="crabhook-") as nowhere:  # no project's settings count
        try:
            done = subprocess.run(  # noqa: S603 - the owner's settings name it
                command,
                input=_prompt(review).encode(),
                stdout=subprocess.PIPE,
                cwd=nowhere,
                env=with_guard(os.environ),
                check=False,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ReviewerError(
                f"{program[0]!r} cannot be started: {why}; give its whole path with --claude"
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


def _prompt(review: Mapping[str, Value]) -> str:
    path = review.get("transcript_path")
    task, said = excerpt(path if isinstance(path, str) else "")
    material = {"task": task, "said_last": said, **{key: review.get(key) for key in _ASKED}}
    what = "ask its user these questions" if review.get("questions") else "stop"
    return f"It wants to {what}.  May it?\n\n{json.dumps(material, ensure_ascii=False, indent=1)}\n"


def _verdict(printed: bytes, code: int) -> str:
    try:
        said = parse_object(printed)
    except PayloadError as error:
        raise ReviewerError(f"Claude Code printed no result (exit code {code}): {error}") from error
    found = said.get("structured_output")
    if not isinstance(found, dict):
        why = said.get("subtype")
        what = why if isinstance(why, str) else f"exit code {code}"
        sys.stderr.write(f"{said.get('result')}\n")
        raise ReviewerError(f"Claude Code's result has no verdict ({what})")
    line = json.dumps(found)
    read_finding(line.encode())
    return line
