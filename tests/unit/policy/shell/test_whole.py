"""The texts by which a rule may allow a command."""

import pytest

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import BLANK, readings
from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, allowing, bash, verdict


def texts(text: str) -> list[str]:
    return [one.text for one in readings(read_script(text, {}).commands[-1])]


@every_row(
    "text, found",
    [
        ("ls -la", ["ls -la"]), ("'ls' \"a\"", ["ls a"]), ("ls 'a b'", [f"ls a{BLANK}b"]),
        ("timeout 5 ls", ["timeout 5 ls", "ls"]), ("nice nohup ls", ["nice nohup ls", "nohup ls", "ls"]),
        ("LANG=C ls", ["ls", "LANG=C ls"]), ("FOO=1 ls", ["FOO=1 ls"]), ("ls $x", ["ls $x"]),
        ("xargs ls", ["xargs ls", f"ls {BLANK}"]), ("printf -v 'a[$(b)]'", []), ("ls ''", ["ls ''"]),
        ("sudo ls", ["sudo ls"]), ("timeout 5 $x", ["timeout 5 $x"]),
    ],
)  # fmt: skip
def test_a_command_has_a_text_for_each_way_an_allow_may_read_it(
    text: str, found: list[str]
) -> None:
    assert texts(text) == found


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("find . -name a", False), ("find . -delete", True), ("find . -exec a {} +", True), ("find $a", True),
        ("watch a", True), ("flock a b", True), ("setsid a", True), ("ionice a", True), ("ls", False),
    ],
)  # fmt: skip
def test_what_runs_others_needs_an_exact_rule(text: str, exact: bool) -> None:
    assert [one.exact for one in readings(read_script(text, {}).commands[-1])] == [exact]


STARTING = [
    "git grep -O'zz' a", "git grep -nOzz a", "git grep --open-files-in-pager=zz a", "git fetch --upload-pack=zz .", "git clone -c core.sshCommand=zz a b", "git clone --template=e a", "git init --template=e",
    "git init --separate-git-dir=g", "git archive --remote=. --exec=zz HEAD", "git difftool -x zz", "rg --pre ./zz a", "rg --pre=zz a", "sort --compress-prog=./zz a", "less --lesskey-src=k a", "less -k k a",
    "man -P zz ls", "man -Hzz ls", "man -C f ls", "fd . -x zz", "fd -HX zz", "fd --exec-batch zz", "bat --pager zz a", "ack --pager=zz a", "tar -I zz -cf a b", "tar cIf zz a b", "tar -xf a --to-command=zz",
    "tar cf a --checkpoint=1 --checkpoint-action=exec=zz b", "zip -T -TT zz a b", "actionlint -shellcheck=zz",
    "sed '1e zz' a", "sed s/a/b/e a", "sed 's/a/b/w out' a", "sed -n '/x/{w.env}' a", "sed 'r /etc/passwd' a", "sed -e p -e 'w x' a", 'sed -e "s/$x/b/" a', "sed --expression='1ezz' a", "sed -f a b", "sed -n '$!{R x' a",
    "sort *", "rg x *", "tar cf a.tar *", "sort $(cat f)", "git grep $x", 'fd "$x"', "man `cat f`", "less {a,b}", "git ls-files | xargs rg x", "timeout 5 sort --comp=zz a",
]  # fmt: skip
PLAIN = [
    "git grep -n 'a' src", "git grep -o a", "git fetch origin main", "git fetch --unshallow --update-head-ok", "git clone -b main https://a.org/b-c d", "git clone --depth 1 --recurse-submodules a", "git init -q", "git archive HEAD",
    "rg --pretty x", "rg -n x src/*", "sort -u a", "sort --check a", "less -R a", "man -k ls", "man 3 printf", "fd -e py", "fd --extension py --exclude a", "bat -p a", "tar czf a.tgz LICENSE", "tar -xzf a.tgz -C out",
    "sed -n '10,20p' a", "sed -i.bak 's/a/b/g;/c/d' a", "sed ':a;N;$!ba;s/\\n/ /g' a", "sed -n '/x/,/y/{/z/!p}' a", "sed 'y/ab/cd/' a", "sed -zn p a", "sed '/a/{n;d}' a", "sed -e 1d -e '$a end' a",
    "sort -- *", "sort a*", 'git grep "a$x"', "zip -rT a b", "sort <(ls)", "git log *", "git diff *", "ls *",
]  # fmt: skip


def started(text: str) -> bool:
    return readings(read_script(text, {}).commands[-1])[-1].starts


def test_an_option_that_starts_another_program_is_known_written_or_not() -> None:
    assert [text for text in STARTING if not started(text)] == []
    assert [text for text in PLAIN if started(text)] == []


def test_a_rule_has_to_name_an_option_that_starts_another_program() -> None:
    law = allowing("Bash(rg *)", "Bash(sort --compress-program *)", "Bash(man -P cat ls)")
    said = {one: verdict(law, bash(one)) for one in ("rg --pre ./zz a", "rg a", "man -P cat ls", "man -P zz ls", "sort --compress-program zz a")}  # fmt: skip
    assert list(said.values()) == [OPEN, "allow", "allow", OPEN, "allow"]
    assert verdict(allowing("Bash"), bash("rg --pre ./zz a")) == "allow"
