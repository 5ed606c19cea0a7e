"""The acts that a page offers at a card, and what it posts back, as commands of the desk.

The acts are those of `desk.acts`: nothing here lists them again. What was posted is read strictly:
an act that the card does not offer, or a value of another kind, is an error in words. Nothing of a
tool's input is ever dropped.

A call that does something has `id` and `act`, the time `at`, and `value`: what was typed for it.
The value is a text, or texts and numbers by the names of fields. `choice` is the `data-value` of
its button. At a card it has `card`, the revision `seen`, and `second`: the words of the button's
`data-second`, once a person said yes to them. About a session it has `session`, the name of
`session_name`. What asks has `ask` in place of `act`: `_ASKS` lists what can be asked for. What is
told:

reason                       a text; for a plan also texts by `line-N`, then `words` for all of it
note, instruction, halt, message, output     a text
input                        the text; the choice is of `edit_choice`
answers                      q1: numbers of options, q1-words, q1-note, ...
content                      f1: a text, or numbers of choices, ...
suggestion                   the choice is its number, the value where it is kept
mode                         its name, chosen or typed
rule                         life, reason; the choice is the offer's id, or of `entry_choice`
note, stop of a session      a text; the choice is the place of a subagent
away, hold-all, allow-all    the choice is how many seconds
note-back, release           the choice is the number of the note, of the order
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import isfinite
from typing import Any

from crabhook.datatypes import frozen
from crabhook.desk import commands, other_acts
from crabhook.desk.acts import ACTS, KEYS, OFFERED, Act, ActKey, Asked, Field, Guard, Kind, Place
from crabhook.desk.commands import BARE_DENIAL, Command, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.decision import MODES, PLACES, Decision, Verdict, set_mode
from crabhook.model.elicitation import FormField, read_fields
from crabhook.model.errors import CrabhookError, DecisionError, QuestionError
from crabhook.model.jsontext import Value, compact
from crabhook.model.order import Order
from crabhook.model.question import Answer, merge_answers
from crabhook.model.session import SessionKey, SessionView
from crabhook.present.card import suggestions
from crabhook.present.cover import covered as shown_safely
from crabhook.present.phrases import joined
from crabhook.present.plan import denial_of, plan_of
from crabhook.present.safe import excerpt, safe
from crabhook.present.sentence import DOES, doubts, outlasting
from crabhook.present.summary import said as outcome_of
from crabhook.ui.commands.decide import (
    LIVES,
    RewriteError,
    asked_by,
    line_decision,
    rewritten,
    undoing,
)
from crabhook.ui.commands.words import LONGEST as LONGEST_ORDER
from crabhook.ui.commands.words import LineError
from crabhook.ui.edits import asked_tool, text_paths
from crabhook.ui.form_values import choices_of, read_value

LONGEST_WORDS = 20_000  # letters of what an operator says
LONGEST_TEXT = 1_000_000  # letters of an edited text
HOLD, HOLD_DANGER = 2, 5  # seconds for which an answer is held, to take back
_TIME = ("wait-longer", "snooze")
_LETS_HAPPEN = frozenset({Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY})
_MAY_BE_BARE = frozenset({Field.NOTE, Field.REASON, Field.CONTENT})
_WORDS = frozenset({Field.REASON, Field.NOTE, Field.INSTRUCTION, Field.HALT, Field.MESSAGE})
_NUMBER = re.compile("[0-9]{1,9}")


class CallError(CrabhookError):
    """What was posted gives no command: why, in words for the person at the page."""


class ChangedCardError(CallError):
    """The card changed after the revision that the page showed."""


# What is offered.


@frozen
class Button:
    """An act as a page offers it; the parts are the attributes of `button.act`.

    `key`: whether its call needs a passkey ("passkey"), or none ("cookie"), or one where words are
    typed ("words"). `second`: what a second yes is said to; empty where none is asked.
    """

    act: str
    label: str
    means: str
    guard: Guard
    field: Field = Field.NOTHING
    needs: bool = False
    second: str = ""
    key: str = "passkey"
    gives: str = ""
    closes: bool = False

    @property
    def hold(self) -> int:
        """For how many seconds its answer is held."""
        return HOLD_DANGER if self.second else HOLD


def buttons(card: Card, desk: Replica) -> tuple[Button, ...]:
    """Return the acts that decide a card, for who sits at the desk, the most needed first."""
    asked, role = asked_by(card), desk.role()
    offered = (_button(act, asked, role, card, desk) for act in OFFERED)
    return tuple(button for button in offered if button is not None)


def time_buttons(card: Card, desk: Replica) -> tuple[Button, ...]:
    """Return the acts that change how long a card waits."""
    asked, role = asked_by(card), desk.role()
    keys = (key for key in KEYS if key.act.id in _TIME and key.fits(asked, role))
    return tuple(Button(key.act.id, key.act.name, key.means, Guard.FREE) for key in keys)


def _button(act: Act, asked: Asked, role: str, card: Card, desk: Replica) -> Button | None:
    """Return the button of an act at a card that asks for this; None where it is not offered."""
    keys = _keys(act, asked, role)
    if not act.is_for(role) or not (keys or act.fits(asked)):
        return None
    named = next((key for key in keys if key.bare), keys[0] if keys else None)
    field = _field(act, asked, keys)
    decision = act.decision(None, card.choices)
    return Button(
        act.id,
        (named.label if named and named.label else act.name).rstrip("…"),
        named.means if named and named.bare else act.means,
        _guard(act, asked, keys),
        field,
        field is not Field.NOTHING and field not in _MAY_BE_BARE,
        second_yes(card, decision, desk),
        _key(act),
        _gives(act, field, card),
        act.closes,
    )


def _gives(act: Act, field: Field, card: Card) -> str:
    """Return what is told while the answer is held: "Allowed", "Sent back"."""
    changes = field in (Field.ANSWERS, Field.INPUT)
    return outcome_of(card.event, act.decision({} if changes else None, card.choices)).capitalize()


def _keys(act: Act, asked: Asked, role: str) -> Sequence[ActKey]:
    """Return the keys that the terminal has for an act at such a card, the plainest first."""
    fitting = (
        key for key in KEYS if key.act is act and key.place is Place.CARD and key.fits(asked, role)
    )
    return sorted(fitting, key=lambda key: key.guard is Guard.BEGIN)


def _field(act: Act, asked: Asked, keys: Sequence[ActKey]) -> Field:
    """Return what is typed or chosen for an act at such a card.

    Where the act itself does not fit, a bare key may: no answer is sent to questions.
    """
    if not act.fits(asked) and all(key.bare for key in keys):
        return Field.NOTHING
    return act.field_at(asked.choices)


def _guard(act: Act, asked: Asked, keys: Sequence[ActKey]) -> Guard:
    """Return when a button is obeyed.

    A page has no dialog between a button and its decision, as some keys of the terminal have. There
    the whole card must have been in view first.
    """
    own = next((key.guard for key in keys if key.bare or act.field is Field.NOTHING), None)
    if own is not None:
        return own
    lets = act.gives in _LETS_HAPPEN and asked.kind not in (Kind.STOP, Kind.DENIAL)
    return Guard.READ if lets else Guard.ARMED


def _key(act: Act) -> str:
    if not act.closes:
        return "passkey"
    return "words" if act.field is Field.REASON else "cookie"


def second_yes(card: Card, decision: Decision, desk: Replica, *, rule: bool = False) -> str:
    """Return what a second yes is said to before a decision; empty where none is asked.

    It is safe to show, so that it comes back from a page letter by letter.
    """
    doubt = doubts(card, decision, desk)
    reasons = (*doubt.unasked, *doubt.dangers)
    if not reasons:
        return ""
    kept = outlasting(card.event, decision, str) or ("a RULE for such calls" if rule else "")
    does = f"gives ALLOW + {kept}" if kept else DOES[decision.verdict]
    return shown_safely(f"{' · '.join(reasons)}: yes {does}")


def edit_yes(card: Card, decision: Decision, objections: Sequence[str], desk: Replica) -> str:
    """Return what a second yes is said to before an edit that the rules were asked about."""
    object_ = f"the rules say: {'; '.join(objections)}" if objections else ""
    return joined(shown_safely(object_), second_yes(card, decision, desk))


def rule_yes(card: Card, offer: Offer, desk: Replica) -> str:
    """Return what a second yes is said to before a rule is taken.

    As at the terminal, a rule that denies needs it, and a rule that would have undone a decision.
    """
    verdict = Verdict.DENY if offer.denies else Verdict.ALLOW
    undoes = turns_round(offer)
    denies = "such calls are denied from now on, also when this call is forgotten"
    doubts_of_it = second_yes(card, Decision(verdict), desk, rule=True)
    return joined(undoes, denies if offer.denies else "", doubts_of_it)


def turns_round(offer: Offer) -> str:
    """Return which past decisions a rule would have turned round; empty for none."""
    return f"it {undoing(offer)}" if offer.undone else ""


# What comes back.

_LARGEST_NUMBER = 2**53 - 1  # of JSON, that every browser writes as it is


def command_of(call: Mapping[str, Any], card: Card | None, desk: Replica) -> Command:
    """Return the command that a page's call gives; raises CallError.

    `card` is the card that the call names, if it names any. The command has the call's own id.
    """
    posted = _Posted.read(call)
    if posted.asks:
        if (ask := _ASKS.get(posted.act)) is None:
            raise CallError(f'nothing can be asked for as "{excerpt(posted.act)}"')
        command = ask(posted, card)
    elif posted.act == "claim":
        command = _claim(posted, _must(card))
    elif match := _OF_AN_ENTRY.fullmatch(posted.choice):
        command = _keep_rule(posted, int(match["entry"]), match["offer"], desk)
    elif (make := _OF_THE_DESK.get(posted.act)) is not None:
        act = ACTS[posted.act]
        if not act.is_for(desk.role()):
            raise CallError(act.refusal(desk.role()))
        command = make(posted, desk)
    else:
        command = _at_card(posted, _must(card), desk)
    return replace(command, id=posted.id) if posted.id else command


def _must(card: Card | None) -> Card:
    if card is None:
        raise CallError("there is no such card any more")
    return card


_PARTS: Mapping[str, str | int] = {
    "id": "",
    "act": "",
    "ask": "",
    "choice": "",
    "seen": 0,
    "second": "",
}
"""The parts of every call, as they are where they are left out."""


@frozen
class _Posted:
    """A call as the page posted it; `asks`: it has something read, and does nothing."""

    id: str
    act: str
    value: Value
    choice: str
    seen: int
    second: str
    asks: bool
    fields: Mapping[str, Any]

    @classmethod
    def read(cls, call: Mapping[str, Any]) -> "_Posted":
        """Return a call whose parts are of the kinds that they must be; raises CallError."""
        parts: dict[str, Any] = {**_PARTS, **call}
        for name, usual in _PARTS.items():
            if type(parts[name]) is not type(usual):
                raise CallError(f'"{name}" is not of the kind that it must be')
        return cls(
            parts["id"],
            parts["ask"] or parts["act"],
            parts.get("value"),
            parts["choice"],
            parts["seen"],
            parts["second"],
            bool(parts["ask"]),
            parts,
        )

    def number(self, name: str) -> int:
        """Return a number beside the act, 0 where there is none."""
        number = self.fields.get(name) or 0
        if type(number) is not int or not 0 <= number <= _LARGEST_NUMBER:
            raise CallError(f'"{name}" is a number')
        return number

    @property
    def place(self) -> int:
        """The number that was chosen, 0 where none was."""
        if self.choice and not _NUMBER.fullmatch(self.choice):
            raise CallError("what is chosen is no number")
        return int(self.choice or 0)


def _words(value: Value, what: str, longest: int = LONGEST_WORDS) -> str:
    """Return words that were typed; nothing for None."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CallError(f"the {what} is a text")
    if len(value) > longest:
        raise CallError(f"the {what} is longer than {longest} letters")
    return value.strip() if longest == LONGEST_WORDS else value


