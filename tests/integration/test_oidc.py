"""People come into a team by an identity provider of other people's make, and go with it.

The server, the commands and the provider are real; the person's browser follows its pages.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Role
from tests.integration.test_verbs import DONE, Machine
from tests.support.identity_provider import IdentityProvider, Person, provider_of
from tests.support.plain_desk import CRABHOOK
from tests.support.team import PASSPHRASE, founded
from tests.support.typist import Typist
from tests.support.web_house import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
REFUSED = 5
SETTINGS = """[oidc]
issuer = "{issuer}"
client = "crabhook"
roles = {{ eng = "decider", ops = "admin" }}
groups = {{ leads = "leads" }}
"""
OURS, NEW, AGAIN = "Your passphrase for the team ", "Your new passphrase, ", "The same again: "
_PAGE = re.compile(r"  (http://\S+/device)\s+with the code  (\S+)")


class House(Machine):
    """A server whose team asks the provider, and ann's laptop."""

    def __init__(self, folder: Path, provider: IdentityProvider) -> None:
        super().__init__(folder)
        self.provider = provider
        self.desks = f"127.0.0.1:{free_port()}"
        self.ann = Machine(folder / "ann")
        self.ann.folder.mkdir()

    def begin(self) -> None:
        settings = self.folder / ".config/crabhook/settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS.format(issuer=self.provider.issuer))
        self.team = founded(self.folder / ".local/state/crabhook/team", time.time())
        self.team.seat(self.folder / ".config/crabhook", "root", self.desks, Role.ADMIN)
        code, words = self.typed("team", "oidc", "use", passphrase=PASSPHRASE)
        assert code == DONE, words
        assert "groups eng: decider" in words
        started = self.run("up", "--alone", "600", "--operators", self.desks)
        assert started.returncode == DONE, started.stderr

    @contextmanager
    def joining(self) -> Iterator[tuple[Typist, Typist, str, str]]:
        """Give both ends' terminals, and the page and the code that ann's shows."""
        invite = ["team", "invite", "ann", "--oidc", "--host", "127.0.0.1", "--port"]
        command = [CRABHOOK, *invite, str(free_port()), "--server", self.desks]
        with Typist(command, self.environment) as admin:
            admin.answer(OURS, f"{PASSPHRASE}\n")
            line = until(admin, re.compile(r"(crab1\S+)"))[0]
            join = [CRABHOOK, "team", "join", line, "--name", "laptop"]
            with Typist(join, self.ann.environment) as ann:
                ann.answer(NEW, f"{PASSPHRASE}\n")
                ann.answer(AGAIN, f"{PASSPHRASE}\n")
                page, code = until(ann, _PAGE)
                yield admin, ann, page, code

    def joins(self, person: str = "ann") -> tuple[str, str]:
        """Have ann join, whose browser signs in as that person; return what both ends said."""
        with self.joining() as (admin, ann, page, code):
            assert "successful" in Person(person).signs_in(page, code)
            admin.answer("[y/N] ", "y\n")
            ends = ann.finish(), admin.finish()
        for end in ends:
            assert end[0] == DONE, end
        return ends[0][1], ends[1][1]

    def has_recorded_the_end(self) -> None:
        """See that the record has the change and no secret, and the looks' file no token."""
        lines = self.run("log", "export").stdout.splitlines()
        changes = [line for line in lines if json.loads(line)["kind"] == "team-changed"]
        assert any("identity provider, as this server looked: ann: out" in one for one in changes)
        assert self.run("log", "verify").returncode == DONE
        (look,) = json.loads(self.team.folder.looks.read_text())
        assert (look["token"], bool(look["ended"])) == ("", True)

    def looks(self) -> str:
        looked = self.run("team", "oidc", "look")
        assert looked.returncode == DONE, looked.stderr
        return looked.stdout


def until(person: Typist, wanted: re.Pattern[str]) -> tuple[str, ...]:
    """Wait until standard output has it; return its groups."""
    shown = ""
    assert person.process.stdout is not None
    for line in person.process.stdout:
        shown += line.decode()
        if match := wanted.search(shown):
            return match.groups()
    raise AssertionError((shown, person.finish()))


