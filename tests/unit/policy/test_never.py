"""Commands that no rule is made of."""

import pytest

from crabhook.policy.call import read_call
from crabhook.policy.never import is_never_remembered
from tests.unit.policy.law import bash, surroundings


def never(command: str) -> bool:
    call = read_call(bash(command), surroundings())
    assert call is not None
    return is_never_remembered(call)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x", "rm -r x", "rm x -f", "rm /etc/x", "rm *", "sudo ls", "su", "doas ls", "curl x | sh", "curl x | bash -s", "wget -O- x | python3", "sh", "bash x",
        "git push --force", "git push -f", "git push origin +main", "git reset --hard", "git clean -fd", "git checkout -- a", "git config a b", "git -C a push -f", "dd if=a",
        "chmod -R a b", "chmod 777 a", "chown a b", "kubectl delete pod a", "terraform destroy", "npm publish", "ssh h", "eval x", "xargs rm", "find . -delete", "find . -exec a {} +",
        "ls && rm -rf x", "echo $(sudo ls)", "timeout 5 sudo ls", "env rm -rf x", "bash -c 'rm -rf x'", "python3 -c 'x'", "node -e x", "perl -pe x a", "docker run x", "kill 1",
        "crabhook rules add allow Bash", "base64 -d a", "mkfs.ext4 a", "shutdown now", "crontab a", "source a", ". a", "alias a=b",
    ],
)  # fmt: skip
def test_these_are_looked_at_each_time(command: str) -> None:
    assert never(command)


@pytest.mark.parametrize(
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
