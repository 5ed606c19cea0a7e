"""Deciding a card at once, with a typed line, or from now on; and changing how long it waits.

From now on: by the agent's suggestions, permission modes, or the operator's rules. A rule that
would have allowed a call denied before needs a yes on a page that says so; so does every rule that
denies, since it stays when the call is forgotten.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.desk import other_acts
from crabhook.desk.acts import ACTS, KEYS, Act, ActKey, Asked, Field, Place, kind_of
from crabhook.desk.commands import AskOffers, Done, KeepRule, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering, Past
from crabhook.model.card import Card
from crabhook.model.decision import MODES, PASS_ALONE, PLACES, Choices, Decision, Verdict, set_mode
from crabhook.model.jsontext import Value, pretty
from crabhook.model.order import CAP
from crabhook.model.wording import plural, until
from crabhook.present.card import suggestions
from crabhook.present.phrases import lasting
from crabhook.present.sentence import DOES, doubts, outlasting
from crabhook.present.summary import brief
from crabhook.ui.commands.decide import (
    LIVES,
    NO_REASON,
    covered,
    tried,
    undoing,
    undone,
)
from crabhook.ui.full.dialog import DIGITS, Go, Group, KeyRow, always, keys_of, row_of
from crabhook.ui.full.dialogs import edit, mcp_form, plan
from crabhook.ui.full.dialogs.page import ScreenPage, gives
from crabhook.ui.full.dialogs.prompts import (
    AskLine,
    Beneath,
    Choice,
    ForAct,
    Menu,
    MissingRowError,
    Purpose,
    YesPage,
    awaited,
    statement,
)
from crabhook.ui.full.dialogs.question import Form, ReviewPage, form_of
from crabhook.ui.full.effects import (
    Effects,
    Enter,
    Give,
    PassOver,
    Say,
    ScreenEffect,
    Submit,
    submit,
)
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.full.work import CardWork


def allow(form: Form | None) -> Effects:
    """Allow; answers already made in the card's form are not thrown away by it."""
    if form is None:
        return (Give(Decision(Verdict.ALLOW)),)
    if form.answers():
        return Enter(), Go(ReviewPage), Say("there are answers here: look at them, then send them")
    notice = "no answers are sent: the agent asks in its own dialog"
    return (Give(Decision(Verdict.ALLOW), said=notice),)


# What is asked for by a line that decides the selected card, and why an empty line is refused.
_LINES: Mapping[str, tuple[Purpose, str]] = {
    "allow": (Purpose.NOTE, "type the note, or leave with esc and allow with a"),
    "deny": (Purpose.REASON, ""),
    "end-turn": (
        Purpose.INTERRUPT,
        "a denial needs a reason: the model reads it to know what to do instead",
    ),
    "keep-going": (Purpose.KEEP_GOING, "say how to go on: the model reads it"),
    "halt": (Purpose.HALT, "say why the session stops: its user reads it"),
}


def by_line(act: Act, card: Card, desk: Replica) -> Effects:
    """Ask for the words of an act, and decide the card by it; a denial may have none.

    Where no model reads a denial's reason, none is asked for.
    """
    if act.field_at(card.choices) is Field.NOTHING:
        return (Give(act.decision(NO_REASON, card.choices)),)
    purpose, needs = _LINES.get(act.id, (ForAct(act.name), f"type the {act.field}"))

    def then(text: str) -> Effects:
        now = desk.card(card.number) or card  # it may have been asked again meanwhile
        return (Give(act.decision(text or NO_REASON, now.choices)),)

    return (AskLine(purpose, then, needs=needs),)


def keep_going(card: Card, desk: Replica) -> Effects:
    """Tell an agent that wants to stop how to go on."""
    times = f"it was kept going {card.kept_going} of {CAP} times in a row"
    return *by_line(ACTS["keep-going"], card, desk), Say(times)


def tell_user(card: Card, work: CardWork) -> Effects:
    """Keep a message to the agent's user, to go with the decision; an empty message is dropped."""
    number = card.number

    def then(text: str) -> Effects:
        before, work.message = work.message, text
        if text:
            return (Say(f"it goes with your decision about #{number}: nothing is sent yet"),)
        return (Say(f"no message goes with your decision about #{number}" if before else ""),)

    return (AskLine(Purpose.MESSAGE, then, work.message, kept=True),)


