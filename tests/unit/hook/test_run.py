"""What a start of the hook costs, said in modules: the exact set, by either door."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import crabhook
from crabhook.platforms.installation import START
from tests.support.hostile_answers import ANN, TEAM, allowed
from tests.unit.hook.peers import (
    CONSOLE,
    INSTALLED,
    PAYLOAD,
    STUB,
    Operator,
    environment,
    replying,
    run_hook,
    serving,
)

pytestmark = pytest.mark.process

# Two packages, three modules of the hook's own, and Python's socket.
ISLAND = {
    "crabhook",
    "crabhook.hook",
    "crabhook.hook.call",
    "crabhook.hook.client",
    "crabhook.hook.wire",
    "_socket",
}
DOOR = {"crabhook.__main__"}

# Runs a program as the interpreter would and writes down, at its very end,
# which modules it has come to. It has imported nothing itself by then.
WITNESS = """
import posix, sys
told, program = int(sys.argv[1]), sys.argv[2]
def witness(code, end=posix._exit):
    posix.write(told, "\\n".join(sorted(set(sys.modules) - before)).encode())
    end(code)
posix._exit = witness
sys.argv = sys.argv[2:]
code = compile(open(program).read(), program, "exec")
before = set(sys.modules)
__file__ = program
exec(code)
"""


def modules(flags: Sequence[str], program: str, *options: str, runtime: Path) -> set[str]:
    """Run a call to its end; return the modules that the bare interpreter did not have."""
    reader, writer = os.pipe()
    subprocess.run(
        [sys.executable, *flags, "-c", WITNESS, str(writer), program, *options],
        input=PAYLOAD,
        env=environment(XDG_RUNTIME_DIR=str(runtime)),
        pass_fds=[writer],
        check=True,
        timeout=60,
        stdout=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as told:
        return set(told.read().split())


@pytest.fixture
def console(folder: Path) -> str:
    """A file with the program that the command `crabhook` gives to Python."""
    (program,) = re.findall(r"-EP -c '(.*)'", Path(CONSOLE[0]).read_text("utf-8"))
    (folder / "console.py").write_text(program, "utf-8")
    return str(folder / "console.py")


@pytest.fixture
def runtime(folder: Path) -> Path:
    (folder / "crabhook").mkdir(mode=0o700)
    return folder


@pytest.mark.parametrize("way", ["installed", "console"])
@pytest.mark.parametrize(
    "options",
    [(), ("--companion", "--wait=20", "--platform", "claude", "--when-lost=deny")],
    ids=["told nothing", "told much"],
)
def test_a_call_and_its_receipt_import_exactly_this(
    runtime: Path, console: str, way: str, options: tuple[str, ...]
) -> None:
    flags, program, door = {
        "installed": (["-I", "-S"], STUB, set[str]()),
        "console": (["-E", "-P"], console, DOOR),
    }[way]
    operator = Operator(lambda _request, _context: replying(b"yes", confirm=True))
    with serving(operator, f"unix:{runtime}/crabhook/crabhook.sock"):
        told = modules(flags, program, *options, runtime=runtime)
    assert len(operator.requests) == len(operator.confirmed) == 1
    assert told == ISLAND | door
    assert len(told) <= 8


def test_a_call_by_tcp_imports_one_module_more(runtime: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, "127.0.0.1:0") as (_, port):
        told = modules(["-I", "-S"], STUB, f"--server=localhost:{port}", runtime=runtime)
    assert operator.requests
    assert told == ISLAND | {"crabhook.hook.tcp"}


def test_a_list_of_servers_imports_one_module_more_than_one_of_them(runtime: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, f"unix:{runtime}/a"):
        told = modules(
            ["-I", "-S"], STUB, f"--server=unix:{runtime}/a,unix:{runtime}/b", runtime=runtime
        )
    assert operator.requests
    assert told == ISLAND | {"crabhook.hook.failover"}


def test_a_strict_hook_imports_what_verifies_where_there_is_something_to_verify(
    runtime: Path,
) -> None:
    digests = {"_sha2"} if sys.version_info >= (3, 12) else {"_sha256", "_sha512"}
    always = ISLAND | {"crabhook.hook.strict", "crabhook.hook.statement"} | digests
    own = {f"crabhook.hook.{name}" for name in ("signed", "curves", "quorum")}
    verifying = own | {"_json", "binascii"}
    silent = Operator(lambda _request, _context: replying())
    signing = Operator(lambda request, _context: allowed(request, ANN))
    options = TEAM.options(runtime / "team")
    for operator, name, more in ((silent, "a", set[str]()), (signing, "b", verifying)):
        with serving(operator, f"unix:{runtime}/{name}"):
            server = f"--server=unix:{runtime}/{name}"
            told = modules(["-I", "-S"], STUB, server, *options, runtime=runtime)
        assert told == always | more


def test_an_interpreter_has_everything_else_at_its_start() -> None:
    bare = "import sys; print(*sys.modules)"
    names = subprocess.check_output([sys.executable, "-I", "-S", "-c", bare], text=True).split()
    assert {"sys", "posix", "time", "builtins"} <= set(names)


def test_a_source_file_of_the_island_names_nothing_of_the_house() -> None:
    for source in Path(STUB).parent.glob("*.py"):
        for line in source.read_text().splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]) and words[1].startswith("crabhook"):
                assert words[1] == "crabhook" or words[1].startswith("crabhook.hook"), source


def test_nothing_installed_beside_the_package_passes_for_pythons_own(folder: Path) -> None:
    package = Path(crabhook.__file__).parent
    shutil.copytree(package / "hook", folder / "crabhook" / "hook")
    shutil.copy(package / "__init__.py", folder / "crabhook")
    for name in ("_socket", "socket", "select", "ssl", "encodings"):
        (folder / f"{name}.py").write_text("raise SystemExit('not the real one')")
    operator = Operator(lambda request, _context: replying(request.payload))
    with serving(operator, f"unix:{folder}/s"):
        door = (*INSTALLED[:-1], str(folder / "crabhook" / "hook" / "run.py"))
        hook = run_hook(f"--server=unix:{folder}/s", door=door, payload=bytes(8 << 20))
    assert (hook.stdout, hook.stderr) == (bytes(8 << 20), b"")


def test_it_runs_as_the_installer_writes_it(folder: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, f"unix:{folder}/s"):
        door = (sys.executable, "-I", "-S", "-c", START, STUB)
        hook = run_hook(f"--server=unix:{folder}/s", "--companion", door=door)
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"", 0)


def test_it_works_from_anywhere_and_in_any_environment(folder: Path) -> None:
    (folder / "socket.py").write_text("raise SystemExit('not the real one')")
    (folder / "_socket.py").write_text("raise SystemExit('not the real one')")
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, f"unix:{folder}/s"):
        done = subprocess.run(
            [*INSTALLED, f"--server=unix:{folder}/s"],
            input=PAYLOAD,
            cwd=folder,
            env={"PYTHONPATH": str(folder), "PYTHONHOME": "/nowhere", "LC_ALL": "C"},
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.stdout, done.stderr, done.returncode) == (b"yes", b"", 0)


def test_without_the_c_module_the_public_one_does_the_same(folder: Path) -> None:
    operator = Operator(lambda request, _context: replying(request.payload))
    # A Python that has no `_socket`: `socket` is there already and works.
    program = (
        "import socket, sys; sys.modules['_socket'] = None;"
        f"sys.argv[0] = {STUB!r}; import runpy; runpy.run_path({STUB!r}, run_name='__main__')"
    )
    check = "import crabhook.hook, socket; assert crabhook.hook.sockets is socket"
    done = subprocess.run(
        [sys.executable, "-c", f"import socket, sys; sys.modules['_socket'] = None; {check}"],
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    with serving(operator, f"unix:{folder}/s"), serving(operator, "127.0.0.1:0") as (_, port):
        for server in (f"unix:{folder}/s", f"127.0.0.1:{port}"):
            done = subprocess.run(
                [sys.executable, "-c", program, "--server", server],
                input=b"x" * 500_000,
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert (done.stdout, done.stderr) == (b"x" * 500_000, b"")


@pytest.mark.parametrize("word", ["no-such-command", "--help", "-h", "--version"])
def test_a_subcommand_is_the_command_lines_and_not_the_hooks(word: str) -> None:
    hook = run_hook(word, door=CONSOLE)
    said = hook.stdout + hook.stderr
    assert b"usage: crabhook" in said or said == f"crabhook {crabhook.__version__}\n".encode()
    assert hook.returncode == (2 if word == "no-such-command" else 0)


def test_alone_with_a_pipe_it_is_the_hook_and_no_desk() -> None:
    env = environment(CRABHOOK_SERVER="unix:/nobody/here")
    hook = run_hook(door=(sys.executable, "-m", "crabhook"), env=env)
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert b"cannot ask the operator" in hook.stderr


def test_the_package_itself_is_the_same_door() -> None:
    hook = run_hook(
        "--server=unix:/nobody/here",
        "--when-unreachable=deny",
        door=(sys.executable, "-m", "crabhook"),
    )
    assert json.loads(hook.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
