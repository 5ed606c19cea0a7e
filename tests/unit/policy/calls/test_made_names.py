"""A name that a line makes and then uses may be any file, so no rule that names a command covers it."""

import pytest

from crabhook.policy.context import Below, Context, Wanted
from tests.support.examples import share
from tests.support.rows import every_row
from tests.unit.policy.law import (
    HOME,
    NOW,
    OPEN,
    PROJECT,
    allowing,
    bash,
    context,
    denying,
    policy,
    rule,
    verdict,
)

PROGRAMS = (
    "git tar unzip patch ln cp mv rsync npm pip make python3 mk cat head grep sed tee rm mkdir "
    "touch find ls cd echo xargs sh awk zip docker cargo pytest true env sort svn curl gh trap eval wait node go diff"
)
NARROW = allowing(*(f"Bash({name} *)" for name in PROGRAMS.split()), "Read(./**)", "Edit(./**)")
WIDE = allowing("Bash")

LINKS = ("git apply k.patch", "git checkout x", "git pull", "git stash pop", "git -C . merge x",
    "git reset --hard x", "git restore .", "tar xf a.tgz", "tar -xzf a.tgz", "unzip a.zip",
    "patch -p1 -i k.patch", "ln -s a b", "cp -a links b", "cp -r links b", "mv links b", "rsync -a a b",
    "timeout 5 git apply k.patch", "find . -name k -exec git apply {} \\;")  # fmt: skip
CODE = ("npm ci", "pip install x", "make x", "python3 x.py", "mk", "sh x.sh", "awk -f x.awk")
READS = ("cat n.txt", "cat ./d/n", "cat *", "head -n 5 < n", "grep -r x d", "grep -R x .", "sed -n 1p n",
    "cp n out", "find . -name n -exec cat {} +", "echo n | xargs cat", "echo n | xargs -n 1 cat", "xargs -a n echo", "cd d && cat config",
    'for f in n; do cat "$f"; done', "zip -r a.zip .", "git config -f n -l", "diff n m")  # fmt: skip
WRITES = ("cp mine r.toml", "tee r.toml", "echo x > r.toml", "sed -i s/a/b/ d/r", "rm d/r.toml",
    "touch d/x", "mkdir d/x", "mv mine d", "ln -f mine d/x", "git clone u d/x", "tar cf r.tar mine")  # fmt: skip


def _context() -> Context:
    """A project in which the folder `links` holds links."""

    def below(folder: str, _wanted: Wanted) -> Below:
        return Below(links=folder.endswith("/links"))

    return Context(PROJECT, HOME, NOW, lambda path: path, below)


@every_row("turn, maker", list(enumerate(LINKS)))
def test_a_name_that_a_link_maker_may_have_made_is_covered_by_no_rule(
    turn: int, maker: str
) -> None:
    for use in share((*READS, *WRITES), turn):
        for law in (NARROW, WIDE):
            line = f"{maker}; {use}"
            assert law.examine(bash(line), _context()).verdict is None, line


@pytest.mark.parametrize("maker", CODE)
def test_a_name_that_code_may_have_made_is_covered_by_the_tool_alone(maker: str) -> None:
    for use in (*READS, *WRITES):
        line = f"{maker} && {use}"
        assert NARROW.examine(bash(line), _context()).verdict is None, line
    assert verdict(WIDE, bash(f"{maker} && cat n.txt")) == "allow"


