"""The command line, where it measures nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import __main__ as bench


def test_there_is_nothing_to_draw_before_anything_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(bench, "PICTURE", tmp_path / "latency.svg")
    monkeypatch.setattr(sys, "argv", ["bench", "--plot"])
    assert bench.main() == 1
    assert "python -m bench --only hooks" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
