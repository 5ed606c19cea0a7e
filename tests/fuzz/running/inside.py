"""The first process of the cage: started by `cage.py` in namespaces of its own, as a script.

It makes four small roots in memory, and runs each line that it is told in a shell below one of them, as a
user of no rights, with an environment of its own and a bounded time. A line writes into the project, the
home folder and `/tmp` alone. A recorder writes down its name, the path it was run by, what in its
environment is not its own, and its arguments.

- `narrow` holds nothing but recorders, which pass on what they are given as a pipe would. What runs
  other programs (`timeout`, `xargs`, `bash`) is written down and does run them.
- `open` is for rules that allow all but some programs: only those are recorders, and what can run
  them is real: shells, `env`, `xargs`, `find`, `sed` and so on. `git` is such a root with a repository,
  `code` one with interpreters, and with files of theirs that start nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

SHELLS = ("bash", "dash", "zsh")
ROOTS = ("narrow", "open", "git", "code")
PROJECT, HOME = "/work/app", "/home/dev"
CHANGEABLE = (PROJECT, HOME, "/tmp")
"""The folders that a line can write into; they are emptied and furnished anew, never replaced."""
SECONDS, AFTERWARDS = 1.0, 0.4
"""What a line may take, and what is left in the background of its shell."""
DENIED = ("rm", "zz", "dd")
PLAIN = (
    "awk", "basename", "cal", "chmod", "cp", "curl", "cut", "date", "df", "diff", "dirname", "du", "echo", "expr", "false", "file", "find", "git",
    "grep", "head", "hostname", "id", "install", "jq", "less", "ln", "ls", "make", "md5sum", "mkdir", "mktemp", "more", "mv", "nl", "node", "npm",
    "od", "patch", "pip", "printf", "ps", "pwd", "python", "python3", "readlink", "realpath", "sed", "seq", "sha1sum", "sleep", "sort", "stat", "tac",
    "tail", "tar", "tee", "test", "touch", "tr", "true", "tsc", "tty", "uname", "uniq", "vi", "wc", "wget", "which", "whoami", "yes", "[", "a", "b",
    "c", "d", "e", "f", "g", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "u", "v", "w", "x", "y", "z", "aa", "alias", "bg", "builtin",
    "cd", "command", "compgen", "declare", "dirs", "enable", "eval", "exec", "export", "fg", "getopts", "hash", "help", "jobs", "let", "local",
    "mapfile", "noglob", "popd", "pushd", "read", "readonly", "set", "shift", "shopt", "source", "trap", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "wait",
)  # fmt: skip
WRAPPERS = ("timeout", "nice", "nohup", "stdbuf", "env", "xargs", "time", "setsid")
OTHER_SHELLS = ("sh", "csh", "ksh", "mksh", "ash", "tcsh")
REAL = ("sed", "find", "awk", "git", "cat", "tr", "sort", "head", "tail", "tee", "ls", "wc", "uniq", "seq", "grep", "basename", "dirname", "uname", "true", "false", "touch", "mkdir", "cp", "mv", "test", "[", "echo", "printf", "date", "which", "expr")  # fmt: skip
INTERPRETERS = ("python3", "perl", "make")
IN_CODE: Mapping[str, bytes | None] = {name: text.encode() for name, text in {
    "x.py": "import sys; print(sys.argv)\n", "m.py": "print(1)\n", "x.pl": "print 1;\n", "x.sh": 'echo "$@"\n', "x.awk": "{ print }\n",
    "Makefile": "all:\n\t@echo made\n", "other.mk": "all:\n\t@echo other\n",
}.items()}  # fmt: skip
IN_PROJECT = ("ls", "cat", "echo", "sed", "git", "zz", "rm")
"""Programs in the project's folder itself, which only a changed PATH or a path can reach."""