@contextmanager
def house_of(groups: list[str]) -> Iterator[House]:
    with provider_of({"ann": {"groups": groups}}) as provider:
        folder = Path(tempfile.mkdtemp(prefix="crabhook-oidc-", dir="/tmp"))
        house = House(folder, provider)
        try:
            house.begin()
            yield house
        finally:
            with suppress(TimeoutExpired):
                house.run("down", "--yes")
            shutil.rmtree(folder)


def test_who_signs_in_comes_in_by_their_groups_and_goes_with_them() -> None:
    with house_of(["eng", "leads"]) as house:
        there, here = house.joins()
        assert "You are ann, decider" in there
        subject = f"ann@{house.provider.issuer}"
        assert f"Signed in: ann ({subject}), decider, @leads" in here
        looks = house.team.folder.looks
        assert looks.stat().st_mode & 0o777 == 0o600
        listed = house.run("team", "list").stdout
        assert f"by OIDC: ann ({subject})" in listed
        assert "last looked " in listed
        assert "@leads" in listed

        asked = house.ask("make a", "t1")
        assert house.pending()
        code, words = house.ann.typed("allow", "1", passphrase=PASSPHRASE)
        assert code == DONE, words
        assert asked.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"

        watch = [CRABHOOK, "watch", "--json"]
        with subprocess.Popen(
            watch, env=house.ann.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as watching:
            try:
                assert watching.stdout is not None
                assert watching.stdout.readline()
                house.provider.knows({"ann": {"groups": ["sales"]}})
                out = "names no group of theirs that the team has a role for"
                assert out in house.looks()
                began = time.monotonic()
                watching.stdout.read()
                assert watching.wait(60) == REFUSED
                assert time.monotonic() - began < 60
                assert watching.stderr is not None
                assert b"ann is out" in watching.stderr.read()
            finally:
                watching.kill()
        other = house.ask("make b", "t2")
        assert house.pending()
        # At once, since each tries for ten seconds to be attached.
        with ThreadPoolExecutor() as at_once:
            ends = at_once.map(lambda words: house.ann.run(*words), (("deny", "2"), ("pending",)))
        for ended in ends:
            assert ended.returncode == REFUSED, ended
            assert "ann is out" in ended.stderr
        assert house.run("deny", "2").returncode == DONE
        other.finish()

        house.has_recorded_the_end()

        # Being in again at the provider opens nothing: an admin lets them in anew.
        house.provider.knows({"ann": {"groups": ["eng"]}})
        house.looks()
        assert house.ann.run("pending").returncode == REFUSED
        house.joins()
        assert house.ann.run("pending").returncode == DONE
        assert house.run("team", "list").stdout.count("revoked") == 1


@pytest.mark.thorough
def test_who_refuses_or_is_somebody_else_does_not_come_in_and_the_bound_closes() -> None:
    with house_of(["eng"]) as house:
        with house.joining() as (admin, ann, page, code):
            Person("ann").refuses(page, code)
            assert "refused the sign-in" in ann.finish()[2]
            assert "nobody joined" in admin.finish()[2]
        house.provider.knows({"ann": {"groups": ["sales"]}})
        with house.joining() as (admin, ann, page, code):
            Person("ann").signs_in(page, code)
            assert "no group of theirs" in ann.finish()[2]
            assert admin.finish()[0] != DONE
        house.provider.knows({"ann": {"groups": ["eng"]}, "bob": {"groups": ["eng"]}})
        house.joins()
        with house.joining() as (admin, ann, page, code):
            Person("bob").signs_in(page, code)
            admin.answer("[y/N] ", "y\n")
            assert "revoke the person first" in ann.finish()[2]
        with house.joining() as (admin, ann, page, code):  # a sign-in is no yes to the words
            Person("ann").signs_in(page, code)
            admin.answer("[y/N] ", "n\n")
            assert "the words were not said to be the same" in ann.finish()[2]
        assert house.run("team", "list").stdout.count("until 20") == 2
        house.provider.stop()
        assert "1 person may open until" in house.looks()
        asked = house.ask("make a", "t1")
        assert house.pending()
        ended, words = house.ann.typed("allow", "1", passphrase=PASSPHRASE)
        assert ended == DONE, words
        asked.finish()
        listed = house.run("team", "list").stdout
        assert "Since then: no way to" in listed
        ended = house.run("team", "invite", "bob", "--oidc", "--host", "127.0.0.1")
        assert (ended.returncode, "crab1" in ended.stdout) == (1, False)
        assert "no way to" in ended.stderr
