"""Servers that share a record have one team: who is revoked at one of them is out at the other."""

from __future__ import annotations

import json
import socket
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.team.changes import with_machine
from crabhook.team.membership import Machine, digest_of
from tests.integration.test_shared_record import cluster, crabhook, url
from tests.support.service import CRABHOOK, Service
from tests.support.team import RIGHT, WRONG, founded
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

__all__ = ["cluster", "url"]  # the fixtures
pytestmark = pytest.mark.thorough

DENY = '[[rule]]\nverdict = "deny"\nmatch = "Bash(ls *)"\n'


@contextmanager
def home(url: str) -> Iterator[Path]:
    """A machine's home whose settings name the record."""
    with tempfile.TemporaryDirectory(prefix="crabhook-shared-", dir="/tmp") as made:
        settings = Path(made, ".config", "crabhook", "settings.toml")
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[record]\nstore = {json.dumps(url)}\n", encoding="utf-8")
        yield Path(made)


def free() -> str:
    with socket.create_server(("127.0.0.1", 0)) as line:
        return f"127.0.0.1:{line.getsockname()[1]}"


def serving(folder: Path, desks: str = "") -> Service:
    desks = desks or free()
    ways = ("--no-desk", "--log-level", "info", "--operators", desks)
    return Service(*ways, folder=folder, waits=False)


def typed(service: Service, *words: str, passphrase: str = RIGHT, times: int = 1) -> str:
    """Run a command of a person who types the passphrase; return all that it says."""
    with Typist([CRABHOOK, *words], service.environment) as typist:
        for _ in range(times):
            typist.answer("passphrase", f"{passphrase}\n")
        code, out, wrong = typist.finish()
    assert (code == 0) is (passphrase == RIGHT), wrong
    return out + wrong


def team_in(folder: Path) -> Path:
    return folder / ".local/state/crabhook/team"


def test_a_team_is_pulled_to_the_second_server_and_who_is_revoked_is_out_at_both(
    cluster: Cluster, url: str
) -> None:
    with ExitStack() as opened:
        one, two = opened.enter_context(home(url)), opened.enter_context(home(url))
        team = founded(team_in(one), time.time())
        for name in ("ann", "bob"):
            team.let_in(name)
        build = Machine("build1", digest_of("a token"), int(team.now))
        team.change(lambda before: with_machine(before, build))
        first = opened.enter_context(serving(one))
        first.listens()
        other = Service(folder=two)  # for its environment: it does not run
        assert "a team already" in crabhook(other, "team", "init").stderr
        said = typed(other, "team", "pull", "--host", "two.example")
        assert "is here as on record" in said
        assert (team_in(two) / "team").read_bytes() == (team_in(one) / "team").read_bytes()
        assert (team_in(two) / "server.key").read_bytes() != (
            team_in(one) / "server.key"
        ).read_bytes()
        second = opened.enter_context(serving(two))
        second.wait_for(lambda line: "standing by" in line)
        typed(second, "operators", "revoke", "ann")
        first.wait_for(lambda line: "ann was revoked" in line)
        second.wait_for(lambda line: "ann was revoked" in line)
        typed(first, "machines", "revoke", "build1")
        first.wait_for(lambda line: "the machine build1 was revoked" in line)
        second.wait_for(lambda line: "the machine build1 was revoked" in line)
        assert "ann" not in crabhook(second, "operators", "list").stdout
        first.process.kill()
        second.listens()
        typed(second, "operators", "revoke", "bob")
        second.wait_for(lambda line: "bob was revoked" in line)
        assert "as they were written" in second.audit("verify")
        assert "the document team was changed by" in second.audit("--all-kinds")
        (text,) = cluster.sql("SELECT text FROM crabhook.document WHERE name = 'authority-key'")
        assert "scrypt" in text["text"]


def test_where_there_is_a_team_its_passphrase_signs_the_rules_that_are_pushed(url: str) -> None:
    with home(url) as folder:
        founded(team_in(folder), time.time()).let_in("ann")
        with serving(folder) as service:
            service.listens()
            service.write_rules(DENY)
            said = typed(service, "rules", "push", "--yes", passphrase=WRONG, times=3)
            assert "wrong passphrases" in said
            assert "version 2 now" in typed(service, "rules", "push", "--yes")
            team_in(folder).rename(folder / "elsewhere")  # as where there is no team
            service.write_rules("")
            with Typist([CRABHOOK, "rules", "push"], service.environment) as typist:
                typist.answer("[y/N] ", "y\n")
                code, _, wrong = typist.finish()
            assert code == 1
            assert "takes the passphrase of the team's authority" in wrong


def test_a_team_is_founded_before_the_first_server_begins_the_record(url: str) -> None:
    with (
        home(url) as here,
        Typist([CRABHOOK, "team", "init"], serving(here).environment) as typist,
    ):
        for prompt in ("Your new passphrase", "The same again"):
            typist.answer(prompt, f"{RIGHT}\n")
        code, said, wrong = typist.finish()
    assert (code, wrong) == (0, "")
    assert "its first admin" in said


def test_who_is_away_is_away_with_the_next_server(cluster: Cluster, url: str) -> None:
    with home(url) as folder:
        desks = free()
        founded(team_in(folder), time.time()).seat(folder / ".config" / "crabhook", "ann", desks)
        with serving(folder, desks) as first:
            first.listens()
            assert "You are away" in typed(first, "away", "--for", "10m")
            first.process.kill()
        with serving(folder, desks) as second:
            second.listens()
            assert "You are here" in crabhook(second, "here").stdout
            assert "You were not away" in crabhook(second, "here").stdout
            assert second.end() == 0
        (row,) = cluster.sql("SELECT text FROM crabhook.document WHERE name = 'orders'")
        assert json.loads(row["text"])["orders"] == []
