"""Every key of the desk, in one table: the help line, the help page and the docs come from it.

A new key is one row: its names, its help, its `Guard`, its handler. At most one row applies to a
key at any moment; a test tries all combinations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from crabhook.desk.acts import ACTS, Act, ActKey, Field, Guard, Place, key_of
from crabhook.desk.acts import KEYS as KEYS_OF_ACTS
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.present.summary import copied
from crabhook.ui.full import effects as do
from crabhook.ui.full import filters as when
from crabhook.ui.full import keyrow as on
from crabhook.ui.full import view_keys
from crabhook.ui.full.dialogs import bulk, decide, edit, mcp_form, orders, plan, question
from crabhook.ui.full.effects import Go, Look
from crabhook.ui.full.filters import Filter, KeyContext, Mode
from crabhook.ui.full.focus import Focus
from crabhook.ui.full.keyrow import Group, Handler, Key, group
from crabhook.ui.full.screen import Screen

_LOOKING = when.at(
    *(Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.CONFIRM, Mode.HELP, Mode.ALL),
    *(Mode.FILL, Mode.NOTES, Mode.ENTRY),
)
_NOT_IN_HELP = when.at(
    *(Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.FILL, Mode.NOTES), *when.VIEWS, Mode.ENTRY
)
_WITH_PALETTE = when.at(Mode.TEXT, Mode.FORM, Mode.FILL, *when.VIEWS, Mode.ENTRY)
_TYPED = (Mode.BOX, Mode.EDIT, Mode.SEARCH, Mode.PALETTE)
_SEEN = when.at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.CONFIRM, Mode.FILL, Mode.ALL)
_DIGITS = "1 2 3 4 5 6 7 8 9"

FREE, BEGIN, ARMED, READ, LINE = Guard


def _search(screen: Screen, _: str) -> None:
    screen.focus.search_keys(screen.desk.now())


def _palette(screen: Screen, _: str) -> None:
    screen.focus.open_palette(screen.desk.now())


def _turn_page(step: int) -> Handler:
    return on.does(Look(lambda window: window.scroll(step * window.page)))


def _marked(verdict: Verdict) -> Handler:
    return lambda screen, _: bulk.decide_marked(
        screen.marks, Decision(verdict), screen.answers.blocks
    )


def _free(screen: Screen) -> Sequence[Card]:
    """Return the queue's cards without those that are answered already."""
    return [card for card in screen.queue.cards() if not screen.answers.blocks(card)]


_BACK = on.focus(Focus.back)
_ENTER_LINE = on.screen(lambda screen: screen.focus.enter_line(screen.card))
_EDIT = on.at_card(lambda screen, card: edit.begin(card, screen.work.about(card).edits))

_OF_ACTS: Mapping[tuple[str, str], Handler] = {
    ("allow", "a"): on.screen(lambda screen: decide.allow(screen.form)),
    ("deny", "l"): on.plan(plan.begin),
    ("keep-going", "w"): on.at_card(lambda s, card: decide.keep_going(card, s.desk)),
    ("edit", "e"): _EDIT,
    ("edit", "E"): on.at_card(lambda s, card: s.work.about(card).edits.opened(card, ())),
    ("change-output", "e"): _EDIT,
    ("always-allow", "A"): on.at_card(lambda s, card: decide.offer_rules(card, s.desk)),
    ("always-deny", "N"): on.at_card(lambda s, card: decide.offer_denials(card, s.desk)),
    ("suggestion", _DIGITS): lambda s, key: decide.offer_places(s.card, key) if s.card else (),
    ("mode", "M"): on.card(decide.offer_modes),
    ("accept", "a"): on.at_card(lambda s, card: mcp_form.accept(card, s.filling)),
    ("message", "m"): on.at_card(lambda s, card: decide.tell_user(card, s.work.about(card))),
    ("quiet", "L"): on.at_card(lambda s, card: decide.hush(card, s.work.about(card))),
    ("wait-longer", "+ ="): on.at_card(lambda s, card: decide.extend(card, s.desk)),
    ("snooze", "z"): on.at_card(lambda s, card: decide.snooze(card, s.desk.now())),
}
"""What the keys do whose act is begun by a dialog of its own; any other asks for its words."""


def _handler(key: ActKey) -> Handler:
    """Return what a key of an act does: its dialog, its decision, or a line for its words."""
    act = key.act
    handler = _OF_ACTS.get((act.id, key.key))
    if handler is None and act.field is Field.NOTHING:
        handler = on.does(do.Give(act.decision()))
    if handler is None:
        handler = on.at_card(lambda screen, card: decide.by_line(act, card, screen.desk))
    return handler


