"""Every key of the desk, in one table: the help line, the help page and the docs come from it.

A new key is one row: its names, its help, its `Guard`, its handler. At most one row applies to a
key at any moment; a test tries all combinations.
"""

from collections.abc import Sequence

from crabhook.model.card import Card
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.present.summary import copied
from crabhook.ui.full import effects as do
from crabhook.ui.full import filters as when
from crabhook.ui.full import keyrow as on
from crabhook.ui.full import view_keys
from crabhook.ui.full.dialogs import bulk, decide, edit, mcp_form, orders, plan, question
from crabhook.ui.full.effects import Go, Look
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.focus import Focus
from crabhook.ui.full.keyrow import Group, Guard, Handler, Key, first_group, group
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

# What an allow means for an event that stops, or that tells of a denial.
_STOPS, _DENIED = when.can(Verdict.KEEP_GOING), when.can(Verdict.RETRY)
_PLAIN_ALLOW = when.can(Verdict.ALLOW) & ~_STOPS & ~_DENIED
_ALLOWS_CALL = when.can(Verdict.ALLOW, Beside.NOTE) & when.without_form
_EDITABLE = when.can(Verdict.ALLOW, Beside.INPUT) & when.without_form
_REPLACEABLE = when.can(Verdict.ALLOW, Beside.OUTPUT)
_RULED = when.can(Verdict.ALLOW, Beside.RULE)
_DENIED_BY_RULE = when.can(Verdict.DENY, Beside.RULE)
_ALLOWS_MODE = when.can(Verdict.ALLOW, Beside.PERMISSIONS) & when.without_form

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
_ALLOW = on.screen(lambda screen: decide.allow(screen.form))
_PASS = on.gives(Verdict.PASS)
_DENY = on.leads(Decision(Verdict.DENY), on.does(decide.DENY))
_DENY_AND_END_TURN = on.leads(
    Decision(Verdict.DENY, interrupt=True), on.does(decide.DENY_AND_END_TURN)
)
_ALWAYS_DENY = on.leads(
    Decision(Verdict.DENY), on.at_card(lambda s, card: decide.offer_denials(card, s.desk))
)
_HALT = on.leads(
    Decision(Verdict.DENY, halt="for a reason that is typed"),
    on.at_card(lambda screen, card: decide.halt(card, screen.desk)),
)
_ACCEPT = on.at_card(lambda screen, card: mcp_form.accept(card, screen.filling))
_EDIT = on.at_card(lambda screen, card: edit.begin(card, screen.work.about(card).edits))
_EDIT_JSON = on.at_card(lambda screen, card: screen.work.about(card).edits.opened(card, ()))


