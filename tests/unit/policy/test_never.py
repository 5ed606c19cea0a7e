"""Commands that no rule is made of."""

from crabhook.policy.calls.read import read_call
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.protected import is_never_remembered, reaches_never
from tests.support.rows import every_row
from tests.unit.policy.law import bash, context


def never(command: str) -> bool:
    call = read_call(bash(command), context())
    assert call is not None
    return is_never_remembered(call)


@every_row(
    "command",
    [
        "rm -rf x", "rm -r x", "rm x -f", "rm /etc/x", "rm *", "sudo ls", "su", "doas ls", "curl x | sh", "curl x | bash -s", "wget -O- x | python3", "sh", "bash x",
        "git push --force", "git push -f", "git push origin +main", "git reset --hard", "git clean -fd", "git checkout -- a", "git config a b", "git -C a push -f", "dd if=a",
        "chmod -R a b", "chmod 777 a", "chown a b", "kubectl delete pod a", "terraform destroy", "npm publish", "ssh h", "eval x", "xargs rm", "find . -delete", "find . -exec a {} +",
        "ls && rm -rf x", "echo $(sudo ls)", "timeout 5 sudo ls", "env rm -rf x", "bash -c 'rm -rf x'", "python3 -c 'x'", "python3.12 -c x", "node -e x", "perl -pe x a", "docker run x", "kill 1",
        "crabhook rules add allow Bash", "python3 -m crabhook team invite m --role admin", "crabhook team init", "base64 -d a", "mkfs.ext4 a", "shutdown now", "crontab a", "source a", ". a", "alias a=b",
    ],
)  # fmt: skip
def test_these_are_looked_at_each_time(command: str) -> None:
    assert never(command)


@every_row(
    "command",
    [
        "ls",
        "git status",
        "git commit -m a",
        "npm test",
        "rm x",
        "python3 a.py",
        "cat a | grep b",
        "make",
        "cargo build",
        "node a.js",
        "git log --oneline",
    ],
)
def test_these_may_be_remembered(command: str) -> None:
    assert not never(command)


@every_row(
    "pattern",
    [
        "python3 *", "python3.12 *", "/usr/bin/python3 *", ".venv/bin/python *", "node *", "bash *", "rm *", "rm -r *", "git *", "git push *", "git push origin *", "git branch *",
        "git stash *", "git checkout *", "docker run *", "awk *", "mv *", "npm *", "npx *", "uv run *", "curl *", "ls*", "* x", "crabhook *", "aws s3 *", "kubectl delete *",
    ],
)  # fmt: skip
def test_these_arguments_left_open_would_take_in_what_no_rule_is_made_of(pattern: str) -> None:
    assert reaches_never(parse_matcher(f"Bash({pattern})", restricts=False))


@every_row(
    "text",
    [
        "Bash(ls *)", "Bash(git log *)", "Bash(git status *)", "Bash(npm run build *)", "Bash(pytest *)", "Bash(find *)", "Bash(docker ps *)", "Bash(cargo test *)",
        "Bash(rm x)", "Bash(python3 a.py)", "Bash(curl https://a.org)", "Read(./**)", "Edit(./**)", "WebFetch(domain:a.org)", "mcp__a__*", "Skill(a *)", "WebSearch",
    ],
)  # fmt: skip
def test_these_do_not(text: str) -> None:
    assert not reaches_never(parse_matcher(text, restricts=False))
