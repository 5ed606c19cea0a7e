"""The live sessions: what their agents do, their notes, and what a person can tell or stop."""

from collections.abc import Iterator
from itertools import islice

from crabhook.desk.acts import ACTS, Field, Guard, Place, key_of
from crabhook.desk.replica import Replica
from crabhook.model.session import AgentView, SessionView
from crabhook.present import past
from crabhook.present.cover import masked
from crabhook.present.phrases import joined as phrase
from crabhook.present.summary import brief, called, on_machine
from crabhook.ui.web.acts import Button, session_name
from crabhook.ui.web.buttons import button, field, with_field
from crabhook.ui.web.html import NOTHING, Html, el, joined

_ACTS = {"note": ("a note, read with its next call", "passkey"), "stop": ("why it stops", "words")}


def session(view: SessionView, desk: Replica) -> Html:
    """Return a live session."""
    name = session_name(view.key)
    where = phrase(past.place_of(view, masked), on_machine(view.machine, masked), by=" ")
    whose = phrase(brief(view.title, masked), where)
    others = islice(past.details(view, desk.now()), len(view.agents), None)
    facts = [*map(_agent, view.agents), *(el("li", words) for words in others)]
    return el(
        "li",
        el("h2", whose),
        _waiting(view),
        el("ul", *facts, class_="facts"),
        *_notes(view),
        _acts(desk),
        id=f"session-{name}",
        data_session=name,
        data_of=phrase(whose, view.session[: past.ID_SHOWN]),
        data_into="session-list",
        data_order=f"{view.since:020.3f}",
        data_since=f"{view.since:.3f}",
    )


def _agent(agent: AgentView) -> Html:
    """Return what an agent of the session does, and since when, for the page to tell in words."""
    name, doing = past.name_in_session(agent), agent.doing
    if doing is None:
        return el("li", f"{name}: nothing heard of yet")
    often = f"{past.TIMES}{doing.times}" if doing.times > 1 else ""
    what = phrase(called(doing.event, masked), often, by=" ")
    words = phrase(f"{name}: {what}", brief(doing.outcome, masked))
    return el("li", words, " · ", el("time", data_since=f"{doing.at:.3f}"))


def _waiting(view: SessionView) -> Html:
    """Return which cards of the session wait, each with a way to it."""
    if not view.waiting:
        return NOTHING
    cards = (el("a", f"#{number}", href=f"#card-{number}") for number in view.waiting)
    return el("p", "waits for you: ", joined(cards, Html(", ")), class_="noted")


def _acts(desk: Replica) -> Html:
    """Return the acts about a session for who sits at the desk, each beside its field."""
    made = list[Html]()
    for act, (label, key) in _ACTS.items():
        row = key_of(act, Place.SESSION)
        if row.act.is_for(desk.role()):
            offered = Button(
                act, row.act.name, row.means, Guard.ARMED, Field.MESSAGE, act == "note", key=key
            )
            made.append(with_field(field(label, Field.MESSAGE, rows=1), button(offered)))
    made += _orders(desk)
    inner = el(
        "details", el("summary", "tell it something, hold it, or stop it"), *made, class_="others"
    )
    return el("form", inner, class_="acts") if made else NOTHING


_MINUTES = 10
_ORDERS = {
    "hold-all": (f"hold everything for {_MINUTES} minutes", "cookie", ""),
    "allow-all": (
        f"allow everything for {_MINUTES} minutes",
        "passkey",
        f"every call of this session, all that it does, for {_MINUTES} minutes: yes allows them",
    ),
}
"""The orders about a session: the words, the key that they need, and what a second yes is to."""


def _orders(desk: Replica) -> Iterator[Html]:
    """Yield the orders about a session that who sits at the desk may give."""
    for act, (label, key, second) in _ORDERS.items():
        if ACTS[act].is_for(desk.role()):
            offered = Button(act, label, ACTS[act].means, Guard.ARMED, second=second, key=key)
            yield button(offered, value=str(_MINUTES * 60))


def _notes(view: SessionView) -> Iterator[Html]:
    """Yield a button for each note that waits: it takes the note back."""
    for note in view.notes:
        if note.waits:
            back = Button("note-back", f"take back note {note.id}", "", Guard.ARMED)
            yield button(back, value=str(note.id))
