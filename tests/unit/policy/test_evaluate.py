"""One call in front of the law: whose word comes first, and how it is told."""

from dataclasses import replace

import pytest

from crabhook.model.card import Brought
from crabhook.policy.context import Below, Wanted, not_looked
from crabhook.policy.evaluate import FOLDERS, Policy
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.protected import ENTRY_NAMES, Protected
from crabhook.policy.rule import Rule, RuleSet, RuleVerdict
from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, bash, call, context, policy, rule, verdict


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("ls", {"command"}),
        ("ls > a", {"command", "write"}),
        ("ls < a", {"command", "read"}),
        ("python3 .env", {"command", "name"}),
        ("# a", {"tool"}),
    ],
)
def test_every_part_says_what_it_is(command: str, kinds: set[str]) -> None:
    ruling = policy(rule("allow", "Bash(ls *)")).examine(bash(command), context())
    assert {part.kind for part in ruling.parts} == kinds


def test_what_is_hidden_is_told_only_where_it_decides() -> None:
    ruling = policy(rule("deny", "Bash(rm *)")).examine(bash("sudo rm x"), context())
    assert [(part.text, part.hidden) for part in ruling.parts] == [
        ("sudo rm x", False),
        ("rm x", True),
    ]
    ruling = policy().examine(bash("sudo rm x"), context())
    assert [part.text for part in ruling.parts] == ["sudo rm x"]


def test_a_trouble_is_why_nothing_may_be_allowed() -> None:
    ruling = policy(rule("allow", "Bash")).examine(bash("$x"), context())
    assert ruling.verdict is None
    assert ruling.troubles
    assert ruling.troubles[0] in ruling.why


def test_a_note_is_told_with_the_rule() -> None:
    noted = rule("deny", "Bash(rm *)")
    noted = type(noted)(noted.verdict, noted.texts, noted.matchers, note="ask me")
    ruling = policy(noted).examine(bash("rm x"), context())
    assert "ask me" in ruling.why


HELD = ("/work/app/.env", "/work/app/src/a.py", "/work/app/lib/x/id.secret")


@every_row(
    "line",
    [
        "grep -r . .", "grep -rn TODO", "grep -R x *", "egrep --recursive x .", "grep -rne --include=*.py .", "grep -r x --include='*.py' --incl=.env .", "grep -r -- --include=*.py .",
        "rg TODO", "rg -uu . ", "rg TODO .", "rg -g '*.py' --iglob '.e*' x", "ag x", "git grep x", "cp -r . /work/app/out", "cp -a ./ out", "tar cf - .", "tar -C /work/app -cf x.tar src",
        "zip -r x.zip .", "mv ../app out", "rsync -a . out", "cd src && grep -r x ..", "timeout 5 grep -r x .", "sh -c 'grep -r x .'", "grep -r x l*", "rg x --glob='*.{py,env}'", "find . -exec cat {} +",
        "grep -d recurse x .", "7z a x.7z .", "diff -r . out", "grep --directories=recurse x .", "scp -r . out", "chmod -R u+x .", "for d in .; do grep -r x $d; done",
    ],
)  # fmt: skip
def test_a_command_that_goes_into_a_folder_is_held_to_what_the_folder_holds(line: str) -> None:
    files = HELD[:2] if "l*" not in line else HELD
    law = policy(rule("allow", "Bash", "Read(//**)", "Edit(//**)"), rule("deny", "Read(*.secret)"))
    assert verdict(law, bash(line), files=files) in ("ask-operator", OPEN)
    if not any(one in line for one in ("find", "$d", ".e")):
        assert verdict(law, bash(line), files=HELD[1:2]) == "allow"


@every_row(
    "line",
    [
        "grep -rn TODO src", "grep -rn TODO --include='*.py' .", "grep -rn TODO . --include=*.py", "grep TODO src/a.py", "rg TODO src", "rg -g '*.py' TODO", "rg --glob '*.py' TODO .",
        "cp -r src out", "tar czf x.tgz src", "ls -R .", "cp src/a.py b", "git status", "mv src out", "grep -rn 'a . b' src", "grep -rn . src", "rm -r src",
    ],
)  # fmt: skip
def test_a_command_that_does_not_reach_the_file_is_allowed(line: str) -> None:
    law = policy(rule("allow", "Bash", "Read(//**)", "Edit(//**)"), rule("deny", "Read(*.secret)"))
    assert verdict(law, bash(line), files=HELD) == "allow"


IN_FOLDER = (
    "/work/app/.env",
    "/work/app/secrets.txt",
    "/work/app/lib/secrets.txt",
    "/work/app/a.py",
)


