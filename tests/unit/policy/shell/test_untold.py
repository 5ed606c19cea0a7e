"""Beside a denial: programs that a line starts though no word of it names them."""

from tests.support.rows import every_row
from tests.unit.policy.law import allowing, bash, denying, policy, rule, verdict

STARTS = [
    "echo 'qm y' | tr q r > s; sh s", "echo 'qm y' | tr q r > out/s && ./out/s", "echo 'qm y' | tr q r | tee s; bash s", "cp a s; . ./s", "tr q r < a > s; timeout 5 sh ./s", "printf x > s.py; python3 s.py",
    "sed s/q/r/ a > s; env sh s", 'out=s; tr q r < a > "$out"; sh s', "curl -o s http://x; sh s", "awk 'BEGIN{system(\"r\" \"m\")}'", "awk 'BEGIN{\"r\" \"m\" | getline}'", "awk '{print | c}' c=x f",
    "gawk 'BEGIN{f=\"sys\" \"tem\"; @f(\"x\")}'", "python3 -c 'print(1)'", "python3.12 -c 'print(1)'", "perl -e 'system(\"r\".\"m\")'", "perl -ne print f", "ruby -e 1", "node -e 1", "node -p 1", "php -r 1",
    "python3 - <<'E'\nprint(1)\nE", "python3 <<'E'\nprint(1)\nE", "deno eval 1", "sed 's/a/b/e' f", "sed -n '1e x' f", 'sed "s/a/$x/" f', "sed -f x f", "sed 's/a/b/w s' f", "vim -c ':x' f",
    "echo '!x' | ed", "cat x | python3", "python3 <<< x", "timeout 5 python3 -c 'print(1)'",
]  # fmt: skip


@every_row("line", STARTS)
@every_row("verdict_against", ["deny", "ask-operator"])
def test_what_can_start_programs_at_run_time_is_not_allowed_beside_a_rule_against_programs(
    line: str, verdict_against: str
) -> None:
    against = policy(
        rule("allow", "Bash", "Read(//**)", "Edit(//**)"), rule(verdict_against, "Bash(rm *)")
    )
    assert verdict(against, bash(line)) != "allow"
    assert verdict(allowing("Bash", "Read(//**)", "Edit(//**)"), bash(line)) == "allow"
    assert verdict(denying("Read(*.key)"), bash(line)) == "allow"


@every_row(
    "line",
    [
        "awk '{print $1}' f", "awk -F: '$1==\"a\" || $2 {n+=$3} END {print n}' f", "awk '/foo|bar/ {print}' f", "awk -f x.awk f", "python3 x.py", "python3 x.py -c y", "python3 -m pytest -q",
        "cat a | python3 -m json.tool", "python3 --version", "node x.js", "node --version", "php -l x.php", "sed -n '1,5p' f", "sed -i 's|a|b|g' f", "sed -i.bak -e 's/a/b/' -e '/x/d' f",
        "sed -i '' 's/a/b/' f", "sed '/^$/d;s/c/d/' f", "sed -n '/a/,/b/p' f", "make > log; cat log", "sort f > g; mv g f", "chmod +x s && ./s", "vim f",
    ],
)  # fmt: skip
def test_what_starts_no_program_or_runs_a_file_that_was_there_is_allowed(line: str) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) == "allow"
