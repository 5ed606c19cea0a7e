"""Every key of the desk, in one table: the help line, the help page and the docs are made from it.

At most one row of the table applies to a key at any moment; a test tries them
all.
"""

from collections.abc import Sequence

from crabhook.model.choices import Beside
from crabhook.model.decision import Verdict
from crabhook.ui.full.act import Act
from crabhook.ui.full.filters import (
    KeyContext,
    Mode,
    always,
    answering,
    at,
    away,
    both,
    can,
    can_carry,
    deciding,
    filling,
    here,
    in_the_form,
    keeping,
    markable,
    no,
    noting,
    reviewing,
    suggesting,
    taking_back,
    turning,
    with_a_card,
    with_changes,
    with_marks,
    with_plan,
    without_form,
)
from crabhook.ui.full.keyrow import Group, Key, first_group, group

_LOOKING = at(Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.CONFIRM, Mode.HELP, Mode.FILL, Mode.NOTES)
_CHOOSING = at(Mode.QUEUE, Mode.MENU)
_NOT_TYPING = no(at(Mode.BOX, Mode.EDIT))
_NOT_IN_HELP = at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.FILL, Mode.NOTES)
_SEEN = at(Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW, Mode.CONFIRM, Mode.FILL)
_QUEUE_OR_TEXT = at(Mode.QUEUE, Mode.TEXT)
_DIGITS = "1 2 3 4 5 6 7 8 9"

# What an allow means for an event that stops, or that tells of a denial.
_STOPS, _DENIED = can(Verdict.KEEP_GOING), can(Verdict.RETRY)
_PLAIN_ALLOW = both(can(Verdict.ALLOW), no(_STOPS), no(_DENIED))
_ALLOWS_CALL = both(can(Verdict.ALLOW, Beside.NOTE), without_form)
_EDITABLE = both(can(Verdict.ALLOW, Beside.INPUT), without_form)
_REPLACEABLE = can(Verdict.ALLOW, Beside.OUTPUT)
_RULED = can(Verdict.ALLOW, Beside.RULE)
_ALLOWS_MODE = both(can(Verdict.ALLOW, Beside.PERMISSIONS), without_form)

