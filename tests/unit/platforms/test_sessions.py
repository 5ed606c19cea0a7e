"""The sessions of the conformance table leave nothing out, and what we promise was seen in them."""

from collections.abc import Iterator

from crabhook.platforms import HOOKED
from crabhook.platforms.event_table import Also, Phase
from tests.conformance.cells import ALL
from tests.conformance.sessions.cells import SESSIONS, Cell, Session
from tests.conformance.sessions.record import Row, editions, page, planned, read_record, versions
from tests.support.requirements import OLDER
from tests.support.rows import every_row

VERDICTS = {"answer": "allow", "keep": "keep-going"}
"""The verdicts that are called otherwise in a table, by the first word there."""
BESIDE = {Also.CONTEXT: "note", Also.HALT: "halt", Also.USER: "message"}
UNDRIVEN = {
    ("gemini", "BeforeModel"): "our installer leaves it out: it fires for each request to a model",
    ("codex", "SubagentStop"): "a model that is not Codex's own is offered no subagents",
    ("opencode", "question.asked", "ask"): "the client's double answers no questions",
}
"""What no session brings about, and why. Claude Code has a table of its own for rare events."""

KEPT = read_record()[1]
CELLS = {
    (edition, session.title, cell.title): (session, cell)
    for session, edition in planned()
    for cell in session.cells
}
SILENT_IN = {
    "-p default",
    "-p acceptEdits",
    "-p plan",
    "-p auto",
    "-p dontAsk",
    "-p bypassPermissions",
}
"""Where Claude Code asks no hook for its user's permission: in the older version, or at all."""


def rows() -> Iterator[tuple[Session, Cell, Row]]:
    return ((*CELLS[row.key], row) for row in KEPT)


def verdicts_of(agent: str, event: str) -> set[str]:
    decided = [
        cell.decided.split()[0]
        for session in SESSIONS
        if session.agent == agent
        for cell in session.cells
        if cell.event == event
    ]
    ours = {VERDICTS.get(word, word) for word in decided}
    if agent == "claude":
        ours |= {cell.decision.verdict for cell in ALL if cell.event == event and cell.decision}
    return ours


@every_row("agent", HOOKED)
def test_every_verdict_of_every_event_is_given_in_a_session(agent: str) -> None:
    missing = {
        (agent, name, verdict.value)
        for name, row in HOOKED[agent].events.items()
        for verdict in row.verdicts
        if verdict not in verdicts_of(agent, name)
    }
    assert {key for key in missing if key not in UNDRIVEN and key[:2] not in UNDRIVEN} == set()


@every_row("agent", [name for name in HOOKED if name != "claude"])
@every_row("part", BESIDE)
def test_every_part_of_an_answer_is_given_in_a_session(part: Also, agent: str) -> None:
    given = {
        cell.event
        for session in SESSIONS
        if session.agent == agent
        for cell in session.cells
        if BESIDE[part] in cell.decided
    }
    wanted = {name for name, row in HOOKED[agent].events.items() if part in row.also}
    assert {name for name in wanted - given if (agent, name) not in UNDRIVEN} == set()


def test_the_record_has_every_session_of_every_pinned_version() -> None:
    by_version, kept = read_record()
    assert by_version == versions()
    assert [row.key for row in kept] == list(CELLS)
    assert {edition for edition, *_ in CELLS if edition.endswith(OLDER)} == {
        "claude-older",
        "codex-older",
        "copilot-older",
    }


def test_the_printed_tables_have_a_row_for_each_cell_and_for_each_difference() -> None:
    differing = [
        1
        for session in SESSIONS
        for cell in session.cells
        if len({row[1:] for row in _of(session, cell)}) > 1
    ]
    lines = [line for line in page(read_record()).splitlines() if line.startswith("| ")]
    cells = sum(len(session.cells) for session in SESSIONS)
    assert len(lines) == 2 * len(SESSIONS) + cells + len(differing)


def _of(session: Session, cell: Cell) -> list[tuple[str, str, tuple[str, ...]]]:
    keys = [(edition, session.title, cell.title) for edition in editions(session)]
    by_key = {row.key: row for row in KEPT}
    return [(by_key[key].edition, by_key[key].written, by_key[key].seen) for key in keys]


def test_what_was_denied_before_it_ran_never_ran() -> None:
    ran = [
        row.key
        for session, cell, row in rows()
        if cell.decided.startswith("deny") and not _is_over(session, cell)
        if {"it ran", "the changed call ran"} & set(row.seen)
    ]
    assert ran == []


def test_a_reason_reaches_the_model_or_the_agents_user() -> None:
    unread = [
        row.key
        for _, cell, row in rows()
        if cell.decided == "deny" and _came(row)
        if not {"the model read the reason", "its user read the reason", *WORDLESS} & set(row.seen)
    ]
    assert unread == []


WORDLESS = ("the model was not asked",)
"""A denied prompt: Codex and Qwen Code tell nobody why."""


def test_notes_instructions_answers_and_outputs_are_read_by_the_model() -> None:
    unread = [
        row.key
        for _, cell, row in rows()
        for part in ("note", "instruction", "output", "answer")
        if part in {"keep going": "instruction"}.get(cell.decided, cell.decided)
        if _came(row) and f"the model read the {part}" not in row.seen
    ]
    assert unread == []


def test_a_message_is_read_by_the_user_of_a_terminal() -> None:
    unread = [
        row.key
        for session, cell, row in rows()
        if "message" in cell.decided and session.mode == "terminal"
        if "its user read the message" not in row.seen
    ]
    assert unread == []


def test_an_edited_call_runs_as_it_was_edited_and_not_as_it_was() -> None:
    wrong = [
        row.key
        for session, cell, row in rows()
        if "another input" in cell.decided and _came(row) and session.mode != "-p plan"
        if not {"the changed call ran", "it did not run"} <= set(row.seen)
    ]
    assert wrong == []


def test_what_is_allowed_runs() -> None:
    still = [
        row.key
        for session, cell, row in rows()
        if cell.decided.startswith("allow") and "halt" not in cell.decided and cell.call
        if _came(row) and "it did not run" in row.seen and "the changed call ran" not in row.seen
        if not (session.mode == "-p plan" and row.edition == "claude")  # as its card says
    ]
    assert still == []


def test_an_event_that_we_hold_comes_in_every_mode_but_where_no_person_is_asked() -> None:
    silent = {row.key[:2] for _, _, row in rows() if not _came(row)}
    assert {edition for edition, _ in silent} <= {"claude", "claude-older"}
    assert {mode.partition(",")[0] for _, mode in silent} <= SILENT_IN
    assert all("companion" in session for _, session in silent)


def _came(row: Row) -> bool:
    return row.seen != ("the event did not come",)


def _is_over(session: Session, cell: Cell) -> bool:
    return HOOKED[session.agent].events[cell.event].phase is Phase.RAN
