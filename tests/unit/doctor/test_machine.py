"""What decides for the owner is guarded, up to the root."""

from pathlib import Path

from crabhook.doctor.facts import machine
from crabhook.install import program
from tests.unit.doctor.home import Home


def test_settings_rules_and_programs_are_guarded_with_all_their_folders(home: Home) -> None:
    home.install()
    rules = home.write(home.config / "rules.toml", "")
    guarded = home.machine().guarded
    for place in (rules, home.config, home.settings, home.folder, Path("/")):
        assert place in guarded
    assert Path(program.stub()) in guarded
    assert Path(program.interpreter()) in guarded


def test_what_is_not_there_is_not_guarded_and_no_agent_is_needed(home: Home) -> None:
    guarded = machine(home.case().wish, []).guarded
    assert home.config / "rules.toml" not in guarded
    assert home.folder in guarded
