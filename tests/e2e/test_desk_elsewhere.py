"""The real Claude Code on one machine, answered by a person at another, by way of a server on a third."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.cli.team.inviting import let_in
from crabhook.model.actor import Role
from crabhook.team.desk_keys import DeskKeys, keep
from crabhook.team.edit_team import invitable, with_machine
from crabhook.team.invitation import Joining, Joins
from crabhook.team.membership import Machine, Scope, Team, digest_of
from tests.e2e.test_claude_code import QUESTIONS
from tests.support.machines import Machines, insist
from tests.support.plain_desk import CRABHOOK, hooks
from tests.support.port import short_folder
from tests.support.team import PASSPHRASE, founded, seal
from tests.support.terminal import Terminal
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SERVER, ANN, BUILD = "desk.example", "ann", "build1"
TOKEN = "a-token-of-build1-alone"


class Elsewhere:
    """A server and Ann's desk of lines, each on a machine of its own; `install` is for the third."""

    def __init__(self, machines: Machines, folder: Path) -> None:
        self.machines, self.home = machines, folder / SERVER
        self._people = folder / ANN
        self.team = founded(
            self.home / ".local/state/crabhook/team", time.time(), names=(SERVER, "127.0.0.1")
        )
        self.team.change(lambda team: with_machine(team, Machine(BUILD, digest_of(TOKEN), 1)))
        keys = DeskKeys.new(closing=True)
        member = invitable(Team("", "", 0), ANN, Role.DECIDER, Scope())
        who = Joining(Joins.DESK, *keys.requests(), "laptop")
        joined = let_in(self.team.folder, self.team.authority, member, f"{SERVER}:7444", who)
        keep(self._people / ".config/crabhook", keys, joined, "laptop", seal)

    def environment(self, home: Path) -> dict[str, str]:
        own = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **own}

    def at_server(self, *words: str) -> str:
        """Run one of crabhook's commands where the server is; return what it prints."""
        return subprocess.run(
            self.machines.at(SERVER, CRABHOOK, *words),
            env=self.environment(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    @contextmanager
    def desk(self) -> Iterator[Terminal]:
        """Serve, and open Ann's desk."""
        self.at_server("up", "--operators", "0.0.0.0:7444", "--listen", "0.0.0.0:7443")
        command = self.machines.at(ANN, CRABHOOK, "desk", "--plain")
        with Terminal(command, self.environment(self._people), columns=160, rows=60) as desk:
            desk.wait_for("Your passphrase for the team ours:")
            desk.type(PASSPHRASE)
            desk.key("Enter")
            desk.wait_for("crabhook, plain desk")
            yield desk

    def install(self, agent: Claude) -> None:
        """Install our hooks on the third machine."""
        token, authority = agent.home / "token", agent.home / "authority.pem"
        token.write_text(TOKEN)
        token.chmod(0o600)
        authority.write_bytes(self.team.folder.authority.read_bytes())
        options = ("--token-file", str(token), "--tls-ca", str(authority))
        subprocess.run(
            self.machines.at(BUILD, *hooks(f"{SERVER}:7443", gate=True, options=options)),
            check=True,
            capture_output=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
        )


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    insist()
    with short_folder() as folder, Machines(folder, SERVER, ANN, BUILD) as machines:
        yield Elsewhere(machines, folder)


def said(desk: Terminal, line: str, outcome: str) -> None:
    """Wait for a card; say a line about it; wait for what became of it."""
    number = line.partition(" ")[0]
    desk.wait_for(f"#{number} Claude Code")
    desk.submit(line)
    desk.wait_for(f"#{number} {outcome}")


def test_the_agent_is_answered_from_a_desk_at_another_address(
    claude: MakeClaude, elsewhere: Elsewhere
) -> None:
    def apart(command: list[str]) -> list[str]:
        return elsewhere.machines.at(BUILD, *command)

    agent = claude(
        (bash("touch made"),),
        (bash("touch other"),),
        (ToolUse("AskUserQuestion", QUESTIONS),),
        (Text("Thank you."),),
        apart=apart,
        seconds=90,
    )
    elsewhere.install(agent)
    with elsewhere.desk() as desk:
        terminal = agent.terminal("make files, then ask me")
        said(desk, "1 allow", "ALLOWED")
        said(desk, "2 deny not that one, please", "DENIED")
        answers = '3 answer 1=1,2 2="Scuttle, the 2nd" 1.note="bright ones"'
        said(desk, answers, "ANSWERED")
        terminal.wait_for("Thank you.")
        told = ["\n".join(request.tool_results()) for request in agent.requests()]
        assert (agent.project / "made").exists()
        assert not (agent.project / "other").exists()
        assert any("not that one, please" in result for result in told)
        answered = told[-1].replace("\\", "")
        assert '"Which colours shall it have?"=""Red, green", Blue"' in answered
        assert '"What is it called?"="Scuttle, the 2nd"' in answered
        agent.close()

        planning = claude(
            (ToolUse("ExitPlanMode", {}),), (Text("I begin."),), apart=apart, seconds=60
        )
        elsewhere.install(planning)
        terminal = planning.terminal("plan it", mode="plan")
        said(desk, "4 allow", "")
        terminal.wait_for("I begin.")
        assert "plan mode on" not in terminal.screen()
        planning.close()
    ends = [json.loads(line) for line in elsewhere.at_server("log", "--json").splitlines()]
    decided = [end for end in ends if end["kind"] == "decided"]
    by = [one["body"]["actor"] for one in decided]
    assert {(one["name"], one["desk"], one["address"]) for one in by} == {
        (ANN, "laptop", elsewhere.machines.address[ANN])
    }
    assert [one["verdict"] for one in decided] == ["allow", "deny", "allow", "allow"]
