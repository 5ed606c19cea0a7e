"""A hook's process: one input, one answer, and the end; and the same without a process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeAlias, TypeVar

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import compact, parse_object
from crabhook.sdk.dialects import write
from crabhook.sdk.event import Event, Platform, Reply, Unknown
from crabhook.sdk.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crabhook.sdk.event import Answer


E = TypeVar("E", bound=Event)
OnError: TypeAlias = Literal["pass", "deny"]
_OURS = __file__.rpartition("/sdk/")[0]
FAILED = 1  # the exit code that every agent reports to its user and goes on from
REFUSED = 2  # the exit code that every agent heeds, whatever it asked
_LARGEST_INPUT = 32 << 20  # bytes; a larger input is cut, and so unreadable


class Handler(Generic[E]):
    """A function from one kind of event to an answer, made by `on`; tests can call it directly."""

    def __init__(self, kind: type[E], function: Callable[[E], Answer | None]) -> None:
        self.kind = kind
        self._function = function

    def __call__(self, event: E) -> Answer | None:
        """Return the function's answer to the event."""
        return self._function(event)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", repr(self._function))
        return f"<Handler of {self.kind.__name__}: {name}>"

    def takes(self, event: Event) -> bool:
        """Whether the event is of the kind that this is for."""
        return isinstance(event, self.kind)


def on(kind: type[E]) -> Callable[[Callable[[E], Answer | None]], Handler[E]]:
    """Make a function the handler of this kind of event; `on(Event)` takes every event."""

    def handler(function: Callable[[E], Answer | None]) -> Handler[E]:
        return Handler(kind, function)

    return handler


def read_event(payload: bytes | Mapping[str, Any], platform: Platform | str | None = None) -> Event:
    """Return the event in a hook's standard input, or in the object it holds.

    Without a `platform`, the input tells it. An event unknown to the platform is `Unknown`. Raises
    PayloadError, in words for a person, for anything but a JSON object with an event's name.
    """
    if not isinstance(payload, bytes):
        payload = compact(payload).encode()
    raw = parse_object(payload)
    whose = Platform(platform) if platform else None
    if whose is Platform.COPILOT or (whose is None and not _COPILOTS.isdisjoint(raw)):
        from crabhook.sdk.dialects import copilot  # which alone has other names

        named = copilot.named(raw)
        whose = whose or find_platform({**raw, **named})
        raw = named if whose is Platform.COPILOT else raw
    name = raw.get("hook_event_name")
    if not isinstance(name, str) or not name:
        raise PayloadError('it has no text "hook_event_name"')
    whose = whose or find_platform(raw)
    return EVENTS[whose].get(name, Unknown)(raw, whose, payload)


# Copilot's own: the names of some events' fields, of its results, and of how a turn ended.
_COPILOTS = frozenset({"hookName", "sessionId", "agentName", "tool_result", "stop_reason"})


def find_platform(raw: Mapping[str, Any]) -> Platform:
    """Return whose input it is, by what only one agent sends.

    Gemini, Qwen and Copilot date their events: Qwen tells its mode as well, and Copilot names no
    transcript. Codex numbers its turns, names its transcripts rollout-..., and sends a
    SessionStart's permission mode. Event names must fit too. Environment variables tell nothing: an
    agent started by another inherits them.
    """
    name, transcript = raw.get("hook_event_name"), raw.get("transcript_path")
    having = [platform for platform in Platform if name in EVENTS[platform]] or [*Platform]
    of_codex = (
        "turn_id" in raw
        or (name == "SessionStart" and "permission_mode" in raw)
        or (isinstance(transcript, str) and transcript.rpartition("/")[2].startswith("rollout-"))
    )
    dated = "timestamp" in raw
    of_copilot = dated and "cwd" in raw and not transcript
    signs = {
        Platform.QWEN: dated and "permission_mode" in raw,
        Platform.COPILOT: of_copilot or not _COPILOTS.isdisjoint(raw),
        Platform.GEMINI: dated,
        Platform.CODEX: of_codex,
        Platform.CLAUDE: True,
    }
    return next(
        (platform for platform, seen in signs.items() if seen and platform in having), having[0]
    )


def respond(
    payload: bytes | Mapping[str, Any],
    *handlers: Handler[Any],
    on_error: OnError = "pass",
    platform: Platform | str | None = None,
) -> Reply:
    """Return what `run` with the same arguments would print for this input."""
    return decide(payload, handlers, on_error, platform)[0]


def decide(
    payload: bytes | Mapping[str, Any],
    handlers: Sequence[Handler[Any]],
    on_error: OnError,
    platform: Platform | str | None,
) -> tuple[Reply, Answer | None]:
    """Return the reply, and the handler's answer that it says, if it says one."""
    check(on_error, platform)
    try:
        event = read_event(payload, platform)
    except PayloadError as error:
        return _unreadable(payload, error, on_error, platform), None
    try:
        answer = _first_answer(event, handlers)
        return write(event, answer), answer
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a fault of the author's is theirs to see
        return _fault(event, error, on_error), None


