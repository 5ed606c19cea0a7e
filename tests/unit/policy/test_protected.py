"""What always reaches a person."""

import pytest

from crabhook.policy.evaluate import Policy
from crabhook.policy.paths import Anchor, path_pattern
from crabhook.policy.protected import ENTRIES, ENTRY_NAMES, Protected, ProtectedEntry
from crabhook.policy.rule import RuleSet
from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, bash, call, context, policy, rule, verdict

SAMPLE = {
    "agent-settings": "/work/app/.claude/settings.json",
    "own-files": "/work/app/.crabhook/rules.toml",
    "shell-startup": "/home/dev/.bashrc",
    "ssh": "/home/dev/.ssh/config",
    "cloud": "/home/dev/.aws/credentials",
    "env-files": "/work/app/.env",
    "ci": "/work/app/.github/workflows/ci.yml",
    "git-hooks": "/work/app/.git/hooks/pre-commit",
    "git-folder": "/work/app/.git/HEAD",
    "tool-settings": "/work/app/.vscode/tasks.json",
    "project-instructions": "/work/app/AGENTS.md",
    "own-program": "/work/app/.venv/lib/site-packages/crabhook/hook/run.py",
    "tool-startup": "/home/dev/.tmux.conf",
    "command-folders": "/home/dev/.local/bin/git",
    "agent-instructions": "/work/app/.claude/skills/x/SKILL.md",
}
EVERYTHING = rule("allow", "Bash", "Read(//**)", "Edit(//**)")


def test_every_entry_has_a_sample_here() -> None:
    assert set(SAMPLE) == set(ENTRY_NAMES)


@every_row("entry", ENTRIES)
def test_an_entry_holds_until_the_user_takes_it_off(entry: object) -> None:
    name = entry.name  # type: ignore[attr-defined]
    path = SAMPLE[name]
    writes = call("Write", file_path=path), bash(f"tee {path}"), bash(f"echo a > {path}")
    for event in writes:
        assert verdict(policy(EVERYTHING), event) == "ask-operator"
        assert verdict(policy(EVERYTHING, off=[name]), event) == "allow"
    for event in (call("Read", file_path=path), bash(f"cat {path}")):
        secret = entry.secret  # type: ignore[attr-defined]
        assert verdict(policy(EVERYTHING), event) == ("ask-operator" if secret else "allow")


@every_row("entry", ENTRIES)
def test_every_pattern_of_an_entry_is_one_that_a_rule_could_write(entry: ProtectedEntry) -> None:
    for pattern in (*entry.paths.patterns, *entry.free.patterns):
        above = "" if pattern.anchor is Anchor.CWD else pattern.anchor.value
        assert path_pattern(above + pattern.pattern.removeprefix("/")) == pattern


def test_a_denial_stays_a_denial_and_a_question_to_the_agents_user_becomes_ours() -> None:
    event = call("Read", file_path=SAMPLE["ssh"])
    assert verdict(policy(rule("deny", "Read")), event) == "deny"
    assert verdict(policy(rule("ask-agent's-user", "Read")), event) == "ask-operator"
    assert verdict(policy(rule("pass", "Read")), event) == "ask-operator"
    assert verdict(policy(), event) == "ask-operator"


def test_the_ruling_names_the_entry() -> None:
    ruling = policy(EVERYTHING).judge(call("Read", file_path=SAMPLE["cloud"]), context())
    assert ruling is not None
    assert ruling.rule is None
    assert "cloud" in ruling.protected


def test_a_link_to_something_protected_is_protected() -> None:
    links = {"/work/app/notes": "/home/dev/.ssh"}
    assert (
        verdict(policy(EVERYTHING), call("Read", file_path="/work/app/notes/a"), links)
        == "ask-operator"
    )
    links = {"/work/app/.env": "/work/app/settings"}
    assert (
        verdict(policy(EVERYTHING), call("Read", file_path="/work/app/.env"), links)
        == "ask-operator"
    )


@pytest.mark.parametrize("path", ["/opt/my rules [1]/a", "/opt/my rules [1]"])
def test_crabhooks_own_places_are_where_they_are_said_to_be(path: str) -> None:
    law = Policy([RuleSet((EVERYTHING,))], Protected(own=("/opt/my rules [1]",)))
    assert verdict(law, call("Write", file_path=path)) == "ask-operator"
    assert verdict(law, call("Write", file_path="/opt/my rules 1/a")) == "allow"