# In the order of the help line, the most needed first.
# fmt: off
TABLE: tuple[Group, ...] = (
    group("when an answer is held back", when.taking_back,
        ("u", "TAKE BACK", "take back the answer, which was not sent yet",
         FREE, lambda s, _: (do.TakeBack(s.card.number if s.card else None),))),
    group("while you are away", when.away,
        ("b", "I AM BACK", "be back: requests wait for you again",
         FREE, lambda s, _: orders.come_back(s.desk))),
    group("before something is done", when.at(Mode.CONFIRM),
        ("enter y", "yes, exactly this", "do exactly what is shown",
         ARMED, on.focus(Focus.confirm)),
        ("escape", "back", "do nothing of it, and go back", FREE, _BACK),
    ),
    group("before what wants a second yes", when.doubting,
        ("enter", "yes, do it", "do what the line names", ARMED, on.focus(Focus.be_sure))),
    group("", when.at(Mode.SURE), ("escape", "back", "do nothing of it", FREE, _BACK)),
    group("before sending answers", when.reviewing,
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
        ("a", "accept…", "see exactly what would be sent, then accept", ARMED, _ACCEPT),
        ("d", "decline", "send the form back, refused", ARMED, on.gives(Verdict.DECLINE)),
        ("c", "cancel", "close the form without an answer", ARMED, on.gives(Verdict.CANCEL)),
        ("space", "choose", "choose the marked row, or take the choice back",
         ARMED, on.filling(mcp_form.choose)),
        (_DIGITS, "", "choose that one of the field's choices",
         ARMED, lambda s, key: mcp_form.choose(s.filling, int(key)) if s.filling else None),
        ("backspace delete", "clear", "give nothing for the field",
         ARMED, on.filling(mcp_form.clear)),
        ("p", "pass", "no opinion: the agent shows the form itself", ARMED, _PASS),
    ),
    group("on the lines of a plan", when.noting,
        ("c enter", "note…", "note on the marked line what to change there",
         ARMED, on.plan(plan.note)),
        ("s", "deny with the notes…", "see the denial that the notes make, then send it",
         BEGIN, on.at_card(lambda s, card: plan.send(card, s.plan) if s.plan else None)),
        ("backspace delete", "take note back", "take the note on the line back",
         BEGIN, on.plan(lambda notes: notes.write(""))),
    ),
    group("many at once: while requests are marked, these decide the marked ones alone",
        when.with_marks,
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
    first_group(
        "deciding, as far as the request's event can be told",
        (_PLAIN_ALLOW & when.without_form & ~when.with_plan, "a", "allow",
         "a call: allow it", READ, _ALLOW),
        (_PLAIN_ALLOW & when.with_plan, "a", "approve",
         "a plan: approve it; the agent begins", READ, _ALLOW),
        (_PLAIN_ALLOW & ~when.without_form, "a", "let agent ask",
         "questions: send no answers; the agent asks them in its own dialog", READ, _ALLOW),
        (when.with_plan, "l", "note on lines…",
         "go through the plan, and deny it with notes", BEGIN, on.plan(plan.begin)),
        (when.with_changes, "v", "what changed",
         "the changes since the plan denied before, or the plan",
         FREE, on.at_card(lambda s, card: s.work.changes.turn(card))),
        (_STOPS, "w", "keep going…",
         "at a stop: it must not, the model reads how to go on", ARMED, on.card(decide.keep_going)),
        (_STOPS, "a", "let it stop", "at a stop: let the agent stop", ARMED, _ALLOW),
        (_DENIED, "r", "retry",
         "at a denial of the agent's own: let the model try again", READ, on.gives(Verdict.RETRY)),
        (_DENIED, "a", "leave it denied", "at a denial of the agent's own: leave it so",
         ARMED, on.leads(Decision(Verdict.ALLOW), _ALLOW)),
        (_ALLOWS_CALL, "n", "allow+note",
         "allow, and tell the model something", READ, on.does(decide.ALLOW_WITH_NOTE)),
        (when.can(Verdict.DENY) & ~when.with_plan, "d", "deny…",
         "deny; the model reads the reason you type", ARMED, _DENY),
        (when.can(Verdict.DENY) & when.with_plan, "d", "send back…",
         "deny a plan; the model reads the reason you type", ARMED, _DENY),
        (_EDITABLE, "e", "edit…",
         "a call: change it, see the difference, and allow it so", ARMED, _EDIT),
        (_EDITABLE, "E", "", "a call: change all of its input, as JSON", ARMED, _EDIT_JSON),
        (_REPLACEABLE, "e", "change output…",
         "a result: change what the model is shown of it", ARMED, _EDIT),
        (_RULED, "A", "always allow…", "allow, by a rule of your own from now on: choose which",
         READ, on.at_card(lambda s, card: decide.offer_rules(card, s.desk))),
        (when.suggesting, _DIGITS, "suggestion…",
         "allow, and from now on too: that suggestion of the agent's",
         READ, lambda s, key: decide.offer_places(s.card, key) if s.card else ()),
        (when.can(Verdict.ACCEPT), "a", "accept…", "a form: see what would be sent, then accept",
         ARMED, _ACCEPT),
        (when.can(Verdict.DECLINE), "d", "decline", "a form: send it back, refused",
         ARMED, on.gives(Verdict.DECLINE)),
        (when.can(Verdict.CANCEL), "c", "cancel", "a form: close it without an answer",
         ARMED, on.gives(Verdict.CANCEL)),
        (when.can(Verdict.ASK), "h", "hand back",
         "let the agent ask its own user in its own prompt", ARMED, on.gives(Verdict.ASK)),
        (when.deciding, "p", "pass",
         "no opinion: the agent goes on as if crabhook were not there", ARMED, _PASS),
        (when.can(Verdict.DENY, Beside.INTERRUPT), "D", "deny, end turn…",
         "deny, and end the agent's turn", ARMED, _DENY_AND_END_TURN),
        (_DENIED_BY_RULE, "N", "always deny…",
         "deny, and by a rule of your own from now on: choose which", ARMED, _ALWAYS_DENY),
        (_ALLOWS_MODE, "M", "allow+mode…",
         "allow, and set the agent's permission mode", READ, on.card(decide.offer_modes)),
        (when.can_carry(Beside.HALT), "x", "stop session…",
         "end the session's turn; its user reads the reason",
         ARMED, _HALT),
        (when.can_carry(Beside.MESSAGE), "m", "message…",
         "a word to the agent's user, sent with whatever you decide",
         ARMED, on.at_card(lambda s, card: decide.tell_user(card, s.work.about(card)))),
        (when.can_carry(Beside.SUPPRESS), "L", "",
         "ask its agent not to show the hook's output, whatever you decide, or take that back",
         ARMED, on.at_card(lambda s, card: decide.hush(card, s.work.about(card)))),
        (when.can(Verdict.DEFER), "f", "",
         "defer: end a run without a screen; resumed, it asks again",
         ARMED, on.gives(Verdict.DEFER)),
    ),
    group("its time", when.deciding,
        ("+ =", "wait longer", "let it wait ten minutes longer, if its agent does",
         BEGIN, on.at_card(lambda s, card: decide.extend(card, s.desk))),
        ("z", "snooze", "put it aside for five minutes, or back",
         ARMED, on.at_card(lambda s, card: decide.snooze(card, s.desk.now()))),
    ),
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
    group("standing orders", when.at(Mode.QUEUE, Mode.TEXT),
        ("O", "orders", "give a standing order, see those that stand, end one",
         FREE, lambda s, _: orders.offer_orders(s.card, s.desk))),
    group("", when.at(Mode.SESSIONS), ("O", "orders", "the standing orders, to end one",
         FREE, lambda s, _: orders.offer_orders(None, s.desk))),
    group("", when.here, ("b", "away",
     "be away, for a while or until b: nothing waits meanwhile",
         FREE, lambda s, _: orders.go_away(s.desk, lambda: s.queue.count))),
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


def is_a_key(pressed: str) -> bool:
    """Whether a printable key does anything in some context; digits are of lists alone."""
    return len(pressed) == 1 and not pressed.isdecimal() and pressed in _ROWS