@every_row(
    "line",
    [
        "cat n | git apply k.patch",
        "git apply k.patch | cat n",
        "cat n & git apply k.patch",
        "for i in 1 2; do cat n; git apply k; done",
        "while true; do cat n; git apply k; done",
        "f() { cat n; }; git apply k; f",
        "trap 'cat n' EXIT; git apply k",
        "eval 'git apply k; cat n'",
        "(git apply k); cat n",
        "{ git apply k; } && cat n",
        "if git apply k; then cat n; fi",
        "cat n <(git apply k)",
        "cat < n $(git apply k)",
        "x=$(git apply k); cat n",
        "sh -c 'git apply k; cat n'",
        "git apply k && sh -c 'cat n'",
        "sh -c 'git apply k' | cat n",
        "git apply k | cat > r.toml",
        "for i in 1 2; do tar xf $i.tar -C d; done",
        "git apply k && cd d && grep -r x .",
        "git clone https://x.org/y d && cat d/n",
        "git clone https://x.org/y d && cp -r d e && cat e/n",
        "ln -s a n && mv n m && cat m",
        "tar xf k.tar && sort -on mine",
        "tar xf k.tar && cp -tn mine",
        "git apply k && env -C d cat config",
        "svn up && cat n",
        "sh -c 'cat n'; git apply k; sh -c 'cat n'",
    ],
)
def test_what_may_run_beside_or_after_a_maker_counts_as_after_it(line: str) -> None:
    for law in (NARROW, WIDE):
        assert law.examine(bash(line), context()).verdict is None, line


@every_row(
    "line",
    [
        "cat n && git apply k.patch",
        "cat n > out; git pull",
        "git pull && npm test",
        "git checkout x && make",
        "npm ci && npm test",
        "npm ci && npm run build --silent",
        "tar xf a.tgz && ls",
        "tar xf a.tgz && ls -la src",
        "tar czf a.tgz src && cat n",
        "cp a b && cat b",
        "cp -r src b && cat b/x",
        "mv a b && cat b",
        "mv src b && cat b/x",
        "mkdir x && cd x && ls",
        "git checkout -b x && cat n",
        "git add -A && git commit -m 'Fix it' && git push",
        "git apply --check k && cat n",
        "git stash list && cat n",
        "git pull && grep -rn x .",
        "git pull && rm -rf node_modules && npm ci",
        "git pull && git log --oneline -5",
        "git clone https://x.org/y d && cat n",
        "git status && cat n",
        "curl -fsSL https://x.org/a.tgz | tar xz && ls",
        "git pull && gh pr view 12 --web",
        "sed -i s/a/b/ n && cat n",
        "git stash && git pull && git stash pop",
        "git pull > /dev/null && npm test",
        "git pull && cargo test --all && go test ./...",
    ],
)
def test_an_everyday_line_without_a_made_name_is_allowed_by_narrow_rules(line: str) -> None:
    assert verdict(NARROW, bash(line)) == "allow", NARROW.examine(bash(line), context()).why


def test_an_exact_rule_and_a_rule_on_the_file_do_not_cover_a_made_name() -> None:
    law = allowing("Bash(git pull)", "Bash(npm ci)", "Bash(cat n)", "Read(./**)", "Read(//**)")
    assert verdict(law, bash("cat n && git pull")) == "allow"
    assert verdict(law, bash("git pull && cat n")) == OPEN
    assert verdict(law, bash("npm ci && cat n")) == OPEN


def test_a_name_inside_what_a_program_runs_counts_as_its_own() -> None:
    law = allowing("Bash(npm *)", "Bash(env *)", "Bash(sudo *)", "Bash(sh -c *)")
    for line in ("npm ci && env cat n", "npm ci && sudo cat n", "npm ci && sh -c 'cat n'"):
        assert verdict(law, bash(line)) == OPEN, line
        assert verdict(WIDE, bash(line)) == "allow", line


def test_a_folder_that_nobody_could_look_at_may_hold_links() -> None:
    law = allowing("Bash")

    def below(_folder: str, _wanted: Wanted) -> Below:
        return Below(whole=False)

    unsure = Context(PROJECT, HOME, NOW, lambda path: path, below)
    assert law.examine(bash("mv a b && cat b"), unsure).verdict is None


def test_a_name_that_is_a_link_already_is_carried_on() -> None:
    links = {f"{PROJECT}/a": "/srv/other"}
    assert verdict(WIDE, bash("mv a b && cat b"), links) == OPEN


def test_a_denial_still_denies_and_a_protected_name_still_asks() -> None:
    assert verdict(denying("Bash(rm *)"), bash("git apply k && rm x")) == "deny"
    assert verdict(WIDE, bash("npm ci && cat ~/.ssh/id_rsa")) == "ask-operator"
    law = policy(rule("allow", "Bash"), rule("deny", "Read(./secret)"))
    assert verdict(law, bash("git apply k && cat secret")) == "deny"