def _table(value: Value, what: str, keys: str) -> Mapping[str, Value]:
    """Return an object with keys of this pattern alone."""
    if not isinstance(value, dict):
        raise CallError(f"the {what} come as an object")
    for key in value:
        if not re.fullmatch(keys, key):
            raise CallError(f'the {what} have no "{excerpt(key)}"')
    return value


# At a card.


def _at_card(posted: _Posted, card: Card, desk: Replica) -> Command:
    act, asked, role = ACTS.get(posted.act), asked_by(card), desk.role()
    if act is None:
        raise CallError(f'there is no act "{excerpt(posted.act)}"')
    if not act.is_for(role):
        raise CallError(act.refusal(role))
    if act.id == "wait-longer":
        return other_acts.wait_longer(card)
    if act.id == "snooze":
        return other_acts.snooze(card, desk.now())
    if posted.seen < card.grown:
        raise ChangedCardError(f"#{card.number} changed while you looked at it")
    keys = _keys(act, asked, role)
    if act.gives is None or not (act.fits(asked) or keys):
        raise CallError(f"{act.name} is not offered at #{card.number}")
    if act.field is Field.RULE:
        return _with_rule(act, posted, card, desk)
    field = _field(act, asked, keys)
    decision = _decision(act, field, posted, card)
    if field is Field.INPUT:
        decision = _looked_at(decision, posted, card, desk)
    yes = edit_yes(card, decision, decision.despite, desk)
    _second_yes_given(posted, yes)
    return commands.Decide(card.number, posted.seen, decision)


