"""Strict hooks and people who sign: real servers, hooks and verbs."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from crabhook.team.call_signature import PublicKey
from crabhook.team.edit_team import with_group, without_operator
from crabhook.team.membership import SshKey
from tests.integration.test_quorum import COUNTED, RULES, House, pair_of_servers
from tests.integration.test_shared_record import cluster, url
from tests.integration.test_verbs import DONE
from tests.support.client import Client, sample
from tests.support.signing_people import authority_point

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crabhook.team.membership import Team
    from tests.support.team import Founded

__all__ = ["cluster", "url"]
pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]


OF_SECURITY = """[[rule]]
verdict = "ask-operator"
match = "Bash(terraform apply prod*)"
of = "@security"
"""


def about(command: str, call: str) -> dict[str, Any]:
    return {"tool_input": {"command": command}, "tool_use_id": call, "cwd": "/nowhere/shop"}


def strict_hook(team: Founded, address: str, command: str, call: str, *options: str) -> Client:
    """A hook that prints only what people of the team have signed."""
    there: Any = team.reader().current()
    pinned = there.id + authority_point(team.authority.key).hex()
    return Client(
        address,
        sample("PreToolUse-Bash", **about(command, call)),
        f"--team={team.folder.team}",
        f"--authority={pinned}",
        *(options or ("--when-unsigned=deny",)),
    )


class StrictHouse(House):
    """A server whose hooks are strict, with a team of three."""

    def strict(self, command: str, call: str, *options: str) -> Client:
        return strict_hook(self.team, self.address, command, call, *options)

    def terms(self, *options: str) -> dict[str, Any]:
        """What `log verify` says of who had to sign."""
        verified = self.run("log", "verify", "--json", *options)
        assert verified.returncode == DONE, verified.stdout
        terms: dict[str, Any] = json.loads(verified.stdout)["signed"]["terms"]
        return terms

    def until_recorded(self) -> None:
        """Wait until the team's file, as it is now, is on record."""
        digest = sha256(self.team.folder.team.read_bytes()).hexdigest()
        until = time.monotonic() + 60
        while digest not in self.run("log", "export").stdout:
            assert time.monotonic() < until
            time.sleep(0.2)


@pytest.fixture
def house() -> Iterator[StrictHouse]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-strict-", dir="/tmp"))
    here = StrictHouse(folder)
    try:
        here.begin()
        yield here
    finally:
        with suppress(subprocess.TimeoutExpired):
            here.run("down", "--yes")
        shutil.rmtree(folder)


def decided(hook: Client) -> tuple[str, str]:
    told = hook.finish().output["hookSpecificOutput"]
    return told["permissionDecision"], told.get("permissionDecisionReason", "")


def test_a_strict_hook_prints_what_a_person_signed_and_fixed_words_for_all_else(
    house: StrictHouse,
) -> None:
    asked = house.strict("ls", "t1")
    (card,) = house.homes["ann"].pending()
    assert card["strict"] is True
    code, words = house.says("ann", "allow", "1")
    assert code == DONE, words
    assert "only signatures count here" in words
    assert decided(asked)[0] == "allow"

    bare = house.strict("ls -a", "t2")
    assert house.homes["bob"].pending()
    denied = house.homes["bob"].run("deny", "2")
    assert denied.returncode == DONE
    assert "nobody signs a denial without words" in denied.stdout
    verdict, why = decided(bare)
    assert verdict == "deny"
    assert "operator denied" not in why, "nobody signed the server's own words"

    worded = house.strict("ls -b", "t3")
    assert house.homes["bob"].pending()
    assert house.says("bob", "deny", "3", "use cat")[0] == DONE
    assert decided(worded) == ("deny", "use cat")


