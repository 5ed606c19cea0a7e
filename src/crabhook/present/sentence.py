"""What a card asks in one sentence, its risk in words, and the fate of similar cards.

Both desks use it. An agent's words go through `spell`; the others are ours.

The questions before a second yes are here too. A danger (▲▲) is named before an allow, and so is a
mode of the agent in which another verdict lets the call happen.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from typing import NamedTuple
from urllib.parse import urlsplit

from crabhook.data_files import tables
from crabhook.desk.commands import Outcome, TooLate
from crabhook.desk.replica import Replica
from crabhook.model.actor import HERE, Actor, Operator
from crabhook.model.card import NO_RISK, UNTOLD, Card, Level, Risk, State
from crabhook.model.decision import Beside, Decision, Suggestion, Verdict
from crabhook.model.errors import QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import first_text
from crabhook.model.question import read_questions
from crabhook.model.wording import plural, who
from crabhook.policy.calls.subject import subject_of_line
from crabhook.present.body import server_asks
from crabhook.present.document import LEVELS, NOTHING_RISKY, CallRisk
from crabhook.present.phrases import ago, joined
from crabhook.present.safe import Speller, safe
from crabhook.present.summary import (
    MAIN_AGENT,
    agent_label,
    agent_name,
    brief,
    is_command,
    is_plan,
    is_question,
    summary,
    tool_label,
)
from crabhook.vocabulary import vocabulary

_DEEDS: dict[str, tuple[str, str]] = tables(__file__, "fields")["deeds"]
_TARGET = tables(__file__, "fields")["tool"]["target"].split()
_LOOKED_AT = 400  # letters of an address that are looked at
_COUNTED = 60  # letters of what counts as alike that are shown
MARKS = {Level.NONE: ("", ""), Level.CAUTION: ("caution", "▲"), Level.DANGER: ("danger", "▲▲")}
"""How a level of risk looks, and its mark."""
_ARTICLE = re.compile(r"^an? ")
_MCP = "mcp__"  # before a server's name and its tool's
_WITH_A_PLAN = {Verdict.ALLOW: "approves it", Verdict.DENY: "sends it back"}
DOES = {
    Verdict.ALLOW: "allows it",
    Verdict.DENY: "denies it",
    Verdict.ASK: "hands it back",
    Verdict.DEFER: "defers it",
    Verdict.KEEP_GOING: "keeps it going",
    Verdict.RETRY: "lets it run once",
    Verdict.ACCEPT: "accepts it",
    Verdict.DECLINE: "declines it",
    Verdict.CANCEL: "cancels it",
    Verdict.PASS: "passes it",
}
"""What an operator does with each verdict."""
LETS = frozenset({Verdict.ALLOW, Verdict.RETRY})  # what lets a call happen in every mode
_ONCE = "Let it run once, if the agent asks again?"
_STARTED_BY = {"user": "you", "claude": "Claude"}
"""Who had a skill loaded, by the agent's word for it."""


class Sentence(NamedTuple):
    """What an agent wants: "wants to run" "a command", and `exactly` what.

    `exactly` is one line of bounded length, perhaps only the start; empty for nothing. `question`
    asks a person for the decision: "Run this command?".
    """

    wants: str
    what: str
    exactly: str = ""
    question: str = ""

    def __str__(self) -> str:
        return joined(self.wants, self.what, by=" ")

    @property
    def asked(self) -> str:
        """The question to a person; where nothing is asked, the sentence."""
        return self.question or str(self)

    @property
    def whole(self) -> str:
        """The sentence with all it tells: "wants to run: npm ci"."""
        return f"{self.wants}: {self.exactly}" if self.exactly else str(self)


