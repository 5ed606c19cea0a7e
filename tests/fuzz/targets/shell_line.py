"""Any shell line in front of the law: judged in bounded time, and never made milder by more.

What a rule denies is not allowed in a longer line of which it is a part, nor given to a shell as
its script; and without a rule nothing is allowed.
"""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path

from crabhook.policy.evaluate import Policy
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleSet, RuleVerdict, Ruling
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of
from tests.unit.policy.law import PICTURES, bash, context, policy, rule

SAMPLES = Path(__file__).parents[2] / "samples" / "shell"
HERE = context()
ALLOWED = rule("allow", "Bash(ls *)", "Bash(cat *)", "Bash(echo *)", "Bash(git status *)", "Bash(timeout *)", "Bash(xargs *)", "Bash(bash *)", "Bash(test *)", "Bash([ *)", "Bash(export *)", "Edit(./out/**)", "Read(./**)")  # fmt: skip
WIDE = rule("allow", "Bash", "Read(//**)", "Edit(//**)")
DENIED = rule("deny", "Bash(rm *)", "Bash(git push *)", "Read(./secret/**)", "Edit(./src/**)")
NOTHING, NARROW, OPEN, GUARDED = (
    policy(*rules) for rules in ((), (ALLOWED,), (WIDE,), (WIDE, DENIED))
)
AROUND = (
    "{}; ls",
    "{}\nls",
    "{} && ls",
    "{} | cat",
    "ls; {}",
    "ls\n{}",
    "ls && {}",
    "( {} )",
    "{{ {}\n}}",
    "if ls; then {}\nfi",
)

GIVEN = ("bash -c {}", "sudo sh -c {}; ls", "ls && eval {}", "bash <<< {}", "ls | sh <<< {}")
READ = ("bash <<'E9'\n{}\nE9", "ls && sh -s <<'E9'\n{}\nE9", "cat <<'E9' | bash\n{}\nE9")


def law(data: bytes) -> None:
    """The bytes are a line."""
    line = text_of(data)
    assert _verdict(NOTHING, line) in (None, RuleVerdict.ASK_OPERATOR), "no rule says so"
    narrow, wide = _verdict(NARROW, line), _verdict(OPEN, line)
    guarded = GUARDED.examine(bash(line), HERE)
    if narrow is RuleVerdict.ALLOW:
        assert wide is RuleVerdict.ALLOW
        _each_part_can_deny(line)
    if guarded.verdict is RuleVerdict.ALLOW:
        assert wide is RuleVerdict.ALLOW
    if guarded.verdict is RuleVerdict.DENY:
        _denied_in_all(line, guarded)


def _denied_in_all(line: str, ruling: Ruling) -> None:
    # Of a line that is not whole a denial is a guess, and a longer one may show it wrong.
    plainly = any(one.verdict is RuleVerdict.DENY and not one.hidden for one in ruling.parts)
    longer = [around.format(line) for around in AROUND if plainly or not ruling.troubles]
    longer += [around.format(shlex.quote(line)) for around in GIVEN]
    longer += [around.format(line) for around in READ if "E9" not in line]
    for one in longer:
        assert _verdict(GUARDED, one) not in (RuleVerdict.ALLOW, RuleVerdict.PASS), one


def _verdict(law: Policy, line: str) -> RuleVerdict | None:
    return law.examine(bash(line), HERE).verdict


def _each_part_can_deny(line: str) -> None:
    """A denial of any one command in an allowed line denies the line."""
    ruling: Ruling = NARROW.examine(bash(line), HERE)
    for part in [one for one in ruling.parts if one.kind == "command" and not one.hidden][:4]:
        name = part.text.split(" ", 1)[0]
        if not name.isalnum():
            continue
        denied: Rule = rule("deny", f"Bash({name} *)")
        assert _verdict(_with(denied), line) is RuleVerdict.DENY, (name, line)


def _with(denied: Rule) -> Policy:
    return Policy([RuleSet((ALLOWED, denied))], Protected())


WORDS = (
    "ls", "cat", "echo", "rm", "git push", "git status", "rm x", "timeout 5", "xargs", "bash -c", "eval", "sudo", "env A=b", "exec", "test -f", "[ -n", "]", "[[", "]]", "export", "declare", "printf -v",
    ";", ";;", "&", "&&", "||", "|", "|&", "!", "\n", "\\\n", "\\", "'", '"', "`", "$(", ")", "(", "{ ", " }", "${x:-", "}", "$((", "))", "<(", ">(", "$'", '$"', "$x", "${!x}", "$[", "*", "?", "~", "#", " ",
    ">", ">>", "<", "<<EOF\n", "\nEOF\n", "<<-'EOF'\n", "<<<", ">&2", "&>", "2>", "out/a", "src/a", "secret/a", "/dev/tcp/a/1", "/etc/passwd", "if", "then", "else", "fi", "for f in", "do", "done", "while", "case x in", "esac", "f() {", "function f",
    "select", "time", "coproc", "A=", "A+=(", "x[0]=", "IFS=;", "PATH=.", "--", "-exec", "{a,b}", "{1..9}", "\t", "\0", "\r", "\u00a0", "\u202e", "é", "\ud800", "-", "=", "%", "@",
)  # fmt: skip
PAIRS = (("$(", ")"), ("`", "`"), ('"', '"'), ("'", "'"), ("(", ")"), ("{ ", ";}"), ("bash -c '", "'"), ("${x:-", "}"), ("<(", ")"), ("if ", "; then ls; fi"), ("cat <<EOF\n", "\nEOF\n"), ("timeout 5 ", ""), ('eval "', '"'))  # fmt: skip


@cache
def seeds() -> tuple[bytes, ...]:
    """A part of the table of lines."""
    rows = (SAMPLES / "commands.tsv").read_text().split("\n")
    lines = [row.split("\t")[2].translate(PICTURES) for row in rows if row.count("\t") == 2]
    return tuple(line.encode("utf-8", "surrogatepass") for line in lines[::12])


TARGET = Target(law, words.of(WORDS, PAIRS), seeds, longest=1024)