_LOG, _TRACE, _REAL = "/.cage/log", "/.cage/trace", "/.cage/real"
# `stdbuf` has a library of its own to preload.
_RECORDER = """#!/.cage/real/dash
case ${{LD_PRELOAD-}} in '' | */libstdbuf.so) foreign= ;; *) foreign=LD_PRELOAD ;; esac
foreign="$foreign${{LD_LIBRARY_PATH:+ LD_LIBRARY_PATH}}${{LD_AUDIT:+ LD_AUDIT}}${{BASH_ENV:+ BASH_ENV}}"
printf '%s\\037' '\036{name}' "$0" "$foreign" "$@" >> /.cage/log
{then}
"""
_PASSES_ON = "exec /.cage/real/cat"
_THEN = {
    **dict.fromkeys(("cat", "sed", "head", "tail", "sort", "uniq", "tr", "tee", "grep", "cut", "less", "more", "awk", "tac"), _PASSES_ON),
    **dict.fromkeys(("echo", "printf"), "printf '%s\\n' \"$*\""),
    "ls": "printf '%s\\n' a b",
    "which": "printf '%s\\n' \"/bin/$1\"",
    "false": "exit 1",
    "git": "case $1 in branch|rev-parse) printf '%s\\n' main;; esac",
}  # fmt: skip