def _second_yes_given(posted: _Posted, needed: str) -> None:
    if needed and posted.second != needed:
        raise CallError(f"a second yes is needed: {excerpt(needed)}")


def _decision(act: Act, field: Field, posted: _Posted, card: Card) -> Decision:
    """Return the decision of an act with what was typed or chosen for its field."""
    try:
        read = _READERS[field](posted, card)
    except (RewriteError, QuestionError, DecisionError) as error:
        raise CallError(str(error)) from error
    except LineError as error:
        raise CallError(error.wrong) from error
    if field in _WORDS and not read:
        if field not in _MAY_BE_BARE:
            raise CallError(f"{act.name} needs words: the {field}")
        read = BARE_DENIAL if act.closes else None
    return act.decision(read, card.choices)


def _nothing(posted: _Posted, _: Card) -> None:
    if posted.value is not None or posted.choice:
        raise CallError("nothing is typed or chosen for this act")


def _reason(posted: _Posted, card: Card) -> str:
    """Return a denial's reason; of a plan also from notes on its lines."""
    if not isinstance(posted.value, dict):
        return _words(posted.value, "reason")
    parts = _table(posted.value, "notes", "words|line-[1-9][0-9]{0,5}")
    lines = plan_of(card).split("\n")
    notes = dict[int, str]()
    for key, note in parts.items():
        place = len(lines) if key == "words" else int(key.removeprefix("line-")) - 1
        if key != "words" and place >= len(lines):
            raise CallError(f"the plan has no line {place + 1}")
        if words := _words(note, "note"):
            notes[place] = words
    if not notes.keys() - {len(lines)}:
        return notes.get(len(lines), "")
    return denial_of(lines, notes)


