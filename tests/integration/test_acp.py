"""The proxy as a process between an editor's double and an agent, before a real server."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import acp_agent
from tests.support.editor import Editor
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.slow]

DOUBLE = (sys.executable, acp_agent.__file__)
NOBODY = "unix:/nowhere/at/all"
RULES = """
[[rule]]
verdict = "allow"
match = "Bash(touch allowed)"

[[rule]]
verdict = "deny"
match = "Bash(touch denied)"
"""


def proxied(server: str, *agent: str) -> Editor:
    return Editor([CRABHOOK, "acp", "--server", server, "--", *agent])


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


def card(desk: PlainDesk) -> int:
    """The number of the request's card, once the desk has it."""
    return int(desk.wait_for(r"^#(\d+) session/request_permission")[1])


def turn(editor: Editor, text: str) -> Any:
    """Begin a session and send it a prompt; return the request's id."""
    return editor.prompt(editor.open("/home/dev/project"), text)


def answers(editor: Editor, request: int) -> dict[str, list[Any]]:
    """What the agent was answered in its turn, by its requests' ids."""
    given: dict[str, list[Any]] = editor.result(request)["result"]["answers"]
    return given


def chosen(answer: Any) -> str:
    return str(answer["outcome"]["optionId"])


def lines(seed: int) -> list[bytes]:
    """Lines of a peer: messages that nobody here follows, nonsense, and blanks."""
    chance = random.Random(seed)

    def message() -> bytes:
        value = {"text": chance.choice(["ü", "\u2028", "a" * chance.randrange(70_000)])}
        told = {"jsonrpc": "2.0", "method": f"_x/{chance.randrange(9)}", "params": value}
        return json.dumps(told, ensure_ascii=chance.random() < 0.5).encode()

    def nonsense() -> bytes:
        return chance.randbytes(chance.randrange(200)).replace(b"\n", b"?")

    made = [
        chance.choice([message, message, nonsense, lambda: b"", lambda: b"[1]"])()
        for _ in range(300)
    ]
    return [one + chance.choice([b"\n", b"\r\n"]) for one in made]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_line_of_both_sides_passes_byte_for_byte(tmp_path: Path, seed: int) -> None:
    to_editor, to_agent = b"".join(lines(seed)) + b"no end", b"".join(lines(seed + 100))
    (tmp_path / "told").write_bytes(to_editor)
    agent = ("sh", "-c", f"cat {tmp_path}/told; exec 3>&1; exec cat > {tmp_path}/heard")
    with proxied(NOBODY, *agent) as editor:
        chance = random.Random(seed)
        rest = to_agent
        while rest:
            size = chance.randrange(1, 100_000)
            editor.write(rest[:size])
            rest = rest[size:]
        assert editor.leave() == 0
        assert b"".join(editor.heard) == to_editor
        assert (tmp_path / "heard").read_bytes() == to_agent
        assert b"cannot be read" in editor.stderr


def test_without_a_server_the_editor_alone_decides() -> None:
    with proxied(NOBODY, *DOUBLE, "1") as editor:
        request = turn(editor, "make it")
        editor.choose(editor.asked(), "allow_once")
        assert answers(editor, request) == {"0": [{"outcome": {"outcome": "selected", "optionId": "once"}}]}  # fmt: skip
        assert editor.leave() == 0
        assert b"The editor alone decides" in editor.stderr


def test_what_a_rule_decides_opens_no_dialog() -> None:
    with (
        Service("--headless", "--otherwise", "pass", rules=RULES) as server,
        proxied(server.address, *DOUBLE, "1") as editor,
    ):
        session = editor.open("/home/dev/project")
        for command, option in (("touch allowed", "once"), ("touch denied", "no")):
            request = editor.prompt(session, f"run {command}")
            assert chosen(answers(editor, request)["0"][0]) == option
        # The first question finds a server that reads its rules for the first time.
        assert editor.methods().count("session/request_permission") <= 1


def test_the_desk_decides_and_the_editors_late_answer_is_dropped(desk: PlainDesk) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        request = turn(editor, "make it")
        asked = editor.asked()
        number = card(desk)
        desk.say(f"{number} deny")
        taken_back = editor.next(lambda said: said.get("method") == "$/cancel_request")
        assert taken_back["params"] == {"requestId": asked["id"]}
        editor.choose(asked, "allow_once")
        assert [chosen(one) for one in answers(editor, request)["0"]] == ["no"]
        again = editor.prompt(acp_agent.SESSION, "make it")
        editor.choose(editor.asked(), "allow_once")
        assert [chosen(one) for one in answers(editor, again)["0"]] == ["once"]


def test_an_answer_in_the_editor_ends_the_card_and_the_desk_reads_which(desk: PlainDesk) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        request = turn(editor, "make it")
        asked = editor.asked()
        card(desk)
        editor.choose(asked, "reject_once")
        assert chosen(answers(editor, request)["0"][0]) == "no"
        desk.wait_for("answered in the editor: no")


def form(desk: PlainDesk) -> int:
    """The number of the form's card, once the desk has it."""
    return int(desk.wait_for(r"^#(\d+) elicitation/create")[1])