def hush(card: Card, work: CardWork) -> Effects:
    """Send suppressOutput with the decision, or no longer."""
    work.quiet = not work.quiet
    goes = "suppressOutput goes" if work.quiet else "no suppressOutput goes"
    return (Say(f"{goes} with your decision about #{card.number}: nothing is sent yet"),)


def snooze(card: Card, now: float) -> Effects:
    """Put the card aside and go on with the next; or bring it back."""
    command = other_acts.snooze(card, now)
    if card.snoozed_until > 0:
        return (submit(command, Go(), Say(f"#{card.number} is back")),)
    notice = f"#{card.number} is aside for {lasting(command.seconds)}"
    return (submit(command, Go(), PassOver(), Say(notice)),)


def extend(card: Card, desk: Replica) -> Effects:
    """Let the card wait longer, as far as its agent can."""

    def then(outcome: Outcome) -> Effects:
        longer = desk.card(card.number)
        if outcome != Done() or longer is None:
            return (Say(outcome.why),)
        gained = longer.wait_until - card.wait_until
        return (Say(f"#{card.number} waits {lasting(gained)} longer"),)

    return (Submit(other_acts.wait_longer(card), then),)


def second_yes(card: Card, decision: Decision, desk: Replica, *, rule: bool = False) -> str:
    """Return what the operator is asked before the decision is given; empty for nothing.

    It says too where the yes is for more than this call: by the agent's memory, or by a `rule`.
    """
    doubt = doubts(card, decision, desk)
    reasons = (*doubt.unasked, *doubt.dangers)
    if not reasons:
        return ""
    kept = outlasting(card.event, decision, str) or (
        "a RULE of yours for such calls" if rule else ""
    )
    does = f"gives ALLOW + {kept}" if kept else DOES[decision.verdict]
    return f"▲▲ {' · '.join(reasons)}? enter {does} · esc goes back"


# Where a suggestion can be kept, in the words of the list.
_KEPT = {
    "session": "for this session alone",
    "local": "in this project, for you alone (local settings)",
    "project": "in this project, for everybody (project settings)",
    "user": "everywhere, for you (user settings)",
}
_AS_IT_CAME = "the agent will remember this: only the place changes"


def offer_places(card: Card, key: str) -> Effects:
    """Ask where the agent keeps the suggestion with that number."""
    offered = suggestions(card)
    place = int(key) - 1
    if place >= len(offered):
        raise MissingRowError(int(key), len(offered), what="suggestion")
    chosen = offered[place]
    suggested = [PLACES[name] == chosen.update.get("destination") for name in _KEPT]
    rows = tuple(
        Choice(words + (", as suggested" if here else ""), _allowing(chosen.kept(name)))
        for here, (name, words) in zip(suggested, _KEPT.items(), strict=True)
    )
    title = f"allow #{card.number}, and keep suggestion {key} from now on:"
    beneath = Beneath(_AS_IT_CAME, f"{chosen.what}\n{pretty(dict(chosen.update))}")
    cursor = suggested.index(True) if any(suggested) else 0
    return (Menu(title, rows, card.number, (beneath,), cursor),)


def offer_modes(card: Card) -> Effects:
    """Ask for the permission mode to set with an allow."""
    now = Beneath("the mode now", brief(card.event.permission_mode, str))
    rows = tuple(Choice(mode, _allowing(set_mode(mode))) for mode in MODES)
    return (Menu(f"allow #{card.number}, and set the mode", rows, card.number, (now,)),)


def _allowing(update: Mapping[str, Value]) -> Callable[[], Effects]:
    return lambda: (Give(Decision(Verdict.ALLOW, permissions=(update,))),)


_LIVES = (*LIVES.values(),)  # each press of the key takes the next
_UNDONE_SHOWN = 20


def offer_rules(card: Card, desk: Replica) -> Effects:
    """Show the rules offered for the card, now or as soon as they have been tried."""
    number = card.number
    about = _About(f"#{number}", number, lambda taken, _: Give(Decision(Verdict.ALLOW), taken))
    return _offer(about, AskOffers(number), desk)


def offer_denials(card: Card, desk: Replica) -> Effects:
    """Show the rules that would deny such calls; the chosen rule is written with a denial."""
    number = card.number

    def give(taken: TakenOffer, reason: str) -> ScreenEffect:
        return Give(Decision(Verdict.DENY, reason=reason), taken)

    return _offer(_About(f"#{number}", number, give), AskOffers(number, denies=True), desk)


