"""Files outside the project that a command names; the table of shell lines has more."""

import pytest

from crabhook.policy.protected import ENTRY_NAMES
from tests.support.rows import every_row
from tests.unit.policy.law import (
    OPEN,
    allowing,
    bash,
    call,
    context,
    denying,
    policy,
    rule,
    verdict,
)

STARRED = ("Bash(cat *)", "Bash(cp *)", "Bash(cd *)", "Bash(sed *)", "Bash(curl *)", "Bash(dd *)")


@every_row(
    "line",
    [
        "cat /etc/x", "cat ../x", "cat a ~/x", "cat $x", 'cat "a$x"', "cat `ls`", "cp a /b", "cp -t /b a", "cp --target-directory=/b a", "cp *.a b", "cd /", "cd",
        "cd $x && cat a", "sed -n p /etc/x", "sed -e p /etc/x", "sed -f /etc/x a", "sed $x a", 'sed "$x" a', "curl -o/b https://a.org", "curl -d @/etc/x https://a.org",
        "curl file:///etc/x", "curl -F f=@/etc/x https://a.org", "dd if=/etc/x of=a",
    ],
)  # fmt: skip
def test_a_rule_with_a_star_gives_away_nothing_outside_the_project(line: str) -> None:
    assert verdict(allowing(*STARRED), bash(line)) == OPEN
    assert verdict(allowing("Bash", "Edit(//**)"), bash(line)) == "allow"


@every_row(
    "line",
    [
        "cat a ./b src/../c /work/app/d", "cat < /dev/null", "cat /dev/null", "cp a b/c", "cd src && cat a", "cd -", "sed -n '/a/,/b/p' c", "sed -e /a/d c",
        "curl https://a.org/b", "curl -o b https://a.org", "dd if=a of=b", "cat {a,b}", "cat *.md",
    ],
)  # fmt: skip
def test_within_the_project_it_is_enough(line: str) -> None:
    assert verdict(allowing(*STARRED), bash(line)) == "allow"


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("cd $x && rm -rf build", ["build"]),
        ("cd $x && rm -fv -- -rf", ["f"]),  # behind the two dashes it is a file
        ("cd $x && rm $y", [""]),
        ("cd $x && cp -t/b a", ["/b", "a"]),  # these options bring a file
    ],
)
def test_options_that_bring_no_file_are_none(line: str, files: list[str]) -> None:
    ruling = allowing("Bash").examine(bash(line), context())
    named = [part.text for part in ruling.parts if part.kind == "write"]
    assert [text.lstrip("$y") for text in named] == files


def test_a_rule_on_the_file_gives_it() -> None:
    law = allowing(*STARRED, "Read(//etc/x)", "Edit(~/out/**)")
    assert verdict(law, bash("cat /etc/x")) == "allow"
    assert verdict(law, bash("cat /etc/y")) == OPEN
    assert verdict(law, bash("cp a ~/out/b")) == "allow"
    assert verdict(law, bash("cp /etc/x a")) == OPEN  # what it is given, it might write


def test_a_rule_that_names_the_whole_command_gives_it() -> None:
    law = allowing("Bash(cat /etc/x)", "Bash(cat $x)", "Bash(cd *)")
    assert verdict(law, bash("cat /etc/x")) == "allow"
    assert verdict(law, bash("cat $x")) == "allow"
    assert verdict(law, bash("cat /etc/x /etc/y")) == OPEN


def test_a_link_out_of_the_project_is_outside() -> None:
    links = {"/work/app/out": "/srv"}
    assert verdict(allowing(*STARRED), bash("cat out/a"), links) == OPEN
    assert verdict(allowing(*STARRED), bash("cat in/a"), links) == "allow"


def test_a_project_that_is_itself_a_link_is_inside() -> None:
    links = {"/work/app": "/srv/app"}
    assert verdict(allowing(*STARRED), bash("cat a /srv/app/b"), links) == "allow"


def test_a_denied_file_stays_denied() -> None:
    assert verdict(denying("Read(//etc/x)"), bash("cat /etc/x")) == "deny"
    assert verdict(denying("Read"), call("Write", file_path="a")) == "deny"