def test_an_example_of_an_env_file_is_free() -> None:
    assert verdict(policy(EVERYTHING), call("Write", file_path="/work/app/.env.example")) == "allow"
    assert (
        verdict(policy(EVERYTHING), call("Write", file_path="/work/app/.env.examples"))
        == "ask-operator"
    )


def test_other_tools_are_not_concerned() -> None:
    assert (
        verdict(policy(rule("allow", "mcp__a__b")), call("mcp__a__b", path="/home/dev/.ssh"))
        == "allow"
    )
    assert verdict(policy(), call("WebSearch", query=".env")) == OPEN


@every_row(
    "line",
    [
        "crabhook orders away",
        "crabhook orders away --for 2h",
        "crabhook orders release all",
        "python3 -m crabhook orders away",
        "python3 -m crabhook orders away --for 2h",
        "script -qc 'crabhook orders away' /dev/null",
        "python3 -m crabhook orders release hold-all",
        "echo x > ~/.local/state/crabhook/passphrase",
        "cp mine ~/.local/state/crabhook/passphrase",
        "rm ~/.local/state/crabhook/passphrase",
        "cat ~/.local/state/crabhook/passphrase",
    ],
)
def test_what_lets_the_operator_be_away_reaches_a_person(line: str) -> None:
    assert verdict(policy(EVERYTHING), bash(line)) == "ask-operator"
    assert verdict(policy(EVERYTHING, off=["own-files"]), bash(line)) == "allow"


WORDS = (
    "team init", "team invite mallory --role admin", "team revoke ann", "team invite m --machine",
    "team join crab1abc@h:1", "desk", "", "up", "down", "serve", "allow 1", "answer 1 1=2", "pass 1", "hand-back 1",
    "edit 1", "sessions note s text", "orders away", "orders release all", "team keys trust ann k.pub --confirmed", "team oidc use", "team invite m --oidc",
    "team keys distrust ann k.pub", "team keys use k.pub", "team servers h:1", "team names h", "team revoke m --machine",
)  # fmt: skip


@every_row(
    "line",
    [
        *(f"crabhook {words}" for words in WORDS),
        *(f"python3 -m crabhook {words}" for words in WORDS),
        "script -qc 'crabhook team invite mallory' /dev/null",
        "setsid -w crabhook allow 1",
        "DISPLAY=:0 SSH_ASKPASS=./mine crabhook allow 1",
        "env -u X SSH_ASKPASS_REQUIRE=force crabhook allow 1",
        "timeout 9 nohup crabhook allow 1 --yes",
        "bash -c 'yes | crabhook allow 1'",
        "echo secret | crabhook answer 1 1=2",
        "ssh-keygen -Y sign -n presence@crabhook -f ~/k.pub",
        "ssh-keygen -Y sign -n decision@crabhook -f ~/k.pub",
        "echo /tmp/mine > ~/.config/crabhook/desks/ab12/ssh-key",
        "cat ~/.config/crabhook/desks/ab12/closing.key",
        "cat ~/.local/state/crabhook/team/authority.key",
        "cp mine ~/.local/state/crabhook/team/team",
        "cat ~/.local/state/crabhook/team/looks",
        "rm ~/.local/state/crabhook/team/looks",
        "cp mine /etc/crabhook/team",
        "cat ~/.config/crabhook/desks/ab12/device.key",
        "cat ~/.config/crabhook/servers/ab12/token",
    ],
)
def test_what_lets_others_decide_reaches_a_person_whatever_is_allowed(line: str) -> None:
    exactly = rule("allow", f"Bash({line})", "Bash(crabhook *)")
    for allowing in (EVERYTHING, exactly):
        assert verdict(policy(allowing), bash(line)) == "ask-operator"


def test_the_passphrase_is_protected_wherever_the_state_folder_is() -> None:
    law = Policy([RuleSet((EVERYTHING,))], Protected(own=("/var/mine/crabhook",)))
    for tool in ("Write", "Read"):
        event = call(tool, file_path="/var/mine/crabhook/passphrase")
        assert verdict(law, event) == "ask-operator"