def offer_rules_of(entry: Past, desk: Replica) -> Effects:
    """Show the rules offered for calls like the call of an entry of the history."""

    def keep(taken: TakenOffer, _: str) -> ScreenEffect:
        where = desk.offers(0, entry.id).where
        notice = Say(f"the rule is WRITTEN in {where}, and counts from now on")
        return submit(KeepRule(entry.id, taken), notice)

    about = _About(f"entry {entry.id}", None, keep)
    return _offer(about, AskOffers(entry=entry.id), desk)


@frozen
class _About:
    """What rules are offered for: its name, and its card if it has one.

    `take` takes a rule, with the reason that was typed for it.
    """

    name: str
    number: int | None
    take: Callable[[TakenOffer, str], ScreenEffect]


def _offer(about: _About, ask: AskOffers, desk: Replica) -> Effects:
    def told(outcome: Outcome) -> Effects:
        offering = desk.offers(ask.card, ask.entry, denies=ask.denies)
        if outcome == Done() and offering.offers:
            return (_menu(about, offering, turns=0, cursor=0),)
        return (Say(outcome.why or f"{about.name}: no rule is offered. {offering.why}"),)

    meanwhile = f"{about.name}: trying rules on what was decided before…"
    return awaited(meanwhile, about.number, ask, told)


def _menu(about: _About, offering: Offering, *, turns: int, cursor: int) -> Menu:
    """Return the list of offers, with one of the lives for all rules."""
    ended = _LIVES[turns % len(_LIVES)]
    ends = [ended(offer) for offer in offering.offers]
    order = f"rules from narrow to wide, {tried(offering)}"

    def turn(here: int) -> Menu:
        return _menu(about, offering, turns=turns + 1, cursor=here)

    does = "deny" if any(offer.denies for offer in offering.offers) else "allow"
    return Menu(
        f"always {does} what {about.name} asks, {until(ends[0])}: {order}",
        tuple(map(partial(_choice, about), offering.offers, ends)),
        about.number,
        cursor=cursor,
        turn=turn,
    )


def _choice(about: _About, offer: Offer, expires: datetime | None) -> Choice:
    """Return the row of a rule; below it the decisions it would undo, else what more it allows."""
    shown, more = undone(offer, _UNDONE_SHOWN)
    listed = "\n".join(filter(None, (*shown, more)))
    rule, taken = f"{offer.rule} · {until(expires)}", TakenOffer(offer.id, expires)
    warning = (undoing(offer), f": {shown[0]}") if shown else (next(iter(offer.gives_away), ""), "")
    beneath = (
        Beneath("the rule", rule, words=True),
        Beneath("beside that", "\n".join(offer.gives_away), "warning"),
        Beneath(undoing(offer), listed, "warning"),
    )
    undoes = ((f"! It {undoing(offer)}:", listed),) if shown else ()

    def asked(reason: str = "") -> YesPage:
        head = ("ALWAYS DENY by this rule" if offer.denies else "ALWAYS ALLOW by this rule", rule)
        denial = (
            (f"It would have denied {plural(offer.covered, 'past call')}.", ""),
            ("the model reads", reason),
        )
        page = statement(head, *undoes, *(denial if offer.denies else ()))
        give = about.take(taken, reason)
        return YesPage(lambda: page, lambda: (give,), about.number, skimmed=offer.denies)

    def chosen() -> Effects:
        if offer.denies:
            return (AskLine(Purpose.ALWAYS_DENY, lambda text: (asked(text or NO_REASON),)),)
        return (asked() if shown else about.take(taken, ""),)

    return Choice(covered(offer), chosen, f": {offer.covers}", warning, beneath)


# The keys of the acts at a card.

_Handler: TypeAlias = Callable[[ScreenPage, str], Effects | None]


def _at_card(do: Callable[[ScreenPage, Card], Effects]) -> _Handler:
    """Return the handler that needs the selected card."""
    return lambda page, _: () if page.card is None else do(page, page.card)


def _edit(page: ScreenPage, card: Card) -> Effects:
    return edit.begin(card, page.screen.work.begun(card, edit.edits_begun))


def _edit_all(page: ScreenPage, card: Card) -> Effects:
    return page.screen.work.begun(card, edit.edits_begun).opened(card, ())


def _keep_suggestion(page: ScreenPage, key: str) -> Effects:
    return () if page.card is None else offer_places(page.card, key)


