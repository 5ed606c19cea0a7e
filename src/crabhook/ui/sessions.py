"""Sessions by the start of their ids, as an operator writes them."""

import re
from collections.abc import Iterable

from crabhook.broker.desk import Desk
from crabhook.model.event import Event
from crabhook.ui.safe import safe
from crabhook.ui.summary import brief
from crabhook.ui.words import LineError

_WHOLE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_QUOTED = 40  # letters of what is not found that are repeated
_LISTED = 5


def shown_session(event: Event) -> str:
    """Return an event's session in one word, as cards and lines write it."""
    return _shown(event.session)


def _shown(session: str) -> str:
    return brief(session).replace(" ", "⟨U+0020⟩")


def find_session(start: str, sessions: Iterable[str], usage: str) -> str:
    """Return the one session whose id, as it is shown, begins so; raises LineError else.

    A whole id is never taken for the start of a longer one.
    """
    known = {session: _shown(session) for session in sessions if session}
    found = [session for session, shown in known.items() if shown.startswith(start)]
    if exact := [session for session in found if known[session] == start]:
        found = exact
    if len(found) == 1:
        return found[0]
    asked = safe(start[:_QUOTED])
    if not found:
        raise LineError(f"no session that is known begins with {asked}", usage)
    listed = ", ".join(known[session][:_QUOTED] for session in found[:_LISTED])
    raise LineError(f"{len(found)} sessions begin with {asked}: {listed}", usage)


def known_session(start: str, desk: Desk, usage: str) -> str:
    """Return the session that is meant, of those that wait, were heard of, or have orders.

    A whole id that nobody has heard of yet is taken as it is written.
    """
    cards = [card.event.session for card in desk.waiting()]
    feed = [entry.event.session for entry in desk.feed()]
    orders = [order.session for order in desk.orders()]
    known = [*cards, *feed, *orders]
    if _WHOLE_ID.fullmatch(start) and start not in known:
        return start
    return find_session(start, known, usage)