class Inside:
    """The first process of the namespaces."""

    def __init__(self) -> None:
        self._base = Path("/tmp")
        _mount("-t", "tmpfs", "-o", "size=256m,mode=755", "cage", str(self._base))
        self._mapped = _is_mapped()
        self._user = _IN_OWN_NAMESPACE if self._mapped else _nobody_else()
        for name in ROOTS:
            self._make(self._base / name, name)
            self._show(name)
        self._clean = {name: self._state(name) for name in ROOTS}
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        # No signal of a line reaches the first process of a namespace, but for those it handles.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def serve(self) -> None:
        """Take orders until there are no more."""
        shells = [shell for shell in SHELLS if (self._base / "narrow/.cage/real" / shell).exists()]
        print(json.dumps({"shells": shells}), flush=True)
        for order in sys.stdin.buffer:
            one = json.loads(order)
            self._run(one["root"], one["shell"], one["line"])
            print(json.dumps({"ran": self._came(one["root"])}), flush=True)

    def _run(self, root: str, shell: str, line: str) -> None:
        until = time.monotonic() + SECONDS
        child = os.fork()
        if child == 0:
            try:
                self._become(root, shell, line)
            finally:
                os._exit(127)
        while True:
            with contextlib.suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                    if ended == child:
                        until = min(until, time.monotonic() + AFTERWARDS)
                left = until - time.monotonic()
                if left > 0:
                    signal.sigtimedwait({signal.SIGCHLD}, left)
                    continue
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
                os.waitpid(-1, 0)
                continue
            return

    def _become(self, root: str, shell: str, line: str) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()
        if self._mapped:
            # Before the change of root, below which the kernel makes no such namespace.
            _enter_user_namespace(self._user)
        os.chroot(self._seen(root))
        os.chdir(PROJECT)
        null = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        for what, most in _BOUNDS.items():
            resource.setrlimit(what, (most, most))
        if not self._mapped:
            os.setgroups([])
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)
        words = [shell, *(["-f"] if shell == "zsh" else []), "-c", line]
        argv = [word.encode("utf-8", "surrogatepass") for word in words]
        os.execve(f"{_REAL}/{shell}", argv, dict(_ENVIRONMENT))

    def _came(self, root: str) -> list[list[str]]:
        folder = self._base / root
        log, trace = folder / _LOG[1:], folder / _TRACE[1:]
        records = log.read_bytes().decode("utf-8", "surrogateescape").split("\036")[1:]
        ran = [record.split("\037")[:-1] for record in records[:200]]
        ran = [one for one in ran if len(one) >= 3]
        for line in trace.read_text(errors="replace").splitlines():
            if (told := line.partition("trace: built-in: git ")[2]) != "":
                ran.append(["git", "/bin/git", "", *told.split()])
        for file in (log, trace):
            if file.stat().st_size:
                os.truncate(file, 0)
        state, clean = self._state(root), self._clean[root]
        if state != clean:
            if root == "narrow":
                new = sorted(name for name, _ in state.items() - clean.items())
                ran += [[">", name, ""] for name in new if not name.startswith(f"{PROJECT}/out/")]
            self._furnish(folder, root)
            self._clean[root] = self._state(root)
        return ran

    def _state(self, root: str) -> dict[str, tuple[int, int, int]]:
        """What the files are that a line can change, and since when."""
        folder, found = str(self._base / root), {}
        for place in (PROJECT, f"{PROJECT}/out", f"{PROJECT}/a_dir", HOME, "/tmp"):
            with contextlib.suppress(OSError), os.scandir(folder + place) as entries:
                for entry in entries:
                    of = entry.stat(follow_symlinks=False)
                    still = stat.S_ISDIR(of.st_mode) and entry.name != ".git"
                    told = (of.st_ino, 0 if still else of.st_mtime_ns, of.st_mode)
                    found[f"{place}/{entry.name}"] = told
        return found

    def _make(self, folder: Path, name: str) -> None:
        for place in (".cage/real", "bin", "usr", "dev", "proc", "etc", "tmp"):
            (folder / place).mkdir(parents=True, exist_ok=True)
        for library in ("lib", "lib64", "usr/lib", "usr/lib64", "usr/libexec", "usr/share/zsh"):
            there = Path("/") / library
            if there.is_symlink():
                (folder / library).symlink_to(there.readlink())
            elif there.is_dir():
                (folder / library).mkdir(parents=True)
                _mount("--bind", str(there), str(folder / library))
        (folder / "usr/bin").symlink_to("/bin")
        _mount("--rbind", "/proc", str(folder / "proc"))
        for device in ("null", "zero"):
            (folder / "dev" / device).touch()
            _mount("--bind", f"/dev/{device}", str(folder / "dev" / device))
        for link, to in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
            (folder / "dev" / link).symlink_to(f"/proc/self/{to}")
        (folder / "etc/passwd").write_text(f"dev:x:{self._user}:{self._user}::{HOME}:/bin/bash\n")
        self._programs(folder, name)
        for file in (_LOG, _TRACE):
            (folder / file[1:]).touch()
            self._give(folder / file[1:])
        for place in CHANGEABLE:
            (folder / place[1:]).mkdir(parents=True, exist_ok=True)
        self._furnish(folder, name)

    def _seen(self, name: str) -> Path:
        return self._base / "seen" / name

    def _show(self, name: str) -> None:
        """Mount the root for its lines, who may own all of it, such that it stays as it is."""
        made, seen = self._base / name, self._seen(name)
        seen.mkdir(parents=True)
        _mount("--rbind", str(made), str(seen))
        _mount("-o", "remount,bind,ro", str(seen))
        for place in (*CHANGEABLE, _LOG, _TRACE):
            _mount("--bind", str(made / place[1:]), str(seen / place[1:]))

    def _programs(self, folder: Path, name: str) -> None:
        real, bin_ = folder / _REAL[1:], folder / "bin"
        for program in {*SHELLS, *WRAPPERS, *REAL}:
            if found := where(program):
                shutil.copy(found, real / program)
        for program in OTHER_SHELLS:
            (real / program).symlink_to("dash")
        if name == "narrow":
            for program in {*PLAIN, *WRAPPERS, *SHELLS, *OTHER_SHELLS, *REAL, *DENIED}:
                runs = program in {*WRAPPERS, *SHELLS, *OTHER_SHELLS}
                then = f'exec {_REAL}/{program} "$@"' if runs else _THEN.get(program, "")
                _recorder(bin_ / program, program, then)
            return
        for program in {*SHELLS, *OTHER_SHELLS, *WRAPPERS, *REAL} - {"git"}:
            (bin_ / program).symlink_to(f"{_REAL}/{program}")
        then = f'GIT_TRACE={_TRACE} exec {_REAL}/git "$@"'
        _recorder(bin_ / "git", "git", then)
        for program in DENIED:
            _recorder(bin_ / program, program, "")
        for program in INTERPRETERS if name == "code" else ():
            if found := _of_system(program):
                shutil.copy(found, bin_ / program)

    def _furnish(self, folder: Path, name: str) -> None:
        """Make anew what a line can change."""
        for place in CHANGEABLE:
            _empty(folder / place[1:])
        project = folder / PROJECT[1:]
        for place in ("out", "a_dir"):
            (project / place).mkdir()
        for file in ("f", "f.txt", "b.py"):
            (project / file).write_text("one\ntwo\n")
        if name == "narrow":
            (project / "10").mkdir()  # where `{PATH}> f; ls` looks
            for program in IN_PROJECT:
                _recorder(project / program, program, "")
                (project / "10" / program).hardlink_to(project / program)
        _unpack({"git": _REPOSITORY, "code": IN_CODE}.get(name, {}), project)
        for place in CHANGEABLE:
            made = folder / place[1:]
            for file in (made, *made.rglob("*")):
                self._give(file)

    def _give(self, file: Path) -> None:
        """Let the line's user own it; in a namespace of its own it owns all that root does here."""
        if not self._mapped:
            os.chown(file, self._user, self._user, follow_symlinks=False)


