"""An agent's files of a session: its transcript, and a plan that an event only names.

The agent names the files, so `safe_open` opens them, and only bounded pieces are read. Unreadable
parts are left out; nothing raises. Claude Code writes one JSON object a line. Gemini CLI keeps
plans beside transcripts: …/tmp/PROJECT/chats/….jsonl and …/tmp/PROJECT/SESSION/plans/NAME; of a
plan elsewhere only the name is shown.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from crabhook.datatypes import frozen
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, parse_object
from crabhook.policy.paths import LONGEST_PATH
from crabhook.safe_open import open_own

PIECE = 1 << 18  # bytes looked at, at either end
LONGEST = 4000  # characters of one utterance
LAST = 2000  # characters of the last words, and of the last prompt
SUMMED = 1 << 20  # bytes looked at for a summary, before the last piece
TOOLS, NAME = 50, 100  # tools that are counted, and letters of the name of each
MOST = 30_000  # characters of the last utterances together
_SPEAKERS = ("user", "assistant")
# The agent's program wrote texts with such a beginning, though they look like the user's words.
_NOT_TYPED = (
    *("<system-reminder", "<command-", "<local-command-", "<bash-", "<task-notification"),
    *("[Request interrupted", "Caveat: The messages below"),
)
_NO_PROMPT = ("isSidechain", "isCompactSummary")  # a subagent's task; a summary of what was said


@frozen
class Utterance:
    """What somebody said in one line: its texts, and the tools that an assistant called."""

    who: str
    texts: tuple[str, ...]
    calls: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The texts alone."""
        return "\n".join(self.texts).strip()

    @property
    def complete(self) -> str:
        """The texts and the calls, for people."""
        return "\n".join((*self.texts, *(f"(calls {name})" for name in self.calls))).strip()


@frozen
class Summary:
    """What a session was about.

    `task`: its first prompt. `last`: the assistant's last words. `calls`: uses of each tool, in the
    part that was read; `whole`: that was all. `size`: the file's, in bytes.
    """

    task: str
    last: str
    calls: Mapping[str, int]
    size: int
    whole: bool


def summary(path: str) -> Summary | None:
    """Return what a session was about; None if its transcript tells nothing."""
    head, tail, size = _pieces(path, SUMMED, PIECE)
    read = head + tail[max(0, len(head) + len(tail) - size) :]  # no byte twice
    utterances = list(_utterances(read))
    if not utterances:
        return None
    spoken = [utterance for utterance in utterances if utterance.text]
    called = Counter(name[:NAME] for utterance in utterances for name in utterance.calls)
    return Summary(
        task=next((utterance.text for utterance in spoken if utterance.who == "user"), "")[:LAST],
        last=next(
            (utterance.text for utterance in reversed(spoken) if utterance.who == "assistant"), ""
        )[:LAST],
        calls=dict(called.most_common(TOOLS)),
        size=size,
        whole=size <= len(read),
    )


def excerpt(path: str) -> tuple[str, str]:
    """Return the first prompt and the last utterances, a paragraph each; empty if none."""
    if not path.endswith(".jsonl"):
        return "", ""
    head, tail, _ = _pieces(path, PIECE, PIECE)
    first = next(
        (
            utterance.text
            for utterance in _utterances(head)
            if utterance.who == "user" and utterance.text
        ),
        "",
    )
    kept: list[str] = []
    room = MOST
    for utterance in _utterances(tail, last_first=True):
        if not (words := utterance.complete[:LONGEST]):
            continue
        room -= len(words)
        if room < 0:
            break
        kept.insert(0, f"{utterance.who}: {words}")
    return first[:LONGEST], "\n\n".join(kept)


def last_words(path: str) -> str:
    """Return the assistant's last words since the last prompt; empty if unreadable.

    Results of tools are not prompts.
    """
    _, tail, _ = _pieces(path, 0, PIECE)
    for utterance in _utterances(tail, last_first=True):
        if utterance.who == "assistant" and utterance.text:
            return utterance.text[:LAST]
        if utterance.who == "user" and utterance.texts:
            return ""
    return ""


def last_prompt(path: str) -> str:
    """Return what a session's user asked for last; empty if unreadable."""
    _, tail, _ = _pieces(path, 0, SUMMED)
    for utterance in _utterances(tail, _NO_PROMPT, last_first=True):
        typed = [text for text in utterance.texts if not text.lstrip().startswith(_NOT_TYPED)]
        if utterance.who == "user" and (prompt := "\n".join(typed).strip()):
            return prompt[:LAST]
    return ""


def _pieces(path: str, first: int, last: int) -> tuple[bytes, bytes, int]:
    """Return the first and the last bytes of a file, which may overlap, and its size."""
    try:
        with open_own(path) as (file, status):
            number, size = file.fileno(), status.st_size
            return os.pread(number, first, 0), os.pread(number, last, max(0, size - last)), size
    except OSError:
        return b"", b"", 0


def _utterances(
    text: bytes, not_if: Sequence[str] = (), *, last_first: bool = False
) -> Iterator[Utterance]:
    """Return who said what; lines that are cut or different are skipped.

    So are lines where a field of `not_if` is true.
    """
    for line in text.split(b"\n")[:: -1 if last_first else 1]:
        with suppress(PayloadError):
            entry = parse_object(line)
            message, who = entry.get("message"), entry.get("type")
            if any(entry.get(name) is True for name in ("isMeta", *not_if)):
                continue
            if isinstance(message, dict) and who in _SPEAKERS:
                yield Utterance(str(who), *_words(message.get("content")))


def _words(content: Value) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(content, str):
        return (content,), ()
    texts, calls = list[str](), list[str]()
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        text, name = block.get("text"), block.get("name")
        if block.get("type") == "text" and isinstance(text, str):
            texts.append(text)
        elif block.get("type") == "tool_use" and isinstance(name, str):
            calls.append(name)
    return tuple(texts), tuple(calls)


LONGEST_PLAN = 64 * 1024  # bytes of a plan that are read; no person reads past them
_PLAN_NAME = re.compile(r"\w[\w.-]{0,200}")
_AGENT_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_SESSION = re.compile(r"[A-Za-z0-9-]{1,100}")


def plan_file(event: Event) -> str:
    """Return the place of the plan that the event asks about; empty if unnamed."""
    tool_input = event.tool.input if event.tool else None
    name = tool_input.get("plan_filename") if isinstance(tool_input, dict) else None
    path = event.text("transcript_path")
    transcript = PurePosixPath(path if len(path) <= LONGEST_PATH else "")
    if not isinstance(name, str) or not _PLAN_NAME.fullmatch(name):
        return ""
    if transcript.parent.name != "chats" or not _SESSION.fullmatch(event.session):
        return ""
    return str(transcript.parent.parent / event.session / "plans" / name)


def read_plan(path: str) -> str:
    """Return the beginning of the plan at `path`, or nothing if it is unreadable; nothing raises.

    No folder on its way may be a link, so that the name is true.
    """
    try:
        if os.path.realpath(path) != os.path.normpath(path):
            return ""
        with open_own(path) as (file, _):
            return file.read(LONGEST_PLAN).decode("utf-8", "replace").strip()
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return ""


def transcript_of(event: Event) -> str:
    """Return where the event's agent keeps its transcript: the session's, or a subagent's own."""
    path = event.text("agent_transcript_path") or event.text("transcript_path")
    if not event.agent_id or event.text("agent_transcript_path"):
        return path
    if not _AGENT_ID.fullmatch(event.agent_id) or not path.endswith(".jsonl"):
        return ""
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{event.agent_id}.jsonl"
