"""Removals that no rule allows; the table of shell lines has more."""

import pytest

from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, bash, context, denying, policy, rule, verdict

WIDE = policy(rule("allow", "Bash", "Bash(rm -rf /)", "Bash(rm -rf .)"), off=["own-files"])


@every_row(
    "target",
    [
        "/", "/*", "/usr", "/usr/", "/usr/*", "~", "~/", "~/*", "$HOME", "$HOME/*", "/home/dev", "/home", ".", "./", "./*", "*", ".*", "{*,.*}", "..", "../app",
        "/work/app", "/work/app/*", "src/..", "a . b", '"$x/"', '"$x"/*', "$x/*",
    ],
)  # fmt: skip
def test_what_would_remove_everything_is_never_allowed(target: str) -> None:
    for line in (f"rm -rf {target}", f"tool && timeout 5 rm -r {target}", f"sudo rm -rf {target}"):
        ruling = WIDE.judge(bash(line), context())
        assert ruling is None or ruling.verdict == "ask-operator", line


@pytest.mark.parametrize("target", ["src", "src/*", "*.o", "/usr/share/x", "~/x", "$x", "../other"])
def test_anything_less_is_for_the_rules(target: str) -> None:
    wide = policy(
        rule("allow", "Bash"),
        off=["own-files", "shell-startup", "ssh", "cloud", "env-files", "git-folder", "ci"],
    )
    assert verdict(wide, bash(f"rm -r {target}")) == "allow"


def test_a_denial_is_still_a_denial() -> None:
    assert verdict(denying("Bash(rm *)"), bash("rm -rf /")) == "deny"
    assert verdict(policy(), bash("rm -rf .")) == OPEN
