"""What each key does, one function an act; which keys apply when is said in the table (`keys`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.ui.box import Purpose
from crabhook.ui.keys import Act
from crabhook.ui.moment import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crabhook.ui.screen import Screen

QUIT_WITHIN = 2.0  # seconds between the two presses
_FAR = 1 << 30

# What does something to a card, and so waits until the card is armed.
TOUCHING = frozenset(
    {
        Act.ALLOW,
        Act.ALLOW_WITH_NOTE,
        Act.DENY,
        Act.HAND_BACK,
        Act.PASS,
        Act.CHOOSE,
        Act.CHOOSE_NUMBER,
        Act.OWN_WORDS,
        Act.REMARK,
        Act.SEND,
        Act.ENTER_LINE,
    }
)

# Moving about.


def _move(screen: Screen, step: int) -> None:
    form = screen.form
    if screen.mode is Mode.QUEUE:
        _select(screen, lambda: screen.selection.step(step))
    elif screen.mode is Mode.FORM and form is not None:
        form.move(step)
        screen.view().reveal(form.draft.cursor + 1)
    else:
        screen.view().scroll(step)


def _go_far(screen: Screen, step: int) -> None:
    if screen.mode is Mode.QUEUE:
        selection = screen.selection
        _select(screen, selection.first if step < 0 else selection.last)
    elif screen.mode is Mode.FORM:
        _move(screen, step * _FAR)
    elif step < 0:
        screen.view().to_start()
    else:
        screen.view().to_end()


def _select(screen: Screen, move: Callable[[], None]) -> None:
    before, ended = screen.card, screen.selection.ended
    move()
    if before is not None and ended and screen.card is not before:
        screen.forms.forget(before.number)


def _page(screen: Screen, step: int) -> None:
    view = screen.view()
    view.scroll(step * view.page)


def _open(screen: Screen, _key: str) -> None:
    screen.mode = Mode.TEXT if screen.form is None else Mode.FORM


def _back(screen: Screen, _key: str) -> None:
    if screen.mode is Mode.HELP:
        screen.come_back()
    else:
        screen.mode = Mode.FORM if screen.mode is Mode.REVIEW else Mode.QUEUE


def _quit(screen: Screen, _key: str) -> None:
    now = screen.desk.now()
    asked, screen.quit_asked_at = screen.quit_asked_at, now
    if asked is not None and now - asked <= QUIT_WITHIN:
        screen.done = True
        return
    waiting = len(screen.selection.waiting())
    requests = "request" if waiting == 1 else "requests"
    screen.say(
        f"Ctrl-C again to quit; {waiting} waiting {requests} will be released with no opinion"
    )


# Answering questions.


def _choose_number(screen: Screen, key: str) -> None:
    if screen.form is not None:
        screen.mode = Mode.FORM
        screen.form.choose(int(key) - 1)
        screen.view().reveal(screen.form.draft.cursor + 1)


def _choose(screen: Screen, key: str) -> None:
    form = screen.form
    if form is None:
        return
    beyond = form.draft.cursor - len(form.question.options)
    if beyond < 0:
        form.choose(form.draft.cursor)
    else:
        (_own_words if beyond == 0 else _remark)(screen, key)


def _own_words(screen: Screen, _key: str) -> None:
    if screen.form is not None:
        screen.mode = Mode.FORM
        screen.type(Purpose.WORDS, screen.form.draft.words)


def _remark(screen: Screen, _key: str) -> None:
    if screen.form is not None:
        screen.mode = Mode.FORM
        screen.type(Purpose.REMARK, screen.form.draft.note)


def _next_question(screen: Screen, key: str) -> None:
    form = screen.form
    if form is not None and form.current + 1 < len(form.questions):
        form.go(+1)
    else:
        _review(screen, key)


def _go_question(screen: Screen, step: int) -> None:
    if screen.form is not None:
        screen.form.go(step)


def _review(screen: Screen, _key: str) -> None:
    screen.mode = Mode.REVIEW


def _send(screen: Screen, _key: str) -> None:
    try:
        updated = screen.form.updated_input() if screen.form else None
    except QuestionError as error:
        screen.say(str(error))
        return
    if updated is None:
        screen.say("nothing is answered yet, so there is nothing to send; esc goes back")
    else:
        _give(screen, Decision(Verdict.ALLOW, updated_input=updated))


# Deciding.


def _give(screen: Screen, decision: Decision) -> str:
    """Give the decision; return what went wrong."""
    screen.mode = Mode.QUEUE
    said = screen.answers.give(screen.card, decision) if screen.card else ""
    screen.say(said)
    return said


def _allow(screen: Screen, key: str) -> None:
    form = screen.form
    if form is not None and form.answers():
        _review(screen, key)
        screen.say("there are answers here: look at them, then send them")
    elif not _give(screen, Decision(Verdict.ALLOW)) and form is not None:
        screen.say("allowed without answers: the agent shows its own dialog")


def _take_back(screen: Screen) -> str:
    return screen.answers.take_back(screen.card.number if screen.card else None)


# Typing a line.


def _enter_line(screen: Screen, _key: str) -> None:
    typing, card = screen.typing, screen.card
    if typing is None:
        return
    if card is None or card.number != typing.number or screen.selection.ended:
        screen.leave_line()
        screen.say(f"#{typing.number} had ended: nothing was sent; ↑ in a box finds the line")
        return
    refusal = _NEEDS_TEXT.get(typing.purpose)
    if refusal and not typing.box.text.strip():
        screen.say(refusal)
    else:
        _ENTERED[typing.purpose](screen, screen.leave_line())


def _recall(screen: Screen, step: int) -> None:
    if screen.typing is not None:
        screen.typing.box.recall(step)


def _set_words(screen: Screen, text: str) -> None:
    if screen.form is not None:
        screen.form.say(text)


def _set_note(screen: Screen, text: str) -> None:
    if screen.form is not None:
        screen.form.note(text)


_NEEDS_TEXT: Mapping[Purpose, str] = {
    Purpose.REASON: "a denial needs a reason: the model reads it to know what to do instead",
    Purpose.NOTE: "type the note, or leave with esc and allow with a",
}
_ENTERED: Mapping[Purpose, Callable[[Screen, str], object]] = {
    Purpose.NOTE: lambda screen, text: _give(screen, Decision(Verdict.ALLOW, note=text)),
    Purpose.REASON: lambda screen, text: _give(screen, Decision(Verdict.DENY, reason=text)),
    Purpose.WORDS: _set_words,
    Purpose.REMARK: _set_note,
}

_Doing: TypeAlias = "Callable[[Screen, str], object]"

ACTS: Mapping[Act, _Doing] = {
    Act.UP: lambda screen, _: _move(screen, -1),
    Act.DOWN: lambda screen, _: _move(screen, +1),
    Act.FIRST: lambda screen, _: _go_far(screen, -1),
    Act.LAST: lambda screen, _: _go_far(screen, +1),
    Act.PAGE_UP: lambda screen, _: _page(screen, -1),
    Act.PAGE_DOWN: lambda screen, _: _page(screen, +1),
    Act.OPEN: _open,
    Act.BACK: _back,
    Act.ALLOW: _allow,
    Act.ALLOW_WITH_NOTE: lambda screen, _: screen.type(Purpose.NOTE),
    Act.DENY: lambda screen, _: screen.type(Purpose.REASON),
    Act.HAND_BACK: lambda screen, _: _give(screen, Decision(Verdict.ASK)),
    Act.PASS: lambda screen, _: _give(screen, Decision(Verdict.PASS)),
    Act.TAKE_BACK: lambda screen, _: screen.say(_take_back(screen)),
    Act.CHOOSE_NUMBER: _choose_number,
    Act.CHOOSE: _choose,
    Act.OWN_WORDS: _own_words,
    Act.REMARK: _remark,
    Act.NEXT_QUESTION: _next_question,
    Act.QUESTION_BEFORE: lambda screen, _: _go_question(screen, -1),
    Act.QUESTION_AFTER: lambda screen, _: _go_question(screen, +1),
    Act.REVIEW: _review,
    Act.SEND: _send,
    Act.ENTER_LINE: _enter_line,
    Act.LEAVE_LINE: lambda screen, _: screen.leave_line(),
    Act.EARLIER_LINE: lambda screen, _: _recall(screen, -1),
    Act.LATER_LINE: lambda screen, _: _recall(screen, +1),
    Act.HELP: lambda screen, _: screen.go(Mode.HELP),
    Act.QUIT: _quit,
}
