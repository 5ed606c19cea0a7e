"""What a strict hook is installed with is what a team really has: no key of it is typed."""

from pathlib import Path

import pytest

from crabhook.hook import read_options
from crabhook.hook.signed import SigningTeam
from crabhook.install.strict import authority_in, strict_hooks, team_at, team_trouble
from crabhook.model.actor import Role
from crabhook.model.ballot import Terms
from crabhook.model.errors import InstallError
from tests.support.team import Founded, founded

NOW = 1_800_000_000.0


@pytest.fixture
def team(tmp_path: Path) -> Founded:
    made = founded(tmp_path / "team", NOW)
    made.let_in("ann", Role.ADMIN)
    made.let_in("bob")
    made.let_in("eve", Role.VIEWER)
    return made


def test_a_teams_own_folder_is_what_hooks_can_be_installed_with(team: Founded) -> None:
    path = team.folder.team
    strict = strict_hooks("claude", path, None, Terms(2), "deny")
    assert (strict.team, strict.version, strict.need) == (str(path), 4, 2)
    assert team_at(strict.team, strict.authority, 4).people == ("ann", "bob")
    options = read_options(strict.client(decides=True), {})
    assert not options.problem
    assert (options.need, options.when_unsigned, options.team_version) == (2, "deny", 4)
    assert SigningTeam(path.read_bytes(), options.authority, 4).version == 4
    assert strict_hooks("claude", path, strict.authority, Terms(2), "deny") == strict
    assert read_options(strict.client(decides=False), {}).when_unsigned == ""
    of_bob = strict_hooks("claude", path, None, Terms(1, ("bob",)), "deny")
    assert read_options(of_bob.client(decides=True), {}).of == ("bob",)
    assert team_at(of_bob.team, of_bob.authority, 4, of_bob.of).people == ("bob",)


def test_what_no_hook_could_use_is_refused_before_anything_is_written(
    team: Founded, tmp_path: Path
) -> None:
    path, other = team.folder.team, founded(tmp_path / "other", NOW).folder
    for arguments, why in (
        ((tmp_path / "none", str(team.folder.authority), Terms(), "pass"), "cannot be read"),
        ((path, str(other.authority), Terms(), "pass"), "has not signed it"),
        ((path, str(path), Terms(), "pass"), "no certificate"),
        ((path, str(tmp_path / "none"), Terms(), "pass"), "cannot be read"),
        ((path, None, Terms(3), "pass"), "has 2 who can"),
        ((path, None, Terms(2, ("ann", "@leads")), "pass"), "of ann, @leads have to sign"),
    ):
        with pytest.raises(InstallError, match=why):
            strict_hooks("claude", *arguments)
    with pytest.raises(InstallError, match="cannot be told to ask"):
        strict_hooks("codex", path, None, Terms(), "ask")
    with pytest.raises(InstallError, match="older file"):
        team_at(str(path), authority_in(team.folder.authority.read_bytes()), 5)


def test_people_without_a_key_that_counts_are_none_who_can_sign(team: Founded) -> None:
    team.revoke("bob")
    path = team.folder.team
    authority = authority_in(team.folder.authority.read_bytes())
    assert team_at(str(path), authority).people == ("ann",)


def test_a_file_that_an_agent_could_replace_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "team"
    path.write_bytes(b"")
    path.chmod(0o666)
    assert str(path) in team_trouble(str(path))
    assert team_trouble("/etc/passwd") == ""