@every_row(
    "line",
    [
        "cat *", "cat */*", "cat **/*", "head -n1 ./*", "for f in *; do cat $f; done", "grep x *", "unknown *", "cd lib && cat *", "rm *", "cp * /work/app/out", "git add *",
        "cat lib/*", "cat /work/app/*", "shopt -s dotglob; cat *",
    ],
)  # fmt: skip
def test_what_a_shells_wildcards_choose_is_looked_up(line: str) -> None:
    law = policy(rule("allow", "Bash", "Edit(./**)"), rule("deny", "Read(**/secrets.txt)"))
    assert verdict(law, bash(line), files=IN_FOLDER) in ("ask-operator", "deny")
    assert verdict(law, bash(line), files=IN_FOLDER[3:]) in ("allow", OPEN)


@pytest.mark.parametrize(
    "line",
    [
        "cat ~+/*",
        "cd $(ls -d l*) && cat *",
        'cd "$x"; head *',
        "cat ~-/*.txt",
        "shopt -s dotglob; for f in *; do cat $f; done",
    ],
)
def test_wildcards_in_a_folder_that_only_the_shell_knows_may_choose_any_file(line: str) -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(**/secrets.txt)"))
    assert verdict(law, bash(line), files=IN_FOLDER) != "allow"


def test_a_part_without_wildcards_behind_one_with_them_is_looked_up_too() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(/lib/*/secrets.txt)"))
    files = ("/work/app/lib/x/secrets.txt",)
    assert verdict(law, bash("cat l*/x/secrets.txt"), files=files) == "ask-operator"
    assert verdict(law, bash("cat s*/x/secrets.txt"), files=files) == "allow"


@pytest.mark.parametrize("line", ["cat *.py", "cat src/*", "ls *", "echo *", "stat *", "rm *.py", "cat a*", "cat lib/*.py"])  # fmt: skip
def test_what_wildcards_cannot_choose_is_no_question(line: str) -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(**/secrets.txt)"))
    assert verdict(law, bash(line), files=IN_FOLDER) in ("allow", OPEN)


@every_row(
    "line",
    [
        "cat $(ls -a)", "cat `ls -a`", "ls -a | xargs cat", "ls -a | xargs -n 1 cat", "ls -a | xargs -I{} cat {}", "find . -type f | xargs head", 'while read f; do cat "$f"; done < <(ls -a)',
        "x=$(ls -a | head -2); cat $x", 'for f in $(git ls-files); do cat "$f"; done', "f() { cat $1; }; f x", "ls -a | xargs sh -c 'cat $0'", "sort -u $(ls)", "find . ! -name x | xargs cat",
        "find . -name '*.py' -o -name x | xargs cat", "find . -name '*.py' | sed s/a/b/ | xargs cat", 'mapfile -t a < <(ls); cat "${a[0]}"', "shopt -s dotglob; cat *", "ls | parallel cat",
    ],
)  # fmt: skip
def test_files_whose_names_another_command_prints_may_be_any_file_of_the_folder(line: str) -> None:
    law = policy(rule("allow", "Bash", "Read(./**)"), rule("deny", "Read(**/.env)"))
    assert verdict(law, bash(line), files=IN_FOLDER) != "allow"


@every_row(
    "line",
    [
        "find . -name '*.py' | xargs cat", "find . -name '*.py' | grep -v test | sort | xargs wc -l", "git ls-files '*.py' | xargs grep -n x", 'for f in $(find . -name "*.md"); do cat "$f"; done',
        "for f in *.py; do cat $f; done", "x=a.py; cat $x", "head -n $(wc -l < a.py) a.py", "cat <(ls)", "rm $(ls)", "kill $(pgrep x)", "ls -la $(ls)", "echo $(ls -a)", "cat {a,b}.py",
    ],
)  # fmt: skip
def test_names_that_the_line_holds_to_other_files_are_no_question(line: str) -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(**/.env)"))
    assert verdict(law, bash(line), files=IN_FOLDER) == "allow"


def test_a_name_with_a_blank_may_become_another_files_where_names_are_cut_at_blanks() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(**/.env)"))
    line = "find . -name '*.py' | xargs cat"
    assert verdict(law, bash(line), files=(*IN_FOLDER, "/work/app/x .env y.py")) == "ask-operator"


def test_a_search_may_show_a_projects_own_rules_and_nothing_may_change_them_unasked() -> None:
    law, files = policy(rule("allow", "Bash", "Grep")), ("/work/app/.crabhook/rules.toml",)
    for line in ("grep -rn TODO .", "git grep x", "rg TODO"):
        assert verdict(law, bash(line), files=files) == "allow"
    for line in ("mv . out", "cp -r . out", "rm -r .", "cat .crabhook/rules.toml", "tar cf a ."):
        assert verdict(law, bash(line), files=files) != "allow"
    own = Protected(own=("/work/app/.crabhook",))
    kept = Policy([RuleSet((rule("allow", "Bash"),))], own)
    assert verdict(kept, bash("grep -rn TODO ."), files=files) == "ask-operator"
    denied = policy(rule("allow", "Bash"), rule("deny", "Read(.crabhook/**)"))
    assert verdict(denied, bash("grep -rn TODO ."), files=files) == "ask-operator"


def test_a_denial_of_editing_holds_for_what_a_command_moves_with_its_folder() -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Edit(*.lock)"))
    assert verdict(law, bash("rm -r lib"), files=("/work/app/lib/a.lock",)) == "ask-operator"
    assert verdict(law, bash("grep -r x lib"), files=("/work/app/lib/a.lock",)) == "allow"


def test_a_question_of_the_users_is_put_as_the_user_wants_it() -> None:
    law = policy(rule("allow", "Read(./**)"), rule("ask-agent's-user", "Read(docs/**)"))
    event = call("Grep", pattern="x")
    assert verdict(law, event, files=("/work/app/docs/a",)) == "ask-agent's-user"


def test_a_link_that_leads_elsewhere_counts_for_who_follows_it() -> None:
    def below(folder: str, _wanted: Wanted) -> Below:
        return Below(leads_out=folder == "/work/app")

    around = replace(context(), below=below)
    for line, said in (("grep -R x .", "ask-operator"), ("grep -r x .", "allow")):
        ruling = policy(rule("allow", "Bash")).judge(bash(line), around)
        assert ruling is not None
        assert ruling.verdict == said


def test_only_so_many_folders_are_looked_into() -> None:
    line = "cp -r " + " ".join(f"a{number}" for number in range(FOLDERS + 1))
    assert verdict(policy(rule("allow", "Bash")), bash(line)) == "ask-operator"
    assert verdict(policy(rule("allow", "Bash"), off=ENTRY_NAMES), bash(line)) == "allow"


def test_where_nobody_could_look_only_what_reads_is_asked_about() -> None:
    unseen, law = replace(context(), below=not_looked), policy(rule("allow", "Bash"))
    for line, said in (
        ("grep -r x src", "ask-operator"),
        ("cp -r src out", "ask-operator"),
        ("tar cf x.tar src", "ask-operator"),
        ("mv src out", "allow"),
        ("rm -r build", "allow"),
        ("chmod -R u+x src", "allow"),
        ("cat src/a", "allow"),
    ):
        ruling = law.judge(bash(line), unseen)
        assert ruling is not None
        assert (line, ruling.verdict) == (line, said)


ASKED = Rule(
    RuleVerdict.ASK_OPERATOR,
    ("Bash(rm *)",),
    (parse_matcher("Bash(rm *)", restricts=True),),
    "look at deletions",
    origin="rules.toml",
    line=3,
)


@pytest.mark.parametrize(
    ("line", "kind", "words", "name"),
    [
        ("rm x", Brought.RULE, 'rule "Bash(rm *)" — look at deletions', "Bash(rm *)"),
        (
            "grep -r a lib",
            Brought.RULE,
            'it reads /work/app/lib/a.secret too: rule "deny Read(*.secret)"',
            "deny Read(*.secret)",
        ),
        (
            "python3 -c 'rm'",
            Brought.RULE,
            'rm may run in it, and rule "ask-operator Bash(rm *)" — look at deletions',
            "ask-operator Bash(rm *)",
        ),
        (
            "cat /home/dev/.ssh/id_rsa",
            Brought.PROTECTED,
            "SSH keys and settings always reach a person: /home/dev/.ssh/id_rsa",
            "ssh",
        ),
    ],
)
def test_what_asks_a_person_says_which_rule_or_place_it_is_with_the_owners_note(
    line: str, kind: Brought, words: str, name: str
) -> None:
    law = policy(rule("allow", "Bash", "Read(//**)"), ASKED, rule("deny", "Read(*.secret)"))
    ruling = law.judge(bash(line), context(files=["/work/app/lib/a.secret"]))
    assert ruling is not None
    assert ruling.verdict is RuleVerdict.ASK_OPERATOR
    because = ruling.because
    assert because is not None
    assert (because.kind, because.words, because.name) == (kind, words, name)