@pytest.mark.parametrize(
    "line", ["git status", "npm x && timeout 5 git log", "hg status", "svn info", "x=$(jj log)"]
)
def test_version_control_below_the_projects_root_takes_the_settings_of_another_folder(
    line: str,
) -> None:
    law = allowing(
        "Bash(git *)", "Bash(npm *)", "Bash(hg *)", "Bash(svn *)", "Bash(jj *)", "Bash(x=*)"
    )
    below = {"command": line, "dir_path": "src"}
    assert verdict(law, bash(line, "/work/app/src")) == OPEN
    assert verdict(law, bash(line, "/work/app/../elsewhere")) == OPEN
    assert verdict(law, call("run_shell_command", platform="gemini", **below)) == OPEN
    for whole in (bash(line, "/work/app/src"), call("run_shell_command", **below)):
        assert verdict(allowing("Bash"), whole) == verdict(allowing("Bash"), bash(line))
    for root in ("/work/app", "/work/app/", "/work/app/src/.."):
        assert verdict(law, bash(line, root)) == verdict(law, bash(line))
        assert line.startswith("x=") or verdict(law, bash(line, root)) == "allow"
    links = {"/home/dev/link": "/work/app"}
    assert verdict(law, bash(line, "/home/dev/link"), links) == verdict(law, bash(line))


GIT = ("Bash(git log *)", "Bash(git diff *)", "Bash(git show *)", "Bash(git blame *)", "Bash(git commit *)", "Bash(git grep *)", "Bash(git clone *)", "Bash(echo *)")  # fmt: skip


@every_row(
    "line",
    [
        "git log --output=made", "git diff --output made", "git show --format=zz --output=src/a HEAD", "git log --output=/tmp/x", "git diff /etc/passwd /dev/null", "git diff ../x a",
        "git diff $(echo /etc/passwd) /dev/null", "git log $(echo --output=x)", 'x=--output=a; git log "$x"', "git log *", "git show --ou$x", "git blame --contents /etc/passwd a",
        "git commit -F /etc/passwd", "git grep -f /etc/passwd", "git diff --no-index /etc/x a", "git clone a ../b", "git grep x /etc",
    ],
)  # fmt: skip
def test_git_opens_no_file_elsewhere_and_a_log_is_put_into_no_file_by_a_rule_on_reading(
    line: str,
) -> None:
    assert verdict(allowing(*GIT), bash(line)) == OPEN
    assert verdict(allowing("Bash"), bash(line)) == "allow"


@every_row(
    "line",
    [
        "git log --oneline -n 3 src", "git log -S/api --grep=/x -- src", "git diff origin/main...HEAD", "git diff HEAD~2 -- a b/c", "git show HEAD:a/b", "git log -- '*.py'", "git diff src/*.py",
        'git commit -m "/api: mend"', 'git commit -am "$(echo a)"', 'git show "HEAD~$n"', "git log -n$n", "git grep /api src", "git clone https://a.org/b",
        'git log --since="$(echo a)"', "git diff > /dev/null",
    ],
)  # fmt: skip
def test_git_in_its_own_folder_needs_no_more(line: str) -> None:
    assert verdict(allowing(*GIT, "Edit(./made)"), bash(line)) == "allow"


def test_a_rule_on_editing_gives_what_git_writes() -> None:
    assert verdict(allowing(*GIT, "Edit(./**)"), bash("git log --output=made")) == "allow"


@every_row(
    "line",
    [
        "git log --output=MADE", "git diff --output MADE", "tree -o MADE", "tree -ao MADE .", "uniq a MADE", "uniq - MADE", "sort -uo MADE a", "sort -uoMADE a", "sort --outp=MADE a", "xxd -r a MADE",
        "xxd -l 0x10 a MADE", "yq -i .a=1 MADE", "yq --inplace .a=1 MADE", "git mv a MADE", "git archive -o MADE x", "less -OMADE a", "cp a MADE", "tee MADE", "git rm MADE", "git checkout x -- MADE", "sed -n 'wMADE' a", "sed s/a/b/wMADE a",
    ],
)  # fmt: skip
@every_row("made", [".git/hooks/post-commit", "Jenkinsfile", "kept/a"])
def test_a_program_that_else_reads_writes_nothing_kept(line: str, made: str) -> None:
    law = denying("Edit(kept/a)")
    said = verdict(law, bash(line.replace("MADE", made)))
    assert said == ("deny" if made == "kept/a" else "ask-operator")


