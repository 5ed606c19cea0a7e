"""A server that takes no more for the moment: its queue of callers is full, or the socket."""

import contextlib
import socket
import time
from pathlib import Path

import pytest

from crabhook.hook import Unanswered
from tests.unit.hook.peers import Script, ask, listening, start_hook
from tests.unit.hook.test_call import ACCEPTED, SETTINGS, frame, head
from tests.unit.hook.test_client import options_for


@pytest.mark.process
def test_a_queue_that_is_full_is_waited_for(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/s")
        listener.listen(0)
        first = socket.socket(socket.AF_UNIX)
        first.connect(f"{folder}/s")
        with first, start_hook("--server", f"unix:{folder}/s", "--wait", "20") as hook:
            assert hook.stdin
            hook.stdin.close()
            time.sleep(0.2)
            assert hook.poll() is None
            listener.accept()[0].close()
            line, _ = listener.accept()  # the hook, which has called again
            with line:
                line.settimeout(60)
                assert line.recv(24) == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            assert hook.wait(60) == 0


def test_a_queue_that_stays_full_is_nobody(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(f"{folder}/s")
        listener.listen(0)
        first.connect(f"{folder}/s")
        with pytest.raises(Unanswered) as unanswered:
            ask(options_for(folder / "s", wait=0.2))
        assert unanswered.value.kind == "unreachable"
        assert "its connection queue is full" in str(unanswered.value)


def slow_reader(answered: list[int]) -> Script:
    """Open all windows, read nothing for a while, ask, and see when that is answered."""

    def script(line: socket.socket) -> None:
        wide = (1 << 30).to_bytes(4, "big")
        line.sendall(frame(SETTINGS, payload=b"\0\4" + wide) + frame(8, payload=wide))
        time.sleep(0.2)  # the hook has filled the socket and waits for room
        line.sendall(frame(6, payload=b"are you?"))
        received = bytearray()
        while frame(6, 1, payload=b"are you?") not in received:
            received += line.recv(1 << 16)
        answered.append(len(received))
        line.sendall(head(*ACCEPTED, ("grpc-status", "3"), ended=True))
        with contextlib.suppress(OSError):
            while line.recv(1 << 16):
                pass

    return script


def test_a_large_payload_waits_for_a_slow_reader_and_answers_its_pings(folder: Path) -> None:
    answered: list[int] = []
    with (
        listening(folder / "s", slow_reader(answered)),
        pytest.raises(Unanswered) as unanswered,
    ):
        ask(options_for(folder / "s"), bytes(8 << 20))
    assert unanswered.value.status == 3
    assert answered[0] < 4 << 20  # before the payload was through
