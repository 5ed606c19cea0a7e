"""Servers that share a record have one team: who is revoked at one of them is out at the other."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import tempfile
import time
from contextlib import ExitStack, contextmanager
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crabhook.team.edit_team import with_machine
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


def said_of(service: Service) -> str:
    """What the record says of the documents."""
    return service.audit("--all-kinds", "--last", "0")


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
        sealing = [team_in(folder) / "sealing.key" for folder in (one, two)]
        assert sealing[0].read_bytes() == sealing[1].read_bytes()
        second = opened.enter_context(serving(two))
        second.wait_for(lambda line: "standing by" in line)
        typed(second, "team", "revoke", "ann")
        first.wait_for(lambda line: "ann was revoked" in line)
        second.wait_for(lambda line: "ann was revoked" in line)
        typed(first, "team", "revoke", "build1", "--machine")
        first.wait_for(lambda line: "the machine build1 was revoked" in line)
        second.wait_for(lambda line: "the machine build1 was revoked" in line)
        assert "ann" not in crabhook(second, "team", "list").stdout
        first.process.kill()
        second.listens()
        typed(second, "team", "revoke", "bob")
        second.wait_for(lambda line: "bob was revoked" in line)
        assert "as they were written" in second.audit("verify")
        assert "the document team was changed by" in second.audit("--all-kinds")
        (text,) = cluster.sql("SELECT text FROM crabhook.document WHERE name = 'authority-key'")
        assert "scrypt" in text["text"]
        key = sealing[0].read_bytes()
        sealing[0].unlink()  # as a team of before has it
        typed(first, "team", "pull")
        assert sealing[0].read_bytes() == key


def shows(desks: str, name: str, authority: Path) -> bool:
    """Whether who attaches at this address is shown the team's certificate for the name."""
    host, _, port = desks.rpartition(":")
    context = ssl.create_default_context(cafile=str(authority))
    with socket.create_connection((host, int(port)), 10) as line:
        try:
            context.wrap_socket(line, server_hostname=name).close()
        except ssl.SSLCertVerificationError:
            return False
    return True


def invited_by(service: Service) -> str:
    """What a server's machine says for which names it can let anybody in."""
    words = [CRABHOOK, "team", "invite", "eve", "--role", "viewer", "--host", "x.example"]
    # The name is refused before the passphrase is asked for.
    with Typist(words, service.environment) as typist:
        code, _, wrong = typist.finish()
    assert code == 1
    return wrong


def test_each_server_has_names_of_its_own_and_invites_to_itself(url: str) -> None:
    with ExitStack() as opened:
        one, two = opened.enter_context(home(url)), opened.enter_context(home(url))
        team = founded(team_in(one), time.time(), names=("one.example", "localhost"))
        first = opened.enter_context(serving(one, at_one := free()))
        first.listens()
        other = Service(folder=two)  # for its environment: it does not run
        typed(other, "team", "pull", "--host", "two.example")
        assert "it is for two.example," in invited_by(other)
        said = typed(other, "team", "names", "second.example")
        assert "for second.example, localhost" in said
        first.wait_for(lambda line: "now known as second.example" in line)
        second = opened.enter_context(serving(two, at_two := free()))
        second.wait_for(lambda line: "standing by" in line)
        assert "it is for one.example, localhost" in invited_by(first)
        assert "it is for second.example, localhost" in invited_by(second)
        assert first.end(signal.SIGUSR1) == 0
        second.listens()
        first = opened.enter_context(serving(one, at_one))
        first.wait_for(lambda line: "standing by" in line)
        authority = team.folder.authority
        for place, name, other_name in (
            (at_one, "one.example", "second.example"),
            (at_two, "second.example", "one.example"),
        ):
            assert shows(place, name, authority)
            assert not shows(place, other_name, authority)


def test_a_server_whose_new_names_are_not_on_record_keeps_its_certificate(url: str) -> None:
    with home(url) as folder:
        founded(team_in(folder), time.time())
        with serving(folder) as service:
            service.listens()
            before = (team_in(folder) / "server.pem").read_bytes()
        with Typist([CRABHOOK, "team", "names", "h.example"], service.environment) as typist:
            typist.answer("passphrase", f"{RIGHT}\n")
            code, _, wrong = typist.finish()
        assert code == 1
        assert "no server that writes the record" in wrong
        assert (team_in(folder) / "server.pem").read_bytes() == before


def test_where_there_is_a_team_its_passphrase_signs_the_rules_that_are_pushed(url: str) -> None:
    with home(url) as folder:
        (team := founded(team_in(folder), time.time())).let_in("ann")
        with serving(folder) as service:
            service.listens()
            service.write_rules(DENY)
            said = typed(service, "rules", "push", "--yes", passphrase=WRONG, times=3)
            assert "wrong passphrases" in said
            assert "version 2 now" in typed(service, "rules", "push", "--yes")
            assert f"rules was changed by the OS user {getuser()} at the host " in said_of(service)
            keys = folder / ".config" / "crabhook"
            team.seat(keys, "bob", "b.example:7444")
            crabhook(service, "team", "push")
            service.write_rules("# by bob\n")
            assert "version 3 now" in typed(service, "rules", "push", "--yes")
            typed(service, "team", "revoke", "ann")
            assert "the document rules was changed by bob at laptop" in said_of(service)
            assert "the document team was changed by bob at laptop" in said_of(service)
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
    steps = [said.index(one) for one in ("team servers", "  crabhook serve", "team invite")]
    assert steps == sorted(steps)


def test_who_is_away_is_away_with_the_next_server(cluster: Cluster, url: str) -> None:
    with home(url) as folder:
        desks = free()
        founded(team_in(folder), time.time()).seat(folder / ".config" / "crabhook", "ann", desks)
        with serving(folder, desks) as first:
            first.listens()
            assert "You are away" in typed(first, "orders", "away", "--for", "10m")
            first.process.kill()
        with serving(folder, desks) as second:
            second.listens()
            assert "You are here" in crabhook(second, "orders", "here").stdout
            assert "You were not away" in crabhook(second, "orders", "here").stdout
            assert second.end() == 0
        (row,) = cluster.sql("SELECT text FROM crabhook.document WHERE name = 'orders'")
        assert json.loads(row["text"])["orders"] == []
