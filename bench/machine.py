"""What a figure was taken on: without it nobody can judge one."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version

from bench.candidates import console_script
from bench.instead.commands import where
from bench.process import run_whole
from crabhook.install import program


def machine() -> dict[str, str]:
    """Return the facts, each a line of text, by name."""
    return {
        "python": platform.python_version(),
        "grpcio": version("grpcio"),
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
        "compared with": ", ".join(_versions()),
    }


def _versions() -> Iterator[str]:
    """Yield what the programs of bench.instead call themselves; one that is missing, nothing."""
    for name in ("node", "curl", "jq", "uv"):
        if found := where(name):
            run = run_whole((found, "--version"), b"", os.environ)
            said = run.stdout.decode(errors="replace").split()
            numbers = [word for word in said if any(letter.isdigit() for letter in word)]
            yield f"{name} {numbers[0].removeprefix(f'{name}-').removeprefix('v')}"


def busy() -> str:
    """Return how many processes wanted a core, on average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def misgivings() -> Iterator[str]:
    """Say what makes the yardstick or the console script other than usual."""
    yield from program.misgivings(program.interpreter())
    if "import re\n" in console_script().read_text(encoding="utf-8"):
        yield (
            "the console script was written by a pip that has it import `re`, which costs half a "
            "start of Python: with a newer pip, install crabhook again"
        )
