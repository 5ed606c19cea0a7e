"""`crabhook log replay`: today's rules on a real record."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crabhook.cli import main
from crabhook.model.actor import Ended, Nobody, RuleActor
from tests.unit.cli.pastrecord import NOON, decided, write

RULES = """
[[rule]]
verdict = "allow"
match = "Bash(npm run *)"
note = "the day's work"

[[rule]]
verdict = "deny"
match = "Bash(git push *)"
"""
OLD = "allow Bash(git status *) (rules.toml, line 1)"
HOSTILE = "git push \x1b[2J\u202e\nYOU DENIED"
NOBODY = Nobody(Ended.AWAY)
Replay = Callable[..., str]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return tmp_path / "config" / "crabhook" / "rules.toml"


@pytest.fixture
def run(
    tmp_path: Path,
    rules: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Replay:
    """A way to replay what a user decided; returns what was written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rules.parent.mkdir(parents=True)
    rules.write_text(RULES)
    write(
        tmp_path / "state" / "crabhook",
        decided("npm run build"),
        decided("npm run deploy", "deny", at=NOON + 60),
        decided("npm run deploy", "deny", at=NOON + 120),
        decided("git push", session="s2", at=NOON + 180),
        decided("git status", by=RuleActor(OLD), cwd="/srv/other", at=NOON + 240),
        decided("npm run lint", edited="npm run lint:fix", at=NOON + 300),
        decided("cat a", at=NOON + 360),
        decided("npm run test", "pass", by=NOBODY, at=NOON + 400),
        decided(HOSTILE, "pass", by=NOBODY, tool="Monitor", at=NOON + 420),
    )

    def run_replay(*words: str) -> str:
        assert main(["log", "replay", *words]) == 0
        return capsys.readouterr().out

    return run_replay


def test_changes_are_told_in_groups_what_the_operator_denied_first_and_counted_last(
    run: Replay,
) -> None:
    shown = run()
    heads = [line for line in shown.splitlines() if line.endswith("):")]
    assert heads == [
        "YOU DENIED THESE, AND TODAY'S RULES WOULD ALLOW THEM (2):",
        "newly allowed (1):",
        "newly denied (2):",
        "you changed these first, now they would be decided as they were asked (1):",
        "no longer decided by rules: they would come to you (1):",
    ]
    assert shown.splitlines()[-1] == (
        "9 calls: 2 unchanged (1 of them decided by you, now by rules), "
        "3 newly allowed (2 of them DENIED by you), 2 newly denied, "
        "1 changed by you, now decided as they were asked, 1 no longer decided by rules"
    )


def test_it_says_what_was_what_would_be_and_by_which_rule(run: Replay, rules: Path) -> None:
    shown = run()
    assert f"in /srv/shop: was deny by you, now allow: {rules}, line 2" in shown
    assert "(the day's work)" in shown
    assert (
        f"in /srv/other: was allow by rule {OLD}, now open: no rule speaks of git status" in shown
    )
    assert "npm run deploy  (2 times)" in shown


def test_it_says_what_the_record_does_not_hold(run: Replay) -> None:
    first = run().splitlines()[0]
    assert "secrets taken out" in first
    assert "permission mode is not recorded" in first


def test_nothing_an_agent_sent_reaches_the_terminal_raw(run: Replay) -> None:
    for words in ((), ("--json",)):
        shown = run(*words)
        assert shown.replace("\n", "").isprintable()
        assert "\nYOU DENIED\n" not in shown


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ([], 9),
        (["--since", "2026-01-09T12:02:30Z"], 6),
        (["--until", "2026-01-09T12:02:30Z"], 3),
        (["--tool", "Mon*"], 1),
        (["--session", "s2"], 1),
        (["--last", "3"], 3),
        (["--last", "0"], 9),
        (["--project", "/srv/other"], 1),
        (["--project", "/srv"], 9),
        (["--project", "/srv/sho"], 0),
        (["--project", "/srv/shop", "--last", "2"], 2),
    ],
)
def test_which_calls_are_replayed_can_be_chosen(run: Replay, words: list[str], calls: int) -> None:
    assert run(*words).splitlines()[-1].startswith(f"{calls} calls: ")


def test_as_json_each_change_is_a_line_and_the_counts_are_the_last(
    run: Replay, rules: Path
) -> None:
    *changes, last = [json.loads(line) for line in run("--json").splitlines()]
    assert [one["change"] for one in changes] == [
        "overruled",
        "overruled",
        "allowed",
        "denied",
        "denied",
        "edited",
        "open",
    ]
    assert changes[0]["input"] == {"command": "npm run deploy"}
    assert (changes[0]["was"], changes[0]["now"]) == ("deny", "allow")
    assert changes[0]["where"] == f"{rules}, line 2"
    assert last["counts"] == {
        "overruled": 2,
        "allowed": 1,
        "denied": 2,
        "edited": 1,
        "asked": 0,
        "passed": 0,
        "open": 1,
        "calls": 9,
        "unchanged": 2,
        "spared": 1,
    }


def test_no_more_are_replayed_than_were_asked_for(run: Replay) -> None:
    assert run("--last", "2").splitlines()[-1].startswith("2 calls: ")


def test_rules_that_cannot_be_read_replay_nothing(
    run: Replay, rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules.write_text("[[rule]]\nverdict = 1\n")
    assert main(["log", "replay"]) == 2
    assert f"{rules}, line 2: verdict must be" in capsys.readouterr().err
