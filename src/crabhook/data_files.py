"""Tables that people maintain, as TOML beside the module that reads them."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


def tables(module: str, name: str) -> dict[str, Any]:
    """Return all of `name`.toml in the folder of a module, which gives its `__file__`."""
    return _read(Path(module).with_name(f"{name}.toml"))


@cache
def _read(file: Path) -> dict[str, Any]:
    """Read a file once for all modules of its folder: a server that starts waits for it."""
    return tomllib.loads(file.read_text("utf-8"))


def names(text: str) -> frozenset[str]:
    """Return the names in `text`, which blanks part."""
    return frozenset(text.split())
