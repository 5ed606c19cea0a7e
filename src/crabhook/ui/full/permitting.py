"""Allowing from now on: the agent's suggestions, where they are kept, and permission modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.model.jsontext import pretty
from crabhook.model.suggestion import MODES, PLACES, set_mode
from crabhook.ui.fitting import suggestions
from crabhook.ui.full.giving import give
from crabhook.ui.full.menu import Choice, Menu
from crabhook.ui.summary import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crabhook.model.jsontext import Value
    from crabhook.model.suggestion import Suggestion
    from crabhook.ui.full.screen import Screen

# Where a suggestion can be kept, in the words of the list.
_KEPT = {
    "session": "for this session alone",
    "local": "in this project, for you alone (local settings)",
    "project": "in this project, for everybody (project settings)",
    "user": "everywhere, for you (user settings)",
}
_AS_IT_CAME = "what the agent suggests; of it, the place to keep it alone is changed"


def offer_places(screen: Screen, key: str) -> None:
    """Ask where the suggestion with that number is to be kept."""
    card = screen.card
    offered = suggestions(card) if card else ()
    place = int(key) - 1
    if card is None or place >= len(offered):
        screen.say(f"there is no suggestion {key}")
        return
    chosen = offered[place]
    menu = Menu(
        f"allow #{card.number}, and keep suggestion {key} from now on:",
        tuple(
            Choice(f"{words}{_as_suggested(chosen, name)}", _allowing(screen, chosen.kept(name)))
            for name, words in _KEPT.items()
        ),
        card.number,
        beneath=(_AS_IT_CAME, f"{chosen.what}\n{pretty(dict(chosen.update))}"),
    )
    own = [PLACES[name] for name in _KEPT]
    destination = chosen.update.get("destination")
    menu.cursor = own.index(destination) if destination in own else 0
    screen.offer(menu)


def _as_suggested(suggestion: Suggestion, name: str) -> str:
    return ", as suggested" if suggestion.update.get("destination") == PLACES[name] else ""


def offer_modes(screen: Screen) -> None:
    """Ask for the permission mode to set with an allow."""
    card = screen.card
    if card is None:
        return
    now = brief(card.event.permission_mode, str)
    rows = tuple(Choice(mode, _allowing(screen, set_mode(mode))) for mode in MODES)
    screen.offer(
        Menu(f"allow #{card.number}, and set the mode", rows, card.number, ("the mode now", now))
    )


def _allowing(screen: Screen, update: Mapping[str, Value]) -> Callable[[], str]:
    return lambda: give(screen, Decision(Verdict.ALLOW, permissions=(update,)))
