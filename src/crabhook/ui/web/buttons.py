"""The buttons of acts as HTML, and the fields in which their words are typed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from crabhook.desk.acts import ACTS, Field, Kind
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import MODES, Decision, Verdict, set_mode
from crabhook.model.jsontext import Value, at, pretty
from crabhook.present.card import suggestions
from crabhook.present.cover import masked
from crabhook.present.phrases import joined as phrase
from crabhook.present.summary import brief
from crabhook.ui.commands.decide import RewriteError, asked_by
from crabhook.ui.edits import asked_tool, subject_of, text_paths
from crabhook.ui.web.acts import Button, buttons, edit_choice, second_yes, time_buttons
from crabhook.ui.web.html import NOTHING, Html, can_be_typed, el, joined, labelled, typed

_SHARED = (Field.REASON, Field.NOTE, Field.INSTRUCTION)
"""The fields of words to the model: they share one."""
_LONGEST = 100_000  # letters of a text that a page lets be edited


def button(offered: Button, label: str = "", value: str = "", second: str | None = None) -> Html:
    """Return the button of an act; `value` is what it chooses."""
    return el(
        "button",
        label or offered.label,
        type="button",
        class_="act",
        title=offered.means,
        data_act=offered.act,
        data_guard=offered.guard,
        data_field=offered.field or None,
        data_needs=offered.needs and not value,
        data_second=(offered.second if second is None else second) or None,
        data_key=offered.key,
        data_gives=offered.gives or None,
        data_hold=offered.hold if offered.gives else None,
        data_value=value or None,
    )


def field(label: str, named: Field, value: str = "", *, rows: int = 2) -> Html:
    """Return a field for an act's words."""
    inner = el(
        "textarea",
        typed(value),
        rows=rows,
        data_field=named,
        spellcheck="false" if value else None,
        autocapitalize="off" if value else None,
    )
    return labelled(label, inner)


def with_field(*inner: Html) -> Html:
    """Return a button beside a field of its own."""
    return el("div", *inner, class_="with-field")


def acts(card: Card, desk: Replica, *, covers: bool = True) -> Html:
    """Return all acts of a waiting card: the first at the foot, the others behind a summary.

    `covers`: no text that has a secret is there to be edited.
    """
    offered = buttons(card, desk)
    first, others = _first(offered, asked_by(card).kind)
    rest = [
        UNCOVER_FIRST if covers and _has_secret(each.field, card) else _other(each, card, desk)
        for each in others
    ]
    rest += [button(each) for each in time_buttons(card, desk)]
    if not offered:
        return el("form", class_="acts")
    return el(
        "form",
        _shared(offered, asked_by(card).kind),
        el("details", el("summary", "Other answers"), *rest, class_="others") if rest else NOTHING,
        el("div", *map(button, first), class_="first"),
        class_="acts",
    )


def first_acts(card: Card, desk: Replica) -> Html:
    """Return the acts with which a card is decided from a list, where nothing is typed for them."""
    first, _ = _first(buttons(card, desk), asked_by(card).kind)
    bare = [button(each) for each in first if not each.needs]
    return el("form", el("div", *bare, class_="first"), class_="acts") if bare else NOTHING


def _first(offered: Sequence[Button], kind: Kind) -> tuple[Sequence[Button], Sequence[Button]]:
    """Return the acts at the foot of a card, what refuses first, and the others."""
    opening = [*takewhile(lambda each: not each.closes, offered)]
    if kind is Kind.QUESTIONS:
        opening = opening[:1]
    closing = [each for each in offered if each.closes][:1]
    first = [*closing, *opening]
    return first, [each for each in offered if each not in first]


_SAYS = {
    Kind.QUESTIONS: "A reason, if you deny (the model reads it)",
    Kind.PLAN: "What to change in the whole plan (the model reads it)",
    Kind.STOP: "How to go on (the model reads it)",
}


def _shared(offered: Sequence[Button], kind: Kind) -> Html:
    """Return the field for words to the model."""
    named = [each for each in _SHARED if any(each is button.field for button in offered)]
    if not named:
        return NOTHING
    label = _SAYS.get(kind, "A reason or a note (the model reads it)")
    inner = el("textarea", rows=2, data_field=" ".join(named))
    return el("div", labelled(label, inner), class_="fields")


# The other acts.