_OF_ACTS: Mapping[tuple[str, str], _Handler] = {
    ("allow", "a"): lambda page, _: allow(form_of(page.screen)),
    ("deny", "l"): plan.with_notes(plan.begin),
    ("keep-going", "w"): _at_card(lambda page, card: keep_going(card, page.screen.desk)),
    ("edit", "e"): _at_card(_edit),
    ("edit", "E"): _at_card(_edit_all),
    ("change-output", "e"): _at_card(_edit),
    ("always-allow", "A"): _at_card(lambda page, card: offer_rules(card, page.screen.desk)),
    ("always-deny", "N"): _at_card(lambda page, card: offer_denials(card, page.screen.desk)),
    ("suggestion", DIGITS): _keep_suggestion,
    ("mode", "M"): _at_card(lambda _, card: offer_modes(card)),
    ("accept", "a"): mcp_form.accept_at,
    ("message", "m"): _at_card(lambda page, card: tell_user(card, page.screen.work.about(card))),
    ("quiet", "L"): _at_card(lambda page, card: hush(card, page.screen.work.about(card))),
    ("wait-longer", "+ ="): _at_card(lambda page, card: extend(card, page.screen.desk)),
    ("snooze", "z"): _at_card(lambda page, card: snooze(card, page.screen.desk.now())),
}
"""What the keys do whose act is begun by a dialog of its own; any other asks for its words."""


def _handler(key: ActKey) -> _Handler:
    """Return what a key of an act does: its dialog, its decision, or a line for its words."""
    act = key.act
    handler = _OF_ACTS.get((act.id, key.key))
    if handler is None and act.field is Field.NOTHING:
        handler = gives(act.id)
    if handler is None:
        handler = _at_card(lambda page, card: by_line(act, card, page.screen.desk))
    return handler


def _asked(page: ScreenPage, card: Card) -> Asked:
    """Return what the selected card can be told, and what it is about."""
    choices, screen = card.choices if page.screen.waits else PASS_ALONE, page.screen
    questions, planned = form_of(screen) is not None, plan.notes_of(screen) is not None
    kind = kind_of(choices, questions=questions, plan=planned)
    if page.supposed:
        choices = Choices(frozenset(Verdict), card.choices.beside)
    return Asked(choices, kind, bool(suggestions(card)))


@frozen
class ActsAtCard(Group[ScreenPage]):
    """The acts that are done at the selected card alone: while some are marked, keys decide those.

    What shows the changes of a plan stands among them, and is no act.
    """

    def now(self, dialog: ScreenPage) -> Sequence[KeyRow[ScreenPage]]:
        """Return what the card can be told, and who sits here may do."""
        return _possible(dialog, self.rows)

    def row(self, dialog: ScreenPage, key: str) -> KeyRow[ScreenPage] | None:
        """Return what a key does now: its own acts alone are looked at."""
        rows = _possible(dialog, [row for row in self.rows if key in row.keys])
        return rows[0] if rows else None


def _possible(
    dialog: ScreenPage, rows: Sequence[KeyRow[ScreenPage]]
) -> Sequence[KeyRow[ScreenPage]]:
    card, role = dialog.card, dialog.role
    alone = card is not None and dialog.waits and not dialog.screen.marks
    asked = _asked(dialog, card) if card is not None and alone else None
    return [
        row
        for row in rows
        if (
            plan.has_changes(dialog)
            if row.act_key is None
            else asked is not None and row.act_key.fits(asked, role)
        )
    ]


_ITS_TIME = ("wait-longer", "snooze")


def _acts_at_a_card() -> Iterator[KeyRow[ScreenPage]]:
    """Yield the rows of the acts that are done at a card, the most needed first."""
    for key in KEYS:
        if key.place is Place.CARD and key.act.id not in _ITS_TIME:
            yield row_of(key, _handler(key))
            if key.key == "l":
                yield plan.WHAT_CHANGED


def _acts(theme: KeyTheme, rows: Iterable[KeyRow[ScreenPage]]) -> ActsAtCard:
    listed = tuple(rows)
    return ActsAtCard(theme, always, listed, keys_of(listed))


DECIDING = _acts(KeyTheme.DECIDING, _acts_at_a_card())
ITS_TIME = _acts(
    KeyTheme.TIME, (row_of(key, _handler(key)) for key in KEYS if key.act.id in _ITS_TIME)
)
