"""A hook's process as the specification has it (REQ-006.8 to 006.10)."""

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

from crabhook.sdk.compat.input import HookInput, normalize_input
from crabhook.sdk.compat.names import Platform
from crabhook.sdk.compat.output import HookOutput, denormalize_output


def run_hook(function: Callable[[HookInput], HookOutput], platform: Platform) -> int:
    """Read the input, call `function`, write what it returns; always return 0.

    An exception becomes a block whose reason is its traceback, on whatever
    event, which sends an agent that wants to stop round in circles.
    """
    try:
        hook_input = normalize_input(read_stdin(), platform)
        output = function(hook_input)
        write_stdout(denormalize_output(output, platform, hook_input.event))
    except Exception as error:  # noqa: BLE001 - 006.10: whatever it is, the agent is told and 0 returned
        output_hook_error(error)
    return 0


def read_stdin() -> str:
    """Return what is on standard input; nothing from a terminal, or where it cannot be read."""
    try:
        return "" if sys.stdin.isatty() else sys.stdin.read()
    except Exception:  # noqa: BLE001 - 006.8: the empty string on any exception
        return ""


def write_stdout(text: str) -> None:
    """Print the text on standard output."""
    print(text)  # noqa: T201 - 006.8 asks for it


def format_hook_error(error: BaseException, context: str = "") -> dict[str, Any]:
    """Return a block whose reason tells of the error; `context` is what was being done."""
    lines = ["Hook Script Error", ""]
    if context:
        lines.append(f"Context: {context}")
    lines += [f"Error type: {type(error).__name__}", f"Message: {error}", "", "Traceback:"]
    told = "".join(traceback.format_exception(error))
    return {"decision": "block", "reason": "\n".join(lines) + "\n" + told}


def output_hook_error(error: BaseException, context: str = "") -> None:
    """Print the block of `format_hook_error` as JSON."""
    write_stdout(json.dumps(format_hook_error(error, context)))