def _acts_at_a_card() -> Iterator[Key]:
    """Yield the rows of the acts that are done at a card, the most needed first."""
    for key in KEYS_OF_ACTS:
        if key.place is Place.CARD and key.act.id not in _ITS_TIME:
            yield on.of_act(key, when.possible(key), _handler(key))
            if key.key == "l":
                yield _CHANGES


_ITS_TIME = ("wait-longer", "snooze")
(_CHANGES,) = group(
    "",
    when.with_changes,
    (
        "v",
        "what changed",
        "the changes since the plan denied before, or the plan",
        FREE,
        on.at_card(lambda s, card: s.work.changes.turn(card)),
    ),
).keys


def _of_the_desk(title: str, act: str, where: Filter, handler: Handler) -> Group:
    """Return the row of an act that is about no card."""
    key = key_of(act, Place.DESK)
    return Group(title, (on.of_act(key, where & when.allowed(key.act), handler),))


def _in_a_form(*acts: str) -> Group:
    """Return the rows of acts that are done while a form of an MCP server is filled in."""
    keys = (key_of(act, Place.CARD) for act in acts)
    return Group(
        "",
        tuple(on.of_act(key, when.filling & when.allowed(key.act), _handler(key)) for key in keys),
    )


# In the order of the help line, the most needed first.
# fmt: off
TABLE: tuple[Group, ...] = (
    _of_the_desk("when an answer is held back", "take-back", when.taking_back,
        lambda s, _: (do.TakeBack(s.card.number if s.card else None),)),
    _of_the_desk("while you are away", "here", when.away, lambda s, _: orders.come_back(s.desk)),
    group("before something is done", when.at(Mode.CONFIRM),
        ("enter y", "yes, exactly this", "do exactly what is shown",
         ARMED, on.focus(Focus.confirm)),
        ("escape", "back", "do nothing of it, and go back", FREE, _BACK),
    ),
    group("before what wants a second yes", when.doubting,
        ("enter", "yes, do it", "do what the line names", ARMED, on.focus(Focus.be_sure))),
    group("", when.at(Mode.SURE), ("escape", "back", "do nothing of it", FREE, _BACK)),
    group("before sending answers", when.reviewing & when.allowed(ACTS["answer"]),
        ("enter y", "send", "send exactly the answers shown", READ, on.form(question.send))),
    group("in a form", when.in_the_form,
        ("space", "choose", "choose the marked row, or take the choice back",
         ARMED, on.form(question.choose)),
        ("enter", "choose, go on",
         "choose the marked row, then the next question; after the last, the review",
         ARMED, on.form(question.enter)),
    ),
    group("answering questions", when.answering,
        (_DIGITS, "choose", "choose that option, or take it back",
         ARMED, lambda s, key: question.choose_number(s.form, key) if s.form else None),
        ("o", "own words", "answer the question in your own words",
         ARMED, on.form(question.own_words)),
        ("t", "note", "put a note to the model beside the answer", ARMED, on.form(question.remark)),
        ("r", "review & send", "see exactly which answers would be sent",
         FREE, on.does(Go(Mode.REVIEW))),
    ),
    group("in a form of an MCP server", when.filling,
        ("enter", "fill in", "choose or type, then the next field; after the last, the review",
         ARMED, on.at_card(lambda s, card: mcp_form.enter(card, s.filling) if s.filling else None)),
    ),
    _in_a_form("accept", "decline", "cancel"),
    group("", when.filling,
        ("space", "choose", "choose the marked row, or take the choice back",
         ARMED, on.filling(mcp_form.choose)),
        (_DIGITS, "", "choose that one of the field's choices",
         ARMED, lambda s, key: mcp_form.choose(s.filling, int(key)) if s.filling else None),
        ("backspace delete", "clear", "give nothing for the field",
         ARMED, on.filling(mcp_form.clear)),
    ),
    _in_a_form("pass"),
    group("on the lines of a plan", when.noting,
        ("c enter", "note…", "note on the marked line what to change there",
         ARMED, on.plan(plan.note)),
        ("s", "deny with the notes…", "see the denial that the notes make, then send it",
         BEGIN, on.at_card(lambda s, card: plan.send(card, s.plan) if s.plan else None)),
        ("backspace delete", "take note back", "take the note on the line back",
         BEGIN, on.plan(lambda notes: notes.write(""))),
    ),
    group("many at once: while requests are marked, these decide the marked ones alone",
        when.with_marks & when.allowed(ACTS["deny"]),
        ("a", "allow the marked",
         "allow all that are marked, once you have seen what", FREE, _marked(Verdict.ALLOW)),
        ("d", "deny the marked…", "deny all that are marked, with one reason",
         FREE, lambda s, _: bulk.deny_marked(s.marks, s.answers.blocks)),
        ("h", "hand the marked back", "let their agents ask their own users",
         FREE, _marked(Verdict.ASK)),
        ("p", "pass", "no opinion on all that are marked", FREE, _marked(Verdict.PASS)),
    ),
    group("", when.with_marks & when.at(Mode.QUEUE), ("escape", "unmark", "unmark all",
         FREE, lambda s, _: s.marks.clear())),
    Group("deciding, as far as the request's event can be told",
        tuple(_acts_at_a_card()), first=True),
    Group("its time", tuple(
        on.of_act(key, when.possible(key), _handler(key))
        for key in KEYS_OF_ACTS if key.act.id in _ITS_TIME
    )),
    group("marking", when.markable,
        ("space", "mark", "mark it, or unmark it, to decide many at once",
         BEGIN, on.at_card(lambda s, card: s.marks.turn(card))),
        ("*", "mark alike", "mark all that ask the very same",
         BEGIN, on.at_card(lambda s, card: bulk.mark_alike(card, _free(s), s.marks))),
        ("&", "mark session", "mark all that this session asks, whatever it is",
         BEGIN, on.at_card(lambda s, card: bulk.mark_session(card, _free(s), s.marks))),
    ),
    group("in the input box", when.at(Mode.BOX) & ~when.keeping,
        ("enter", "send", "send the line, or go on to what it would do", LINE, _ENTER_LINE)),
    group("", when.offering, (_DIGITS, "that reason", "while nothing is typed: deny for that",
         LINE, lambda s, key: s.focus.give_offer(int(key) - 1, s.card))),
    group("", when.keeping, ("enter", "keep",
     "keep the line, to go with what you send later: nothing is sent yet", LINE, _ENTER_LINE)),
    group("", when.filtering, ("escape", "show all", "show all that waits again",
         FREE, on.focus(Focus.clear_line))),
    group("", when.at(Mode.BOX) & ~when.filtering, ("escape", "leave",
         "send nothing; the line is kept among the earlier ones",
         FREE, _BACK)),
    group("", when.at(Mode.BOX),
        ("up", "earlier lines", "the line typed before",
         FREE, on.typing(lambda typing: typing.recall(-1))),
        ("down", "", "the line typed after", FREE, on.typing(lambda typing: typing.recall(+1))),
    ),
    group("in the editor", when.at(Mode.EDIT),
        ("c-s c-d", "see the change", "see what would change; nothing is sent yet",
         FREE, on.at_edit(lambda s, one: edit.compare(one, s.work.about(one.card).edits, s.desk))),
        ("escape", "leave", "leave the editor; what you typed is kept for the next time",
         FREE, _BACK),
    ),
    group("in the input box and the editor", when.at(Mode.BOX, Mode.EDIT),
        ("c-o c-x_c-e", "$EDITOR", "go on with the text in your own editor",
         FREE, on.focus(Focus.edit_outside))),
    group("in a list", when.at(Mode.MENU),
        (_DIGITS, "choose", "choose that row", ARMED, lambda s, key: s.focus.pick(int(key) - 1)),
        ("enter", "choose", "choose the marked row", ARMED, on.focus(Focus.pick)),
        ("escape", "leave", "choose nothing", FREE, _BACK),
    ),
    group("", when.turning, ("e", "until when", "change when the rules end",
         FREE, on.focus(Focus.turn))),
    group("in the queue", when.with_a_card,
        ("enter tab right", "open", "into the request: scroll it, answer its questions",
         FREE, on.screen(Screen.enter))),
    group("choosing a card, or a row of a list", when.at(Mode.QUEUE, Mode.MENU),
        ("up k", "", "the one above", FREE, on.by(Screen.move, -1)),
        ("down j", "next", "the one below", FREE, on.by(Screen.move, +1)),
    ),
    group("in a request, a form or this page", _LOOKING,
        ("up k", "", "a row up", FREE, on.by(Screen.move, -1)),
        ("down j", "", "a row down", FREE, on.by(Screen.move, +1)),
    ),
    group("between questions", when.at(Mode.FORM),
        ("left s-tab", "", "the question before", FREE, on.form(lambda form: form.go(-1))),
        ("right tab", "", "the question after", FREE, on.form(lambda form: form.go(+1))),
        ("escape", "queue", "back to the queue; the answers are kept", FREE, _BACK),
    ),
    group("between fields", when.at(Mode.FILL),
        ("s-tab left", "", "the field before",
         FREE, on.filling(lambda form: mcp_form.go_field(form, -1))),
        ("tab right", "next field", "the field after",
         FREE, on.filling(lambda form: mcp_form.go_field(form, +1))),
        ("escape", "queue", "back to the queue; what is filled in is kept", FREE, _BACK),
    ),
    group("", when.at(Mode.NOTES), ("escape", "queue",
     "back to the queue; the notes are kept", FREE, _BACK)),
    group("out again", when.at(Mode.TEXT),
        ("escape tab left", "queue", "back to the queue", FREE, _BACK)),
    group("", when.at(Mode.REVIEW), ("escape r", "form", "back to the form", FREE, _BACK)),
    group("", when.at(Mode.ALL), ("escape i q", "close", "back to the card", FREE, _BACK)),
    group("on the page of keys", when.at(Mode.HELP),
        ("?", "all keys", "all keys, or again those of what is selected",
         FREE, on.focus(Focus.turn_all_keys)),
        ("/", "search", "find keys by their words", FREE, _search),
        ("escape q", "close", "close this page", FREE, _BACK),
    ),
    group("", when.at(Mode.SEARCH),
        ("enter", "keep", "keep to what was found", FREE, on.focus(Focus.keep_search)),
        ("up", "", "a row up", FREE, on.by(Screen.move, -1)),
        ("down", "", "a row down", FREE, on.by(Screen.move, +1)),
        ("escape", "all keys", "search no more", FREE, _BACK),
    ),
    group("choosing a command by its name", when.at(Mode.PALETTE),
        ("enter", "run", "as if its key had been pressed", FREE, on.does(do.RunFound())),
        ("up", "", "the command above", FREE, on.finder(lambda finder: finder.move(-1))),
        ("down", "next", "the command below", FREE, on.finder(lambda finder: finder.move(+1))),
        ("escape", "leave", "choose none", FREE, _BACK),
    ),
    group("far", ~when.at(*_TYPED),
        ("home", "", "the first card, or the first row", FREE, on.by(Screen.go_far, -1)),
        ("G end", "", "the last card, or the last row", FREE, on.by(Screen.go_far, +1)),
    ),
    group("", ~when.at(*_TYPED, Mode.SESSIONS, Mode.HISTORY),
        ("pageup", "", "a page of the request up", FREE, _turn_page(-1)),
        ("pagedown", "", "a page of the request down", FREE, _turn_page(+1)),
    ),
    group("", ~when.at(*_TYPED, Mode.QUEUE),
        ("g", "", "the first row", FREE, on.by(Screen.go_far, -1))),
    *view_keys.GROUPS,
    _of_the_desk("standing orders", "orders", when.at(Mode.QUEUE, Mode.TEXT, Mode.SESSIONS),
        lambda s, _: orders.offer_orders(None if s.listing else s.card, s.desk)),
    _of_the_desk("", "away", when.here,
        lambda s, _: orders.go_away(s.desk, lambda: s.queue.count)),
    group("all of it", when.with_any_card, ("i", "all it sent", "everything that the agent sent",
         FREE, on.visits(Mode.ALL))),
    group("", when.with_any_card & ~when.at(Mode.REVIEW), ("y", "",
     "copy the command, exactly as it was sent, or the whole input of another tool",
         FREE, on.card(lambda card: (do.Copy(copied(card.event)),)))),
    group("secrets, and many blanks", _SEEN,
        ("R", "", "show the secrets that are covered, or cover them again",
         FREE, on.screen(lambda s: s.work.bare.turn(s.card))),
        ("F", "", "show the many blanks that are folded to a mark, or fold them again",
         FREE, on.screen(lambda s: s.work.unfolded.turn(s.card)))),
    group("always", _WITH_PALETTE, (":", "commands", "choose a command by its name",
         FREE, _palette)),
    group("", _NOT_IN_HELP,
        ("q", "leave", "leave the desk; asks while somebody waits", FREE, on.does(do.Leave())),
        ("?", "keys", "the keys of what is selected; again: all keys",
         FREE, on.visits(Mode.HELP)),
    ),
    group("", when.always, ("c-c", "", "twice: quit; what waits is released, no opinion",
         FREE, on.does(do.Quit()))),
)
# fmt: on

KEYS: tuple[Key, ...] = tuple(key for group in TABLE for key in group.keys)
_ROWS = {name: [key for key in KEYS if name in key.keys] for row in KEYS for name in row.keys}


def key_for(pressed: str, context: KeyContext) -> Key | None:
    """Return what the pressed key does in this context."""
    return next((key for key in _ROWS.get(pressed, ()) if key.when(context)), None)


def not_allowed(pressed: str, context: KeyContext) -> Act | None:
    """Return the act that the pressed key would do here, were it not for another role."""
    key = key_for(pressed, replace(context, role=""))
    return key.act if key is not None else None


def is_a_key(pressed: str) -> bool:
    """Whether a printable key does anything in some context; digits are of lists alone."""
    return len(pressed) == 1 and not pressed.isdecimal() and pressed in _ROWS
