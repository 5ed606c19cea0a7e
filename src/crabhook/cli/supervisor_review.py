"""Review with Claude Code itself: a review as JSON on standard input, the verdict on the output."""

import argparse
import shlex
import sys
from pathlib import Path

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_object
from crabhook.supervisor.claude import INSTRUCTIONS, verdict
from crabhook.supervisor.contract import ReviewerError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which program judges, and by what."""
    parser.add_argument(
        "--claude",
        metavar="PROGRAM",
        default="claude",
        help="Claude Code, with options of yours, as in 'claude --model haiku' "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--instructions",
        metavar="FILE",
        type=Path,
        help="judge by this text, and not by crabhook's own",
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge; return 0, or 1 with the reason on standard error."""
    try:
        review = parse_object(sys.stdin.buffer.read())
        instructions = (
            arguments.instructions.read_text(encoding="utf-8")
            if arguments.instructions
            else INSTRUCTIONS
        )
        print(verdict(review, shlex.split(arguments.claude), instructions))  # noqa: T201 - the verdict
    except (PayloadError, ReviewerError, OSError, ValueError) as error:
        sys.stderr.write(f"crabhook supervisor-review: {error}\n")
        return 1
    return 0
