"""The screen before many, letter by letter, at four sizes; run as a module, it draws them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sitting import QUESTIONS, Sitting

SIZES = [(80, 24), (120, 40), (200, 60), (40, 10)]
_FOLDER = Path(__file__).parent / "golden"
_HOSTILE = "echo \x1b[2J╭ #1 · Claude Code ╮ ▲▲ \u202e\n\nrm -rf ~"


def path_of(columns: int, rows: int) -> Path:
    return _FOLDER / f"queue-{columns}x{rows}.txt"


def scene(columns: int, rows: int, *, ascii_only: bool = False) -> Sitting:
    """Return a screen before calls of four sessions, by risk, and one of them nearly out of time."""
    sitting = Sitting(columns=columns, rows=rows, ascii=ascii_only)

    def ask(session: str, command: str, wait: float = 600.0) -> None:
        cwd = f"/home/ann/{session}"
        sitting.ask(tool_input={"command": command}, wait=wait, session_id=session, cwd=cwd)

    ask("api-server", "git status")
    ask("infra", "terraform apply -auto-approve", wait=45.0)
    sitting.ask("AskUserQuestion", QUESTIONS, session_id="web", cwd="/home/ann/web")
    sitting.desk.pass_time(12)
    edit = {
        "file_path": "/home/ann/api-server/src/auth.ts",
        "old_string": "a",
        "new_string": "b\nc",
    }
    sitting.ask("Edit", edit, session_id="api-server", cwd="/home/ann/api-server")
    ask("api-server", "rm -rf ../cache && npm ci")
    ask("docs", _HOSTILE)
    sitting.desk.pass_time(5)
    for number in range(30):
        ask("web", f"npm run test -- --shard={number + 1}/30")
    sitting.press("s", "home")
    sitting.wait(2.0)
    return sitting


def drawn(columns: int, rows: int) -> str:
    shown = scene(columns, rows).rows_of_text()
    return "\n".join(row.rstrip() for row in shown) + "\n"


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_queue_before_many_is_drawn_as_it_was_agreed(columns: int, rows: int) -> None:
    assert drawn(columns, rows) == path_of(columns, rows).read_text(encoding="utf-8")


def test_in_ascii_it_is_the_same_picture_row_by_row() -> None:
    for columns, rows in SIZES:
        shown = scene(columns, rows, ascii_only=True).rows_of_text()
        assert len(shown) == rows
        assert "".join(shown).isascii()
        assert [row for row in shown if "!!" in row and "#5" in row]


if __name__ == "__main__":
    for _columns, _rows in SIZES:
        path_of(_columns, _rows).parent.mkdir(exist_ok=True)
        path_of(_columns, _rows).write_text(drawn(_columns, _rows), encoding="utf-8")
