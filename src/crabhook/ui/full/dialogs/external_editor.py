"""The operator's own editor: a text goes out in a private file and comes back; no file stays.

The editor has the terminal, in its own process group: its ctrl-c must not reach the desk.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Timer

from prompt_toolkit.application import Application, run_in_terminal

from crabhook.model.errors import CrabhookError
from crabhook.ui.full.effects import EditOutside

FALLBACK = "vi"
STOPS_WITHIN = 2.0  # seconds until an editor that does not end when asked to is ended
LARGEST = 4_000_000  # bytes of a file that are read back


class EditorError(CrabhookError):
    """An editor that could not be started, failed, or left no text behind."""


def editor_of(environment: Mapping[str, str]) -> Sequence[str]:
    """Return the operator's editor as a command line, from $VISUAL, then $EDITOR."""
    for name in ("VISUAL", "EDITOR"):
        try:
            if command := shlex.split(environment.get(name, "")):
                return command
        except ValueError as error:
            raise EditorError(f"${name} cannot be read as a command: {error}") from error
    return [FALLBACK]


class OutsideEditor:
    """One run of the operator's editor, in a thread that waits for it."""

    def __init__(self, command: Sequence[str], terminal: int | None = None) -> None:
        self._command = command
        self._terminal = terminal
        self._child: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._starting = Lock()

    def edit(self, text: str, file_name: str) -> str:
        """Return the text the editor leaves, without an added line end, or raise EditorError."""
        with TemporaryDirectory(prefix="crabhook-") as folder:  # mode 0700
            file = Path(folder) / file_name
            file.touch(mode=0o600)
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            try:
                code = self._run([*self._command, str(file)])
            except OSError as error:
                wrong = f"the editor {self._command[0]} cannot be started: {error.strerror}"
                raise EditorError(f"{wrong}. Set $EDITOR to another editor") from error
            if code:
                raise EditorError(f"the editor ended with code {code}: the text is as it was")
            return _read(file, text)

    def stop(self) -> None:
        """End the editor as a terminal that is closed does, or keep it from being started."""
        with self._starting:
            self._stopped = True
        self._signal(signal.SIGHUP)
        if self._child is not None:
            killing = Timer(STOPS_WITHIN, self._signal, [signal.SIGKILL])
            killing.daemon = True
            killing.start()

    def _signal(self, number: signal.Signals) -> None:
        if self._child is not None and self._child.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, number)

    def _run(self, command: Sequence[str]) -> int:
        with self._starting:
            if self._stopped:
                raise EditorError("the desk closes: the editor was not started")
            child = self._child = subprocess.Popen(command, process_group=0)  # noqa: S603 - the operator's own editor
        with child:
            try:
                self._lend(child.pid)
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGCONT)  # it may have wanted the terminal early
                return _wait(child)
            finally:
                self._lend(os.getpgrp())

    def _lend(self, group: int) -> None:
        """Make a process group the terminal's foreground, even from the background."""
        if self._terminal is None:
            return
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with suppress(OSError):  # it has ended already
                os.tcsetpgrp(self._terminal, group)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _read(file: Path, before: str) -> str:
    try:
        if file.stat().st_size > LARGEST:
            raise EditorError(f"the file is larger than {LARGEST} bytes: the text is as it was")
        text = file.read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise EditorError(f"the edited file cannot be read: {error}") from error
    return text if before.endswith("\n") else text.removesuffix("\n")


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for the editor and continue it when suspended: no shell would."""
    while True:
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode
        os.killpg(child.pid, signal.SIGCONT)


class ExternalEditing:
    """Lends the terminal to the operator's editor, one text at a time; `say` tells what failed."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._editor: OutsideEditor | None = None

    def begin(self, errand: EditOutside, application: Application[None]) -> None:
        """Open a text in the operator's editor."""
        application.create_background_task(self._edit(errand, application))

    def stop(self) -> None:
        """End the editor that is open: the desk closes, and waits for it."""
        if self._editor is not None:
            self._editor.stop()

    async def _edit(self, errand: EditOutside, application: Application[None]) -> None:
        file = application.input.fileno()
        try:
            command = editor_of(os.environ)
            editor = self._editor = OutsideEditor(command, file if os.isatty(file) else None)
            text = await run_in_terminal(
                lambda: editor.edit(errand.text, errand.file_name), in_executor=True
            )
        except EditorError as error:
            self._say(str(error))
        else:
            errand.done(text)
        finally:
            self._editor = None
        application.invalidate()