def _other(offered: Button, card: Card, desk: Replica) -> Html:
    make = _OTHERS.get(offered.field)
    return button(offered) if make is None else make(offered, card, desk)


UNCOVER_FIRST = el("p", "Show the secrets first: then it can be edited here.", class_="dim")


def _has_secret(named: Field, card: Card) -> bool:
    """Whether a text that is edited has a secret, which a page of the cookie alone does not get."""
    text = ""
    if named is Field.INPUT:
        with suppress(RewriteError):
            text = edited(card)[2]
    elif named is Field.OUTPUT:
        text = _output_text(card)
    return masked(text) != text


def _words(label: str) -> Callable[[Button, Card, Replica], Html]:
    return lambda offered, *_: with_field(field(label, offered.field), button(offered))


def edited(card: Card) -> tuple[int | None, str, str]:
    """Return the text of a call that a page lets be edited: its place, its name, and the text.

    A call of several texts, and one with letters that a field would change, is edited as JSON.
    """
    tool = asked_tool(card)
    paths = text_paths(tool)
    if len(paths) == 1 and isinstance(text := at(tool.input, paths[0]), str) and can_be_typed(text):
        return 0, subject_of(paths[0]), text
    return None, "input, as JSON", json.dumps(tool.input, indent=2)


def _edit(offered: Button, card: Card, _: Replica) -> Html:
    try:
        place, subject, text = edited(card)
    except RewriteError:
        return NOTHING
    if len(text) > _LONGEST:
        return el("p", "This is too long to be edited here.", class_="dim")
    says = el(
        "div",
        button(offered, "allow it edited", edit_choice(place)),
        id=f"edit-{card.number}",
    )
    return with_field(field(f"edit the {subject}", Field.INPUT, text, rows=4), says)


def _output(offered: Button, card: Card, _: Replica) -> Html:
    text = _output_text(card)
    if len(text) > _LONGEST or not can_be_typed(text):
        return NOTHING
    return with_field(field("what the model is shown", Field.OUTPUT, text, rows=4), button(offered))


def _output_text(card: Card) -> str:
    result = card.event.fields.get("tool_response")
    return result if isinstance(result, str) else _typable(result)


def _typable(value: Value) -> str:
    """Return JSON that a field of a form gives back unchanged."""
    written = pretty(value)
    return written if can_be_typed(written) else json.dumps(value, indent=2)


def _suggestions(offered: Button, card: Card, desk: Replica) -> Html:
    def each() -> Iterator[Html]:
        for number, it in enumerate(suggestions(card), 1):
            kept = f"kept in {it.where}" if it.where else ""
            label = f"allow, and from now on: {phrase(brief(it.what, masked), kept, by=', ')}"
            decision = Decision(Verdict.ALLOW, permissions=(it.kept(),))
            yield button(offered, label, str(number), second_yes(card, decision, desk))

    return joined(each())


def _modes(offered: Button, card: Card, desk: Replica) -> Html:
    def each() -> Iterator[Html]:
        for mode in MODES:
            decision = Decision(Verdict.ALLOW, permissions=(set_mode(mode),))
            second = second_yes(card, decision, desk)
            yield button(offered, f"{offered.label}: {mode}", mode, second)

    summary = el("summary", "allow it, and set the mode")
    return el("details", summary, *each(), class_="modes")


def _rules(offered: Button, card: Card, _: Replica) -> Html:
    """Return what asks for the rules that can be taken; the answer has their buttons."""
    denies = ACTS[offered.act].closes
    asks = el(
        "button",
        f"{offered.label}…",
        type="button",
        class_="ask",
        data_ask="offers",
        data_card=card.number,
        data_denies="yes" if denies else None,
    )
    return joined((asks, offers_place(card.number, denies=denies)))


def offers_place(number: int, *inner: Html, denies: bool = False) -> Html:
    """Return where the rules stand that are offered for a card."""
    kind = "denials" if denies else "offers"
    return el("div", *inner, id=f"{kind}-{number}")


_OTHERS: Mapping[Field, Callable[[Button, Card, Replica], Html]] = {
    Field.INPUT: _edit,
    Field.OUTPUT: _output,
    Field.SUGGESTION: _suggestions,
    Field.MODE: _modes,
    Field.RULE: _rules,
    Field.HALT: _words("why the session stops (its user reads it)"),
    Field.MESSAGE: _words("a message to the agent's user"),
}
"""How an act is offered that takes more than words to the model."""
