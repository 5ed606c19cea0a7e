"""`python -m tests.once_more ARGUMENTS`: run pytest, and try the few that failed once more, alone.

Tests that start servers and agents wait for them. Beside four others on two cores such a wait can
be too short, and the program is not to blame. So a handful of failures is tried again, one after
the other on the quiet machine. What fails then too has failed. Each that passed only then is
named, so that nobody takes it for sound; more failures than a handful are not tried again.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HANDFUL = 5
"""More failures than these are no accident."""

TOLD = "CRABHOOK_ONCE_MORE"
"""The environment's name of a file that gets all that is said: `.ci/run` ends with it."""

FAILED = 1  # pytest's exit status for tests that failed; all others are not about tests


def run(arguments: Sequence[str], handful: int = HANDFUL) -> int:
    """Run pytest with `arguments`, once more for what failed; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="crabhook-once-more-") as folder:
        kept = ("-o", f"cache_dir={folder}")
        status = _pytest(*arguments, *kept)
        failed = _failed(Path(folder))
        if status != FAILED or not failed or len(failed) > handful:
            return status
        _say("these failed side by side and are tried once more, alone:", failed)
        alone = (*arguments, *kept, "--last-failed", "--numprocesses", "0")
        status = _pytest(*alone)
        still = _failed(Path(folder))
        _say("these did not pass alone either:", still)
        _say("these passed only alone:", [one for one in failed if one not in still])
        return status or (FAILED if still else 0)  # what was not found again has not passed


def _pytest(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def _failed(cache: Path) -> list[str]:
    """Return the tests that pytest's own cache holds as failed."""
    file = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(file.read_text())) if file.exists() else []


def _say(what: str, tests: Sequence[str]) -> None:
    if tests:
        said = "\n  ".join((f"once more: {what}", *tests))
        print(said, flush=True)
        if file := os.environ.get(TOLD):
            with Path(file).open("a", encoding="utf-8") as told:
                print(said, file=told)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
