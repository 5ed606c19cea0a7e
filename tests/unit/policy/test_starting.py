"""Programs that start others by what they are given: a star lets none of it pass without a word."""

from pathlib import Path

import pytest

from crabhook.model.card import Level
from crabhook.policy.propose import propose
from crabhook.policy.protected import Protected, never_made, options_given
from tests.support.rows import every_row
from tests.unit.policy.law import allowing, bash, context, policy, rule

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests" / "samples" / "shell" / "starting.tsv"
ROWS = [row.split("\t") for row in SAMPLE.read_text("utf-8").splitlines()[1:]]
MOST_SILENT = 10


def silent(program: str, line: str) -> bool:
    """Whether a rule on the program lets the line pass, and nothing was said when it was made."""
    made = rule("allow", f"Bash({program} *)")
    if never_made(made) or options_given(made):
        return False
    law = policy(made)
    allowed = law.examine(bash(line), context()).verdict == "allow"
    return allowed and law.risk(bash(line), context()).level is Level.NONE


def test_a_line_that_gets_a_shell_does_not_pass_a_star_without_a_word() -> None:
    assert len(ROWS) >= 225
    assert [line for program, line in ROWS if silent(program, line)][MOST_SILENT:] == []


@pytest.mark.parametrize(
    "text",
    [
        "Bash(frob *)", "Bash(frob x:*)", "Bash(timeout 5 frob *)", "Bash(NO_COLOR=1 frob *)", "Bash(/usr/bin/frob *)", "Bash(frob --flag *)",
    ],
)  # fmt: skip
def test_of_a_program_that_is_not_known_a_rule_says_so(text: str) -> None:
    assert options_given(rule("allow", text)) == (
        "crabhook does not know what frob does with its arguments",
    )
    assert options_given(rule("pass", text)) == options_given(rule("allow", text))
    assert options_given(rule("deny", text)) == ()


def test_an_offered_rule_for_a_program_that_is_not_known_says_so() -> None:
    offers = propose(bash("frob x y"), context(), Protected())
    told = {offer.rule.texts: offer.gives_away for offer in offers}
    assert told[("Bash(frob *)",)] == ("crabhook does not know what frob does with its arguments",)
    assert told[("Bash(frob x y)",)] == ()


@every_row(
    "text",
    [
        "Bash(git status *)", "Bash(git log *)", "Bash(git diff *)", "Bash(ls *)", "Bash(ls*)", "Bash(grep *)", "Bash(ruff check *)", "Bash(sort *)", "Bash(find *)", "Bash(frob)", "Bash(frob x)",
        "Read(./**)", "WebFetch",
    ],
)  # fmt: skip
def test_of_an_everyday_rule_nothing_is_said(text: str) -> None:
    assert options_given(rule("allow", text)) == ()


@every_row(
    "rule_, line",
    [
        ("npm test *", "npm test -- --coverage --ci"), ("cargo build *", "cargo build --release --target x86_64-unknown-linux-gnu --features a"), ("pytest *", "pytest -q tests -k a"), ("git status *", "git status -sb"),
        ("go test *", "go test ./... -run TestX -count=1 -ldflags=-w"), ("gcc *", "gcc -Wall -Werror -O2 -std=c11 -Iinclude -o out/x x.c -lm"), ("rg *", "rg --pretty --pre-glob x y"), ("tar *", "tar --update -f a.tar b"),
        ("git clone *", "git clone --depth 1 --branch main https://a.org/b"), ("split *", "split -l 100 --verbose f out/"), ("sort *", "sort --check a"), ("less *", "less +F a.log"), ("make *", "make -j4 CC=clang all"),
        ("psql *", "psql -c '\\dt' shop"), ("sqlite3 *", "sqlite3 a.db '.tables'"), ("npm run *", "npm run build -- --call-me x"), ("apt-get *", "apt-get install -y jq"), ("man *", "man 3 printf"), ("install *", "install -m 755 a out/a"),
    ],
)  # fmt: skip
def test_an_everyday_line_passes_the_star_of_its_rule(rule_: str, line: str) -> None:
    assert (
        allowing(f"Bash({rule_})", "Edit(./**)").examine(bash(line), context()).verdict == "allow"
    )


@every_row(
    "rule_, line",
    [
        ("tar *", "tar xf a --use=x"), ("tar *", "tar xf a --use-compress-program=x"), ("tar *", "tar xf a --to-c=x"), ("tar *", "tar xf a --checkpoint-a=exec=x"), ("git clone *", "git clone --u=x a b"), ("git clone *", "git clone --upl x a b"),
        ("git grep *", "git grep --op=x a"), ("git fetch *", "git fetch --up x"), ("split *", "split --filter=x f"), ("split *", "split --fi x f"), ("install *", "install --strip-program=x -s a b"), ("install *", "install --strip-p x -s a b"),
        ("gcc *", "gcc -wrapper x a.c"), ("gcc *", "gcc -fplugin=./x.so a.c"), ("apt-get *", "apt-get update -oDir::Bin::x=y"), ("apt-get *", "apt-get update --opt Dir::Bin::dpkg=x"), ("sftp *", "sftp -S x h"), ("sftp *", "sftp -oProxyCommand=x h"),
        ("less *", "less '+!x' a"), ("less *", "less '++!x' a"), ("gdb *", "gdb -ex '!x'"), ("gdb *", "gdb --eval-c='!x'"), ("sqlite3 *", "sqlite3 a.db '.shell x'"), ("sqlite3 *", "sqlite3 a.db $'.mode csv\\n.system x'"), ("pandoc *", "pandoc --lua-f=x a"),
        ("pandoc *", "pandoc -L x a"), ("rustc *", "rustc -C linker=x a.rs"), ("rustc *", "rustc -Clinker=x a.rs"), ("zip *", "zip a b -T --unzip-c x"), ("sort *", "sort --compress-p=x a"), ("make *", "make --ev=x"), ("wget *", "wget --use-a=x u"),
    ],
)  # fmt: skip
def test_an_option_that_starts_a_program_is_met_by_an_abbreviation(rule_: str, line: str) -> None:
    assert allowing(f"Bash({rule_})").examine(bash(line), context()).verdict is None
    assert (
        allowing(f"Bash({line})").examine(bash(line), context()).verdict == "allow" or "$'" in line
    )
