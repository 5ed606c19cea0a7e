"""An operator at a screen without a terminal: hooks ask, keys are pressed, pictures are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.card import Origin
from crabhook.model.order import Order
from crabhook.present.phrases import Clock
from crabhook.ui.full.arming import BURST
from crabhook.ui.full.controller import Controller
from crabhook.ui.full.dialogs.edit import EditPage
from crabhook.ui.full.dialogs.mcp_form import filling_of
from crabhook.ui.full.dialogs.plan import notes_of
from crabhook.ui.full.dialogs.prompts import InputLine, Menu
from crabhook.ui.full.dialogs.question import form_of
from crabhook.ui.full.layout import Frame, Painter
from crabhook.ui.full.panes.card import content_of
from crabhook.ui.full.screen import Screen
from crabhook.ui.options import DeskOptions
from tests.support.desk import WALL, PlayedDesk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.card import Card
    from crabhook.model.decision import Decision, Verdict
    from crabhook.ui.full.dialog import Dialog
    from crabhook.ui.full.dialogs.edit import Edit
    from crabhook.ui.full.dialogs.mcp_form import FillIn
    from crabhook.ui.full.dialogs.plan import PlanNotes
    from crabhook.ui.full.dialogs.question import Form
    from crabhook.ui.text.layout import Content

CLIENT = Origin("laptop", 4242, "ann")
STROKE = 0.125
"""Seconds between two keys of an operator who types fast."""
LONG_ENOUGH = 0.75
"""Seconds after which a card in view is armed, with the options of most tests."""
WIDE = 2_000
"""Columns in which the help line has room for every key."""

QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which library?",
            "header": "Library",
            "options": [{"label": "msgspec", "description": "fast"}, {"label": "pydantic"}],
            "multiSelect": False,
        },
        {
            "question": "Which features?",
            "header": "Features",
            "options": [
                {"label": "Retry"},
                {"label": "Red, green", "preview": "a picture"},
                {"label": "Cache"},
            ],
            "multiSelect": True,
        },
    ],
    "metadata": {"unknown": [1, 2]},
}


class Sitting:
    """A screen before a real broker; the clock stands still unless told.

    It is drawn after every key, as a terminal would, with `columns` and `rows`; `seen` is what was
    drawn last. Unless a test says otherwise an answer is held for a short moment, and the selection stays.
    """

    makes: type[PlayedDesk] = PlayedDesk

    def __init__(
        self,
        *,
        columns: int = 80,
        rows: int = 24,
        desk: PlayedDesk | None = None,
        **options: Any,
    ) -> None:
        self.desk = desk or self.makes()
        self.columns, self.rows = columns, rows
        self.stroke = STROKE
        self.options = DeskOptions(**{"take_back_ms": 600, "advance": False, **options})
        self.sit()

    def sit(self, title: str = "unix:/run/crabhook.sock") -> None:
        """Open a screen, on whatever the desk holds already."""
        replica = Replica(self.desk, self.desk.now)
        self.screen = Screen(replica, self.options, title)
        self.controller = Controller(self.screen)
        self.painter = Painter(self.screen)
        self.stop = replica.follow(self.controller.news)
        self.draw()

    def ask(
        self, tool: str = "Bash", tool_input: Any = None, *, wait: float = 600.0, **fields: Any
    ) -> int:
        """Let a hook ask about a call of a tool; return the number of its card."""
        name = self.desk.ask(call(tool, tool_input, **fields), wait=wait, origin=CLIENT)
        return self.number_of(name)

    def happen(self, name: str, *, wait: float = 600.0, **fields: Any) -> int:
        """Let an event about no tool be held and happen; return the number of its card."""
        self.desk.order(Order(OrderKind.HOLD, name))
        return self.number_of(self.desk.ask(happening(name, **fields), wait=wait, origin=CLIENT))

    def number_of(self, name: str) -> int:
        """Return the number of the card a waiting request is a leg of."""
        return next(
            card.number
            for card in reversed(self.desk.waiting())
            if any(leg.id == name for leg in card.requests)
        )

    def leave(self, number: int) -> None:
        """Let the hooks of a card be gone."""
        card = self.desk.card(number)
        assert card is not None
        for leg in card.requests:
            self.desk.leave(leg.id)

    def draw(self) -> Frame:
        """Draw the screen and tell it so."""
        self.desk.runner.look_at_troubles()
        clock = Clock(self.desk.now(), WALL)
        self.seen = frame = self.painter.frame(self.columns, self.rows, clock)
        self.controller.drawn(frame.sight)
        return frame

    def rows_of_text(self) -> list[str]:
        """Return what is on the screen, row by row."""
        return ["".join(text for _, text in line) for line in self.draw().lines]

    def content(self) -> Content | None:
        """Return what the large part of the screen shows."""
        return content_of(self.screen)

    def text(self) -> str:
        """Return what is on the screen."""
        return "\n".join(self.rows_of_text())

    def help_line(self) -> str:
        """Return the last row as it would be on a screen wide enough for all keys of the moment."""
        frame = self.painter.frame(WIDE, self.rows, Clock(self.desk.now(), 0.0))
        return "".join(text for _, text in frame.lines[-1])

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as a hand does."""
        for key in keys:
            self._stroke(key)
            self.draw()

    def _stroke(self, key: str) -> None:
        self.desk.pass_time(self.stroke)
        self.controller.press(key)
        due = self.controller.wake_at()
        if due is not None and due <= self.desk.now() + BURST:  # a command that is held
            self.desk.pass_time(BURST)
            self.controller.tick()

    def burst(self, *keys: str) -> None:
        """Let keys come at once, as pasted text or an escape sequence does."""
        for key in keys:
            self.desk.pass_time(0.001)
            self.controller.press(key)
        self.draw()

    def type(self, text: str) -> None:
        """Press the keys of a text, its first and its last letter seen: who types reads no frame."""
        keys = ["space" if letter == " " else letter for letter in text]
        self.press(*keys[:1])
        for key in keys[1:-1]:
            self._stroke(key)
        self.press(*keys[1:][-1:])

    def wait(self, seconds: float = LONG_ENOUGH) -> None:
        """Look at the screen, and go on looking for so long."""
        self.draw()
        self.desk.pass_time(seconds)
        self.controller.tick()
        self.draw()

    def decided(self) -> list[tuple[int, Decision]]:
        """Return what was decided at the desk, in order."""
        return self.desk.decided

    def verdicts(self) -> list[tuple[int, Verdict]]:
        """Return which cards were decided, and how."""
        return [(number, decision.verdict) for number, decision in self.decided()]

    @property
    def top(self) -> Dialog:
        """The dialog that gets the keys."""
        return self.screen.stack.top

    @property
    def line(self) -> InputLine | None:
        """The line that is typed."""
        return self.top if isinstance(self.top, InputLine) else None

    @property
    def menu(self) -> Menu | None:
        """The list to choose from."""
        return self.top if isinstance(self.top, Menu) else None

    @property
    def edit(self) -> Edit | None:
        """The text that is edited."""
        return self.top.edit if isinstance(self.top, EditPage) else None

    @property
    def form(self) -> Form | None:
        """The selected card's form, if it has questions."""
        return form_of(self.screen)

    @property
    def filling(self) -> FillIn | None:
        """The selected card's form of an MCP server, if it is about one."""
        return filling_of(self.screen)

    @property
    def plan(self) -> PlanNotes | None:
        """The notes on the selected card's plan."""
        return notes_of(self.screen)

    @property
    def card(self) -> Card:
        """The selected card."""
        assert self.screen.card is not None
        return self.screen.card


def happening(name: str, **fields: Any) -> Mapping[str, Any]:
    """Return an event about no tool, as Claude Code sends it."""
    return {
        "session_id": "3f1c0000",
        "cwd": "/home/ann/api-server",
        "hook_event_name": name,
        **fields,
    }


def call(tool: str = "Bash", tool_input: Any = None, **fields: Any) -> Mapping[str, Any]:
    """Return an event about a call of a tool, as Claude Code sends it."""
    return {
        "session_id": "3f1c0000",
        "cwd": "/home/ann/api-server",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {"command": "ls -l"} if tool_input is None else tool_input,
        **fields,
    }