def check(on_error: str, platform: str | None) -> None:
    """Raise ValueError for words that mean nothing here; a slip in one must not open a guard."""
    if on_error not in ("pass", "deny"):
        raise ValueError(f"on_error is 'pass' or 'deny', not {on_error!r}")
    names = [kind.value for kind in Platform]
    if platform is not None and platform not in names:
        raise ValueError(f"platform is one of {', '.join(map(repr, names))}, not {platform!r}")


def _first_answer(event: Event, handlers: Sequence[Handler[Any]]) -> Answer | None:
    for handler in handlers:
        if not isinstance(handler, Handler):
            raise TypeError(f"{handler!r} is no handler: put @on(PreToolUse), or such, above it")
        if handler.takes(event) and (answer := handler(event)) is not None:
            return answer
    return None


def _failed(event: Event, what: str, trace: str, on_error: OnError) -> Reply:
    """Refuse what is about to happen if the author wants that, else let the agent go on."""
    refusal = event.refusal(what) if on_error == "deny" else None
    if refusal is not None:
        return write(event, refusal)._replace(stderr=f"{what}\n{trace}")
    # Gemini shows its user no standard error beside an object, but a message in it.
    output = {"systemMessage": what} if event.platform is Platform.GEMINI else None
    return Reply(output, f"{what}\n{trace}", _going_on(event.platform))


def _going_on(platform: str | None) -> int:
    """Return the exit code of a hook that failed, and lets the agent go on."""
    return 0 if platform == Platform.COPILOT else FAILED  # for Copilot any other code denies


def _fault(event: Event, error: BaseException, on_error: OnError) -> Reply:
    """Answer for a failed handler; its traceback begins in the author's code."""
    import traceback  # only who fails needs it

    step = error.__traceback__
    while step and step.tb_frame.f_code.co_filename.startswith(_OURS):
        step = step.tb_next
    trace = traceback.format_exception(error.with_traceback(step))
    return _failed(
        event, f"a hook failed on {event.name}: {trace[-1].strip()}", "".join(trace), on_error
    )


def _unreadable(
    payload: bytes | Mapping[str, Any],
    error: PayloadError,
    on_error: OnError,
    platform: Platform | str | None,
) -> Reply:
    """Answer an unreadable input, as for its event if its name is readable."""
    from crabhook.hook.fallback import event_name  # only who fails needs it

    what = f"a hook cannot read its input: {error}"
    name = event_name(payload) if isinstance(payload, bytes) else None
    if name:
        return _failed(read_event({"hook_event_name": name}, platform), what, "", on_error)
    return Reply(None, f"{what}\n", REFUSED if on_error == "deny" else _going_on(platform))


_HELP = """\
This is a hook: a coding agent starts it and gives it an event on standard input.
To try it by hand:

  echo '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}' \\
    | python YOUR_HOOK.py
"""


def run(
    *handlers: Handler[Any], on_error: OnError = "pass", platform: Platform | str | None = None
) -> NoReturn:
    """Be the hook: read the event, give the first handler's answer, and end.

    `on_error` says what a failing handler means: "pass" lets the agent go on, "deny" refuses what
    is about to happen, if possible. `platform` is the agent; by default the input tells it.

    Code 0: the answer is on standard output. Code 1: a handler failed and the agent goes on. Code
    2: refused, with the reason on standard error. Output of handlers and their programs goes to
    standard error.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(_HELP)
        raise SystemExit(0)
    try:
        check(on_error, platform)
    except ValueError as error:
        sys.stderr.write(f"crabhook.sdk: this hook refuses all until it is mended: {error}\n")
        raise SystemExit(REFUSED) from None
    answer_to = os.dup(1)
    os.dup2(2, 1)
    payload = sys.stdin.buffer.read(_LARGEST_INPUT) if sys.stdin else b""
    reply, answer = decide(payload, handlers, on_error, platform)
    whole = _print(reply, answer_to)
    if whole and (printed := getattr(answer, "printed", None)):
        printed()
    raise SystemExit(reply.exit_code if whole else FAILED)


def _print(reply: Reply, answer_to: int) -> bool:
    """Print the reply; return whether the agent took all of it."""
    sys.stdout.flush()
    for line in reply.unsaid:
        sys.stderr.write(f"crabhook.sdk: left out {line}\n")
    sys.stderr.write(reply.stderr)
    sys.stderr.flush()
    if reply.output is None:
        return True
    try:
        with open(answer_to, "w", encoding="ascii") as output:
            output.write(compact(reply.output) + "\n")
    except OSError:
        return False
    return True
