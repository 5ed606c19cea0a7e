"""The extras of pyproject.toml, and the command that adds them to this installation."""

import sys
from pathlib import PurePath
from typing import Final

SERVE: Final = "serve"
"""The whole of the operator's side; each of the others comes with it."""
CLUSTER, WEB, OIDC = "serve,cluster", "serve,web", "serve,oidc"


def installer(extra: str) -> str:
    """Return the command that adds this extra, from where this installation came."""
    wanted = f"'{_source(extra)}'"
    parts = PurePath(sys.prefix).parts
    if "pipx" in parts:
        return f"pipx install --force {wanted}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool install --force {wanted}"
    return f"{sys.executable} -m pip install {wanted}"


def _source(extra: str) -> str:
    """Return crabhook with an extra, from this installation's source."""
    import json  # slow, and seldom needed, as is the next
    from importlib.metadata import PackageNotFoundError, distribution

    name = f"crabhook[{extra}]"
    try:
        direct_url = distribution("crabhook").read_text("direct_url.json")
    except PackageNotFoundError:
        return name
    return f"{name} @ {json.loads(direct_url)['url']}" if direct_url else name
