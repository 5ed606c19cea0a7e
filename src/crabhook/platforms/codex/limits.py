"""What a hook cannot do in Codex, told to the operator before the decision."""

from collections.abc import Iterator

from crabhook.model.event import Event
from crabhook.platforms.codex.events import UNASKED_MODES, asks

_ANSWERED_BY_REFUSAL = (
    "Codex takes no answers from a hook: yours reach the model as a refusal that states them."
)
_MAY_BE_REFUSED = (
    "Outside its Plan mode Codex refuses these questions itself and does not say so here: "
    "passed or allowed, they may be seen by nobody."
)
_APPROVES_NOTHING = (
    "An allow approves nothing here: Codex goes by its own rules and sandbox, and asks nobody in "
    "this session. A denial or a changed input is followed."
)
_APPROVES_WHAT_FOLLOWS = (
    "An allow approves nothing by itself: Codex goes by its own rules. Should it ask about this "
    "call within a minute, as before running it outside its sandbox, it is told this allow."
)
_DIALOG_WAITS = "Codex shows its own dialog only when this is passed or handed back."
_INPUT_STAYS = "The input cannot be changed here: deny it, saying what to do instead."


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    return tuple(_limits(event))


def _limits(event: Event) -> Iterator[str]:
    if event.name == "PermissionRequest":
        yield _DIALOG_WAITS
        yield _INPUT_STAYS
    elif event.name != "PreToolUse":
        return
    elif asks(event):
        yield _ANSWERED_BY_REFUSAL
        yield _MAY_BE_REFUSED
    elif event.permission_mode in UNASKED_MODES:
        yield _APPROVES_NOTHING
    else:
        yield _APPROVES_WHAT_FOLLOWS
