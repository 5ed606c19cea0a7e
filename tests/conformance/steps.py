"""Steps at the agent's terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conformance.cell import Step
    from tests.conformance.scene import Scene


POINTER = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
"""What stands before the choice that Enter takes in Claude Code's dialogs."""


def see(text: str) -> Step:
    """Wait until the screen shows a text, whatever lines it is broken into."""

    def step(scene: Scene) -> None:
        try:
            scene.screen.wait_for(lambda screen: text in " ".join(screen.split()))
        except AssertionError:
            raise AssertionError(f"{text!r} did not come up") from None

    return step


AT_REST = "? for shortcuts"
"""What stands under Claude Code's prompt while it waits for its user."""


def at_rest() -> Step:
    """Wait until the agent waits for its user: its turn's last hook has ended by then too."""
    return see(AT_REST)


def press(key: str, until: str) -> Step:
    """Press a key until the screen shows what it is pressed for."""

    def step(scene: Scene) -> None:
        scene.screen.press(key, until=until)

    return step


def submit(line: str) -> Step:
    """Type a line into the prompt and send it."""
    return lambda scene: scene.screen.submit(line)


def until(true: Callable[[Scene], bool], what: str, seconds: float = 60) -> Step:
    """Wait until something is true of the scene."""

    def step(scene: Scene) -> None:
        deadline = time.monotonic() + seconds
        while not true(scene):
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
            time.sleep(0.05)

    return step


def kept(text: str) -> Step:
    """Wait until a text stands in what the agent keeps of its conversations, and all before it."""
    return until(lambda scene: text in scene.transcripts(), f"{text!r} was kept")


def heard(event: str, times: int = 1, seconds: float = 60) -> Step:
    """Wait until an event was answered so often."""
    return until(lambda scene: scene.heard(event) >= times, f"{event} was heard", seconds)


def wrote(name: str, text: str) -> Step:
    """Wait until a file of the project holds a text: the agent may write after its last words."""
    return until(lambda scene: text in scene.file(name), f"{text!r} was written to {name}")
