"""What a line may compute with: digits, however they came into a variable."""

from crabhook.policy.shell.read import read_script
from tests.support.rows import every_row

COUNTED = [
    "i=$((i+1))", "i=0; ((i++)); echo $((i*2))", "n=$(wc -l < f); echo $((n+1))", "n=$(grep -c a f); [ $n -gt 0 ]",
    "n=$(cat a | wc -l); echo $((n))", "for i in 1 2 3; do echo $((i)); done", "for i in {1..9}; do ((n+=i)); done",
    "for i in $(seq 1 $n); do echo $((i)); done", "a=1; b=$a; c=$b; echo $((c))", "x=${y:-5}; echo $((x))", "echo $(( $(date +%s) - s ))",
    "x=${#y}; echo $((x))", "x=$?; [ $x -eq 0 ]", "x=$#; echo $((x))", "echo $((10#$x))", "n=$(expr $a + 1); echo $((n))",
    "n=$(git rev-list --count HEAD); echo $((n))", "echo ${x:$n:1}", "x=(a b); i=1; echo ${x[i]} ${x[$i]}", "[[ $n -gt 3 ]]",
    "COLUMNS=80 ls", "export LINES=24 COLUMNS=200", "COLUMNS=$(tput cols) ls", "unset COLUMNS", "COLUMNS=$((80 * 2)) ls",
]  # fmt: skip
UNCOUNTED = [
    "n=$(cat f); echo $((n))", "n=$(wc -l f); echo $((n))", "n=$(wc -l < f 2>&1); echo $((n))", "n=$(grep -c a f g); echo $((n))",
    "n=$(grep -rc a f); echo $((n))", 'n=$(grep -c a "$x"); echo $((n))', "n=$(date); echo $((n))", "n=$(ls; wc -l < f); echo $((n))",
    "n=$(seq 1 $(cat f)); echo $((n))", "n=$(PATH=x wc -l < f); echo $((n))", "x=${y:-a[0]}; echo $((x))", "a=b; echo $((a))", "echo $((PATH))",
    "echo $((_))", "echo $((REPLY))", 'echo $((1 + "2"))', "x=a; y=$x; echo ${z:$y}", "n=$(xargs wc -l < f); echo $((n))",
    "COLUMNS='path[$(zz)1]' ls", "LINES='path[$(zz)1]'", "export COLUMNS='path[$(zz)1]'", "read COLUMNS", "for LINES in a; do ls; done", "COLUMNS+=a ls", "x=a; COLUMNS=$x ls", "echo ${LINES:=a}", "f() { local LINES=a; }",
]  # fmt: skip


@every_row("line", COUNTED)
def test_a_line_computes_with_what_must_be_digits(line: str) -> None:
    assert read_script(line, {}).troubles == ()


@every_row("line", UNCOUNTED)
def test_a_line_that_computes_with_anything_else_is_asked_about(line: str) -> None:
    assert read_script(line, {}).troubles


def test_the_worst_of_a_variables_values_counts_wherever_it_is_set() -> None:
    assert read_script("while ls; do echo $((x)); x=$(cat f); done", {}).troubles
    assert read_script("f() { x=$1; }; x=1; echo $((x))", {}).troubles


def test_what_is_put_behind_a_value_that_nobody_knows_is_still_a_value() -> None:
    script = read_script('while read x; do x+="${x:-rm}" ls; done', {})
    assert [one.value.text for command in script.commands for one in command.assignments] == [""]
