"""A handful of tests that fail side by side is tried once more; no failure is hidden by it."""

from pathlib import Path

import pytest

from tests import once_more

pytestmark = [pytest.mark.process, pytest.mark.thorough]  # they start pytest ten times

FALLS_ONCE = """
from pathlib import Path

def test_falls_once():
    seen = Path(__file__).with_name("seen")
    there = seen.exists()
    seen.touch()
    assert there
"""
FALLS = "def test_falls_{0}():\n    assert False\n"
GONE = """
if not Path(__file__).with_name("seen").exists():
    def test_gone():
        assert False
"""
STANDS = "def test_stands():\n    pass\n"


def _run(folder: Path, *tests: str) -> int:
    (folder / "pytest.ini").write_text("[pytest]\n")  # none of this project's own settings
    (folder / "test_these.py").write_text("\n".join(tests))
    return once_more.run(
        ["-q", "-p", "no:randomly", "-n", "2", "-c", f"{folder}/pytest.ini", str(folder)]
    )


def test_what_passes_alone_has_passed_and_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(once_more.TOLD, str(tmp_path / "told"))
    assert _run(tmp_path, STANDS, FALLS_ONCE) == 0
    named = "these passed only alone:\n  test_these.py::test_falls_once"
    assert named in capfd.readouterr().out
    assert named in (tmp_path / "told").read_text(encoding="utf-8")


def test_what_fails_both_times_has_failed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, STANDS, FALLS_ONCE, FALLS.format(1)) == 1
    said = capfd.readouterr().out
    assert "these did not pass alone either:\n  test_these.py::test_falls_1\n" in said


def test_what_failed_and_is_not_found_again_has_failed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, FALLS_ONCE, GONE) == 1
    assert (
        "these did not pass alone either:\n  test_these.py::test_gone\n" in capfd.readouterr().out
    )


def test_more_failures_than_a_handful_are_no_accident(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    many = [FALLS.format(number) for number in range(once_more.HANDFUL + 1)]
    assert _run(tmp_path, *many) == 1
    assert "once more" not in capfd.readouterr().out


def test_a_file_that_cannot_be_read_has_failed(tmp_path: Path) -> None:
    assert _run(tmp_path, STANDS, "import nothing_of_that_name") != 0