def test_two_people_sign_and_a_kill_between_loses_no_signature(house: StrictHouse) -> None:
    asked = house.strict("terraform apply x", "t1")
    assert house.homes["ann"].pending()
    code, words = house.says("ann", "allow", "1")
    assert code == COUNTED, words
    house.kill()
    house.up()
    code, words = house.says("bob", "allow", "1")
    assert code == DONE, words
    assert decided(asked)[0] == "allow"
    verified = house.run("log", "verify", "--json")
    terms = {"kept": 1, "lacking": 0, "not_checked": {}}
    signed = {"true": 3, "false": 0, "unknown": 0, "terms": terms}
    assert json.loads(verified.stdout)["signed"] == signed
    assert json.loads(verified.stdout)["strict"] == {"allows": 1, "signed": 1}
    (line,) = house.run("log", "export", "--format", "dsse").stdout.splitlines()
    told = proven(json.loads(line), house.team.folder.server.read_bytes())
    people = told["predicate"]["signatures"]
    assert [each["operator"] for each in people] == ["o-ann", "o-bob"]
    sent = sample("PreToolUse-Bash", **about("terraform apply x", "t1"))
    assert told["subject"][0]["digest"]["sha256"] == sha256(sent).hexdigest()
    # The hook itself wants two, where no rule does.
    other = house.strict("ls", "t2", "--need=2", "--when-unsigned=deny")
    assert house.homes["ann"].pending()
    assert house.says("ann", "allow", "2")[0] == COUNTED
    code, words = house.says("cat", "allow", "2")
    assert code == DONE, words
    assert decided(other)[0] == "allow"


def test_the_people_of_every_rule_sign_and_the_hook_finds_them_in_its_team_file(
    house: StrictHouse,
) -> None:
    rules = house.folder / ".config/crabhook/rules.toml"
    rules.write_text(RULES + OF_SECURITY)
    house.team.change(lambda team: with_group(team, "security", ("cat",)))
    house.until_recorded()
    asked = house.strict("terraform apply prod", "t1")
    assert house.homes["ann"].pending()
    for name, code in (("ann", COUNTED), ("bob", COUNTED), ("cat", DONE)):
        told = house.says(name, "allow", "1")
        assert told[0] == code, told[1]
    assert decided(asked)[0] == "allow"
    (line,) = house.run("log", "export", "--format", "dsse").stdout.splitlines()
    told_of = proven(json.loads(line), house.team.folder.server.read_bytes())
    wanted = [
        [(terms["need"], terms["of"]) for terms in each["terms"]]
        for each in told_of["predicate"]["signatures"]
    ]
    assert wanted == [[(2, ["@leads"]), (1, ["@security"])]] * 3
    # A person who signed leaves the team: the file of then still shows that all was well.
    older = house.folder / "older"
    older.write_bytes(house.team.folder.team.read_bytes())
    house.team.change(lambda team: without_operator(team, "cat", None, int(time.time())))
    assert house.terms() == {"kept": 0, "lacking": 0, "not_checked": {"left": 1}}
    assert house.terms("--team-file", str(older))["kept"] == 1


def test_an_ssh_key_signs_what_a_verb_decides(house: StrictHouse) -> None:
    key = house.folder / "ann" / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = str(PublicKey.parse(key.with_suffix(".pub").read_text()))

    def trusted(team: Team) -> Team:
        mine = SshKey(public, confirmed=True)
        members = tuple(
            replace(each, keys=(mine,)) if each.name == "ann" else each for each in team.members
        )
        return replace(team, members=members)

    house.team.change(trusted)
    ann = house.homes["ann"]
    assert ann.run("team", "keys", "use", str(key)).returncode == DONE
    asked = house.strict("ls", "t1")
    (card,) = ann.pending()
    told = ann.run("allow", "1", "--seen", card["seen"])
    assert told.returncode == DONE, told.stderr
    assert decided(asked)[0] == "allow"
    verified = house.run("log", "verify", "--json")
    terms = {"kept": 0, "lacking": 0, "not_checked": {}}
    signed = {"true": 1, "false": 0, "unknown": 0, "terms": terms}
    assert json.loads(verified.stdout)["signed"] == signed


def test_a_signed_vote_stays_where_the_leader_is_killed_and_another_server_leads(
    url: str,
) -> None:
    with pair_of_servers(url) as pair:
        wishes = ("--need=2", "--when-unsigned=deny")
        hook = strict_hook(pair.team, pair.both, "make it", "t1", *wishes)
        pair.allow_over_a_kill()
        assert decided(hook)[0] == "allow"


def proven(envelope: Mapping[str, Any], certificate: bytes) -> Mapping[str, Any]:
    """Return the payload of a DSSE envelope, verified as any DSSE verifier does it."""
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    key: Any = x509.load_pem_x509_certificate(certificate).public_key()
    (signature,) = envelope["signatures"]
    key.verify(base64.b64decode(signature["sig"]), encoded, ec.ECDSA(SHA256()))
    told: Mapping[str, Any] = json.loads(payload)
    return told
