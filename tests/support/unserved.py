"""A server that cannot begin: `crabhook serve` in this process, since it ends before it listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.app.logs import CANNOT_BEGIN
from crabhook.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def why_unserved(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *options: str,
) -> str:
    """Serve with an empty home, and see that it cannot begin; return what it says of that."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CRABHOOK_SETTINGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    assert main(["serve", "--plain", *options]) == CANNOT_BEGIN
    shown = capfd.readouterr()
    assert shown.out == ""
    return shown.err