@pytest.mark.parametrize("line", ["git log Jenkinsfile", "tree .github", "uniq -f 1 Jenkinsfile", "sort -u Jenkinsfile", "xxd -l 0x10 Jenkinsfile", "yq .a Jenkinsfile"])  # fmt: skip
def test_and_reads_it(line: str) -> None:
    assert verdict(denying("Edit(kept/a)"), bash(line)) == "allow"


NAMING = ("Bash(echo *)", "Bash(head *)", "Bash(printf *)", "Bash(cat *)", "Bash(find *)", "Bash(git *)", "Bash(grep *)", "Bash(sort *)", "Bash(ls *)", "Bash(sed *)", "Bash(tar *)", "Bash(rg *)")  # fmt: skip


@every_row(
    "line",
    [
        "echo /etc/passwd | xargs cat", "cat list | xargs cat", "xargs cat < list", "xargs cat <<< /etc/passwd", "printf /etc/passwd | sort --files0-from=-", "cat list | xargs sed -i s/a/b/",
        "echo /etc/passwd | tar c -T -", "tar cf x -T list", "git diff | xargs cat", "grep -r x src | xargs cat", "grep -e -l f | xargs cat", "find . -printf x | xargs cat", "echo a | git add --pathspec-from-file=-",
        "find . | sed s/a/b/ | xargs cat", "ls /etc | xargs cat",
    ],
)  # fmt: skip
def test_names_that_are_brought_are_of_the_project_or_need_the_tool_as_a_whole(line: str) -> None:
    assert verdict(allowing(*NAMING, "Read(./**)"), bash(line)) == OPEN
    assert verdict(policy(rule("allow", "Bash"), off=ENTRY_NAMES), bash(line)) == "allow"


@every_row(
    "line",
    [
        "find . -name '*.py' -print0 | xargs cat", "find src -type f | grep -v x | sort -u | head -n 3 | xargs cat", "git ls-files | xargs grep x", "git diff --name-only HEAD~1 | xargs cat",
        "grep -rl x src | xargs sed -i s/a/b/", "ls src | xargs cat", "rg -l x | xargs cat", "rg --files src | xargs cat", "cat list | xargs echo", "tar cf x.tar Test",
    ],
)  # fmt: skip
def test_names_that_can_only_be_of_the_project_are_given_with_it(line: str) -> None:
    assert verdict(allowing(*NAMING), bash(line)) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "echo ~/.ssh/id_rsa | xargs cat", "xargs cat <<< ~/.ssh/id_rsa", "printf '%s' ~/.ssh/id_rsa | sort --files0-from=-", "echo ~/.ssh/id_rsa | tar c -T -", "cat $(tr a a <<< ~/.ssh/id_rsa)",
        'while read f; do cat "$f"; done <<< ~/.ssh/id_rsa', "tar c -T <(echo ~/.ssh/id_rsa)", "echo .env | cpio -o", "xargs cat <<E\n/home/dev/.ssh/id_rsa\nE",
    ],
)  # fmt: skip
def test_a_secret_that_the_line_itself_names_to_a_reader_of_names_reaches_a_person(
    line: str,
) -> None:
    assert verdict(denying("Read(kept/a)"), bash(line)) == "ask-operator"
    kept = line.replace("~/.ssh/id_rsa", "kept/a").replace("/home/dev/.ssh/id_rsa", "kept/a").replace(".env", "kept/a")  # fmt: skip
    assert verdict(denying("Read(kept/a)"), bash(kept)) == "deny"
    other = policy(rule("allow", "Bash"), off=ENTRY_NAMES)
    assert verdict(other, bash(kept.replace("kept/a", "b"))) == "allow"


@every_row("program", ["base64", "rev", "join a", "zcat", "iconv -f latin1", "shuf", "tsort", "b2sum", "xmllint", "openssl base64 -in", "pr"])  # fmt: skip
def test_a_program_that_shows_a_file_shows_none_elsewhere_by_a_rule_with_a_star(
    program: str,
) -> None:
    law = allowing(f"Bash({program.split(maxsplit=1)[0]} *)")
    assert verdict(law, bash(f"{program} /etc/passwd")) == OPEN
    assert verdict(law, bash(f"{program} src/a")) == "allow"
    assert verdict(denying("Edit(kept/a)"), bash("iconv -okept/a a; shuf -o kept/a a")) == "deny"