def test_a_form_is_filled_in_at_the_desk_or_in_the_editor_and_never_twice(desk: PlainDesk) -> None:
    filled = {"action": "accept", "content": {"name": "Scuttle", "size": 3}}
    with proxied(desk.address, *DOUBLE, "1") as editor:
        session = editor.open("/home/dev/project")

        def asked(kind: str) -> tuple[int, Any, int]:
            request = editor.prompt(session, kind)
            return request, editor.next(is_form), form(desk)

        for words, answer in (
            ("accept name=Scuttle size=3", filled),
            ("decline", {"action": "decline"}),
            ("cancel", {"action": "cancel"}),
        ):
            request, dialog, number = asked("form")
            desk.say(f"{number} {words}")
            taken_back = editor.next(lambda said: said.get("method") == "$/cancel_request")
            assert taken_back["params"] == {"requestId": dialog["id"]}
            editor.send(id=dialog["id"], result={"action": "accept", "content": {"name": "late"}})
            assert answers(editor, request) == {"0": [answer]}
        request, dialog, number = asked("form")
        desk.say(f"{number} accept name=Scuttle size=big")
        desk.wait_for("size")
        desk.say(f"{number} accept size=3")
        editor.send(id=dialog["id"], result={"action": "accept", "content": {"name": "first"}})
        assert answers(editor, request) == {
            "0": [{"action": "accept", "content": {"name": "first"}}]
        }
        desk.wait_for("answered in the editor")
        request, dialog, number = asked("visit")
        desk.say(f"{number} decline")
        assert answers(editor, request) == {"0": [{"action": "decline"}]}


def is_form(said: Any) -> bool:
    return bool(said.get("method") == "elicitation/create")


@pytest.mark.parametrize("end", ["cancel", "agent", "editor"])
def test_what_ends_the_request_ends_its_card(desk: PlainDesk, end: str) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        turn(editor, "die" if end == "agent" else "make it")
        if end != "agent":
            editor.asked()
            card(desk)
        if end == "cancel":
            editor.send(method="session/cancel", params={"sessionId": acp_agent.SESSION})
        elif end == "editor":
            editor.leave()
        desk.wait_for("WITHDRAWN|went|gone|answered in the editor", again=end == "agent")
        if end == "agent":
            assert editor.leave() == 3


def test_an_agent_that_asks_for_another_session_is_told_and_the_editor_decides(
    desk: PlainDesk,
) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        request = turn(editor, "ask somebody-elses")
        editor.choose(editor.asked(), "reject_once")
        assert chosen(answers(editor, request)["0"][0]) == "no"
        desk.wait_for("a session that no editor opened here: 'somebody-elses'")
        assert b"somebody-elses" in editor.stderr


def test_a_line_that_is_no_json_passes_and_is_told_at_the_desk(desk: PlainDesk) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        answers(editor, turn(editor, "junk"))
        assert b"this is no JSON\n" in editor.heard
        desk.wait_for("a line of the agent's cannot be read")


def test_a_request_of_64_mib_passes_and_its_card_says_so(desk: PlainDesk) -> None:
    with proxied(desk.address, *DOUBLE, "1") as editor:
        request = turn(editor, f"long {64 << 20}")
        asked = editor.asked()
        assert len(asked["params"]["toolCall"]["content"][0]["newText"]) == 64 << 20
        number = card(desk)
        desk.wait_for("The request is 64 MiB long", again=True)
        desk.say(f"{number} allow")
        desk.wait_for("cannot|can with")
        desk.say(f"{number} deny")
        assert chosen(answers(editor, request)["0"][0]) == "no"


def test_the_proxy_leaves_no_process_when_its_editor_ends(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    stubborn = f"trap '' TERM HUP; echo $$ >> {mark}; sleep 600 & echo $! >> {mark}; sleep 601"
    with proxied(NOBODY, "sh", "-c", stubborn) as editor:
        end = time.monotonic() + 60
        while not mark.exists() or len(mark.read_text().split()) < 2:
            assert time.monotonic() < end
            time.sleep(0.02)
        editor.leave()
        for pid in mark.read_text().split():
            assert not _runs(pid)


def _runs(pid: str) -> bool:
    status = Path("/proc", pid, "stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.thorough
def test_a_thousand_races_of_editor_and_desk_have_one_outcome_each() -> None:
    """The agent is answered once each time; which of the two was faster is chance."""
    with (
        Service("--headless", "--otherwise", "deny") as server,
        proxied(server.address, *DOUBLE, "1000", "20") as editor,
    ):
        request = turn(editor, "make them")
        chance = random.Random(1000)
        while True:
            said = editor.next(
                lambda said: (
                    said.get("method") == "session/request_permission" or said.get("id") == request
                )
            )
            if said.get("method") is None:
                break
            time.sleep(chance.choice([0, 0, 0.001, 0.005]))
            editor.choose(said, "allow_once")
        given = said["result"]["answers"]
    assert sorted(map(int, given)) == list(range(1000))
    assert all(len(each) == 1 for each in given.values())
    assert {chosen(each[0]) for each in given.values()} <= {"once", "no"}
