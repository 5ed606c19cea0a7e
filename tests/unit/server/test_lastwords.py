"""An agent's last words are read from a file of ours alone, and nothing else of it comes back."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Card, Leg, Origin
from crabhook.model.event import Event, ToolCall
from crabhook.server.core.transcripts import LastWords
from crabhook.transcript import LAST, PIECE, SUMMED, last_prompt, last_words, transcript_of
from tests.support.examples import examples

HERE = Origin(host=os.uname().nodename)


def line(kind: str, *texts: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"type": kind, "message": {"content": content}, **fields}


def written(path: Path, *entries: Any) -> str:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return str(path)


def card(path: str, origin: Origin = HERE, **fields: Any) -> Card:
    event = Event("claude", "PreToolUse", fields={"transcript_path": path, **fields})
    return Card(7, (Leg("r", event, 10.0, origin=origin),), 0.0)


async def said(words: LastWords, card: Card) -> str:
    return (await around(words, card))[0]


async def around(words: LastWords, card: Card) -> tuple[str, str]:
    found: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
    words.ask(card, lambda *told: found.set_result(told))
    async with asyncio.timeout(60):
        return await found


def test_the_last_text_of_the_assistant_is_what_was_said(tmp_path: Path) -> None:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "a result"}]}
    path = written(
        tmp_path / "t.jsonl",
        line("user", "do it"),
        line("assistant", "First."),
        {"type": "user", "message": {"content": [result]}},
        line("assistant", "Then ", "this."),
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "system", "content": "x"},
    )
    assert last_words(path) == "Then \nthis."


def test_what_was_said_before_the_last_prompt_is_not_about_this(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.jsonl",
        line("assistant", "of another turn"),
        {"type": "user", "message": {"content": "go on"}},
        line("user", "a reminder of the program's own", isMeta=True),
    )
    assert last_words(path) == ""


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    long = json.dumps(line("assistant", "x" * (PIECE * 4)))
    path.write_text(json.dumps(line("assistant", "early")) + "\n" + long + "\n")
    assert last_words(str(path)) == ""
    with path.open("a") as file:
        file.write(json.dumps(line("assistant", "y" * (LAST * 2))) + "\n")
    assert last_words(str(path)) == "y" * LAST


@pytest.mark.parametrize("path", ["", "t.jsonl", "/", "/dev/zero", "/dev/tty", "/no/such", "/a\0b"])
def test_what_is_no_file_of_ours_is_not_read(path: str) -> None:
    assert last_words(path) == ""


def test_a_link_a_pipe_and_a_socket_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = written(tmp_path / "t.jsonl", line("assistant", "secret"))
    assert last_words(real) == "secret"
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    os.mkfifo(pipe)
    began = time.monotonic()
    assert last_words(str(link)) == ""
    assert last_words(str(pipe)) == ""
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # a socket's path has to be short
        listener.bind("s")
        assert last_words(str(tmp_path / "s")) == ""
    assert time.monotonic() - began < 5  # seconds; a pipe that is waited on waits for ever


def test_a_file_of_somebody_else_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "t.jsonl", line("assistant", "theirs"))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert last_words(path) == ""


def test_a_file_that_is_no_transcript_gives_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("-----BEGIN PRIVATE KEY-----\nabc\n" + "[" * 200_000 + "\n7\nnull\n[]\n")
    assert last_words(str(path)) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "message", "content", "text", "x"]), inner)
    ),
    max_leaves=9,
)


@examples(50)
@given(st.lists(JSON | st.fixed_dictionaries({"type": st.just("assistant"), "message": JSON})))
def test_entries_of_any_shape_raise_nothing(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("any") / "t.jsonl"
    assert isinstance(last_words(written(path, *entries)), str)


def test_a_subagent_has_a_transcript_of_its_own() -> None:
    fields = {"transcript_path": "/home/a/s.jsonl"}
    assert transcript_of(Event("claude", "Stop", fields=fields)) == "/home/a/s.jsonl"
    agents = Event("claude", "PreToolUse", agent_id="a7f", fields=fields)
    assert transcript_of(agents) == "/home/a/s/subagents/agent-a7f.jsonl"
    told = Event("claude", "X", agent_id="a", fields={**fields, "agent_transcript_path": "/p"})
    assert transcript_of(told) == "/p"
    assert transcript_of(Event("claude", "X", agent_id="../../x", fields=fields)) == ""


async def test_it_is_read_once_a_card_and_off_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    asked = card(written(path, line("assistant", "once")))
    words = LastWords()
    at_once: list[str] = []
    words.ask(asked, lambda told, _: at_once.append(told))
    assert at_once == []
    assert await said(words, asked) == "once"
    path.unlink()
    words.ask(asked, lambda told, _: at_once.append(told))
    assert at_once == ["once", "once"]


@pytest.mark.parametrize(
    "origin", [Origin(host="another-machine"), Origin(), replace(HERE, machine="build1")]
)
async def test_the_file_of_another_machine_is_never_looked_for(
    tmp_path: Path, origin: Origin
) -> None:
    path = written(tmp_path / "t.jsonl", line("assistant", "here"))
    assert await said(LastWords(), card(path, origin)) == ""


async def test_a_plan_that_its_event_only_names_is_read_from_its_own_file(tmp_path: Path) -> None:
    tool = ToolCall("exit_plan_mode", {"plan_filename": "plan.md"})
    fields = {"transcript_path": str(tmp_path / "chats" / "t.jsonl")}
    event = Event("gemini", "BeforeTool", session="one", tool=tool, fields=fields)
    plans = tmp_path / "one" / "plans"
    plans.mkdir(parents=True)
    (plans / "plan.md").write_text("# The plan")
    asking = Card(7, (Leg("r", event, 10.0, origin=HERE),), 0.0)
    assert await said(LastWords(), asking) == "# The plan"
    elsewhere = Card(8, (Leg("r", event, 10.0, origin=Origin(host="other")),), 0.0)
    assert await said(LastWords(), elsewhere) == ""


TASK = line("user", "a task of the main agent's", isSidechain=True)
NOT_TYPED = [
    line("assistant", "Done."),
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a result"}]}},
    line("user", "Caveat: The messages below were generated by the user"),
    line("user", "<system-reminder>remember</system-reminder>"),
    line("user", "<command-name>/clear</command-name>"),
    line("user", "<local-command-stdout>out</local-command-stdout>"),
    line("user", "[Request interrupted by user]"),
    line("user", "meta", isMeta=True),
    line("user", "so far this and that was said", isCompactSummary=True),
    TASK,
]


def test_the_last_prompt_is_what_the_user_typed_last_and_nothing_that_was_put_in_for_them(
    tmp_path: Path,
) -> None:
    asked = line("user", "Build it anew", "<system-reminder>remember</system-reminder>")
    path = written(tmp_path / "t.jsonl", line("user", "an older one"), asked, *NOT_TYPED)
    assert last_prompt(path) == "Build it anew"
    assert last_prompt(written(tmp_path / "n.jsonl", *NOT_TYPED)) == ""
    assert last_prompt(written(tmp_path / "l.jsonl", line("user", "y" * 9000))) == "y" * LAST


def test_the_last_prompt_is_looked_for_in_a_bounded_end_of_the_file_alone(tmp_path: Path) -> None:
    long = line("assistant", "x" * (SUMMED // 2 + PIECE))
    path = written(tmp_path / "t.jsonl", line("user", "far away"), long, long)
    assert last_prompt(path) == ""
    link = tmp_path / "link"
    link.symlink_to(written(tmp_path / "p", line("user", "near")))
    assert last_prompt(str(link)) == ""


async def test_a_subagents_card_tells_its_own_words_and_what_the_sessions_user_asked(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "s.jsonl", line("user", "Do it"), line("assistant", "I let one do."))
    own = tmp_path / "s" / "subagents" / "agent-a7f.jsonl"
    own.parent.mkdir(parents=True)
    written(own, TASK, line("assistant", "I do it", isSidechain=True))
    event = Event("claude", "PreToolUse", agent_id="a7f", fields={"transcript_path": path})
    asking = Card(7, (Leg("r", event, 10.0, origin=HERE),), 0.0)
    assert await around(LastWords(), asking) == ("I do it", "Do it")