# In the order of the help line, the most needed first.
# fmt: off
TABLE: tuple[Group, ...] = (
    group(
        "when an allow is held back",
        taking_back,
        ("u", "TAKE BACK", "take back the allow, which was not sent yet", Act.TAKE_BACK),
    ),
    group(
        "while you are away",
        away,
        ("b", "I AM BACK", "be back: requests wait for you again", Act.COME_BACK),
    ),
    group(
        "before something is done",
        at(Mode.CONFIRM),
        ("enter y", "yes, exactly this", "do exactly what is shown", Act.CONFIRM),
        ("escape", "back", "do nothing of it, and go back", Act.BACK),
    ),
    group(
        "before sending answers",
        reviewing,
        ("enter y", "send", "send exactly the answers shown", Act.SEND),
    ),
    group(
        "in a form",
        in_the_form,
        ("space", "choose", "choose the marked row, or take the choice back", Act.CHOOSE),
        ("enter", "next", "the next question; after the last, the review", Act.NEXT_QUESTION),
    ),
    group(
        "answering questions",
        answering,
        (_DIGITS, "choose", "choose that option, or take it back", Act.CHOOSE_NUMBER),
        ("o", "own words", "answer the question in your own words", Act.OWN_WORDS),
        ("t", "note", "put a note to the model beside the answer", Act.REMARK),
        ("r", "review & send", "see exactly which answers would be sent", Act.REVIEW),
    ),
    group(
        "in a form of an MCP server",
        filling,
        ("enter", "fill in", "choose or type, and go on to the next field", Act.FILL),
        ("a", "accept…", "see exactly what would be sent, then accept", Act.ACCEPT),
        ("d", "decline", "send the form back, refused", Act.DECLINE),
        ("c", "cancel", "close the form without an answer", Act.CANCEL),
        ("space", "choose", "choose the marked row, or take the choice back", Act.FILL_CHOICE),
        (_DIGITS, "", "choose that one of the field's choices", Act.FILL_NUMBER),
        ("backspace delete", "clear", "give nothing for the field", Act.CLEAR_FIELD),
        ("p", "pass", "no opinion: the agent shows the form itself", Act.PASS),
    ),
    group(
        "on the lines of a plan",
        noting,
        ("c enter", "note…", "note on the marked line what to change there", Act.NOTE),
        ("s", "deny with the notes…",
         "see the denial that the notes make, then send it", Act.SEND_NOTES),
        ("backspace delete", "take note back", "take the note on the line back", Act.UNNOTE),
    ),
    group(
        "many at once: while requests are marked, these decide the marked ones alone",
        with_marks,
        ("a", "allow the marked",
         "allow all that are marked, once you have seen what", Act.ALLOW_MARKED),
        ("d", "deny the marked…", "deny all that are marked, with one reason", Act.DENY_MARKED),
        ("h", "hand the marked back", "let their agents ask their own users", Act.HAND_BACK_MARKED),
        ("p", "pass", "no opinion on all that are marked", Act.PASS_MARKED),
    ),
    group("", both(with_marks, at(Mode.QUEUE)), ("escape", "unmark", "unmark all", Act.UNMARK_ALL)),
    first_group(
        "deciding, as far as the request's event can be told",
        (_PLAIN_ALLOW, "a", "allow",
         "a call or a plan: allow it; of questions: the agent shows its own dialog", Act.ALLOW),
        (with_plan, "l", "note on lines…",
         "go through the plan, and deny it with notes", Act.NOTE_LINES),
        (with_changes, "v", "what changed",
         "the changes since the plan denied before, or the plan", Act.CHANGES),
        (_STOPS, "w", "keep going…",
         "at a stop: it must not, the model reads how to go on", Act.KEEP_GOING),
        (_STOPS, "a", "let it stop", "at a stop: let the agent stop", Act.ALLOW),
        (_DENIED, "r", "retry",
         "at a denial of the agent's own: let the model try again", Act.RETRY),
        (_DENIED, "a", "leave it denied", "at a denial of the agent's own: leave it so", Act.ALLOW),
        (_ALLOWS_CALL, "n", "allow+note",
         "allow, and tell the model something", Act.ALLOW_WITH_NOTE),
        (can(Verdict.DENY), "d", "deny…", "deny; the model reads the reason you type", Act.DENY),
        (_EDITABLE, "e", "edit…",
         "a call: change it, see the difference, and allow it so", Act.EDIT),
        (_REPLACEABLE, "e", "change output…",
         "a result: change what the model is shown of it", Act.EDIT),
        (_RULED, "A", "always allow…",
         "allow, by a rule of your own from now on: choose which", Act.REMEMBER),
        (suggesting, _DIGITS, "suggestion…",
         "allow, and from now on too: that suggestion of the agent's", Act.ALWAYS),
        (can(Verdict.ACCEPT), "a", "accept…",
         "a form: see what would be sent, then accept", Act.ACCEPT),
        (can(Verdict.DECLINE), "d", "decline", "a form: send it back, refused", Act.DECLINE),
        (can(Verdict.CANCEL), "c", "cancel", "a form: close it without an answer", Act.CANCEL),
        (can(Verdict.ASK), "h", "hand back",
         "let the agent ask its own user in its own prompt", Act.HAND_BACK),
        (deciding, "p", "pass",
         "no opinion: the agent goes on as if crabhook were not there", Act.PASS),
        (can(Verdict.DENY, Beside.INTERRUPT), "D", "deny, end turn…",
         "deny, and end the agent's turn", Act.DENY_AND_INTERRUPT),
        (_ALLOWS_MODE, "M", "allow+mode…",
         "allow, and set the agent's permission mode", Act.ALLOW_WITH_MODE),
        (can_carry(Beside.HALT), "x", "stop session…",
         "end the session's turn; its user reads the reason", Act.HALT),
        (can_carry(Beside.MESSAGE), "m", "message…",
         "a word to the agent's user, sent with whatever you decide", Act.TELL_USER),
        (can_carry(Beside.SUPPRESS), "Q", "",
         "ask its agent not to show the hook's output, whatever you decide, or take that back",
         Act.HUSH),
        (can(Verdict.DEFER), "f", "",
         "defer: end a run without a screen; resumed, it asks again", Act.DEFER),
    ),
    group(
        "its time",
        deciding,
        ("+ =", "wait longer", "let it wait ten minutes longer, if its agent does", Act.EXTEND),
        ("z", "snooze", "put it aside for five minutes, or back", Act.SNOOZE),
    ),
    group(
        "marking",
        markable,
        ("space", "mark", "mark it, or unmark it, to decide many at once", Act.MARK),
        ("*", "mark alike",
         "mark all that ask the very same; again: all of the session", Act.MARK_ALIKE),
    ),
    group(
        "in the input box",
        both(at(Mode.BOX), no(keeping)),
        ("enter", "send", "send the line, or go on to what it would do", Act.ENTER_LINE),
    ),
    group("", keeping, ("enter", "keep",
     "keep the line, to go with what you send later: nothing is sent yet", Act.ENTER_LINE)),
    group(
        "",
        at(Mode.BOX),
        ("escape", "leave",
         "send nothing; the line is kept among the earlier ones", Act.LEAVE_LINE),
        ("up", "earlier lines", "the line typed before", Act.EARLIER_LINE),
        ("down", "", "the line typed after", Act.LATER_LINE),
    ),
    group(
        "in the editor",
        at(Mode.EDIT),
        ("c-s c-d", "see the change", "see what would change; nothing is sent yet", Act.COMPARE),
        ("escape", "leave",
         "leave the editor; what you typed is kept for the next time", Act.LEAVE_EDIT),
    ),
    group(
        "in the input box and the editor",
        at(Mode.BOX, Mode.EDIT),
        ("c-o c-x_c-e", "$EDITOR", "go on with the text in your own editor", Act.OUTSIDE_EDITOR),
    ),
    group(
        "in a list",
        at(Mode.MENU),
        (_DIGITS, "choose", "choose that row", Act.PICK_NUMBER),
        ("enter", "choose", "choose the marked row", Act.PICK),
        ("escape", "leave", "choose nothing", Act.BACK),
    ),
    group("", turning, ("e", "until when", "change when the rules end", Act.TURN)),
    group(
        "in the queue",
        with_a_card,
        ("enter tab right", "open", "into the request: scroll it, answer its questions", Act.OPEN),
    ),
    group(
        "choosing a card, or a row of a list",
        _CHOOSING,
        ("up k", "", "the one above", Act.UP),
        ("down j", "next", "the one below", Act.DOWN),
    ),
    group(
        "in a request, a form or this page",
        _LOOKING,
        ("up k", "", "a row up", Act.UP),
        ("down j", "", "a row down", Act.DOWN),
    ),
    group(
        "between questions",
        at(Mode.FORM),
        ("left s-tab", "", "the question before", Act.QUESTION_BEFORE),
        ("right tab", "", "the question after", Act.QUESTION_AFTER),
        ("escape", "queue", "back to the queue; the answers are kept", Act.BACK),
    ),
    group(
        "between fields",
        at(Mode.FILL),
        ("s-tab left", "", "the field before", Act.FIELD_BEFORE),
        ("tab right", "next field", "the field after", Act.FIELD_AFTER),
        ("escape", "queue", "back to the queue; what is filled in is kept", Act.BACK),
    ),
    group("", at(Mode.NOTES), ("escape", "queue",
     "back to the queue; the notes are kept", Act.BACK)),
    group(
        "out again",
        at(Mode.TEXT),
        ("escape tab left", "queue", "back to the queue", Act.BACK),
    ),
    group("", at(Mode.REVIEW), ("escape r", "form", "back to the form", Act.BACK)),
    group("", at(Mode.HELP), ("escape ? q", "close", "close this page", Act.BACK)),
    group(
        "far",
        _NOT_TYPING,
        ("g home", "", "the oldest card, or the first row", Act.FIRST),
        ("G end", "", "the newest card, or the last row", Act.LAST),
        ("pageup", "", "a page of the request up", Act.PAGE_UP),
        ("pagedown", "", "a page of the request down", Act.PAGE_DOWN),
    ),
    group(
        "standing orders",
        _QUEUE_OR_TEXT,
        ("O", "orders", "give a standing order, see those that stand, end one", Act.ORDERS),
    ),
    group("", here, ("b", "away",
     "be away, for a while or until b: nothing waits meanwhile", Act.GO_AWAY)),
    group("secrets", _SEEN, ("s", "",
     "show the secrets that are covered, or cover them again", Act.BARE)),
    group("always", _NOT_IN_HELP, ("?", "all keys", "show this page", Act.HELP)),
    group("", always, ("c-c", "", "twice: quit; what waits is released, no opinion", Act.QUIT)),
)
# fmt: on

KEYS: tuple[Key, ...] = tuple(key for group in TABLE for key in group.keys)


def key_for(pressed: str, context: KeyContext) -> Key | None:
    """Return what the pressed key does at this context."""
    return next((key for key in KEYS if pressed in key.keys and key.when(context)), None)


def line_keys(context: KeyContext) -> Sequence[Key]:
    """Return the keys that make sense now and have a name for the help line."""
    return [key for key in KEYS if key.name and key.when(context)]
