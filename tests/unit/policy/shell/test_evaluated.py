"""A text in a variable is run where a shell evaluates it: no rule allows that, wherever it stands."""

import pytest

from crabhook.policy.shell.read import read_script
from crabhook.policy.shell.unfold import unfold
from tests.support.examples import share
from tests.support.rows import every_row
from tests.unit.policy.law import ALL_BUT_ZZ, OPEN, allowing, bash, denying, verdict

TEXT = "b[$(zz)]"
PLACES = [
    "a=([x]=1)", "a+=([x]=1)", 'a=(["x"]=1)', "a=(['x']=1)", 'a=(["$x"]=1)', "a=([$x]=1)", "a=(b [x]=c)", "a=([x]=)", "a=([1-x]=1)", "a=(\n[x]=1\n)", "a=([x]+=1)",
    "declare -a a=([x]=1)", "declare a=([x]=1)", "declare -aA a=([x]=1)", "declare -A -a a=([x]=1)", "typeset a=([x]=1)", "local -a a=([x]=1)", "readonly a=([x]=1)", "readonly -A a=([x]=1)",
    "export a=([x]=1)", "declare -A a; unset a; a=([x]=1)", "declare -A a; a=([x]=1)", "f() { declare -A a; }; f; a=([x]=1)", "declare -A c=([x]=1); declare -a a=([x]=1)",
    "a[x]=1", "a[$x]=1", 'a["$x"]=1', "declare a[x]=1", "echo ${a[x]}", "echo ${a[$x]}", "a=abc; echo ${a:$x}", "((x=x+1))", "echo $((x))", "[[ $x -eq 1 ]]", "let a=x",
    "eval 'a=([x]=1)'", "trap 'a=([x]=1)' EXIT", "bash -c 'a=([x]=1)'", "bash -c 'echo $((x))'", "export x; bash -c 'bash -c \"a=([x]=1)\"'", "bash <<< 'a=([x]=1)'", "echo 'a=([x]=1)' | bash",
    "timeout 5 bash -c 'a[x]=1'", "find . -exec bash -c 'a[x]=1' \\;", 'set -- "$x"; a["$1"]=1', 'set -- "$x"; echo ${a["$1"]}', 'set -- "$x"; a=(["$1"]=1)', "y=x; a=([y]=1)", "y=$x; a=([y]=1)",
]  # fmt: skip
SETTERS = [
    "x='{}'; ls", "ls; x='{}'", "x+='{}'", "declare x='{}'", "export x='{}'", "readonly x='{}'", "read -r x <<< '{}'", "mapfile -t x <<< '{}'", "printf -v x %s '{}'", ": ${{x:='{}'}}", "x=('{}')",
    "x=$(echo '{}')", "set -- '{}'; x=$1", "y='{}'; x=$y", "for x in '{}'; do :; done", "f() {{ x=$1; }}; f '{}'", "[[ '{}' =~ (.*) ]]; x=$match",
]  # fmt: skip
INSIDE = [
    "x='{}' bash -c 'a=([x]=1)'",
    "env x='{}' bash -c 'a=([x]=1)'",
    "env -i x='{}' bash -c 'echo $((x))'",
    "x='{}' sh -c '((x=1)); echo \"((x))\" > out/s; bash out/s'",
    "env x='{}' bash -c 'f() {{ echo \"((x))\" > out/s; bash out/s; }}; f'",
    "x='{}' eval 'a=([x]=1)'",
    "export x='{}'; bash <<'E'\na=([x]=1)\nE",
    "for x in '{}'; do a=([x]=1); done",
    "f='{}'; RANDOM=f ls",
    "f='{}'; SECONDS=$f ls",
    "f='{}'; HISTSIZE=f OPTIND=f ls",
    "echo '{}' | while read -r x; do a=([x]=1); done",
    "f() {{ local x=$1; a=([x]=1); }}; f '{}'",
    "[[ '{}' =~ (.*) ]]; echo $((match))",
    "a=([0]='{}'); x=${{a[0]}}; a=([x]=1)",
    "declare -A m=([key]='{}'); x=${{m[key]}}; a=([x]=1)",
]


