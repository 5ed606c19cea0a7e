"""A card as plain lines."""

from collections.abc import Iterator

from crabhook.broker.card import Card
from crabhook.broker.states import State
from crabhook.broker.stops import CAP
from crabhook.model.decision import Verdict
from crabhook.ui.fitting import fitting, suggestions
from crabhook.ui.plain.given import given_rows
from crabhook.ui.rows import Row, bounded
from crabhook.ui.secrets import COVER, covered
from crabhook.ui.sessions import shown_session
from crabhook.ui.summary import brief
from crabhook.ui.words import WORDS

FIRST_LINES, FIRST_CHARACTERS = 200, 20_000  # of a card that is printed unasked
_LONGEST_FACT = 2_000  # characters of why a card is here, which may quote what is asked
WHOLE_LINES, WHOLE_CHARACTERS = 10_000, 200_000  # of one that was asked for


def card_lines(card: Card, now: float, *, whole: bool = False, bare: bool = False) -> list[str]:
    """Return the block that tells all about a card, a blank line at its end.

    `now` is on the broker's clock.  A long request is shortened in its middle
    to what a person takes in at once, and says so; `whole` gives more of it,
    up to a bound that no person reads past.  `bare` leaves secrets in the clear.
    """
    bounds = (WHOLE_LINES, WHOLE_CHARACTERS) if whole or bare else (FIRST_LINES, FIRST_CHARACTERS)
    given = bounded(_asked(card, bounds[1]), *bounds)
    rows = [*(row.cut(_LONGEST_FACT) for row in _facts(card, now)), *given]
    if any(row.shortened for row in given):
        rows.append(_shortened(card, whole=whole or bare))
    lines = [row.bare_line if bare else row.line for row in rows]
    if not bare and any(COVER in line for line in lines):
        lines.append(
            f'  covered: secrets; "{WORDS["show secrets"].usage(card.number)}" prints them'
        )
    return [header(card), *lines, _closing(card), ""]


def header(card: Card) -> str:
    """Return a card's first line: `#N EVENT TOOL session=… cwd=…`.

    The event, the tool and the session are one word each, the first two
    without `=`, so that a program can take the line apart whatever the agent
    named them.
    """
    event = card.event
    words = [f"#{card.number}", _name(event.name)]
    if event.tool:
        words.append(_name(event.tool.name))
    return " ".join([*words, f"session={shown_session(event)}", f"cwd={brief(event.cwd, covered)}"])


def clock(seconds: float) -> str:
    """Return a span of time as minutes and seconds, or hours, minutes and seconds."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _name(text: str) -> str:
    return brief(text, covered).replace(" ", "⟨U+0020⟩").replace("=", "⟨U+003D⟩")


def _facts(card: Card, now: float) -> Iterator[Row]:
    """Say who asks, in which mode, and how long it waits."""
    event, origin = card.event, card.requests[0].origin
    if event.agent_id or event.agent_type:
        yield Row("  agent: " + brief(f"{event.agent_type} {event.agent_id}".strip(), covered))
    if event.permission_mode:
        yield Row("  mode: " + brief(event.permission_mode, covered))
    if origin.host or origin.user:
        where = "@".join(name for name in (origin.user, origin.host) if name)
        process = f" process {origin.pid}" if origin.pid else ""  # which HTTP does not tell
        yield Row(f"  from: {brief(where, covered)}{process}")
    if len(card.requests) > 1:
        names = ", ".join(leg.event.name for leg in card.requests)
        yield Row("  asked as: " + brief(names, covered))
    if Verdict.KEEP_GOING in card.choices.verdicts:
        yield Row(f"  kept going: {card.kept_going} of {CAP} in a row")
    yield from (Row("  ALARM: ", alarm) for alarm in card.alarms)
    if card.state is State.WAITING:
        yield from (Row("  limit: ", limit) for limit in card.limits)
        if card.because:
            yield Row("  here because: ", card.because)
        yield Row(f"  time left: {clock(card.wait_until - now)}")


def _asked(card: Card, longest: int) -> Iterator[Row]:
    """Tell what is asked, then what the agent suggests to allow from now on."""
    yield from given_rows(card.event, longest)
    for number, offered in enumerate(suggestions(card), 1):
        place = f" → {offered.where}" if offered.where else ""
        yield Row(f"  always {number}: ", offered.what, place)


def _shortened(card: Card, *, whole: bool) -> Row:
    if whole:
        return Row("  shortened: this is the most the plain desk prints")
    return Row(f'  shortened: "{WORDS["show"].usage(card.number)}" prints more of it')


def _closing(card: Card) -> str:
    """Return the words that fit the card, or how it ended."""
    if card.state is not State.WAITING:
        return "  ended: " + " ".join(filter(None, (card.outcome, brief(card.why, covered))))
    return f"  answer with: {' | '.join(fitting(card))}"
