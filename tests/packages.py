"""Builds the wheel and the sdist, installs them as people do, and tries what was installed.

`python -m tests.packages`, or `make packages`. It asks the package index for the
build's and the program's dependencies, so it is no part of `make test`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
BOUND = 300  # seconds for one step
CALL = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


class PackageError(Exception):
    """What was built or installed is not as it should be."""


def main() -> int:
    """Build, install and try everything; print a table; return 1 at the first fault."""
    pythons = interpreters()
    try:
        with tempfile.TemporaryDirectory(prefix="crabhook-packages-") as folder:
            place = Path(folder)
            wheel = build(place / "dist")
            ends = (pythons[0], pythons[-1])
            rows = [
                one
                for python in pythons
                for one in installed(python, wheel, place, by_pipx=python in ends)
            ]
            rows.append(locked(pythons[0], wheel, place))
    except (PackageError, subprocess.SubprocessError) as error:
        print(f"packages: {error}", file=sys.stderr)
        return 1
    print("| Python | installed with | packages | megabytes | seconds |")
    print("| --- | --- | ---: | ---: | ---: |")
    for row in rows:
        print(row)
    missing = [one for one in SUPPORTED if one not in {version(python) for python in pythons}]
    print(f"\nNot tried, since it is not here: Python {', '.join(missing) or '(none)'}")
    return 0


def interpreters() -> list[Path]:
    """Return one interpreter of every supported version that is on this machine."""
    found: dict[str, Path] = {}
    versions = Path.home() / ".pyenv" / "versions"
    for wanted in SUPPORTED:
        names = [shutil.which(f"python{wanted}"), *sorted(versions.glob(f"{wanted}.*/bin/python"))]
        for name in filter(None, names):
            if wanted not in found and version(Path(name)) == wanted:
                found[wanted] = Path(name)
    return list(found.values())


def version(python: Path) -> str:
    """Return an interpreter's version as in 3.11; empty where it does not run."""
    words = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip()


def build(dist: Path) -> Path:
    """Build the sdist, and the wheel from it; look into both; return the wheel."""
    run(["uv", "build", "--quiet", "--out-dir", str(dist), str(ROOT)])
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        (metadata,) = (name for name in inside if name.endswith(".dist-info/METADATA"))
        described = archive.read(metadata).decode()
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "crabhook").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    insist(sources <= inside, f"the wheel lacks {sorted(sources - inside)[:5]}")
    (entry,) = (name for name in inside if name.endswith(".data/scripts/crabhook"))
    strange = {name for name in inside - sources - {entry} if ".dist-info/" not in name}
    insist(not strange, f"the wheel has {sorted(strange)[:5]} besides")
    needed = [line for line in described.splitlines() if line.startswith("Requires-Dist")]
    insist(all("extra == '" in line for line in needed), "the hook alone needs a package")
    # A package index shows README.md away from the tree.
    relative = re.findall(r"\]\((?!https?:|#)[^)]+\)", described)
    insist(not relative, f"the package's page has links to files: {relative[:5]}")
    try_sdist(sdist, dist)
    return wheel


def try_sdist(sdist: Path, place: Path) -> None:
    """See that the sdist holds every file of ours as it is, and is checked without a repository."""
    listed = run(["git", "-C", str(ROOT), "ls-files", "-z"]).split("\0")
    # What only a repository has a use for.
    ours = {name for name in listed if name} - {".gitattributes", ".gitignore"}
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        insist(ours <= names, f"the sdist lacks {sorted(ours - names)[:5]}")
        tar.extractall(place / "unpacked", filter="data")
    (top,) = (place / "unpacked").iterdir()
    changed = [name for name in ours if (ROOT / name).read_bytes() != (top / name).read_bytes()]
    insist(not changed, f"the sdist has other contents: {sorted(changed)[:5]}")
    # What linters and types say of the same bytes is the same: `make check` is not run twice.
    for without_git in (f"{sys.executable} -m tests.prose", "sh .ci/commits"):
        run(["sh", "-c", f"cd '{top}' && exec {without_git}"])
    run(["make", "-C", str(top), "--old-file=.venv/developed", "--dry-run", "check"])


@dataclass(frozen=True)
class Installed:
    """An environment with crabhook in it, and what it weighs."""

    python: str
    how: str
    packages: int
    bytes: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"| {self.python} | {self.how} | {self.packages} | {self.bytes / 1e6:.1f} "
            f"| {self.seconds:.0f} |"
        )


