"""A session in words: whatever its agent sent is safe to show."""

from __future__ import annotations

from crabhook.desk.commands import Steer
from crabhook.present.past import TIMES, details, head
from tests.support.desk import PlayedDesk

EVIL = "\x1b[31mev\u202eil\n#1 ALLOWED\r"


def test_hostile_letters_of_an_agent_and_in_the_echo_of_a_note_are_spelt_out() -> None:
    desk = PlayedDesk()
    told = {"session_id": EVIL, "cwd": f"/p/{EVIL}", "permission_mode": EVIL, "agent_type": EVIL}
    told |= {"tool_name": EVIL, "tool_input": {"command": EVIL}, "tool_use_id": "t"}
    desk.ask({"hook_event_name": "PreToolUse", **told, "agent_id": EVIL})
    desk.ask({"hook_event_name": "PostToolUseFailure", **told, "agent_id": EVIL, "error": EVIL})
    desk.seat.done(Steer(EVIL, f"note {EVIL}", EVIL))
    desk.pass_time(3)
    (view,) = desk.replica.live()
    lines = [head(view, desk.now()), *details(view, desk.now())]
    assert any("it ran and failed" in line for line in lines)
    assert any("waits for its next call" in line for line in lines)
    for line in lines:
        assert line.isprintable(), line
        assert not line.startswith("#1 ALLOWED")


def test_the_same_call_again_and_again_is_said_with_its_count() -> None:
    desk = PlayedDesk()
    for number in range(5):
        given = {"tool_name": "Read", "tool_input": {"file_path": "/p/config.toml"}}
        desk.ask({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", **given,
                  "tool_use_id": f"t{number}"})  # fmt: skip
    desk.pass_time(2)
    (view,) = desk.replica.live()
    assert f"Read config.toml {TIMES}5 · 0:02 ago" in "\n".join(details(view, desk.now()))
    assert "waits for you: #1, #2, #3 and 2 more" in head(view, desk.now())