def sentence(card: Card, spell: Speller = safe) -> Sentence:
    """Return what a card asks, in words after its agent's name."""
    event, verdicts = card.event, card.choices.verdicts
    if event.tool is None:
        return _about_no_tool(event, verdicts, spell)
    if Verdict.RETRY in verdicts:
        denied = "was refused a call by its own check"
        short, *_ = agent_name(event, spell).split() or [""]
        asked = f"{short}'s own check refused this. Let it run once?"
        return Sentence(denied, "", summary(event, spell), asked)
    if Beside.OUTPUT in card.choices.beside:
        result = summary(event, spell)
        return Sentence("shows the result of a call", "", result, "Give the agent this result?")
    if is_question(event):
        return _question(event, spell)
    if is_plan(event):
        return Sentence("wants to leave", "plan mode", question="Start with this plan?")
    asks = _call(event, spell)
    return asks._replace(question=_ONCE) if card.went_on else asks


def _call(event: Event, spell: Speller) -> Sentence:
    """Return what a call does, or a part of one."""
    if event.name in vocabulary().parts:
        return Sentence(part_of(event, spell), "", summary(event, spell))
    deed, thing = _deed(event, spell)
    this = _ARTICLE.sub("this ", thing)
    asked = f"{deed[:1].upper()}{joined(deed[1:], this, by=' ')}?"
    return Sentence(f"wants to {deed}", thing, summary(event, spell), asked)


def part_of(event: Event, spell: Speller = safe) -> str:
    """Return which skill runs a line, and at whose word: "runs part of skill X, started by you"."""
    skill = brief(event.text("command_name"), spell) or "without a name"
    by = _STARTED_BY.get(event.text("invoked_by"), "another program or agent")
    return f"runs part of skill {skill}, started by {by}"


def asker(event: Event, spell: Speller = safe) -> str:
    """Return which agent asks, and in which mode, in bounded length."""
    agent, mode = agent_label(event, spell), brief(event.permission_mode, spell)
    return joined("main agent" if agent == MAIN_AGENT else agent, mode and f"mode {mode}")


def _about_no_tool(event: Event, verdicts: frozenset[Verdict], spell: Speller) -> Sentence:
    if Verdict.ACCEPT in verdicts:
        asks = server_asks(event)
        server = brief(asks.server if asks else "", spell)
        if asks and asks.is_link:
            thing = f"an address for {server}" if server else "an address"
            return Sentence("asks you to open", thing, question=f"Open {thing}?")
        thing = f"a form of {server}" if server else "a form"
        return Sentence("asks you to answer", thing, question=f"Answer {thing}?")
    if Verdict.KEEP_GOING in verdicts:
        return Sentence("wants to stop", "", question="Let it stop?")
    return Sentence(f"reports {brief(event.name, spell)}", "", summary(event, spell))


def _deed(event: Event, spell: Speller) -> tuple[str, str]:
    name = event.tool.name if event.tool else ""
    deed, thing = _DEEDS.get(vocabulary().aliases.get(name, name), ("", ""))
    if deed:
        return deed, thing
    server, parted, tool = name.removeprefix(_MCP).partition("__")
    if name.startswith(_MCP) and parted:
        return f"use the tool {brief(tool, spell)} of {brief(server, spell)}", ""
    return f"use the tool {tool_label(event, spell)}", ""


def _question(event: Event, spell: Speller) -> Sentence:
    try:
        questions = read_questions(event.tool.input if event.tool else None)
    except QuestionError:
        return Sentence("asks you", "something that cannot be read")
    if len(questions) == 1:
        text = brief(questions[0].text, spell)
        return Sentence("asks you", "a question", text, "Answer this question")
    several = f"{len(questions)} questions"
    return Sentence("asks you", several, question=f"Answer these {several}")


def risk_words(risk: Risk, spell: Speller = safe) -> str:
    """Return what a call may do, each level by its word: "danger: deletes …. caution: network"."""
    parts = [
        f"{LEVELS[level]}: {'; '.join(brief(effect, spell) for effect in words)}"
        for level, words in CallRisk(risk).levels
    ]
    if risk.unknown:
        parts.append(f"not known: {'; '.join(brief(part, spell) for part in risk.unknown)}")
    if risk.level is Level.NONE:
        parts = [NOTHING_RISKY, *parts]
    return ". ".join(parts)


