"""The operator, for hooks that are written in the specification's shape."""

from typing import Any

from crabhook.model.errors import PayloadError
from crabhook.sdk import heard
from crabhook.sdk.compat.input import HookInput
from crabhook.sdk.compat.output import HookOutput
from crabhook.sdk.operator import DEFAULT_TIMEOUT, ask
from crabhook.sdk.reading import read_event


def ask_operator(
    hook_input: HookInput, *, address: str | None = None, timeout: float = DEFAULT_TIMEOUT
) -> HookOutput | None:
    """Ask the operator about this event; None where nobody decided, which is no opinion.

    The answer is in `raw_output`, in the words of the platform: this shape
    has none for a changed input or a permission.  An answer that has to be an
    exit code has no place in this shape and becomes a block.  See
    `crabhook.sdk.ask_operator` for the arguments.
    """
    try:
        event = read_event(hook_input.raw_input, hook_input.platform)
    except PayloadError:
        return None
    asked = ask(event, address=address, timeout=timeout)
    if asked is None:
        return None
    asked.confirm()
    if heard.answer(event, asked.reply) is None:
        return None
    if asked.reply.exit_code:
        return HookOutput("block", reason=asked.reply.stderr.decode("utf-8", "replace").strip())
    raw: dict[str, Any] = dict(heard.output(asked.reply))
    return HookOutput(raw_output=raw)
