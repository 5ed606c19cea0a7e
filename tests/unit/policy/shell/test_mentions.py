"""Denials the other way round: whatever could run what a rule denies is not allowed."""

import pytest

from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, bash, denying, verdict

PUT_TOGETHER = [
    "env printf '\\x72m y' | sh",
    "printf '%s' r m | sh",
    "printf '%.1s%.1s y' rx mx | sh",
    "echo 'qm y' | tr q r | sh",
    "sed s/q/r/ <<< 'qm y' | sh",
    'sh <<< "$(echo qm | tr q r) y"',
    ">&-rm y",
    "{ echo 'x=r;x+=m'; echo '$x z'; } > s; bash -x s",
    "='rm' y",  # to zsh it is the path of rm
    "=$'\\x72m' y",
]
"""The name stands nowhere as a word: a gate asks about these, a companion lets them pass."""

DENIED = [
    "! { rm y; }",
    "! if rm y; then ls; fi",
    "time { rm y; }",
    "time ! rm y",
    "time -p ( rm y )",
    "! time rm y",
    "ls >&'$(rm y)'",
    'ls >&"$(rm y)"',
    "BASH_ENV=rm bash -c :",
    "BASH_ENV='$(rm y)' bash -c :",
    "PS4='$(rm y)' bash -xc :",
    "ENV='$(rm y)' sh -i",
    "env 'BASH_FUNC_f%%=() { rm y; }' bash -c f",
    'echo $(("`rm y`"))',
    'echo $(( "$(rm y)" ))',
    "bash rm",
    "bash -x rm y",
    ". rm",
    "source ./rm",
    "bash -c '$0 -rf y' rm",
    "sh -c '\"$@\"' _ rm y",
    "eval 'x=r;x+=m;$x z'",
    "trap '$x' EXIT; x='rm y'",
    "trap 'rm y' EXIT",
    "coproc { rm y; }",
    "coproc rm y",
    ". /dev/stdin <<< 'rm y'",
    "bash /dev/stdin <<E\nrm y\nE",
    "bash -o errexit <<< 'rm y'",
    "printf '%s\\n' 'rm y' | sh",
    "printf 'rm %s' y | sh",
    "printf 'r%s' 'm y' | sh",
    "printf '\\x72m y' | sh",
    "echo -e '\\x72m y' | bash",
    "PS4='$(${x-rm} y)' bash -xc ls",
    "PS4='$(${x:-rm} y)' bash -xc ls",
    "time printf '\\x72m y' | sh",
    "printf '%s\\n' 'rm y' | xargs -I% sh -c %",
    "echo rm y | xargs -I{} sh -c '{}'",
    "echo 'rm y' | xargs env",
    "env -iS'rm y'",
    "env -S 'rm y'",
    "git submodule foreach -q 'rm y'",
    "git submodule foreach --recursive rm y",
    "git rebase -x'rm y' main",
    "git rebase -qx'rm y' main",
    "git rebase -qx 'rm y' main",
    "git rebase -qx'$1rm y' main",
    "git rebase -i --exec 'rm y'",
    "git rebase --exe '$@rm y' main",
    "git -c alias.x='!rm y' x",
    "csh -c 'rm y'",
    "tcsh -c 'rm y'",
    "repeat 2 rm y",
    "noglob rm y",
    "python3 -c \"import os; os.system('rm y')\"",
    "perl -e 'system(\"rm y\")'",
    'node -e \'require("child_process").execSync("rm y")\'',
    "awk 'BEGIN{system(\"rm y\")}'",
    "sed -n '1e rm y' f",
    "sed 'erm' f",
    "sed '2erm y' f",
    "sed 's/one/rm/e' f",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "make SHELL='rm y'",
    "tar cf a --checkpoint=1 --checkpoint-action=exec='rm y' b",
    "echo 'rm y' > s; sh s",
    "cat > s <<'E'\nrm y\nE\nbash s",
    "echo 'x=r;x+=m;$x z' > out/s; . out/s",
    "echo 'x=r;x+=m;$x z' > s; chmod +x s; ./s",
    "cat > s <<'E'\nx=r;x+=m;$x z\nE\nsh s",
    "x='rm y'; sh -c \"$x\"",
    "x=rm; env $x y",
    "ssh host rm y",
    "ssh host 'cd /; rm y'",
    "watch rm y",
    "python3 - <<'E'\nimport os; os.system('rm y')\nE",
    "echo 'rm y' | python3 -c 'import os,sys; os.system(sys.stdin.read())'",
    "git bisect run rm y",
    "git -c core.pager='rm y' log",
    "GIT_PAGER='rm y' git log",
    "npm exec rm y",
    "docker run x rm y",
    "vim -c '!rm y'",
    "unknown-program rm y",
    "unknown-program 'r${x}m y'",
    "env -S'-iSrm y'",
    "PS4='$($1rm y)' bash -xc ls",
    "env PS4='$($1rm y)' bash -xc ls",
    "GIT_PAGER='r$1m y' git log",
    "LESSOPEN='|r\\m %s' less a",
]
"""The name stands there as a word."""