def dangers(risk: Risk) -> tuple[str, ...]:
    """Return what of a call wants a second yes, in words not yet safe; empty for nothing."""
    return tuple(effect.words for effect in risk.effects if effect.level is Level.DANGER)


def has_risk(card: Card) -> bool:
    """Whether a word on what a card's call may do is worth a row: a question runs nothing."""
    event = card.event
    asks = is_question(event) or is_plan(event)
    return event.tool is not None and not (asks and card.risk == NO_RISK)


def target(event: Event) -> str:
    """Return what a call is about, as rules tell calls apart; empty if unknown.

    A command's programs with their subcommands, a file, a host.
    """
    return target_in(*named_target(event))


def named_target(event: Event) -> tuple[str, str]:
    """Return the field of a call that says what it is about, and its text; or nothing."""
    return first_text(event.given, _TARGET)


def target_in(key: str, text: str) -> str:
    """Return what a call is about whose field `key` has this text."""
    if key == "command":
        return subject_of_line(text)
    if key != "url":
        return text
    with suppress(ValueError):
        return urlsplit(text[:_LOOKED_AT]).hostname or ""
    return ""


def decided_before(card: Card, desk: Replica) -> str:
    """Return how similar calls were decided: today if that is known, else lately; not yet safe."""
    around = desk.around(card.number)
    if around is not None and around.allowed + around.denied:
        return such_calls(around.counted, around.allowed, around.denied, "today")
    if card.event.tool is None:
        return ""
    mine, name = target(card.event), card.event.tool.name
    alike = Counter(
        before.decision.verdict
        for before in desk.ended()
        if before.state is State.DECIDED and before.decision and before.number != card.number
        if before.event.calls(name) and target(before.event) == mine
    )
    what = counted(card.event)
    return such_calls(what, alike[Verdict.ALLOW], alike[Verdict.DENY], "lately")


def by_another(card: Card, desk: Replica, spell: Speller = safe, *, when: bool = True) -> str:
    """Return which other operator decided a card: "by Ann at laptop, 2 s ago"; else empty.

    `when`: how long ago as well.
    """
    if (by := desk.decided_by_another(card)) is None:
        return ""
    where = "the server's terminal" if by.desk == HERE else brief(by.desk, spell)
    decider = f"by {brief(by.name, spell) or 'an operator'}" + (f" at {where}" if where else "")
    return f"{decider}, {ago(desk.now() - card.ended_at)} ago" if when else decider


def held_elsewhere(card: Card, desk: Replica, spell: Speller = safe) -> str:
    """Return whose answer to a waiting card is held at another desk: "ann allows it in 2 s"."""
    if card.state is not State.WAITING:
        return ""
    now, held = desk.now(), desk.holding(card.number)
    deeds = (f"{_whose(answer.by, spell)} {_does(card.event, answer.verdict)}" for answer in held)
    answers = [
        f"{deed} in {ceil(answer.due - now)} s" for deed, answer in zip(deeds, held, strict=True)
    ]
    return f"{', '.join(answers)}: you may decide first" if answers else ""


def looking_elsewhere(card: int, desk: Replica) -> list[str]:
    """Return the names, not yet safe, of operators elsewhere who look at a card and hold nothing.

    Those who hold an answer to it are told by `held_elsewhere`.
    """
    holders = {held.by for held in desk.holding(card)}
    looking = (by for by in desk.looking(card) if by not in holders)
    return [by.name for by in looking if isinstance(by, Operator)]


def are_looking(names: Sequence[str], spell: Speller = safe) -> str:
    """Return that these operators look at a card: "ann, bob are looking"; empty for nobody."""
    verb = "is" if len(names) == 1 else "are"
    return f"{spell(', '.join(names))} {verb} looking" if names else ""


def _whose(by: Actor, spell: Speller) -> str:
    named = brief(by.name, spell) if isinstance(by, Operator) else ""
    return named or "an operator"


