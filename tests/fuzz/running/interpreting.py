"""Lines that give an interpreter a text, in every way that we know: each names no denied program.

A way is a line in which ⟨i⟩ is an interpreter behind some wrapper, ⟨t⟩ a text that starts `zz`
without its name, and ⟨x⟩ a file of the interpreter's that was there before.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

TEXTS = {
    "python3": 'import os;os.system("z"+"z")',
    "python3.11": 'import os;os.system("z"+"z")',
    "/bin/python3": 'import os;os.system("z"+"z")',
    "perl": 'system("z"."z")',
    "node": 'require("child_process").spawnSync("z"+"z")',
    "nodejs": 'require("child_process").spawnSync("z"+"z")',
    "deno": 'new Deno.Command("z"+"z").outputSync()',
    "bun": 'Bun.spawnSync(["z"+"z"])',
    "ruby": 'system("z"+"z")',
    "php": 'system("z"."z");',
    "lua": 'os.execute("z".."z")',
    "tclsh": "exec [join {z z} {}]",
    "bash": 'a=z; "$a$a"',
    "sh": 'a=z; "$a$a"',
    "zsh": 'a=z; "$a$a"',
    "dash": 'a=z; "$a$a"',
    "awk": 'BEGIN{system("z" "z")}',
    "gawk": 'BEGIN{"z" "z" | getline}',
    "sed": "1e z'z'",
    "make": "a=z\nall:\n\t$(a)$(a)",
}
FILES = {
    "python3": "x.py", "python3.11": "x.py", "/bin/python3": "x.py", "perl": "x.pl", "bash": "x.sh", "sh": "x.sh", "zsh": "x.sh", "dash": "x.sh",
    "awk": "-f x.awk f", "gawk": "-f x.awk f", "sed": "p f", "make": "all",
}  # fmt: skip
_FLAGS = (
    "-c", "-e", "-E", "-r", "-p", "-ne", "-pe", "-Ic", "-Bc", "-bEIsSc", "-le", "-0e", "-B", "-R", "-F", "-x", "--eval", "--print", "--command",
    "--execute", "--run", "--source", "-cx", "-ce", "-xc", "-exc", "-lc", "-ic", "-f-", "-", "-s", "-i", "-f", "-m", "-W ignore -c", "-W error::m.C",
    "-X dev -c", "-u -c", "-O -W default -Wignore -c", "-I . -M5.010 -e", "-Mstrict -e", "--eval=", "--print=", "-E=", "--experimental-vm-modules -e",
    "--no-warnings --input-type=module -e", "eval", "run", "repl", "run -", "exec", "x", "-- ", "-- -c", "+c", "-o errexit -c", "--norc -c", "-d x=1 -r",
)  # fmt: skip
_PLAIN_WAYS = (
    "echo '⟨t⟩' | ⟨i⟩", "echo '⟨t⟩' | ⟨i⟩ -", "echo '⟨t⟩' | ⟨i⟩ -s", "echo '⟨t⟩' | ⟨i⟩ /dev/stdin", "echo '⟨t⟩' | ⟨i⟩ /dev/fd/0", "echo '⟨t⟩' | ⟨i⟩ /proc/self/fd/0",
    "echo '⟨t⟩' | ⟨i⟩ //dev/./stdin", "echo '⟨t⟩' | ⟨i⟩ ../../dev/stdin", "echo '⟨t⟩' | ⟨i⟩ -f /dev/stdin", "echo '⟨t⟩' | ⟨i⟩ -f -", "cd /dev && echo '⟨t⟩' | ⟨i⟩ stdin",
    "cd /proc/self/fd; echo '⟨t⟩' | ⟨i⟩ 0", "d=/dev; cd $d; echo '⟨t⟩' | ⟨i⟩ stdin", "cd \"$(echo /dev)\" && echo '⟨t⟩' | ⟨i⟩ ./stdin", "⟨i⟩ <<'E'\n⟨t⟩\nE", "⟨i⟩ - <<'E'\n⟨t⟩\nE",
    "⟨i⟩ /dev/fd/3 3<<'E'\n⟨t⟩\nE", "⟨i⟩ -f /dev/fd/3 3<<'E'\n⟨t⟩\nE", "⟨i⟩ <<< '⟨t⟩'", "⟨i⟩ <(echo '⟨t⟩')", "⟨i⟩ -f <(echo '⟨t⟩')", "⟨i⟩ =(echo '⟨t⟩')", "⟨i⟩ ⟨x⟩ <<< '⟨t⟩'",
    "⟨i⟩ -i ⟨x⟩ <<< '⟨t⟩'", "set -- -c '⟨t⟩'; ⟨i⟩ \"$@\"", "set -- -e '⟨t⟩'; ⟨i⟩ \"$@\"", "set -- '-c⟨t⟩'; ⟨i⟩ \"$1\"", "x='-c⟨t⟩'; ⟨i⟩ \"$x\"", "x=-c; ⟨i⟩ $x '⟨t⟩'", "x=-e; ⟨i⟩ $x '⟨t⟩'",
    "x='⟨t⟩'; ⟨i⟩ \"$x\"", "x='⟨t⟩'; ⟨i⟩ -c \"$x\"", "x=-c y='⟨t⟩'; ⟨i⟩ ${x} \"$y\" ⟨x⟩", "f() { ⟨i⟩ \"$@\"; }; f -c '⟨t⟩'", "for x in -c -e; do ⟨i⟩ $x '⟨t⟩'; done", "⟨i⟩ $(echo -c) '⟨t⟩'",
    "⟨i⟩ {-c,'⟨t⟩'}", "⟨i⟩ {-e,'⟨t⟩'}", "echo '⟨t⟩' > n; ⟨i⟩ n", "echo '⟨t⟩' > n; ⟨i⟩ ./n", "echo '⟨t⟩' > n; ⟨i⟩ \"$PWD/n\"", "echo '⟨t⟩' > n; ⟨i⟩ n*", "echo '⟨t⟩' > n; ⟨i⟩ ?",
    "echo '⟨t⟩' > n; ⟨i⟩ $(ls n)", "echo '⟨t⟩' > out/n; cd out; ⟨i⟩ n", "echo '⟨t⟩' > n; ⟨i⟩ -f n", "echo '⟨t⟩' > n; ⟨i⟩ -fn", "echo '⟨t⟩' > n.log; ⟨i⟩ n.log", "echo '⟨t⟩' > out.txt; ⟨i⟩ < out.txt",
    "echo '⟨t⟩' | tee n; ⟨i⟩ n", "echo '⟨t⟩' | tee -a n > f; ⟨i⟩ n", "echo '⟨t⟩' > n; cp n k; ⟨i⟩ k", "echo '⟨t⟩' > n; mv n k; ⟨i⟩ k", "echo '⟨t⟩' > n; ln n k; ⟨i⟩ k", "ln -s /dev/stdin k; echo '⟨t⟩' | ⟨i⟩ k",
    "echo '⟨t⟩' | dd of=n; ⟨i⟩ n", "echo '⟨t⟩' > n; install n k; ⟨i⟩ k", "echo '⟨t⟩' >> ⟨x⟩; ⟨i⟩ ⟨x⟩", "echo '⟨t⟩' > m.py; ⟨i⟩ -m m", "echo '⟨t⟩' > json.py; ⟨i⟩ x.py", "echo '⟨t⟩' > sys.py; ⟨i⟩ ⟨x⟩",
    "echo '⟨t⟩' | sed p > n; ⟨i⟩ n", "sed -i '1i ⟨t⟩' ⟨x⟩; ⟨i⟩ ⟨x⟩", "echo '⟨t⟩' | sort -o n; ⟨i⟩ n", "echo '⟨t⟩' | awk '{print > \"n\"}'; ⟨i⟩ n", "git apply k.patch && ⟨i⟩ ⟨x⟩", "tar xf k.tar && ⟨i⟩ ⟨x⟩",
    "unzip -o k.zip; ⟨i⟩ ⟨x⟩", "git checkout a; ⟨i⟩ ⟨x⟩", "patch < k.patch; ⟨i⟩ ⟨x⟩", "cp -r k/ .; ⟨i⟩ ⟨x⟩", "curl -O http://localhost/x.py; ⟨i⟩ ⟨x⟩", "ln -s /bin/⟨n⟩ q; ./q -c '⟨t⟩'", "cp /bin/⟨n⟩ q; ./q -e '⟨t⟩'",
    "echo '⟨t⟩' > n; chmod +x n; ./n", "find . -name ⟨x⟩ -exec ⟨i⟩ {} \\;", "find . -maxdepth 0 -exec ⟨i⟩ -c '⟨t⟩' \\;", "echo '⟨t⟩' | xargs -0 ⟨i⟩ -c", "echo -c | xargs -I% ⟨i⟩ % '⟨t⟩'", "printf '%s\\0' -c '⟨t⟩' | xargs -0 ⟨i⟩",
    "echo n | xargs ⟨i⟩", "PYTHONSTARTUP=f ⟨i⟩ ⟨x⟩", "PYTHONINSPECT=1 ⟨i⟩ ⟨x⟩ <<< '⟨t⟩'", "PYTHONPATH=out ⟨i⟩ ⟨x⟩", "NODE_OPTIONS='--require ./n' ⟨i⟩ ⟨x⟩", "PERL5OPT=-Mn ⟨i⟩ ⟨x⟩", "RUBYOPT=-rn ⟨i⟩ ⟨x⟩",
    "BASH_ENV=n ⟨i⟩ ⟨x⟩", "ENV=n ⟨i⟩ ⟨x⟩", "LUA_INIT='⟨t⟩' ⟨i⟩ ⟨x⟩", "env PYTHONPATH=out ⟨i⟩ ⟨x⟩", "env -S '⟨n⟩ -c' '⟨t⟩'", "export PYTHONSTARTUP=f; ⟨i⟩ ⟨x⟩", "⟨i⟩ -I out ⟨x⟩", "⟨i⟩ -r ./n ⟨x⟩", "⟨i⟩ --require ./n ⟨x⟩",
    "⟨i⟩ --import ./n ⟨x⟩", "⟨i⟩ --loader=./n ⟨x⟩", "⟨i⟩ -l n ⟨x⟩", "⟨i⟩ -d auto_prepend_file=n ⟨x⟩", "⟨i⟩ -C out ⟨x⟩", "⟨i⟩ -m timeit -n 1 -r 1 '⟨t⟩'", "⟨i⟩ -m cProfile n", "⟨i⟩ -m pdb -c '!⟨t⟩' ⟨x⟩", "echo '⟨t⟩' | ⟨i⟩ -m code",
    "echo '⟨t⟩' | ⟨i⟩ -m asyncio", "⟨i⟩ -m trace --trace n", "⟨i⟩ -m os", "⟨i⟩ -m m", "⟨i⟩ -mm", "⟨i⟩ -Wignore::m.C ⟨x⟩", "⟨i⟩ data:text/javascript,1", "⟨i⟩ http://localhost/n", "⟨i⟩ ''", "⟨i⟩ .", "⟨i⟩ out", "⟨i⟩ -- n",
    "echo '⟨t⟩' > Makefile; make", "printf 'all:;z%s\\n' z > Makefile; ⟨i⟩", "printf 'all:;z%s\\n' z > k.mk; ⟨i⟩ -f k.mk", "make --eval='all:;z''z'", "⟨i⟩ --eval='⟨t⟩'", "⟨i⟩ A=z 'CC=$(A)$(A)'", "⟨i⟩ 'X=$(shell z`echo z`)'",
    "⟨i⟩ SHELL=./n", "⟨i⟩ -f - <<'E'\n⟨t⟩\nE", "echo '⟨t⟩' | ⟨i⟩ -f /dev/stdin", '⟨i⟩ "$x"', "⟨i⟩ *.py", '⟨i⟩ p "$@"', "⟨i⟩ -e p -e '1e z''z' f", "⟨i⟩ -n '1e z''z' f", "⟨i⟩ 's/.*/zz/;s/z/&/e' f",
    "⟨i⟩ 'BEGIN{c=\"z\" \"z \"; c 1/1|getline/1}'", "⟨i⟩ -v x=1 'BEGIN{@f(\"z\")}'", "⟨i⟩ -f x.awk -e '⟨t⟩' f", "⟨i⟩ --source '⟨t⟩'", "⟨i⟩ -l n 'BEGIN{}'", "⟨i⟩ -i n 'BEGIN{}'", '⟨i⟩ "/$x/ {print}" f', "x='⟨t⟩'; ⟨i⟩ \"$x\" f",
)  # fmt: skip
_SAFE_WAYS = ("⟨i⟩ ⟨x⟩", "⟨i⟩ ⟨x⟩ a -c '⟨t⟩'", "⟨i⟩ ⟨x⟩ > out/a.log", "⟨i⟩ --version", "cd out && ⟨i⟩ ../⟨x⟩", "ls && ⟨i⟩ ⟨x⟩ | head")  # fmt: skip
WRAPPERS = ("", "env ", "/bin/env ", "env -i PATH=/bin ", "nice ", "timeout 1 ", "nohup ", "command ", "time ", "timeout 1 env ", "env timeout 1 ", "stdbuf -o0 ", "setsid ", "exec ", "xargs ", "busybox ")  # fmt: skip
INSIDE = ("", "sh -c ", "bash -c ", "eval ")


def lines() -> Iterator[str]:
    """Yield every interpreter, in every way, behind every wrapper; some inside a shell's script."""
    given = [f"⟨i⟩ {flag} '⟨t⟩'" for flag in _FLAGS] + [f"⟨i⟩ '{flag}⟨t⟩'" for flag in _FLAGS]
    for name, text in TEXTS.items():
        for way in (*_SAFE_WAYS, *given, *_PLAIN_WAYS):
            shown = text if "'⟨t⟩'" not in way else text.replace("'", "'\\''")
            made = (
                way.replace("⟨t⟩", shown)
                .replace("⟨x⟩", FILES.get(name, "x.py"))
                .replace("⟨n⟩", name)
            )
            wrappers = WRAPPERS if "⟨i⟩" in made else ("",)
            for wrapper in wrappers:
                line = made.replace("⟨i⟩", wrapper + name)
                for inside in INSIDE if wrapper in ("", "env ") else ("",):
                    yield inside + shlex.quote(line) if inside else line
