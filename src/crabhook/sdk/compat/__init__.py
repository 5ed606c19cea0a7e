"""The hook wrapper exactly as first specified (REQ-006); `crabhook.sdk` does the same safely.

It is here for hooks that were written to the specification.  docs/how-to/own-hooks.md says,
side by side, where it is unsafe or out of date today.
"""

from crabhook.sdk.compat.wrapper import (
    EVENT_TO_NORMALIZED,
    NORMALIZED_TO_EVENT,
    NORMALIZED_TO_TOOL,
    TOOL_TO_NORMALIZED,
    HookInput,
    HookOutput,
    NormalizedEvent,
    ask_operator,
    denormalize_output,
    format_hook_error,
    normalize_event,
    normalize_input,
    normalize_tool,
    output_hook_error,
    read_stdin,
    run_hook,
    write_stdout,
)
from crabhook.sdk.platform import Platform

__all__ = [
    "EVENT_TO_NORMALIZED",
    "NORMALIZED_TO_EVENT",
    "NORMALIZED_TO_TOOL",
    "TOOL_TO_NORMALIZED",
    "HookInput",
    "HookOutput",
    "NormalizedEvent",
    "Platform",
    "ask_operator",
    "denormalize_output",
    "format_hook_error",
    "normalize_event",
    "normalize_input",
    "normalize_tool",
    "output_hook_error",
    "read_stdin",
    "run_hook",
    "write_stdout",
]
