"""What to do where a command needs packages that only the whole installation has.

`pip install crabhook` is the hook and what sets it up, with no dependencies;
the extra `serve` is everything (docs/decisions/0014).
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import PurePath

EXTRA = "serve"
"""The name of the extra in pyproject.toml."""


def explained(command: str, error: ModuleNotFoundError) -> str | None:
    """Return the words for a person; None where the missing module is not another package's."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "crabhook"):
        return None
    return (
        f"crabhook {command} needs {package}, which is not installed: here is the hook alone.\n"
        f"Install the whole: {_installer()}\n"
    )


def _installer() -> str:
    """Return the command that adds the extra to this installation."""
    wanted = f"'{_source()}'"
    parts = PurePath(sys.prefix).parts
    if "pipx" in parts:
        return f"pipx install --force {wanted}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool install --force {wanted}"
    return f"{sys.executable} -m pip install {wanted}"


def _source() -> str:
    """Return crabhook with the extra, from where this one was installed."""
    name = f"crabhook[{EXTRA}]"
    try:
        told = distribution("crabhook").read_text("direct_url.json")
    except PackageNotFoundError:
        return name
    return f"{name} @ {json.loads(told)['url']}" if told else name
