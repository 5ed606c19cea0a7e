"""A folder that is read whole is held to the secrets in it, by the look that the rules take."""

from dataclasses import replace

import pytest

from crabhook.model.card import Level, Risk
from crabhook.model.event import Event
from crabhook.policy.context import Below, Wanted, not_looked
from crabhook.policy.effects.found import MOST_FOLDERS, MOST_SECRETS
from crabhook.policy.effects.risk import effects_of
from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RuleSet
from tests.unit.policy.law import PROJECT, bash, call, context, policy, rule


def unlooked(event: Event) -> Risk:
    return effects_of(event, replace(context(), below=not_looked))


def test_a_folder_that_nobody_looked_into_may_hold_secrets_and_that_is_said() -> None:
    inside, outside = unlooked(bash("grep -rn x src")), unlooked(bash("grep -rn x /srv/data"))
    assert [one.words for one in inside.effects] == [
        "may read secrets below src (inside the project)"
    ]
    assert inside.level == Level.NONE  # or every search of an agent elsewhere had a mark
    assert outside.level == Level.CAUTION
    assert not unlooked(bash("grep -rln x src")).effects
    assert unlooked(call("Grep", pattern="x", output_mode="content")).effects


def test_a_home_folder_holds_secrets_by_what_it_is_and_is_not_looked_into() -> None:
    def never(folder: str, _: Wanted) -> Below:
        pytest.fail(f"it looked into {folder}")

    there = replace(context(), below=never)
    for folder in ("~", "/home", "/", "~/.config"):
        assert effects_of(bash(f"grep -r x {folder}"), there).level == Level.DANGER


def test_a_card_and_its_ruling_take_one_look() -> None:
    looks: list[tuple[str, Wanted]] = []

    def below(folder: str, wanted: Wanted) -> Below:
        looks.append((folder, wanted))
        return Below()

    law, there = policy(rule("deny", "Read(./private/**)")), replace(context(), below=below)
    event = bash("grep -r x src")
    law.judge(event, there)
    law.risk(event, there)
    assert len(looks) == 2
    assert looks[0] == looks[1]


def test_a_secret_that_the_owner_took_off_the_list_is_told_all_the_same() -> None:
    there = context(files=[f"{PROJECT}/.env"])
    event = bash("grep -r x .")
    law = Policy([RuleSet((), unprotect=("env-files",))], Protected())
    assert law.judge(event, there) is None
    assert [one.kind for one in law.risk(event, there).effects] == ["reads-secrets"]
    assert effects_of(event, there, Protected(off=frozenset(["env-files"]))).level == Level.NONE


def test_what_is_looked_into_and_what_is_told_of_it_is_bounded() -> None:
    looks: list[str] = []

    def below(folder: str, _: Wanted) -> Below:
        looks.append(folder)
        return Below(tuple(f"{folder}/{at}/.env" for at in range(200)))

    there = replace(context(), below=below)
    risk = effects_of(bash("grep -r x " + " ".join(f"d{at}" for at in range(100))), there)
    assert len(looks) == MOST_FOLDERS
    told = next(one for one in risk.effects if one.kind == "reads-secrets")
    assert len(told.objects) == MOST_FOLDERS * MOST_SECRETS
    assert len(told.words) < 300


def test_the_projects_own_rules_are_no_secret() -> None:
    there = context(files=[f"{PROJECT}/.crabhook/rules.toml"])
    assert not effects_of(bash("grep -r x ."), there).effects
