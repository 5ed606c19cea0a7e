"""How a line of the plain desk says the second yes (`commands.second_yes`).

The law of this file: a person lets what is doubtful happen, or what was not printed, only by a line
that says so.  Programs, which cannot read a question, are not asked.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.ui.commands.parse import OLDEST, read_target
from crabhook.ui.commands.second_yes import LETS, Doubts, doubts
from crabhook.ui.commands.words import WORDS, LineError
from crabhook.ui.plain.person import ForAPerson
from crabhook.ui.text.safe import safe

_NAMED_BY = 6  # letters of an effect that name it, and more up to the end of a word


class _Asked(NamedTuple):
    """A decision that wants a second yes to these effects."""

    effects: tuple[str, ...]
    changed: bool
    give: Callable[[], None]


def name_of(effect: str) -> str:
    """Return the first words of an effect, by which a line names it."""
    found = re.match(rf".{{{_NAMED_BY},}}?(?=[\s:,]|$)", effect)
    return safe(found[0] if found else effect).casefold()


def asked_for(effect: str, said: str) -> bool:
    """Whether a line names an effect: by its first words at least."""
    said = said.casefold()
    return said.startswith(name_of(effect)) and effect.casefold().startswith(said)


class SecondYes:
    """The decisions that wait for a second yes; without a `person` there are none."""

    def __init__(self, desk: Replica, person: ForAPerson | None) -> None:
        self._desk, self._person = desk, person
        self._asked: dict[int, _Asked] = {}

    def drop(self, number: int) -> bool:
        """Forget what was asked about a card; return whether that was a changed call."""
        asked = self._asked.pop(number, None)
        return asked is not None and asked.changed

    def to(self, line: str) -> Callable[[], None] | None:
        """Return what gives the decision whose effect a line names, as in `18 deletes`."""
        target, said = read_target(line.strip())
        number = next(reversed(self._asked), None) if target == OLDEST else target.number
        if number is None or (asked := self._asked.get(number)) is None:
            return None
        if not any(asked_for(effect, said) for effect in asked.effects):
            return None
        del self._asked[number]
        return asked.give

    def ask(self, card: Card, decision: Decision, *, plain: bool, give: Callable[[], None]) -> None:
        """Raise LineError where a person has to say yes a second time, or to read first.

        `give` gives the decision all the same; `plain`: nothing but an allow, perhaps with a note.
        """
        number, changed = card.number, decision.updated_input is not None
        self._asked.pop(number, None)
        if card.state is not State.WAITING:
            return
        plain = plain and not changed and decision == Decision(decision.verdict, note=decision.note)
        surely = f"{number} allow!" if plain and decision.verdict is Verdict.ALLOW else ""
        if doubt := self.doubts(card, decision):
            effects = (*doubt.dangers, *doubt.unasked)
            self._asked[number] = _Asked(effects, changed, give)
            name = name_of(effects[0]) if doubt.dangers else doubt.mode
            ways = " or ".join(filter(None, (surely, f"{number} {safe(name)}")))
            what = f"#{number}{' as you changed it' if changed else ''}"
            raise LineError(f"{what} wants a second yes, to this: {'; '.join(effects)}", ways)
        keeps = bool(decision.permissions)
        unprinted = self._person is not None and self._person.unprinted(card, keeps=keeps)
        if unprinted and decision.verdict in LETS and not changed:
            ways = " or ".join(filter(None, (WORDS["show"].usage(number), surely)))
            raise LineError(f"#{number} was not printed whole", ways)

    def doubts(self, card: Card, decision: Decision) -> Doubts | None:
        """Return what a person has to say yes to a second time; None for nothing."""
        found = Doubts() if self._person is None else doubts(card, decision, self._desk)
        return found if found != Doubts() else None
