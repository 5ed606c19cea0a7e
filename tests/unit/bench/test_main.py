"""The command line, where it measures nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.found import Found, Wishes


def test_there_is_nothing_to_draw_before_anything_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(bench, "PICTURE", tmp_path / "latency.svg")
    monkeypatch.setattr(sys, "argv", ["bench", "--plot"])
    assert bench.main() == 1
    assert "python -m bench --only hooks" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.process
@pytest.mark.parametrize(("rounds", "drawn"), [(39, False), (40, True)])
def test_a_few_rounds_do_not_take_the_place_of_the_picture(
    rounds: int, drawn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(bench, "measured", lambda *_: iter([("hooks", Found("", {}))]))
    done: list[bool] = []
    monkeypatch.setattr(bench, "_draw", lambda: done.append(True))
    bench._measure(["hooks"], Wishes(rounds, []))
    assert bool(done) is drawn
