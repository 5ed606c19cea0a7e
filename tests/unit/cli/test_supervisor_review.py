"""`crabhook supervisor-review` reads a review and prints a verdict, as any reviewer does."""

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from crabhook.cli import main, supervisor
from crabhook.supervisor.reviewers import read_finding

pytestmark = pytest.mark.process

VERDICT = {"allow_stop": True, "feedback": "It is done."}


def claude(folder: Path) -> str:
    """A command that answers as Claude Code does and notes its arguments."""
    script = folder / "claude.py"
    result = json.dumps({"structured_output": VERDICT})
    script.write_text(
        "import json, sys\n"
        f"open({str(folder / 'arguments')!r}, 'w').write(json.dumps(sys.argv))\n"
        f"print({result!r})\n"
    )
    return shlex.join([sys.executable, str(script), "--model", "the best"])


def give(monkeypatch: pytest.MonkeyPatch, review: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(review)))


def test_it_prints_the_verdict_that_the_supervisor_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, b'{"event": "Stop"}')
    (tmp_path / "law").write_text("Never let it stop.")
    options = ["--claude", claude(tmp_path), "--instructions", str(tmp_path / "law")]
    assert main(["supervisor-review", *options]) == 0
    assert read_finding(capsys.readouterr().out.encode()).feedback == "It is done."
    arguments = json.loads((tmp_path / "arguments").read_text())
    assert arguments[1:3] == ["--model", "the best"]
    assert arguments[-1] == "Never let it stop."


@pytest.mark.parametrize(
    ("review", "options", "says"),
    [
        (b"nonsense", [], "it is not JSON"),
        (b"{}", ["--claude", "/no/such/claude"], "cannot be started"),
        (b"{}", ["--claude", "'"], "No closing quotation"),
        (b"{}", ["--instructions", "/no/such/law"], "No such file"),
    ],
)
def test_it_fails_in_words(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    review: bytes,
    options: list[str],
    says: str,
) -> None:
    give(monkeypatch, review)
    assert main(["supervisor-review", *options]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("crabhook supervisor-review: ")
    assert says in err


def test_its_first_line_is_its_help() -> None:
    assert supervisor.__doc__