@every_row("line", [*DENIED, *PUT_TOGETHER])
def test_a_program_that_a_rule_denies_is_found_wherever_it_could_run(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) != "allow"


HIDDEN = [
    "bash -c \"python3 -c 'import os; os.system(chr(114))'\"",
    "sh -c 'awk \"BEGIN{system(q)}\"'",
    "find . -exec sh -c 'perl -e \"\\$x\"' \\;",
    "bash -c \"echo '((x))' > out/s; bash out/s\"",
    "env sh -c 'echo ls > s; . ./s'",
    "timeout 5 bash -c 'cat > s.py; python3 s.py'",
    "bash <<'E'\npython3 -c 'a'\nE",
]


@pytest.mark.parametrize("line", HIDDEN)
def test_what_starts_untold_programs_is_found_inside_a_script_too(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) != "allow"


TOLD_LATE = [
    'bash <<< "$x"',
    'bash -o errexit <<< "$x"',
    'cat <<< "$x" | sh',
    "cat <<< $x | bash",
    'cat /dev/fd/3 3<<< "$x" | sh',
    "bash <<E\necho $x\nE",
    'git submodule foreach -q "$x"',
    'git rebase -x "$x" HEAD~1',
    'git rebase -x"$x" HEAD~1',
    'git rebase --exec="$x" HEAD~1',
    "git bisect run $x",
    'git filter-branch --tree-filter "$x"',
    'git difftool -x "$x" HEAD',
    'git grep -O"$x" a',
    'git -c alias.q="!$x" q',
    'git -c core.pager="$x" log',
    'GIT_SEQUENCE_EDITOR="$x" git rebase -i HEAD~1',
    'GIT_EXTERNAL_DIFF="$x" git diff',
    'EDITOR="$x" git commit',
    'VISUAL="$x" git commit',
    'PAGER="$x" git log',
    'MANPAGER="$x" man ls',
    'tar cf - --to-command="$x" x',
]


@every_row("line", TOLD_LATE)
@every_row("before", ["", "x=$(printf 'r%s y' m); "])
def test_what_is_told_only_when_it_runs_what_to_run_is_not_allowed(before: str, line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(before + line)) != "allow"


@every_row("line", DENIED)
def test_what_may_run_a_denied_program_is_denied_or_held_whatever_the_stance(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) in {"deny", "ask-operator"}


@every_row(
    "line", ["git -c alias.x=push x", "git -c alias.x=push x origin", 'f() { git "$1"; }; f push',
             "git $x", "x=push; git $x", "echo push | xargs git", "git $(echo push)", "git --exec-path=/ push", "git -c include.path=x y",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x", "v=push git --config-env=alias.x=v x"],
)  # fmt: skip
def test_a_denied_subcommand_is_found_wherever_it_could_run(line: str) -> None:
    assert verdict(denying("Bash(git push *)"), bash(line)) != "allow"


@pytest.mark.parametrize(
    "line",
    ["git commit -m 'rm the old files'", "echo rm y", "grep -rn rm src", "cat <<'E'\nrm y\nE", "npm test && echo 'then rm y'",
     "docker run --rm x", "git log --grep='rm y'", "ls rm", "printf 'rm %s\\n' y"],
)  # fmt: skip
def test_a_denied_programs_name_as_plain_data_is_allowed(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) == "allow"


@pytest.mark.parametrize("line", ["PS4='$(/bin/r?)' bash -xc ls", "env PS4='$(r$x m)' bash -xc ls", "GIT_PAGER='$x y' git log"])  # fmt: skip
def test_a_variable_that_names_a_program_is_read_as_one(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) == OPEN
    assert verdict(denying("Bash(rm *)"), bash("PS4='+ ' GIT_PAGER=cat bash -xc ls")) == "allow"
