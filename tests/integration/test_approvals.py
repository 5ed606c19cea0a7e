"""What AAP agents asked for at a true server's door survives its death, each yes for one use."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.test_shared_record import cluster, free_port, served, stands_by, url
from tests.support.http_desk import HttpDesk

if TYPE_CHECKING:
    from tests.support.service import Service

__all__ = ["cluster", "url"]
pytestmark = pytest.mark.process

AT = "/aap/v1/requests"
RULES = """
[[rule]]
verdict = "allow"
match = "look_up"

[[rule]]
verdict = "deny"
match = "mcp__stripe__*"
"""


class AapDesk(HttpDesk):
    """A desk with an AAP agent that asks by hand."""

    def aap(self, line: str, fields: Any = None, key: str = "") -> tuple[int, Any]:
        """Send one request; return the status and the JSON of the answer."""
        method, path = line.split()
        body = b"" if fields is None else json.dumps(fields).encode()
        headers = {"Idempotency_Key": key} if key else {}
        sent = self.send(body, method, path, **headers)
        return sent.status, json.loads(sent.body)

    def create(self, key: str, tool: str = "refund") -> Any:
        """Ask for approval of a call."""
        asked = {"tool": tool, "arguments": {"amount": key}, "timeout": "10m"}
        return self.aap(f"POST {AT}", asked, key)[1]

    def die_and_rise(self) -> None:
        """Kill the server, and start another on the same state."""
        self.kill()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self._reader.join(60)
        self.process.stdout.close()
        self.said.clear()
        self.start()


def test_a_death_loses_no_approval_and_gives_none_twice() -> None:
    with AapDesk() as desk:
        waits = desk.create("waits")
        first = desk.card("refund")
        ids = {}
        for name, words in (("yes", "allow"), ("taken", "allow"), ("no", "deny a manager decides")):
            ids[name] = desk.create(name)["id"]
            desk.say(f"{desk.card('refund')} {words}")
            assert desk.aap(f"GET {AT}/{ids[name]}?wait=25s")[1]["status"] != "pending"
        assert desk.aap(f"POST {AT}/{ids['taken']}/consume", key="first")[0] == 200
        desk.die_and_rise()

        assert desk.aap(f"GET {AT}/{waits['id']}")[1] == waits
        assert desk.create("waits") == waits
        assert desk.aap(f"GET {AT}/{ids['no']}")[1]["decision"]["note"] == "a manager decides"
        assert desk.create("no")["status"] == "denied"
        status, refused = desk.aap(f"POST {AT}/{ids['taken']}/consume", key="second")
        assert (status, refused["error"]["code"]) == (409, "already_consumed")
        status, again = desk.aap(f"POST {AT}/{ids['taken']}/consume", key="first")
        assert (status, again["status"]) == (200, "approved")
        assert desk.aap(f"POST {AT}/{ids['yes']}/consume", key="once")[0] == 200
        report = {"status": "failed", "note": "the bank is closed"}
        assert desk.aap(f"POST {AT}/{ids['yes']}/outcome", report)[0] == 200
        desk.say(f"{first} allow")
        assert desk.aap(f"GET {AT}/{waits['id']}?wait=25s")[1]["status"] == "approved"
        desk.die_and_rise()

        status, refused = desk.aap(f"POST {AT}/{ids['yes']}/consume", key="twice")
        assert (status, refused["error"]["code"]) == (409, "already_consumed")
        assert desk.aap(f"POST {AT}/{waits['id']}/consume", key="late")[0] == 200
        kinds = [entry["kind"] for entry in desk.record() if entry["platform"] == "aap"]
        assert kinds.count("asked") == kinds.count("decided") == 4
        assert kinds.count("consumed") == 3
        assert "fault" not in desk.run("log", "verify")
        (result,) = (entry["body"] for entry in desk.record() if entry["kind"] == "event")
        assert result["call"]["verdict"] == "allow"
        assert result["fields"]["note"] == "the bank is closed"


def test_rules_decide_without_a_card() -> None:
    desk = AapDesk()
    desk.write_rules(RULES)
    with desk:
        seen = desk.create("a", "look_up")
        assert seen["status"] == "approved"
        desk.die_and_rise()
        again = desk.create("a", "look_up")
        assert (again["id"], again["status"]) == (seen["id"], "approved")
        assert desk.aap(f"POST {AT}/{seen['id']}/consume", key="c")[0] == 200
        denied = {"tool": "refund", "server": "stripe", "arguments": {}, "timeout": "1m"}
        assert desk.aap(f"POST {AT}", denied, "b")[1]["status"] == "denied"


def posted(port: int, service: Service, line: str, key: str = "", **fields: Any) -> tuple[int, Any]:
    """Ask a server's door with the token of all; return the status and the JSON of the answer."""
    method, path = line.split()
    token = (service.folder / ".local/state/crabhook/token").read_text(encoding="ascii").strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": key} if key else {}
    door = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    door.request(method, path, json.dumps(fields) if fields else None, headers)
    answer = door.getresponse()
    body = json.loads(answer.read())
    door.close()
    return answer.status, body


@pytest.mark.thorough
def test_the_next_leader_has_every_approval_and_gives_none_twice(url: str) -> None:
    ports = [free_port(), free_port()]
    options = [("--no-desk", "--alone", "60", "--http", f"127.0.0.1:{port}") for port in ports]
    call = {"tool": "Bash", "arguments": {"command": "ls -a"}, "timeout": "10m"}
    with (
        served(url, *options[0]) as leader,
        served(url, *options[1], waits=False) as standby,
    ):
        stands_by(standby)
        ids = {}
        for key in ("taken", "open"):
            status, asked = posted(ports[0], leader, f"POST {AT}", key, **call)
            assert (status, asked["status"]) == (201, "approved")
            ids[key] = asked["id"]
        _, waits = posted(ports[0], leader, f"POST {AT}", "waits", **{**call, "tool": "refund"})
        assert waits["status"] == "pending"
        assert posted(ports[0], leader, f"POST {AT}/{ids['taken']}/consume", "first")[0] == 200
        status, refused = posted(ports[1], leader, f"GET {AT}/{waits['id']}")
        assert (status, refused["error"]["type"]) == (503, "unavailable")
        leader.process.kill()
        standby.listens()
        assert posted(ports[1], leader, f"GET {AT}/{waits['id']}")[1] == waits
        for name, key, expected in (
            ("taken", "second", 409),
            ("taken", "first", 200),
            ("open", "first", 200),
            ("open", "second", 409),
        ):
            at = f"POST {AT}/{ids[name]}/consume"
            assert posted(ports[1], leader, at, key)[0] == expected, (name, key)
        assert posted(ports[1], leader, f"DELETE {AT}/{waits['id']}")[1]["status"] == "cancelled"
        assert "as they were written" in standby.audit("verify")