@every_row("turn, setter", list(enumerate(SETTERS)))
def test_no_text_in_a_variable_is_allowed_where_a_shell_evaluates_it(
    turn: int, setter: str
) -> None:
    for place in share(PLACES, turn):
        assert verdict(ALL_BUT_ZZ, bash(f"{setter.format(TEXT)}; {place}")) != "allow", place


@every_row("line", INSIDE)
@every_row("text", [TEXT, "path[$(zz)1]"])
def test_no_text_is_evaluated_within_what_sets_it(line: str, text: str) -> None:
    assert verdict(ALL_BUT_ZZ, bash(line.format(text))) != "allow"


@pytest.mark.parametrize(
    "line",
    [
        "ls; x='b[$(touch PWNED)]'; a=([x]=1)", "ls; x='b[$(touch PWNED)]'; a+=([x]=1)", "ls; x='b[$(touch PWNED)]'; a=(['x']=1)",
        "ls; x='b[$(touch PWNED)]'; a=([0]=1 [x]=2)", "x='b[`touch PWNED`]' y=$x; a=([y]=1); ls",
    ],
)  # fmt: skip
def test_a_rule_on_one_program_lets_no_key_of_an_array_run_another(line: str) -> None:
    assert verdict(allowing("Bash(ls *)"), bash(line)) == OPEN


@every_row(
    "line",
    [
        "a=(one two); ls", "declare -A m=([key]=v)", "declare -A m=([key]=v [other]=w); echo ${m[key]}", "declare -A m=(['a b']=1 [c-d.e]=2)", "typeset -A m=([key]=v); key=plain; echo $key",
        'x=1; echo "$x"', "for i in 1 2; do echo $i; done", "a=([0]=b [1]=c); echo ${a[1]}", "i=0; a=([i]=b); ((i++)); echo ${a[i]}", "m=([key]=v); ls", "x=3; bash -c 'echo $((x = x + 1))'",
        "a+=(b); a+=([3]=c)", "export n=5; bash -c '[ $n -gt 3 ] && ls'", "[[ $x =~ ^(a|b)$ ]] && echo ${BASH_REMATCH[1]}",
    ],
)  # fmt: skip
def test_what_holds_numbers_and_names_alone_is_allowed_as_before(line: str) -> None:
    assert verdict(denying("Bash(zz *)"), bash(line)) == "allow"


SET = [
    "x='b[$(rm y)]'; ls", "x='b[$(rm y)]'; a=(1); ls", "x=(a 'b[$(rm y)]'); ls", "declare -A m=(['$(rm y)']=1); ls", "for x in 'b[$(rm y)]'; do ls; done", "echo ${x:='b[$(rm y)]'}",
    "x='b[$(r\"\"m y)]'; ls", "x=; x+='b[`rm y`]'; ls", "printf -v x '%s' 'b[$(rm y)]'; ls", "read -r x <<< 'b[$(rm y)]'; ls", "echo 'b[$(rm y)]' | while read -r x; do ls; done", "export x='b[$(rm y)]'",
    "read -r x <<'E'\nb[$(rm y)]\nE\nls", "x='b[$(/bin/rm y)]' y=1; true", "LANG='$(rm y)' ls",
]  # fmt: skip


@every_row("line", SET)
def test_a_variables_text_is_searched_for_denied_names_whatever_else_the_line_holds(
    line: str,
) -> None:
    assert verdict(denying("Bash(rm *)"), bash(line)) in {"deny", "ask-operator"}


@pytest.mark.parametrize("line", ["a=([x]", "a=([x]=", "a=([", "declare -A a=([x]", "a=([x]=1", "a=([x]=1 [", "a=([x", "a=(b [x]"])  # fmt: skip
def test_an_array_that_does_not_end_is_a_trouble_and_no_endless_reading(line: str) -> None:
    assert read_script(line, {}).troubles


@every_row("depth", range(1, 12))
def test_no_depth_of_programs_in_one_another_hides_what_is_evaluated(depth: int) -> None:
    line = f"export x='b[$(r?)]'; {'env ' * depth}bash -c '((x=x+1)); echo $((x))'"
    assert unfold(line, read_script(line, {}), {}).troubles
