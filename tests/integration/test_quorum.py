"""Two people must allow a call: real servers, hooks and verbs, and a kill between two votes."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Role
from crabhook.team.edit_team import with_group
from tests.integration.test_shared_record import asks, cluster, said, served, stands_by, url
from tests.integration.test_verbs import DONE, Machine
from tests.support.team import PASSPHRASE, founded
from tests.support.web_house import free_port, free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.service import Service
    from tests.support.team import Founded

__all__ = ["cluster", "url"]
pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]
COUNTED, FAILED = 6, 1
RULES = """[[rule]]
verdict = "ask-operator"
match = "Bash(terraform apply *)"
need = 2
of = "@leads"
note = "production"
"""


class House(Machine):
    """A server with a team of three, each with a home of their own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.homes = {name: Machine(folder / name) for name in ("ann", "bob", "cat")}
        self.desks = f"127.0.0.1:{free_port()}"
        for home in self.homes.values():
            home.folder.mkdir()

    def begin(self) -> None:
        rules = self.folder / ".config/crabhook/rules.toml"
        rules.parent.mkdir(parents=True)
        rules.write_text(RULES)
        self.team = founded(self.folder / ".local/state/crabhook/team", time.time())
        self.up()
        for name, home in self.homes.items():
            config = home.folder / ".config/crabhook"
            self.team.seat(config, name, self.desks, Role.DECIDER)
        self.team.change(lambda team: with_group(team, "leads", ("ann", "bob")))

    def up(self) -> None:
        started = self.run("up", "--alone", "600", "--operators", self.desks)
        assert started.returncode == DONE, started.stderr
        self.pid = json.loads(self.run("status", "--json").stdout)["pid"]

    def kill(self) -> None:
        """End the server as a crash does; return when it is gone."""
        process = os.pidfd_open(self.pid)
        try:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            assert select.select([process], [], [], 60)[0]
        finally:
            os.close(process)

    def says(self, name: str, *words: str) -> tuple[int, str]:
        return self.homes[name].typed(*words, passphrase=PASSPHRASE)


@pytest.fixture
def house() -> Iterator[House]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-quorum-", dir="/tmp"))
    here = House(folder)
    try:
        here.begin()
        yield here
    finally:
        with suppress(TimeoutExpired):
            here.run("down", "--yes")
        shutil.rmtree(folder)


def test_two_people_allow_a_call_and_a_kill_between_loses_no_vote(house: House) -> None:
    explained = house.run("rules", "explain", "terraform apply x")
    waits = "0 of 2 said yes. It waits for @leads: ann and bob."
    assert waits in explained.stdout, explained.stderr
    asked = house.ask("terraform apply x", "t1")
    (card,) = house.homes["cat"].pending()
    code, words = house.says("cat", "allow", "1")
    assert code == FAILED
    assert "you are none of them" in words
    code, words = house.says("ann", "allow", "1")
    assert (code, card["number"]) == (COUNTED, 1), words
    assert "1 of 2 said yes: ann. It waits for @leads: bob." in words
    assert house.says("ann", "allow", "1")[0] == FAILED, "nobody says yes twice"
    house.kill()
    house.up()
    code, words = house.says("bob", "allow", "1")
    assert code == DONE, words
    reply = asked.finish().output
    assert reply["hookSpecificOutput"]["permissionDecision"] == "allow"
    told = [json.loads(line) for line in house.run("log", "export").stdout.splitlines()]
    kinds = [each["kind"] for each in told if each["kind"] in ("voted", "decided")]
    assert kinds == ["voted", "decided"]
    assert house.run("log", "verify").returncode == DONE


@dataclass
class Pair:
    """Two servers over one record, the first of which leads, and a team of ann and bob."""

    first: Service
    second: Service
    people: list[Machine]
    team: Founded

    @property
    def both(self) -> str:
        """The addresses of both, as a hook has them."""
        return f"{self.first.address},{self.second.address}"

    def allow_over_a_kill(self) -> None:
        """Have ann allow the first card, the leader killed, and bob allow it at the other server."""
        ann, bob = self.people
        assert ann.pending()
        code, words = ann.typed("allow", "1", passphrase=PASSPHRASE)
        assert code == COUNTED, words
        self.first.process.kill()
        self.second.listens()
        code, words = bob.typed("allow", "1", passphrase=PASSPHRASE)
        assert code == DONE, words


@contextmanager
def pair_of_servers(url: str, rules: str = "") -> Iterator[Pair]:
    """Both servers are up for the block; ann and bob are the team's @leads."""
    ports = free_ports(2)
    servers = [
        served(url, "--no-desk", "--alone", "60", "--operators", f"127.0.0.1:{port}", waits=False)
        for port in ports
    ]
    first, second = servers
    people = [Machine(first.folder / name) for name in ("ann", "bob")]
    team = founded(first.folder / ".local/state/crabhook/team", time.time())
    desks = ",".join(f"127.0.0.1:{port}" for port in ports)
    for person in people:
        person.folder.mkdir()
        config = person.folder / ".config" / "crabhook"
        team.seat(config, person.folder.name, desks, Role.DECIDER)
    team.change(lambda team: with_group(team, "leads", ("ann", "bob")))
    shutil.copytree(team.folder.path, second.folder / ".local/state/crabhook/team")
    for server in servers if rules else ():
        server.write_rules(rules)
    try:
        first.__enter__()
        first.listens()
        second.__enter__()
        stands_by(second)
        yield Pair(first, second, people, team)
    finally:
        for server in servers:
            server.__exit__()


def test_a_vote_stays_where_the_leader_is_killed_and_another_server_leads(url: str) -> None:
    with pair_of_servers(url, RULES) as pair:
        hook = asks(pair.first, "terraform apply x", server=pair.both)
        pair.allow_over_a_kill()
        assert said(hook) == {"behavior": "allow"}
