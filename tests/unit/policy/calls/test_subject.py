"""Lines are counted as alike only where a rule would take them for alike."""

from __future__ import annotations

from crabhook.policy.calls.subject import LONGEST, subject_of_line
from tests.support.rows import every_row


@every_row(
    "line, subject",
    [
        ("npm run lint", "npm run lint"),
        ("cd /x && npm run lint 2>&1 | tail -5", "npm run lint"),
        ("(cd a && make test)", "make test"),
        ("timeout 5 git -C x push origin", "git push"),
        ("npm ci && npm test", "npm ci, npm test"),
        ("npm install left-pad", "npm install"),
        ("terraform plan -out x", "terraform plan"),
        ("gh pr view 3", "gh pr view"),
        ("docker compose up -d", "docker compose up"),
        ("npx eslint .", "npx eslint"),
        ("sudo systemctl restart nginx", "sudo systemctl restart"),
        ("python3 build.py --all", "python3 build.py"),
        ("echo x > ~/.bashrc", "echo, > ~/.bashrc"),
        ("ls > /dev/null", "ls"),
        ("cd /a/b", "cd"),
        ("", ""),
    ],
)
def test_a_line_is_about_its_programs_with_their_subcommands_and_what_it_writes(
    line: str, subject: str
) -> None:
    assert subject_of_line(line) == subject


@every_row(
    "line",
    [
        "sudo -u bob rm -rf /x",
        "kubectl -n prod delete pods --all",
        "bash -c 'rm -rf /x'",
        "python3 -c 'import os'",
        "cat <<E | sh\nrm -rf /x\nE",
        "find . -name x -delete",
        "X=1 npm run lint",
        "npm run 'lint",
        "cat /etc/passwd; npm run lint",
        "eval $x",
        "echo " + "a" * LONGEST,
    ],
)
@every_row("other", ["x", "y"])
def test_what_only_the_whole_line_tells_is_alike_with_nothing_shorter(
    line: str, other: str
) -> None:
    words = line.split()
    shorter = subject_of_line(" ".join([*words[:-1], other]))
    assert subject_of_line(line) != shorter
    assert subject_of_line(line) not in {subject_of_line(words[0]), "npm run lint"}
