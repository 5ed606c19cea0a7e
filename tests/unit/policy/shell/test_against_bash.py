"""A real bash as the judge: a line that rules allow runs nothing but what they name.

Each line is made of a frame and of something that runs `sentinel`, or looks
as if it did. What the law allows is given to bash with no program in reach;
whatever it tries to run is written down by its command_not_found_handle.
"""

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.support.examples import drawn
from tests.unit.policy.law import allowing, bash, context

pytestmark = pytest.mark.process

FRAMES = [
    "ls {}", 'ls "{}"', "ls '{}'", "x={}; ls", 'x="{}"; ls', "cat <<EOF\n{}\nEOF", "cat <<EOF\na\n{}\nEOF", "cat <<-EOF\n{}\nEOF",
    'cat <<"EOF"\n{}\nEOF', "[ -n {} ]", "[ {} ]", "[[ -n {} ]]", "[[ a = {} ]]", "[[ a =~ {} ]]", "case {} in a) ls;; esac", "case a in {}) ls;; esac",
    "for f in {}; do ls; done", "ls > out/{}", "ls < {}", "cat <<< {}", "LANG={} ls", "export A={}", "A=({}); ls", "A[{}]=1; ls", "ls {{},a}", "ls a{}b",
    "printf -v {} a", "unset {}", "ls $(({}))", "ls ${{}}", "f() { ls {}; }; f", 'ls "a" {} "b"', "ls $'{}'", 'ls $"{}"', "((x={}))", "ls {} >&2", "ls \\{}",
    'ls "\\{}"', "ls #{}", "ls # a\n{}", "ls # a\n\\\n{}", "ls '\\'{}", 'ls "\\"{}', "timeout 5 ls {}", "ls | xargs ls {}", "if ls {}; then ls; fi", "( ls {} )",
    'ls "$(ls {})"', "ls `ls {}`", "ls &{}", "ls; {}", "ls\\\n{}", "ls \\\n{}", "ls ${x:-{}}", 'ls "${x:-{}}"', "ls ${x%{}}", "cat <<EOF && ls {}\na\nEOF",
    "cat <<EOF {}\na\nEOF", "\\ {}", "[{} a = a ]", "cat \"$(cat <<'EOF'\n{}\nEOF\n)\"", 'cat "$(cat <<EOF\n{}\nEOF\n)"',
]  # fmt: skip
RUN = "sentinel"
FORMS = [
    f"$({RUN})", f"`{RUN}`", f"${{x:-$({RUN})}}", f"${{x:-`{RUN}`}}", f"${{x#$({RUN})}}", f"${{x/`{RUN}`/a}}", f"${{x:$({RUN})}}", f"${{x@$({RUN})}}", f"$((`{RUN}`))",
    f"$((a[$({RUN})]))", f"$[`{RUN}`]", f"<({RUN})", f">({RUN})", f'"$({RUN})"', f'"`{RUN}`"', f"'`{RUN}`'", f"${{!x-$({RUN})}}", f"${{x[`{RUN}`]}}", f"\\$({RUN})", f"\\`{RUN}\\`",
    f"\\\\$({RUN})", f"\\\\`{RUN}`", f'${{x:+"`{RUN}`"}}', f"${{x:-'`{RUN}`'}}", f"'a[$({RUN})]'", f"{{a,`{RUN}`}}", f"*$({RUN})", f"?(`{RUN}`)", f"'a'`{RUN}`'b'", f"$'a'`{RUN}`",
    f"\"${{x:-'`{RUN}`'}}\"", f'\\"`{RUN}`\\"', f"``{RUN}``", f"`echo \\`{RUN}\\``", f"$(\n{RUN}\n)", f"$(#\n{RUN})", f"=({RUN})", f";{RUN}", f"|{RUN}", f"&{RUN}", f"\n{RUN}", f"}}{RUN}",
    f"\\\n{RUN}", f"\\\n;{RUN}", f'"";{RUN}', f"\\;{RUN}", f"\\\\;{RUN}", f">a;{RUN}", f"a#;{RUN}", f" #\n{RUN}", f"{{}};{RUN}", f"({RUN})", f"$x;{RUN}", f"\\';{RUN};'", f'\\";{RUN};"',
    f'";{RUN};"', f"';{RUN};'", f"\nEOF\n{RUN}", f"EOF\n{RUN}\n", f"x\\\nEOF\n{RUN}", f'"\nEOF\n{RUN}"', f"`\nEOF\n{RUN}`", f"| {RUN} = {RUN}", f"<<< = r&>{RUN}", "a", "'a b'", "$x",
]  # fmt: skip
LAW = allowing("Bash(ls *)", "Bash(cat *)", "Bash([ *)", "Bash([[ *)", "Bash(export *)", "Bash(printf *)", "Bash(unset *)", "Edit(./out/**)", "Read(./**)")  # fmt: skip
JUDGE = """
command_not_found_handle() { builtin echo "$1" >> "$LOG"; }
for line in "$@"; do ( eval "$line" ) < /dev/null > /dev/null 2>&1; done
"""


def test_bash_runs_nothing_that_the_rules_do_not_name(tmp_path: Path) -> None:
    frames = list(product(FRAMES, FORMS))
    lines = [frame.replace("{}", form) for frame, form in drawn(frames, 300)]
    here = context()
    allowed = [
        line for line in lines if (said := LAW.judge(bash(line), here)) and said.verdict == "allow"
    ]
    assert len(allowed) > 10
    (tmp_path / "app" / "out").mkdir(parents=True)
    log = tmp_path / "log"
    log.touch()
    environment = {"PATH": "/nowhere", "LOG": str(log), "HOME": str(tmp_path)}
    program = shutil.which("bash") or ""
    subprocess.run(
        [program, "--norc", "-c", JUDGE, "judge", *allowed],
        cwd=tmp_path / "app",
        env=environment,
        check=False,
        timeout=60,
    )
    ran = set(log.read_text().split("\n")) - {"", "ls", "cat", "timeout", "xargs"}
    assert not ran, [line for line in allowed if RUN in line]
    assert [path.name for path in (tmp_path / "app").iterdir()] == ["out"]
