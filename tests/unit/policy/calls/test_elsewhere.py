"""Files outside the project that a command names; the table of shell lines has more."""

import pytest

from tests.unit.policy.law import OPEN, allowing, bash, call, context, denying, verdict

STARRED = ("Bash(cat *)", "Bash(cp *)", "Bash(cd *)", "Bash(sed *)", "Bash(curl *)", "Bash(dd *)")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