_ALL_OF_IT = "all"


def edit_choice(place: int | None, objections: Sequence[str] = ()) -> str:
    """Return what the button of an edit sends: which of the call's texts, and to what was agreed.

    `place` is that of `text_paths`, None for the whole input as JSON.
    """
    named = _ALL_OF_IT if place is None else str(place)
    return f"{named} {_agreed(objections)}".rstrip()


def _input(posted: _Posted, card: Card) -> dict[str, Value]:
    """Return the whole input with one of its texts changed, or as JSON all of it."""
    tool = asked_tool(card)
    paths = text_paths(tool)
    named = posted.choice.partition(" ")[0]
    if named != _ALL_OF_IT and not (_NUMBER.fullmatch(named) and int(named) < len(paths)):
        raise CallError("there is no such text in the call")
    text = _words(posted.value, "text", LONGEST_TEXT)
    return rewritten(tool, text, () if named == _ALL_OF_IT else paths[int(named)])


def _looked_at(decision: Decision, posted: _Posted, card: Card, desk: Replica) -> Decision:
    """Return an edit with the objections to which the operator said yes a second time."""
    objections = desk.objections(card.number, decision)
    if objections is None:
        raise CallError("see first what the rules say of this edit")
    if posted.choice.partition(" ")[2] != _agreed(objections):
        raise CallError("the rules object to this edit: say yes to what they say, or leave it")
    return replace(decision, despite=objections)


