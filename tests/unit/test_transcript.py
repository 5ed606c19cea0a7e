"""What a session was about, from its transcript: whatever is in the file."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook import transcript
from crabhook.transcript import excerpt, summary


def line(who: str, content: object, **more: object) -> str:
    return json.dumps({"type": who, "message": {"role": who, "content": content}, **more})


def test_the_first_prompt_and_the_last_sayings(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    calls = [{"type": "text", "text": "On it."}, {"type": "tool_use", "name": "Bash", "input": {}}]
    said = [
        json.dumps({"type": "summary", "summary": "x"}),
        line("user", "a remark of the program's", isMeta=True),
        line("user", "Write a parser."),
        line("assistant", calls),
        line("user", [{"type": "tool_result", "content": "out"}]),
        line("assistant", [{"type": "text", "text": "Done."}]),
        '{"cut',
    ]
    file.write_text("\n".join(said))
    first, last = excerpt(str(file))
    assert first == "Write a parser."
    assert last == "user: Write a parser.\n\nassistant: On it.\n(calls Bash)\n\nassistant: Done."


def test_of_a_long_transcript_only_the_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    lines = [
        line("user", "The task."),
        *(line("assistant", f"{n} {'x' * 90}") for n in range(9999)),
    ]
    file.write_text("\n".join(lines))
    first, last = excerpt(str(file))
    assert first == "The task."
    assert last.splitlines()[-1].startswith("assistant: 9998 ")
    assert len(last) < 2 * transcript.MOST


@pytest.mark.parametrize(
    "name", ["none.jsonl", "folder.jsonl", "pipe.jsonl", "s.txt", "\0.jsonl", ""]
)
def test_what_is_no_transcript_says_nothing_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "s.txt").write_text(line("user", "secret"))
    assert excerpt(f"{tmp_path}/{name}") == ("", "")


@given(st.lists(st.binary(max_size=40) | st.sampled_from([
    b'{"type": "user", "message": {"content": [1, {"type": "text", "text": 5}, {"type": []}]}}',
    b'{"type": [], "message": {"content": "x"}}',
    b'{"type": "user", "message": "x"}',
    b'{"type": "assistant", "message": {"content": {"text": "x"}}}',
])))  # fmt: skip
def test_whatever_is_in_it_is_read_without_a_fault(lines: list[bytes]) -> None:
    list(transcript._utterances(b"\n".join(lines)))


def test_a_summary_has_the_task_the_last_words_and_the_calls(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "cat key"}}
    file.write_text(
        "\n".join(
            [
                line("user", "Write a parser."),
                line("assistant", [{"type": "text", "text": "On it."}, call, call]),
                line("user", [{"type": "tool_result", "content": "out"}]),
                line("assistant", [{"type": "text", "text": "Done."}]),
                line("assistant", [{**call, "name": "Read"}]),
            ]
        )
    )
    found = summary(str(file))
    assert found is not None
    assert (found.task, found.last) == ("Write a parser.", "Done.")
    assert (found.calls, found.whole) == ({"Bash": 2, "Read": 1}, True)
    assert found.size == file.stat().st_size


def test_of_a_huge_transcript_a_summary_has_the_beginning_and_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "SUMMED", 4096)
    monkeypatch.setattr(transcript, "PIECE", 4096)
    file = tmp_path / "s.jsonl"
    middle = [line("assistant", [{"type": "tool_use", "name": f"T{n}"}]) for n in range(500)]
    file.write_text("\n".join([line("user", "t" * 9999), line("user", "The task."), *middle]))
    with file.open("a") as more:
        more.write("\n" + line("assistant", "w" * 3000))
    found = summary(str(file))
    assert found is not None
    assert not found.whole
    assert found.last == "w" * transcript.LAST
    assert len(found.calls) <= transcript.TOOLS


@pytest.mark.parametrize("name", ["none.jsonl", "folder", "pipe", "link", "empty", "text", "\0"])
def test_what_is_no_transcript_has_no_summary(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("secret\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "text")
    assert summary(f"{tmp_path}/{name}") is None
