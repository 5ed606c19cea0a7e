"""What has a passphrase in its memory is read by no other process of the same user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

# Holds a secret in its memory, hidden if it is told to, until its standard input ends.
_HOLDER = """
import sys
sys.path[:0] = sys.argv[2:]
from crabhook.cli.team.asking import unread_by_others
secret = "-".join(("correct", "horse", "battery"))
if sys.argv[1] == "hidden":
    unread_by_others()
print("ready", flush=True)
sys.stdin.read()
"""
# Reads all that /proc tells of a process, its memory too; prints what it could not open.
_READER = """
import re, sys
pid, sought = sys.argv[1], b"-".join((b"correct", b"horse", b"battery"))
for name in ("environ", "maps", "mem"):
    try:
        with open(f"/proc/{pid}/{name}", "rb", 0) as file:
            if name == "maps":
                ranges = re.findall(rb"^([0-9a-f]+)-([0-9a-f]+) rw", file.read(), re.M)
            if name == "mem":
                for begin, end in ((int(a, 16), int(b, 16)) for a, b in ranges):
                    file.seek(begin)
                    try:
                        if sought in file.read(end - begin):
                            print("found it")
                            break
                    except OSError:
                        pass
    except PermissionError:
        print("no", name)
"""


def as_nobody() -> list[str]:
    """Return what makes a command somebody's who is not root, to whom nothing is closed."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root reads everything, and there is no `setpriv` here")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.mark.skipif(sys.platform != "linux", reason="what hides memory is of Linux alone")
@pytest.mark.parametrize(
    ("how", "told"), [("open", "found it\n"), ("hidden", "no environ\nno maps\nno mem\n")]
)
def test_who_has_typed_a_passphrase_is_read_by_no_other_process_of_that_user(
    how: str, told: str
) -> None:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if how == "open" and scope.exists() and scope.read_text().strip() != "0":
        pytest.skip("this system lets no process read another's memory anyhow")
    python = [*as_nobody(), shutil.which("python3", path="/usr/bin") or sys.executable, "-c"]
    if subprocess.run([*python, "import sys"], capture_output=True, check=False).returncode:
        pytest.skip("that user can run no Python here")
    holder = subprocess.Popen(
        [*python, _HOLDER, how, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        reader = [*python, _READER, str(holder.pid)]
        read = subprocess.run(reader, capture_output=True, text=True, check=False, timeout=60)
        assert (read.stdout, read.stderr) == (told, "")
    finally:
        holder.communicate(timeout=60)
