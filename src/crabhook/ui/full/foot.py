"""The foot of the screen: what is being typed or was just said, what went by, the keys for now."""

from dataclasses import dataclass

from crabhook.ui.full.clock import Clock
from crabhook.ui.full.dialogs.prompts import Typing
from crabhook.ui.full.helppage import help_line
from crabhook.ui.full.keys import line_keys
from crabhook.ui.full.letters import Speller, cells, wrapped
from crabhook.ui.full.lists import feed_rows
from crabhook.ui.full.paper import Line
from crabhook.ui.full.screen import Screen


@dataclass(frozen=True, slots=True)
class FootRows:
    """The foot's rows; `cursor` is the column of the typing cursor, in the first of them."""

    lines: list[Line]
    cursor: int | None = None


class Foot:
    """Draws the foot; a notice that needs more than its row covers what went by, then the keys."""

    def __init__(self, screen: Screen, spell: Speller) -> None:
        self._screen = screen
        self._spell = spell

    def draw(self, columns: int, feed: int, clock: Clock) -> FootRows:
        """Draw the foot with so many rows of feed: two rows more in all."""
        typing = self._screen.typing
        top: list[Line] = []
        cursor = None
        if typing is not None:
            typed, cursor = self._typed(typing, columns)
            top.append(typed)
        top = [*top, *self._notice(columns)][: feed + 2] or [[]]
        room = max(feed + 1 - len(top), 0)
        news = feed_rows(self._screen.desk.feed(), clock, columns, room, self._spell)
        blank: list[Line] = [[] for _ in range(room - len(news))]
        keys = help_line(line_keys(self._screen.key_context()), columns)
        return FootRows([*top, *news, *blank, keys][: feed + 2], cursor)

    def _notice(self, columns: int) -> list[Line]:
        """Return what the screen has to say, in as many rows as it takes."""
        notice = self._screen.notice
        rows = wrapped(notice, columns - 2, self._spell, words=True) if notice else ()
        return [[("notice", f" {row}")] for row in rows]

    def _typed(self, typing: Typing, columns: int) -> tuple[Line, int]:
        """Return the line being typed, as much of it as fits around its cursor."""
        ended = typing.number is not None and self._screen.selection.ended
        prompt = self._spell(f" {typing.ended_prompt if ended else typing.prompt}")
        before = self._spell(typing.box.text[: typing.box.cursor])
        after = self._spell(typing.box.text[typing.box.cursor :])
        room = columns - cells(prompt) - 2
        while cells(before) > max(room, 0):
            before = before[max((len(before) - room) // 2, 1) :]
        return [("prompt", prompt), ("typed", before + after)], cells(prompt) + cells(before)
