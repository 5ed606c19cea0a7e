"""The long run of one target: seeds in, the engine started, what it found brought home."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.reach import telling
from tests.fuzz.target import Target, load

ROOT = Path(__file__).parents[2]
MOST_INPUTS, MOST_BYTES = 150, 90_000
"""What is committed of one target at most."""
_MOST_TRACED = 400
_QUICK = "/dev/shm" if Path("/dev/shm").is_dir() else None
_EDGES = re.compile(r"cov: (\d+)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one target.

    `edges` are the engine's, of the code of crabhook that it has instrumented. `kept` are the
    inputs now committed, `new` those of them that were not before. `crash` is the input that
    broke the law, and `told` what was said of it.
    """

    name: str
    tried: int
    seconds: float
    edges: int
    kept: int
    new: int
    crash: Path | None = None
    told: str = ""


def run(name: str, seconds: float) -> Outcome:
    """Fuzz one target for so long; put what it found that reaches more with the corpus."""
    target = load(name)
    with tempfile.TemporaryDirectory(prefix="crabhook-fuzz-", dir=_QUICK) as scratch:
        folder = Path(scratch)
        _sow(target, name, folder / "inputs")
        command = [sys.executable, "-m", "tests.fuzz.guided", name, str(seconds), scratch]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "TMPDIR": scratch},  # since it ends without tidying up
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        came, broken = _came(done.stdout), done.returncode != 0
        told = "\n".join(done.stderr.splitlines()[-25:]) if broken else ""
        crash = _crash(name, folder) if broken else None
        kept = new = 0
        try:
            if not broken:
                kept, new = _harvest(target, name, folder / "inputs")
        except Exception:  # noqa: BLE001 - a law that breaks now and did not before tells itself
            told = traceback.format_exc()
    edges = [int(number) for number in _EDGES.findall(done.stderr)]
    tried, took = int(came.get("tried", 0)), came.get("seconds", 0.0)
    return Outcome(name, tried, took, max(edges, default=0), kept, new, crash, told)


def minimise(name: str) -> tuple[int, int]:
    """Make a committed corpus small: only what reaches more stays. Return before and after."""
    target, folder = load(name), corpus.CORPUS / name
    before = corpus.read(folder)
    chosen, _ = telling(target, before, [*target.seeds(), *corpus.read(corpus.BROKEN / name)])
    for path in folder.glob("*"):
        path.unlink()
    for data in chosen:
        corpus.keep(folder, data)
    return len(before), len(chosen)


def _sow(target: Target, name: str, folder: Path) -> None:
    folder.mkdir()
    for data in [*target.seeds(), *corpus.inputs_of(name)]:
        (folder / corpus.name_of(data)).write_bytes(data[: target.longest])


def _came(stdout: str) -> dict[str, float]:
    """What the engine's process said at its end; nothing, where it was ended before."""
    lines = stdout.splitlines()
    told = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    assert isinstance(told, dict)
    return told


def _crash(name: str, folder: Path) -> Path | None:
    """Put the input that broke the law where it is tried again by every test run."""
    found = [path for path in folder.iterdir() if path.is_file()]
    return corpus.keep(corpus.BROKEN / name, found[0].read_bytes()) if found else None


def _harvest(target: Target, name: str, folder: Path) -> tuple[int, int]:
    """Commit the shortest inputs that reach what no other does, within the bounds."""
    home, known = corpus.CORPUS / name, corpus.inputs_of(name)
    before = corpus.read(home)
    found = [data for data in corpus.read(folder) if data not in known]
    step = len(found) // _MOST_TRACED + 1
    chosen, _ = telling(target, found[::step], [*target.seeds(), *known])
    room, size = MOST_INPUTS - len(before), MOST_BYTES - sum(map(len, before))
    new = 0
    for data in chosen[: max(room, 0)]:
        size -= len(data)
        if size < 0:
            break
        corpus.keep(home, data)
        new += 1
    return len(before) + new, new
