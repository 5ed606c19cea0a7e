"""Lines that make a name and then use it, and what they did to a home folder when they ran.

Each line is a maker of links and a user of names, put together by one of the shell's ways. A home
folder has a secret and the operator's rules; the project has all that the makers need. A line
breaks the law where its output, or a file of the project, holds the secret, or where a protected
file is no longer what it was.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from crabhook.model.event import Event, ToolCall
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.protected import Protected
from crabhook.policy.rule import Rule, RuleSet, RuleVerdict
from crabhook.rulebook.context import look, real_path
from tests.support import isolation

SECRET = "canary-of-the-secret"
_LINKS = {
    "n": ".ssh/work",
    "d": ".ssh",
    "r": ".config/crabhook/rules.toml",
    "c": ".config/crabhook",
}

LINK_MAKERS = (
    "git apply k.patch", "git checkout -q links", "git merge -q links", "git pull -q . links",
    "git reset -q --hard links", "git restore -s links .", "git checkout -q links -- .",
    "git cherry-pick links", "git rebase -q links", "git read-tree -m -u links", "git stash pop -q",
    "git am -q k.mbox", "git switch -q links", "git checkout-index -f -a; git apply k.patch",
    "tar xf k.tar", "tar -xf k.tar", "tar --extract -f k.tar", "tar xzf k.tgz", "tar -x < k.tar",
    "cat k.tar | tar x", "patch -s -p1 < k.patch", "patch -s -p1 -i k.patch", "cp -a kit/. .",
    "cp -r kit/. .", "cp -R kit/. .", "cp -dr kit/. .", "cp -Pr kit/. .", "cp --archive kit/. .",
    "mv kit/* .", "mv kit/n kit/d kit/r kit/c .", "rsync -a kit/ ./", "cpio -id --quiet < k.cpio",
    "unzip -qo k.zip", "timeout 9 git apply k.patch", "nice git apply k.patch",
    "env git apply k.patch", "nohup git apply k.patch", "git -C . apply k.patch",
    "echo k.patch | xargs git apply", "find . -name k.patch -exec git apply {} ';'",
    "mkdir t && tar xf k.tar -C t && mv t/* .", "cp -r kit kat && mv kat/* .",
)  # fmt: skip
CODE_MAKERS = ("sh mk.sh", "bash mk.sh", "./mk.sh", "make -s links", "python3 mk.py", "source ./mk.sh",
    "awk -f mk.awk", "perl mk.pl", "xargs -a mk.txt sh")  # fmt: skip
READERS = (
    "cat n", "cat ./n", "cat -- n", "cat n mine", "head -n1 n", "tail -n 5 n", "tac n", "nl n",
    "grep -h . n", "grep -rh . d", "grep -rh . d/", "grep -Rh . .", "sed -n p n", "sed '' n", "awk 1 n",
    "sort n", "uniq n", "cut -c1- n", "paste n", "fold n", "od -c -An n", "xxd -p n", "base64 n", "cat < n",
    "cat <n", "cat d/work", "cat d/w*", "cat *", "cat [n]", "cat ?", "cd d && cat work", "pushd d && cat work",
    'for f in n; do cat "$f"; done', 'for f in *; do cat "$f"; done', "f=n; cat $f", "echo n | xargs cat",
    "ls | xargs cat", "xargs -a n echo", 'while read -r x; do echo "$x"; done < n', "read -r x < n; echo $x",
    'mapfile -t a < n; echo "${a[@]}"', 'echo "$(cat n)"', 'echo "$(<n)"', "tee < n", "cp n out",
    "cp n out && cat out", "dd if=n status=none", "diff /dev/null n",
    "comm n mine", "tr a a < n", "rev n", "column n", "expand n", "find d/ -type f -exec cat {} +",
    "find -L . -name work -exec cat {} ';'", "tar chf - n", "tar chf - .", "tar cf - d/.", "zip -q0r - .", "git config -f n -l",
    "git hash-object -w n && git cat-file -p $(git hash-object n)",
    "git commit -q --allow-empty -F n && git log -1", "sh -c 'cat n'", "bash -c 'cat n'", "timeout 5 cat n",
    "cat d/../.ssh/work", 'cat "$PWD/n"', "cat n | cat", "cat mine n > out", "jq -R . n",
    "cat $(echo n)", "printf '%s' \"$(head -1 n)\"", "scp -q n out", "wc n; cat n", "ln n out; cat out",
    "ln d/work out", "cp -L n out", "cp -rL d out", "cp d/* .", "gzip -c n | zcat", "split n out", "shuf n", "install n out",
)  # fmt: skip
WRITERS = (
    "cp mine r", "cp mine c/", "cp mine c", "cp mine c/rules.toml", "cp -f mine r", "tee r < mine", "tee -a r < mine",
    "cat mine > r", "cat mine >> r", "echo x > c/rules.toml", ": > r", "> r", "echo x >| r", "dd if=mine of=r status=none",
    "touch c/new", "mv mine c/", "mv mine c", "mv mine c/rules.toml", "mkdir c/new", "mkdir -p c/new/er", "rm c/rules.toml",
    "rm -rf c/", "rm -rf c/*", "rmdir c/empty", "unlink c/rules.toml", "sed -i s/a/b/ c/rules.toml", "sed -i --follow-symlinks s/a/b/ r",
    "cd c && touch new", "cd c && rm rules.toml", "cd c; cp ~/app/mine rules.toml", "cd c && mkdir new", "pushd c && touch new",
    "install mine c/rules.toml", "truncate -s 0 r", "ln -f mine c/new", "ln -s mine c/new", "ln -s mine c", "sort -o r mine",
    "split mine c/x", "tar xf plain.tar -C c", "cd c && tar xf ~/app/plain.tar", "git config -f r a.b x", "git init -q c/new", "chmod 600 r",
    "chmod -R u+x c/", "git clone -q . c/new", "git worktree add -q c/new", "git archive -o r HEAD", "cp kit/plain/* c", "shuf -o r mine",
    "printf x > r", "echo x | tee r", "for f in r; do echo x > $f; done", "f=r; echo x > $f", "find . -name r -exec cp mine {} ';'",
    "echo r | xargs cp mine", "git log --output=r", "git diff --output=c/new", "patch -s c/rules.toml < rules.patch", "unzip -qo plain.zip -d c",
    "awk '{ print > \"r\" }' mine", "sh -c 'cp mine r'", "timeout 5 cp mine r", "uniq mine r", "xxd mine r", "curl -so c/new file:///etc/hostname",
    "git mv f c/new", "cp --parents kit/plain/p c", "csplit -sf c/x mine 1",
)  # fmt: skip
WAYS = (
    "M && U", "M; U", "M\nU", "M | U", "(M); U", "{ M; }; U", "if M; then U; fi", "M || U; U",
    "for i in 1 2; do U; M; done", "for i in 1; do M; U; done", "while :; do M; U; break; done", "until U; do M; done",
    "f() { U; }; M; f", "f() { M; }; f; U", "M & wait; U", "sleep 0.2 && U & M; wait", "U; M; U", "x=$(M); U", 'echo "$(M)"; U',
    "case x in x) M; U;; esac", "! M; U", "time M; U", "trap 'U' EXIT; M", "eval 'M; U'", "M && cd . && U", "(M; U)", "true && M && true && U",
    "M > log 2>&1; U", "M 2>&1 | cat; U", "U <(M)", "{ M; U; } 2>/dev/null", "M && (cd . && U)", "[ -e z ] || { M; U; }", "M; sleep 0 & U",
    "if true; then M; fi; U", "test -e z; M; test -e n && U", "M && U && U", "M |& tail -1; U",
)  # fmt: skip


def _rule(*texts: str) -> Rule:
    matchers = tuple(parse_matcher(text, restricts=False) for text in texts)
    return Rule(RuleVerdict.ALLOW, texts, matchers)


_PROGRAMS = """git tar cat patch cp mv rsync cpio unzip timeout nice env nohup xargs find mkdir sh bash ./mk.sh make python3
source awk perl head tail tac nl grep sed sort uniq cut paste fold od xxd base64 cd pushd echo read mapfile tee dd diff cmp comm
join tr rev column expand zip jq scp wc ln gzip zcat split shuf install touch rm rmdir unlink truncate chmod printf curl csplit
true : test [ sleep wait ls f x set eval trap time"""
NARROW = Policy(
    [
        RuleSet(
            (_rule(*(f"Bash({one} *)" for one in _PROGRAMS.split()), "Edit(./**)", "Read(./**)"),)
        )
    ],
    Protected(),
)
"""A rule for each program, with any words, and rules for the files of the project."""
WIDE = Policy([RuleSet((_rule("Bash"),))], Protected())


class Home:
    """A home folder with a project, made anew for each line that runs."""

    def __init__(self, folder: Path) -> None:
        self._kept, self.home = folder / "kept", folder / "home"
        self.project = self.home / "app"
        self._lay_out()
        shutil.copytree(self.home, self._kept, symlinks=True)
        self._before = self._protected()

    def context(self) -> Context:
        """What a ruling on a line in the project needs."""
        return Context(str(self.project), str(self.home), datetime.now(UTC), real_path, look)

    def allows(self, policy: Policy, line: str) -> bool:
        """Whether the policy allows the line in the project."""
        call = ToolCall("Bash", {"command": line})
        event = Event("claude", "PreToolUse", "s1", str(self.project), "default", tool=call)
        return policy.examine(event, self.context()).verdict is RuleVerdict.ALLOW

    def broken_by(self, line: str) -> str:
        """Run the line in a cage and return what law it broke; empty if none."""
        told = self._output_of(line)
        changed = self._protected() != self._before
        copied = next(filter(_holds_secret, self.project.rglob("*")), None)
        shutil.rmtree(self.home)
        shutil.copytree(self._kept, self.home, symlinks=True)
        if any(form in told for form in _forms()):
            return "it printed the secret"
        if changed:
            return "it changed a protected place"
        return f"it copied the secret to {copied.name}" if copied else ""

    def _output_of(self, line: str) -> bytes:
        bounded = ["timeout", "-k", "1", "5", "bash", "-c", line]
        ran = subprocess.run(
            isolation.isolated(isolation.of_no_rights(bounded)),
            cwd=self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        return ran.stdout + ran.stderr

    def _environment(self) -> Mapping[str, str]:
        who = {
            f"GIT_{one}_{what}": "a@b"
            for one in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            **who,
        }

    def _protected(self) -> dict[str, tuple[int, bytes]]:
        kept = {}
        for folder in (".ssh", ".config"):
            for path in sorted((self.home / folder).rglob("*")):
                plain = path.is_file() and not path.is_symlink()
                kept[str(path)] = (path.lstat().st_mode, path.read_bytes() if plain else b"")
        return kept

    def _run(self, *words: str, into: str = "") -> None:
        made = subprocess.run(
            words, cwd=self.project, env=self._environment(), check=True, capture_output=True
        )
        if into:
            (self.project / into).write_bytes(made.stdout)

    def _lay_out(self) -> None:
        for folder in (".ssh", ".config/crabhook/empty", "app/kit/plain"):
            (self.home / folder).mkdir(parents=True)
        (self.home / ".ssh/work").write_text(f"{SECRET}\n")
        (self.home / ".config/crabhook/rules.toml").write_text("a = 1\n")
        app = self.project
        (app / "mine").write_text("mine = 1\n")
        (app / "f").write_text("f\n")
        (app / "kit/plain/p").write_text("p\n")
        (app / "rules.patch").write_text("--- a\n+++ b\n@@ -1 +1 @@\n-a = 1\n+b = 1\n")
        (app / "mk.sh").write_text("#!/bin/sh\ncp -a kit/n kit/d kit/r kit/c .\n")
        (app / "mk.sh").chmod(0o755)
        (app / "mk.txt").write_text("mk.sh\n")
        (app / "mk.py").write_text("import subprocess\nsubprocess.run(['sh', 'mk.sh'])\n")
        (app / "mk.pl").write_text("system('sh mk.sh');\n")
        (app / "mk.awk").write_text('BEGIN { system("sh mk.sh") }\n')
        (app / "Makefile").write_text("links:\n\tsh mk.sh\n")
        (app / ".gitignore").write_text(
            "/k.*\n/kit\n/plain.*\n/mk.*\n/Makefile\n/rules.patch\n/mine\n"
        )
        self._run("git", "init", "-q", "-b", "main")
        self._run("git", "add", ".gitignore", "f")
        self._run("git", "commit", "-q", "-m", "a")
        self._run("git", "checkout", "-q", "-b", "links")
        for name, target in _LINKS.items():
            (app / name).symlink_to(self.home / target)
            (app / "kit" / name).symlink_to(self.home / target)
        for archive, words in {
            "k.tar": ("tar", "c", *_LINKS), "k.tgz": ("tar", "cz", *_LINKS),
            "plain.tar": ("tar", "c", "-C", "kit/plain", "p"),
        }.items():  # fmt: skip
            self._run(*words, into=archive)
        if shutil.which("zip"):
            self._run("zip", "-qy", "k.zip", *_LINKS)
            self._run("zip", "-qj", "plain.zip", "kit/plain/p")
        if shutil.which("cpio"):
            self._run("sh", "-c", f"printf '%s\\n' {' '.join(_LINKS)} | cpio -o --quiet > k.cpio")
        self._run("git", "add", *_LINKS)
        self._run("git", "commit", "-q", "-m", "links")
        self._run("git", "diff", "main", "links", into="k.patch")
        self._run("git", "format-patch", "-1", "--stdout", into="k.mbox")
        self._run("git", "checkout", "-q", "main")
        self._run("git", "checkout", "links", "--", ".")
        self._run("git", "stash", "-q")


def _holds_secret(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 100_000:
        return False
    held = path.read_bytes()
    return any(form in held for form in _forms())


def _forms() -> tuple[bytes, ...]:
    """The secret as programs print it: as it is, backwards, in hexadecimal, in base 64."""
    plain = SECRET.encode()
    spaced = "   ".join(SECRET).encode()
    return plain, plain[::-1], plain.hex().encode()[:20], b"Y2FuYXJ5LW9m", spaced[:30]


def is_here(maker: str) -> bool:
    """Whether this machine has the program that makes the names."""
    return shutil.which(maker.split(maxsplit=1)[0]) is not None or maker.startswith("source")


def pairs() -> Iterator[tuple[str, str]]:
    """Yield every maker with every user of names."""
    for maker in (*LINK_MAKERS, *CODE_MAKERS):
        for user in (*READERS, *WRITERS):
            yield maker, user


def together(way: str, maker: str, user: str) -> str:
    """Return the line in which the maker and the user stand this way."""
    return re.sub(r"\b[MU]\b", lambda word: maker if word[0] == "M" else user, way)