def installed(python: Path, wheel: Path, place: Path, *, by_pipx: bool) -> list[Installed]:
    """Install the hook alone with pip, and the whole with uv and maybe with pipx; try each."""
    name = version(python)
    whole = f"crabhook[serve] @ {wheel.as_uri()}"
    rows = []
    began = time.monotonic()
    thin = place / f"thin-{name}"
    run([str(python), "-m", "venv", str(thin)])
    alone = sum(1 for _ in site(thin).glob("*.dist-info"))
    empty = weight(site(thin))
    run([str(thin / "bin" / "pip"), "install", "--quiet", "--no-index", str(wheel)])
    try_hook(thin / "bin" / "crabhook", place)
    try_without_server(thin / "bin" / "crabhook", place)
    packages = sum(1 for _ in site(thin).glob("*.dist-info")) - alone
    rows.append(
        Installed(name, "pip: the hook", packages, weight(site(thin)) - empty, passed(began))
    )
    pipx = place / "pipx"
    if by_pipx and not pipx.exists():
        run([sys.executable, "-m", "venv", str(pipx)])
        run([str(pipx / "bin" / "pip"), "install", "--quiet", "pipx"])
    ways = (
        (
            "pipx",
            [str(pipx / "bin" / "pipx"), "install", "--quiet", "--python", str(python), whole],
            {"PIPX_HOME": f"{place}/p{name}", "PIPX_BIN_DIR": f"{place}/p{name}/bin"},
            place / f"p{name}" / "venvs" / "crabhook",
        ),
        (
            "uv",
            ["uv", "tool", "install", "--quiet", "--python", str(python), whole],
            {"UV_TOOL_DIR": f"{place}/u{name}", "UV_TOOL_BIN_DIR": f"{place}/u{name}/bin"},
            place / f"u{name}" / "crabhook",
        ),
    )
    for how, words, environment, where in ways if by_pipx else ways[1:]:
        began = time.monotonic()
        run(words, **environment)
        command = place / f"{how[0]}{name}" / "bin" / "crabhook"
        try_hook(command, place)
        try_server(command, place)
        try_isolated(command, place)
        packages = sum(
            1 for one in site(where).glob("*.dist-info") if not one.name.startswith("pip")
        )
        rows.append(
            Installed(name, f"{how}: the whole", packages, weight(site(where)), passed(began))
        )
    return rows


def locked(python: Path, wheel: Path, place: Path) -> Installed:
    """Install the whole with pip, in the versions of constraints.txt, and try it."""
    name = version(python)
    began = time.monotonic()
    whole = place / f"locked-{name}"
    run([str(python), "-m", "venv", str(whole)])
    alone, empty = sum(1 for _ in site(whole).glob("*.dist-info")), weight(site(whole))
    pip = [str(whole / "bin" / "pip"), "install", "--quiet"]
    run([*pip, "--constraint", str(ROOT / "constraints.txt"), f"{wheel}[serve]"])
    try_server(whole / "bin" / "crabhook", place)
    try_isolated(whole / "bin" / "crabhook", place)
    packages = sum(1 for _ in site(whole).glob("*.dist-info")) - alone
    how = "pip: the whole, constrained"
    return Installed(name, how, packages, weight(site(whole)) - empty, passed(began))


def try_isolated(command: Path, place: Path) -> None:
    """See that no code of PYTHONPATH runs."""
    hostile, mark = place / "hostile", place / "mark"
    hostile.mkdir(exist_ok=True)
    (hostile / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
    run([str(command), "--version"], PYTHONPATH=str(hostile))
    insist(not mark.exists(), f"{command} ran code of PYTHONPATH")


def try_hook(command: Path, place: Path) -> None:
    """See that it says its version, installs itself, and denies as it is told to."""
    home = place / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    insist(run([str(command), "--version"]).startswith("crabhook "), "no version")
    run([str(command), "install", "claude", "--server", "unix:/nowhere/s"], HOME=str(home))
    settings = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    (entry,) = settings["hooks"]["PermissionRequest"][0]["hooks"]
    denied = ask([entry["command"], *entry["args"], "--when-unreachable", "deny"])
    insist(denied == "deny", f"the installed hook said {denied!r}")


def try_without_server(command: Path, place: Path) -> None:
    """See that `serve` says what it lacks."""
    words = [str(command), "serve"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, env=around(HOME=str(place))
    )
    insist(done.returncode == 2, "serve went on without its packages")
    insist("crabhook[serve]" in done.stderr, f"serve said {done.stderr!r}")


def try_server(command: Path, place: Path) -> None:
    """See that a server of this installation answers a hook of it."""
    home = place / "served"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    address = f"unix:{home}/run/s"
    options = ["--headless", "--otherwise", "deny", "--listen", address]
    words = [str(command), "serve", *options]
    environment = around(HOME=str(home), XDG_RUNTIME_DIR=str(home))
    with subprocess.Popen(
        words, env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stderr is not None
            insist("listening" in server.stderr.readline(), "the server does not begin")
            insist(ask([str(command), "--server", address]) == "deny", "the server does not answer")
        finally:
            server.terminate()
            server.wait(60)


def ask(words: list[str]) -> str:
    """Start a hook on one call; return the decision it prints."""
    payload = json.dumps(CALL)
    done = subprocess.run(
        words, input=payload, capture_output=True, text=True, timeout=60, check=True, env=around()
    )
    specific = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
    return str(specific.get("permissionDecision", done.stderr))


def site(environment: Path) -> Path:
    """Return the folder of an environment's packages."""
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def weight(folder: Path) -> int:
    """Return the bytes of a folder's files, without what Python compiled."""
    files = (path for path in folder.rglob("*") if path.suffix != ".pyc")
    return sum(path.lstat().st_size for path in files if path.is_file())


def passed(began: float) -> float:
    """Return the seconds since then."""
    return time.monotonic() - began


def run(words: list[str], **environment: str) -> str:
    """Run one step; return what it printed."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
        env=dict(os.environ) | environment,
    )
    insist(done.returncode == 0, f"{' '.join(words[:5])} … failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def around(**more: str) -> dict[str, str]:
    """Return what a program of ours runs in: nothing of crabhook's, nothing of this environment's."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **more}


def insist(true: object, otherwise: str) -> None:
    """Raise with these words unless it is true."""
    if not true:
        raise PackageError(otherwise)


if __name__ == "__main__":
    sys.exit(main())