def _does(event: Event, verdict: Verdict) -> str:
    """Return what an operator does with a verdict, as others read it while it is held."""
    if is_plan(event) and verdict in _WITH_A_PLAN:
        return _WITH_A_PLAN[verdict]
    if is_question(event) and verdict is Verdict.ALLOW:
        return "answers it"
    return DOES[verdict]


def too_late(outcome: Outcome, card: Card | None, desk: Replica) -> str:
    """Return why a command was refused; for an ended card also who decided it. Not yet safe."""
    if not isinstance(outcome, TooLate) or card is None or outcome.by is None:
        return outcome.why
    decider = by_another(card, desk, str) or f"by {who(outcome.by)}"
    return f"{outcome.why} ({decider})"


def counted(event: Event) -> str:
    """Return which calls count as alike with an event's, in words not yet safe: "npm run lint"."""
    mine, tool = target(event), event.tool.name if event.tool else ""
    words = mine if is_command(event) and mine else joined(tool, mine, by=" ")
    return words if len(words) <= _COUNTED else f"{words[:_COUNTED]}…"


def such_calls(what: str, allowed: int, denied: int, when: str) -> str:
    """Say how many calls like one were allowed and denied; nothing where there was none.

    `what` they are is empty of an older server, which counts by a command's first word.
    """
    what = what or plural(allowed + denied, "such call")
    return f"{what}: {allowed} allowed, {denied} denied {when}" if allowed + denied else ""


def last_prompt(card: Card, desk: Replica) -> str:
    """Return what the user of a card's session asked for last, as its transcript or a hook says."""
    if (around := desk.around(card.number)) is not None and around.prompt:
        return around.prompt
    whose = card.event.platform, card.event.session
    heard = (entry.event for entry in reversed(desk.feed()))
    prompts = (event.text("prompt") for event in heard if (event.platform, event.session) == whose)
    return next(filter(None, prompts), "")


def outlasting(event: Event, decision: Decision, spell: Speller = safe) -> str:
    """Return what a decision has its agent keep: "KEPT BY CLAUDE: Bash(ls:*) in this session".

    A change of the permission mode is "switches to acceptEdits"; nothing kept is an empty text.
    """
    changes: list[str] = []
    for update in decision.permissions:
        suggestion = Suggestion(update)
        what = suggestion.what.removeprefix("allow ")
        switched = what.removeprefix("switch to the mode ")
        if switched != what:
            changes.append(f"switches to {brief(switched, spell)}")
        else:
            where = f" in {suggestion.where}" if suggestion.where else ""
            changes.append(
                f"KEPT BY {brief(event.platform, spell).upper()}: {brief(what, spell)}{where}"
            )
    return " + ".join(changes)


class Doubts(NamedTuple):
    """What needs a second yes, in words not yet safe; `mode`: the mode that asks nobody."""

    dangers: tuple[str, ...] = ()
    mode: str = ""

    @property
    def unasked(self) -> tuple[str, ...]:
        """What the mode means for the call; empty where it does not matter."""
        return (f"{self.mode} nobody is asked, it may run",) if self.mode else ()


def doubts(card: Card, decision: Decision, desk: Replica) -> Doubts:
    """Return what a person is asked before the decision about a card is given."""
    if card.state is not State.WAITING:
        return Doubts()
    if decision.verdict in LETS and Beside.OUTPUT not in card.choices.beside:
        changed = decision.updated_input is not None and not is_question(card.event)
        risk = desk.changed_risk(card.number, decision) if changed else card.risk
        return Doubts(dangers(risk or UNTOLD))
    if decision.verdict in card.choices.runs and not decision.halt:
        modes = (leg.event.permission_mode for leg in card.requests)
        mode = next(filter(None, modes), "")  # which not every agent tells
        return Doubts(dangers(card.risk), f"in mode {brief(mode, str)}" if mode else "perhaps")
    return Doubts()