def _agreed(objections: Sequence[str]) -> str:
    """Return what a page sends back for objections that it showed; nothing for none."""
    return sha256(compact(list(objections)).encode()).hexdigest()[:16] if objections else ""


def _answers(posted: _Posted, card: Card) -> dict[str, Value]:
    """Return the whole input with answers in it."""
    parts = _table(posted.value, "answers", "q[1-9][0-9]{0,2}(-words|-note)?")
    answers = dict[int, Answer]()
    for key, entered in parts.items():
        question, _, part = key.partition("-")
        place = int(question[1:]) - 1
        answer = answers.get(place, Answer())
        if part == "words":
            answer = replace(answer, words=_words(entered, "answer"))
        elif part:
            answer = replace(answer, note=_words(entered, "note"))
        else:
            answer = replace(answer, chosen=tuple(number - 1 for number in _numbers(entered)))
        answers[place] = answer
    tool = card.event.tool
    merged = merge_answers(tool.input if tool else None, answers)
    if merged is None:
        raise CallError("nothing is answered yet")
    return merged


_NONE: Sequence[Value] = ("", [], None)
"""What stands for a field that was left empty."""


def _numbers(value: Value) -> Sequence[int]:
    """Return the numbers of what was chosen, from 1 on."""
    if value in _NONE:
        return ()
    numbers = value if isinstance(value, list) else [value]
    chosen = list[int]()
    for number in numbers:
        if type(number) is not int or number < 1:
            raise CallError("what is chosen comes as numbers from 1 on")
        chosen.append(number)
    return chosen


def _content(posted: _Posted, card: Card) -> Mapping[str, Value] | None:
    """Return the values of a form by their names; None where the form has no fields."""
    fields = card.event.fields
    entries = read_fields(fields)
    parts = {} if posted.value is None else _table(posted.value, "values", "f[1-9][0-9]{0,2}")
    content = dict[str, Value]()
    for key, entered in parts.items():
        place = int(key[1:]) - 1
        if place >= len(entries):
            raise CallError(f"the form has no field {place + 1}")
        if entered not in _NONE:
            content[entries[place].name] = _entry(entries[place], entered)
    missing = [entry.title for entry in entries if entry.required and entry.name not in content]
    if missing:
        raise CallError(f"the form needs: {excerpt(', '.join(missing))}")
    return content if isinstance(fields.get("requested_schema"), dict) else None


def _entry(entry: FormField, entered: Value) -> Value:
    choices = choices_of(entry)
    if not choices:
        return read_value(entry.kind, _words(entered, entry.title, LONGEST_TEXT))
    numbers = _numbers(entered)
    if max(numbers) > len(choices):
        raise CallError(f"{excerpt(entry.title)} has no choice {max(numbers)}")
    values: list[Value] = [choices[number - 1][0] for number in numbers]
    if entry.kind == "array":
        return values
    if len(values) > 1:
        raise CallError(f"{excerpt(entry.title)} takes one choice")
    return values[0]


def _output(posted: _Posted, card: Card) -> Value:
    text = _words(posted.value, "output", LONGEST_TEXT)
    return line_decision(ACTS["change-output"], card, text).decision.output


def _suggestion(posted: _Posted, card: Card) -> Mapping[str, Value]:
    listed, number = suggestions(card), posted.place
    place = _words(posted.value, "place")
    if not 1 <= number <= len(listed):
        raise CallError(f"#{card.number} has no such suggestion")
    if place and place not in PLACES:
        raise CallError(f"a suggestion is kept in one of: {', '.join(PLACES)}")
    return listed[number - 1].kept(place)


