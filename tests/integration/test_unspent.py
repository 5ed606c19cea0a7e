"""A yes that counts once, where its use cannot be recorded: the call is refused, and the yes stands."""

from __future__ import annotations

import pytest

from crabhook.broker.messages import Refusal
from crabhook.store.record import RecordKind
from tests.support.client import Answer, Client, sample
from tests.support.ledger import Ledger, told
from tests.support.mortal import MortalServer
from tests.support.smalldisk import SmallDisk

ROOM = 16_000  # kilobytes: enough for all of it, until it is filled
AGAIN = "the record is written again"
CLOSED = ("--when-unreachable", "deny", "--when-lost", "deny")

pytestmark = pytest.mark.timeout(300)


def asks(server: MortalServer, name: str) -> Client:
    """Start the hook of the one call that all these tests are about, under a name."""
    payload = sample("PreToolUse-Bash", tool_use_id=name, cwd="/p")
    return Client(server.address, payload, "--wait", "60", *CLOSED)


def decision(answer: Answer) -> str:
    """What a hook tells its agent about the call."""
    return str(answer.output["hookSpecificOutput"]["permissionDecision"])


@pytest.mark.parametrize("killed", [False, True], ids=["one server", "a kill"])
def test_a_ruling_whose_use_finds_no_room_lets_the_call_run_once_later(*, killed: bool) -> None:
    with (
        SmallDisk(ROOM) as disk,
        # The server gives a call up long before its hook does, also on a busy machine.
        MortalServer(inside=disk.inside, state=disk.place, options=["--wait", "10"]) as server,
    ):
        server.start()
        assert "Not decided" in asks(server, "left open").finish().stdout.decode()
        server.say("1 allow")
        server.hears("#1 ALLOWED")
        disk.fill()
        refused = asks(server, "refused").finish()
        assert (decision(refused), Refusal.UNSPENT.value in refused.stderr) == ("deny", True)
        server.hears(f"turned away: {Refusal.UNSPENT}")
        if killed:
            server.kill()
        disk.free()
        if killed:
            server.start()
        else:
            server.hears(AGAIN)
        assert decision(asks(server, "allowed").finish()) == "allow"
        asked = asks(server, "asked")
        server.hears("#2 PreToolUse")
        server.say("2 deny no more")
        assert decision(asked.finish()) == "deny"
        server.quit()
        folder = server.folder / "crabhook"
        disk.copied(folder)
        ledger = Ledger(folder)
    assert ledger.of_the_record() == []
    by_call = {name: [one.verdict for one in of] for name, of in ledger.decisions().items()}
    assert by_call == {"left open": ["allow"], "allowed": ["allow"], "asked": ["deny"]}
    away = [told(one)["why"] for one in ledger.of(RecordKind.WITHDRAWN)]
    assert away == [] if killed else [f"turned away: {Refusal.UNSPENT}"]
