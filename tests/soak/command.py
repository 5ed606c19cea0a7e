"""What the two soaks have in common as commands: their arguments, their bound in time, their verdict."""

from __future__ import annotations

import argparse
import random
import signal
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_LONGEST, _BESIDE = 2.0, 240  # times the minutes, and seconds beside: what takes longer hangs
_SHOWN = 40  # faults; the rest are counted


def parser(module: str, description: str | None, *, minutes: float) -> argparse.ArgumentParser:
    """Return the arguments that both take; a seed is drawn where none is named."""
    arguments = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    arguments.add_argument("--minutes", type=float, default=minutes)
    seed = random.SystemRandom().randrange(10**6)
    arguments.add_argument("--seed", type=int, default=seed)
    arguments.add_argument(
        "--schedule", action="store_true", help="print the schedule, and no more"
    )
    arguments.add_argument("--laws", action="store_true", help="print what has to hold")
    arguments.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)
    return arguments


def print_laws(laws: Sequence[Callable[..., object]]) -> None:
    """Print the name of each law and what it says."""
    for law in laws:
        print(f"  {law.__name__:<24} {(law.__doc__ or '').strip()}")


def again(module: str, chosen: argparse.Namespace) -> list[str]:
    """Return the module and its arguments for the same run in namespaces of its own."""
    return [module, "--apart", "--seed", str(chosen.seed), "--minutes", str(chosen.minutes)]


def bound(minutes: float) -> None:
    """End a run by TimeoutError that takes far longer than it was given."""

    def too_long(*_: object) -> NoReturn:
        raise TimeoutError("the soak took far longer than it was given")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(int(_LONGEST * minutes * 60 + _BESIDE))


def verdict(faults: Sequence[str], folder: Path, command: str) -> int:
    """Print the faults, where what is left lies, and how to do it again; return the exit code."""
    if not faults:
        print("all laws held")
        return 0
    more = [f"… and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
    print(
        f"{len(faults)} faults:", *(f"✗ {fault}" for fault in [*faults[:_SHOWN], *more]), sep="\n  "
    )
    print(f"what is left of it: {folder}")
    print(f"again: {command}")
    return 1
