"""What is seen of live sessions: what each agent does now, again and again, and what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.broker.sessions.live import AGENTS_KEPT, CALLS_COMPARED, SHOWN
from crabhook.model.card import Stance
from tests.support.playbook import DENY, Playbook, asking, bash, calling, done, prompt

COMPANION = Stance.COMPANION

if TYPE_CHECKING:
    from crabhook.model.session import Activity, SessionView


def seen(book: Playbook, session: str = "s") -> SessionView:
    (view,) = [one for one in book.broker.live(book.now) if one.session == session]
    return view


def doing(book: Playbook, agent: str = "") -> Activity:
    (view,) = [one for one in seen(book).agents if one.id == agent]
    assert view.doing is not None
    return view.doing


def test_a_session_shows_what_its_agent_does_and_what_came_of_it(book: Playbook) -> None:
    book.asks(asking("a", "SessionStart", permission_mode="auto"))
    view = seen(book)
    assert (view.title, view.cwd, view.mode, view.since) == ("Claude Code", "/p", "auto", 1000.0)
    assert view.agents[0].doing is None
    book.waits(5).asks(bash("b", "ls"))
    assert (doing(book).event.tool.input, doing(book).outcome) == ({"command": "ls"}, "")  # type: ignore[union-attr]
    assert seen(book).waiting == (1,)
    book.answers(1, DENY)
    assert (doing(book).outcome, seen(book).waiting) == ("denied", ())
    book.asks(bash("c", "make", "t2", stance=COMPANION)).asks(done("d", "make", "t2"))
    assert (doing(book).outcome, doing(book).at) == ("it ran", 1005.0)
    book.asks(asking("e", "Stop", last_assistant_message="Done."))
    assert doing(book).outcome == "the agent's turn ended"
    book.asks(asking("f", "SessionEnd"))
    assert not book.broker.live(book.now)


def test_a_session_of_which_only_a_result_was_heard_shows_that_call(book: Playbook) -> None:
    """Its hook is for PostToolUse alone, or crabhook was installed while the call ran."""
    book.asks(done("a", "make", "t1"))
    assert (doing(book).event.tool.input, doing(book).outcome) == ({"command": "make"}, "it ran")  # type: ignore[union-attr]
    book.waits(5).asks(bash("b", "ls", "t2", stance=COMPANION)).asks(done("c", "make", "t3"))
    assert (doing(book).event.tool.input, doing(book).outcome) == ({"command": "ls"}, "")  # type: ignore[union-attr]


def test_the_same_call_again_and_again_is_counted_though_others_come_between(
    book: Playbook,
) -> None:
    for number in range(3):
        book.asks(bash(f"a{number}", "cat config", f"t{number}"))
        book.asks(bash(f"b{number}", f"ls {number}", f"u{number}"))
    book.asks(bash("c", "cat config", "t9"))
    assert doing(book).times == 4
    for number in range(CALLS_COMPARED):
        book.asks(bash(f"d{number}", f"make {number}", f"v{number}"))
    book.asks(bash("e", "cat config", "w"))
    assert doing(book).times == 1


def test_a_call_and_its_permission_request_are_one_call(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(prompt("b", "ls"))
    assert doing(book).times == 1


def test_subagents_are_told_apart_and_go_with_their_end_and_their_number_is_bounded(
    book: Playbook,
) -> None:
    book.asks(bash("a", "make")).asks(bash("b", "ls", "t2", agent="sub"))
    assert [(one.id, one.kind) for one in seen(book).agents] == [
        ("", ""),
        ("sub", "general-purpose"),
    ]
    assert doing(book, "sub").event.tool.input == {"command": "ls"}  # type: ignore[union-attr]
    assert doing(book).event.tool.input == {"command": "make"}  # type: ignore[union-attr]
    book.asks(asking("c", "SubagentStop", agent="sub"))
    assert [one.id for one in seen(book).agents] == [""]
    for number in range(AGENTS_KEPT + 5):
        book.asks(bash(f"d{number}", "ls", f"u{number}", agent=f"x{number}"))
    assert len(seen(book).agents) == AGENTS_KEPT
    assert seen(book).agents[0].id == ""


def test_of_a_long_input_only_the_start_is_kept_once_it_was_seen(book: Playbook) -> None:
    text = "x" * 1_000_000
    book.asks(calling("a", {"file_path": "/p/a", "content": text}, "t1", tool="Write"))
    assert len(str(doing(book).event.tool.input)) < 10_000  # type: ignore[union-attr]


def test_what_changed_is_told_once_and_what_ended_by_name(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(bash("b", "ls", session="t", stance=COMPANION))
    changed, ended = book.broker.session_changes(book.now)
    assert [one.session for one in changed] == ["s", "t"]
    assert ended == ()
    assert not book.broker.sessions_changed
    book.asks(asking("c", "SessionEnd", session="t"))
    assert book.broker.session_changes(book.now) == ((), (("claude", "t", ""),))


def test_the_views_are_bounded_and_are_those_heard_of_last(book: Playbook) -> None:
    for number in range(SHOWN + 3):
        book.asks(asking(f"a{number}", "SessionStart", session=str(number)))
    views = book.broker.live(book.now)
    assert (len(views), views[-1].session) == (SHOWN, str(SHOWN + 2))


def test_a_ticket_that_comes_back_is_no_second_call(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(bash("a", "ls"))
    assert doing(book).times == 1
