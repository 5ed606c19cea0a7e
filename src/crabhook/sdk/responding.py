"""From a hook's input to what it prints, without a process: this is what a test calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from crabhook.model.errors import PayloadError
from crabhook.sdk.dialects import write
from crabhook.sdk.dialects.reply import Reply
from crabhook.sdk.handler import Handler
from crabhook.sdk.platform import Platform
from crabhook.sdk.reading import read_event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crabhook.sdk.answer import Answer
    from crabhook.sdk.event import Event

OnError: TypeAlias = Literal["pass", "deny"]

_OURS = __file__.rpartition("/sdk/")[0]

FAILED = 1  # the exit code that every agent reports to its user and goes on from
REFUSED = 2  # the exit code that every agent heeds, whatever it asked


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
    known = [one.value for one in Platform]
    if platform is not None and platform not in known:
        raise ValueError(f"platform is one of {', '.join(map(repr, known))}, not {platform!r}")


def _first_answer(event: Event, handlers: Sequence[Handler[Any]]) -> Answer | None:
    for handler in handlers:
        if not isinstance(handler, Handler):
            raise TypeError(f"{handler!r} is no handler: put @on(PreToolUse), or such, above it")
        if handler.takes(event) and (answer := handler(event)) is not None:
            return answer
    return None


def _failed(event: Event, what: str, trace: str, on_error: OnError) -> Reply:
    """Refuse what is about to happen where the author wants that, else let the agent go on."""
    refusal = event.refusal(what) if on_error == "deny" else None
    if refusal is not None:
        return write(event, refusal)._replace(stderr=f"{what}\n{trace}")
    # Gemini shows its user no standard error beside an object, but a message in it.
    output = {"systemMessage": what} if event.platform is Platform.GEMINI else None
    return Reply(output, f"{what}\n{trace}", FAILED)


def _fault(event: Event, error: BaseException, on_error: OnError) -> Reply:
    """Answer for a handler that failed; its traceback begins in the author's own code."""
    import traceback  # noqa: PLC0415 - only who fails needs it

    step = error.__traceback__
    while step and step.tb_frame.f_code.co_filename.startswith(_OURS):
        step = step.tb_next
    told = traceback.format_exception(error.with_traceback(step))
    return _failed(
        event, f"a hook failed on {event.name}: {told[-1].strip()}", "".join(told), on_error
    )


def _unreadable(
    payload: bytes | Mapping[str, Any],
    error: PayloadError,
    on_error: OnError,
    platform: Platform | str | None,
) -> Reply:
    """Answer for an input nobody can read, as for its event where at least that one's name can."""
    from crabhook.hook.fallback import event_name  # noqa: PLC0415 - only who fails needs it

    what = f"a hook cannot read its input: {error}"
    name = event_name(payload) if isinstance(payload, bytes) else None
    if name:
        return _failed(read_event({"hook_event_name": name}, platform), what, "", on_error)
    return Reply(None, f"{what}\n", REFUSED if on_error == "deny" else FAILED)