_BOUNDS: Mapping[int, int] = {
    resource.RLIMIT_CPU: 2,
    resource.RLIMIT_FSIZE: 1 << 20,
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_NPROC: 60,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 256,
}
_ENVIRONMENT = {
    "PATH": "/bin",
    "HOME": HOME,
    "USER": "dev",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "GIT_AUTHOR_NAME": "dev",
    "GIT_AUTHOR_EMAIL": "dev@localhost",
    "GIT_COMMITTER_NAME": "dev",
    "GIT_COMMITTER_EMAIL": "dev@localhost",
}
# A repository with two commits and a submodule, made once by the real git.
_MAKE_REPOSITORY = """
set -e
git init -q -b main m; cd m; git commit -q --allow-empty -m one; cd ..
git init -q -b main r; cd r
git commit -q --allow-empty -m one; git commit -q --allow-empty -m two
git -c protocol.file.allow=always submodule add -q ../m sub
git commit -q -m three
find . -name '*.sample' -delete
"""
_REPOSITORY: dict[str, bytes | None] = {}


def _pack(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def _unpack(files: Mapping[str, bytes | None], folder: Path) -> None:
    for name, content in files.items():
        if content is None:
            (folder / name).mkdir(exist_ok=True)
        else:
            (folder / name).write_bytes(content)


def _repository() -> Iterator[tuple[str, bytes | None]]:
    if where("git") is None:
        return
    with contextlib.suppress(subprocess.CalledProcessError):
        folder = Path("/tmp/making")
        folder.mkdir()
        environment = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        making = ["sh", "-c", _MAKE_REPOSITORY]
        subprocess.run(making, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)
        yield from _pack(folder / "r").items()


def _recorder(path: Path, name: str, then: str) -> None:
    path.write_text(_RECORDER.format(name=name, then=then))
    path.chmod(0o755)


def where(name: str) -> str | None:
    found = shutil.which(name)
    return os.path.realpath(found) if found else None


def _of_system(name: str) -> str | None:
    """Return the program whose files are in the folders of the system, which the roots share."""
    path = Path("/usr/bin", name)
    return os.path.realpath(path) if path.exists() else None


def _empty(folder: Path) -> None:
    """Remove all that is in the folder, and let its owner in as before."""
    folder.chmod(0o755)
    for entry in folder.iterdir():
        if entry.is_symlink() or not entry.is_dir():
            entry.unlink()
        else:
            shutil.rmtree(entry)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


_LIBRARY = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWUSER = 0x10000000
_IN_OWN_NAMESPACE = 1000
"""The number by which a user who is root here is known to itself in the namespace of a line."""


def _enter_user_namespace(user: int) -> None:
    """Be this user, and not root, in a user namespace of one's own."""
    if _LIBRARY.unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "a line's own user namespace was refused")
    of_this = Path("/proc/self")
    (of_this / "setgroups").write_text("deny")
    (of_this / "uid_map").write_text(f"{user} 0 1")
    (of_this / "gid_map").write_text(f"{user} 0 1")


def _is_mapped() -> bool:
    """Whether root here is another user outside, who has no other users to give."""
    return Path("/proc/self/uid_map").read_text().split()[1:] != ["0", "4294967295"]


def _nobody_else() -> int:
    """A user of no name, who has no other process: the bound on processes counts by user."""
    known = {entry.pw_uid for entry in pwd.getpwall()}
    return next(
        user for user in range(50_000 + int(time.time_ns()) % 9_000, 65_000) if user not in known
    )


if __name__ == "__main__":
    # The repository is made before the mount that its folder would be hidden by.
    _mount("-t", "tmpfs", "cage", "/tmp")
    _REPOSITORY.update(_repository())
    Inside().serve()