def _mode(posted: _Posted, _: Card) -> Mapping[str, Value]:
    mode = posted.choice or _words(posted.value, "mode")
    if mode not in MODES:
        raise CallError(f"the mode is one of: {', '.join(MODES)}")
    return set_mode(mode)


def _typed(what: str) -> Callable[[_Posted, Card], str]:
    return lambda posted, _: _words(posted.value, what)


_READERS: Mapping[Field, Callable[[_Posted, Card], Any]] = {
    Field.NOTHING: _nothing,
    Field.REASON: _reason,
    Field.INSTRUCTION: _typed("instruction"),
    Field.NOTE: _typed("note"),
    Field.HALT: _typed("reason"),
    Field.MESSAGE: _typed("message"),
    Field.INPUT: _input,
    Field.ANSWERS: _answers,
    Field.CONTENT: _content,
    Field.OUTPUT: _output,
    Field.SUGGESTION: _suggestion,
    Field.MODE: _mode,
}
"""How the value of each field is read; the value of a rule is read with its offers."""


# From now on.


def _with_rule(act: Act, posted: _Posted, card: Card, desk: Replica) -> Command:
    parts = _rule_parts(posted, "life|reason")
    offer = _chosen(posted.choice, desk.offers(card.number, denies=act.closes).offers)
    taken = _taken(offer, parts)
    reason = _words(parts.get("reason"), "reason") or BARE_DENIAL
    decision = act.decision(reason if act.closes else None, card.choices)
    _second_yes_given(posted, rule_yes(card, offer, desk))
    return commands.DecideWithRule(card.number, posted.seen, taken, decision)


def entry_choice(entry: int, offer: str) -> str:
    """Return what the button of a rule sends that is offered for an entry of the history."""
    return f"entry-{entry} {offer}"


_OF_AN_ENTRY = re.compile("entry-(?P<entry>[1-9][0-9]{0,15}) (?P<offer>.+)")


def _keep_rule(posted: _Posted, entry: int, chosen: str, desk: Replica) -> Command:
    """Return what keeps a rule for calls like the call of an entry of the history."""
    if posted.act != "always-allow":
        raise CallError("a rule is kept by: always allow")
    if not ACTS["always-allow"].is_for(desk.role()):
        raise CallError(ACTS["always-allow"].refusal(desk.role()))
    offer = _chosen(chosen, desk.offers(0, entry).offers)
    taken = _taken(offer, _rule_parts(posted, "life"))
    _second_yes_given(posted, turns_round(offer))
    return commands.KeepRule(entry, taken)


def _rule_parts(posted: _Posted, keys: str) -> Mapping[str, Value]:
    return {} if posted.value is None else _table(posted.value, "rule", keys)


def _chosen(chosen: str, offers: Sequence[Offer]) -> Offer:
    offer = next((offer for offer in offers if safe(offer.id) == chosen), None)
    if offer is None:
        raise CallError("this rule is not offered any more: ask for the rules again")
    return offer


def _taken(offer: Offer, parts: Mapping[str, Value]) -> TakenOffer:
    life = parts.get("life", "offered")
    if not isinstance(life, str) or life not in LIVES:
        raise CallError(f"a rule holds for one of: {', '.join(LIVES)}")
    return TakenOffer(offer.id, LIVES[life](offer))


# What is read.


def _offers(posted: _Posted, card: Card | None) -> Command:
    if entry := posted.number("entry"):
        return commands.AskOffers(entry=entry)
    denies = posted.fields.get("denies") not in (None, False, "", "no")
    return commands.AskOffers(_must(card).number, denies=denies)


def _objections(posted: _Posted, card: Card | None) -> Command:
    shown = _must(card)
    if not ACTS["edit"].fits(asked_by(shown)):
        raise CallError(f"edit is not offered at #{shown.number}")
    decision = _decision(ACTS["edit"], Field.INPUT, posted, shown)
    return commands.AskObjections(shown.number, decision)


_ASKS: Mapping[str, Callable[[_Posted, Card | None], Command]] = {
    "offers": _offers,
    "objections": _objections,
    "context": lambda _, card: commands.AskContext(_must(card).number),
    "history": lambda posted, _: commands.AskHistory(posted.number("before")),
    "entry": lambda posted, _: commands.AskEntry(posted.number("entry")),
    "desks": lambda *_: commands.AskDesks(),
}
"""What a page can have read, by the word for it."""


def _claim(posted: _Posted, card: Card) -> Command:
    """Return what tells other desks that this desk looks at a card, or holds an answer to it."""
    parts = {} if posted.value is None else _table(posted.value, "claim", "release|verdict|due")
    release, verdict, due = (parts.get(key) for key in ("release", "verdict", "due"))
    if release not in (None, True, False) or verdict not in (None, *Verdict):
        raise CallError("a claim tells a verdict, or that it is taken back")
    if due is not None and (isinstance(due, bool) or not isinstance(due, int | float)):
        raise CallError("a claim tells when the answer is sent")
    at = float(due or 0.0)
    if not isfinite(at):
        raise CallError("a claim tells when the answer is sent")
    entered = None if verdict is None else Verdict(str(verdict))
    return commands.Claim(card.number, bool(release), entered, at)


# Of the desk and its sessions.


def session_name(key: SessionKey) -> str:
    """Return how a page names a session: no letter of an agent's is in it."""
    return sha256(compact(list(key)).encode()).hexdigest()[:16]


def _session(posted: _Posted, desk: Replica) -> SessionView:
    named = posted.fields.get("session")
    for view in desk.live():
        if session_name(view.key) == named:
            return view
    raise CallError("this session is not live any more")


def _subagent(posted: _Posted, view: SessionView) -> str:
    place = posted.place
    if place >= max(len(view.agents), 1):
        raise CallError("this subagent is not live any more")
    return view.agents[place].id if view.agents else ""


def _note(posted: _Posted, desk: Replica) -> Command:
    view, text = _session(posted, desk), _words(posted.value, "note")
    if not text:
        raise CallError("type the note: the agent reads it with its next call")
    return commands.Steer(view.session, text, _subagent(posted, view))


def _stop(posted: _Posted, desk: Replica) -> Command:
    view, why = _session(posted, desk), _words(posted.value, "reason")
    return commands.StopSession(view.session, why, _subagent(posted, view))


def _note_back(posted: _Posted, _: Replica) -> Command:
    return commands.TakeBackNote(posted.place)


def _seconds(posted: _Posted) -> float:
    if not 0 < posted.place <= LONGEST_ORDER:
        raise CallError(f"the time is more than nothing and at most {LONGEST_ORDER // 3600} hours")
    return float(posted.place)


def _of_session(kind: OrderKind) -> Callable[[_Posted, Replica], Command]:
    def make(posted: _Posted, desk: Replica) -> Command:
        view, until = _session(posted, desk), desk.now() + _seconds(posted)
        order = Order(kind, session=view.session, until=until, machine=view.machine)
        return commands.GiveOrder(order)

    return make


def _away(posted: _Posted, desk: Replica) -> Command:
    seconds = _seconds(posted) if posted.choice else None
    return commands.GiveOrder(other_acts.away(desk.now(), seconds))


def _here(_: _Posted, desk: Replica) -> Command:
    return _standing(other_acts.here(desk.orders()))


def _release(posted: _Posted, desk: Replica) -> Command:
    stands = any(order.id == posted.place for order in desk.orders())
    return _standing(commands.EndOrders(frozenset({posted.place})) if stands else None)


def _standing(end: commands.EndOrders | None) -> Command:
    if end is None:
        raise CallError("this order stands no more")
    return end


_OF_THE_DESK: Mapping[str, Callable[[_Posted, Replica], Command]] = {
    "note": _note,
    "note-back": _note_back,
    "stop": _stop,
    "away": _away,
    "here": _here,
    "hold-all": _of_session(OrderKind.HOLD_ALL),
    "allow-all": _of_session(OrderKind.ALLOW_ALL),
    "release": _release,
}
"""The acts about no card."""
