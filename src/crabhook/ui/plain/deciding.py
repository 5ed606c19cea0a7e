"""What the words of the plain desk do with a card: decide it, hold the answer, take it back.

The laws of this file: the rules are asked about a change before it is decided. If they object, only
a second line allows it. A decision that needs a second yes waits for that.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from crabhook.desk import commands as do
from crabhook.desk.acts import ACTS, Act
from crabhook.desk.commands import Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.present.cover import covered
from crabhook.present.sentence import outlasting, too_late
from crabhook.present.summary import brief, outcome
from crabhook.ui.answers import HELD_BACK, Answers, Seen
from crabhook.ui.commands.decide import (
    NO_REASON,
    LineDecision,
    line_decision,
    other_words,
)
from crabhook.ui.commands.orders import keep_going_order
from crabhook.ui.commands.parse import JUST_NOW, LineCommand
from crabhook.ui.commands.words import WORDS, LineError, for_a_person, read_duration
from crabhook.ui.plain.person import PersonFormat
from crabhook.ui.plain.second_yes import Remembering, SecondYes

_DECIDED_REMEMBERED = 1_000
_WORK = frozenset(
    {"quiet", "snooze", "wait-longer"}
)  # acts that prepare an answer, or change the wait
_SHORTEST_WAIT = 0.01  # seconds; two clocks never agree to the last digit


class Deciding:
    """Does what lines say to cards, and reports the outcome."""

    def __init__(
        self,
        desk: Replica,
        say: Callable[[str], None],
        take_back: float,
        person: PersonFormat | None,
    ) -> None:
        self._desk = desk
        self._say = say
        self._person = person
        self._second_yes = SecondYes(desk, person)
        self._held_for = take_back
        self._answers = Answers(
            desk, take_back, self.complain, names=person is not None, undo="{} undo"
        )
        self._timer: asyncio.TimerHandle | None = None
        self._decided: deque[int] = deque(maxlen=_DECIDED_REMEMBERED)
        self._rules_that_allow = Remembering(desk, say, person)
        self._rules_that_deny = Remembering(desk, say, person, denies=True)
        self._objected: dict[int, tuple[Card, Decision]] = {}  # changes that rules are against
        self._being_judged = 0  # changes the rules are asked about
        self._judged = asyncio.Event()
        self._quiet: set[int] = set()  # cards whose agent is not to show what the hook says
        self._alone = True  # whether the line is about one card

        # The acts that do not decide a card at once.
        self._acts: Mapping[str, Callable[[Card, LineCommand], None]] = {
            "allow!": self._allow_surely,
            "anyway": self._anyway,
            "always-allow": self._always_allow,
            "always-deny": self._always_deny,
            "take-back": self._take_back,
            "quiet": self._hush,
            "snooze": self._snooze,
            "wait-longer": self._extend,
        }

    def on_card(self, card: Card) -> bool:
        """Take in a changed card; return whether it was decided here."""
        self.complain(self._answers.news(card))
        if card.state is not State.WAITING:
            self._quiet.discard(card.number)
            self._objected.pop(card.number, None)
            self._second_yes.drop(card.number)
        return card.state is State.DECIDED and card.number in self._decided

    def follow(self, card: Card, command: LineCommand, *, alone: bool) -> None:
        """Do with one or several cards what a line says."""
        self._alone = alone
        try:
            self._check_role(command.word.act)
            if command.word.act.id in _WORK:
                self._check_free(card)
            self._acts.get(command.word.act.id, self._give)(card, command)
        except CrabhookError as error:
            self._complain_about(card, error, alone=alone)

    def answered(self, card: Card) -> str:
        """Return why a card is answered already and not yet decided; empty if it is not."""
        return self._answers.blocks(card)

    def given(self, card: Card) -> Card:
        """Return a card with what the answer decides that is held for it."""
        return self._answers.given(card)

    async def judged(self) -> None:
        """Wait until the rules were asked about every change."""
        while self._being_judged:
            self._judged.clear()
            await self._judged.wait()

    def leave(self) -> None:
        """Stop; held decisions are never given."""
        if self._timer:
            self._timer.cancel()

    def end(self) -> None:
        """Say what was held until the last line."""
        if count := self._answers.waiting:
            self.complain(f"what was held was not given ({count}): you left before its time")

    def complain(self, error: object) -> None:
        """Say what is wrong."""
        if self._person is not None and isinstance(error, LineError):
            error = LineError(error.wrong, for_a_person(error.write))
        if wrong := str(error):
            self._say(f"! {covered(wrong)}")  # it may quote an agent

    def undo_last(self) -> None:
        """Take back the answer given last, or say what there is to do instead."""
        if self._answers.waiting:
            self._say(f"· {self._answers.take_back(None)}")
            return
        last = self._desk.card(self._decided[-1]) if self._decided else None
        if last is None or not last.outcome:
            raise LineError("you have given no answer that could be taken back", "list")
        self._say(
            f"· #{last.number} {outcome(last)} was sent at once and cannot be taken back. "
            "With take_back_ms in [desk] of the settings every allow is held so long first"
        )

    def _complain_about(self, card: Card | None, error: object, *, alone: bool) -> None:
        named = card is None or alone or str(error).startswith(f"#{card.number} ")
        self.complain(error if card is None or named else f"#{card.number}: {error}")

    def submit(
        self,
        command: do.Command,
        card: Card | None = None,
        *,
        write: str = "",
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Submit a command and continue after it; a refusal says what to write instead."""
        alone = self._alone

        def settled(outcome: Outcome) -> None:
            if outcome == do.Done():
                then()
                return
            as_a_line = write and isinstance(outcome, do.Refused)
            ended = self._desk.card(card.number) if card and self._person else None
            why = too_late(outcome, ended, self._desk)
            error = LineError(why, write) if as_a_line else why
            self._complain_about(card, error, alone=alone)

        self._desk.submit(command, settled)

    def _give(self, card: Card, command: LineCommand) -> None:
        asked, alone = line_decision(command.word.act, card, command.rest), self._alone
        self._check_free(card, asked.decision)
        if asked.decision.updated_input is None:
            self._give_judged(card, asked, ())
            return

        def judged(outcome: Outcome) -> None:
            self._being_judged -= 1
            self._judged.set()
            objections = self._desk.objections(card.number, asked.decision)
            try:
                if outcome != do.Done() or objections is None:
                    self._complain_about(card, outcome.why, alone=alone)
                else:
                    self._alone = alone
                    self._give_judged(card, asked, objections)
            except CrabhookError as error:
                self._complain_about(card, error, alone=alone)

        self._being_judged += 1
        self._desk.submit(do.AskObjections(card.number, asked.decision), judged)

    def _give_judged(
        self, card: Card, asked: LineDecision, objections: tuple[str, ...], *, sure: bool = False
    ) -> None:
        for remark in asked.remarks:
            lines = remark.split("\n")
            if self._person is not None:  # the lines of places are noise to an ear
                lines = [line for line in lines if not line.startswith("    @@ ")]
            self._say("\n".join(lines))
        self._objected.pop(card.number, None)
        if objections:
            self._objected[card.number] = card, replace(asked.decision, despite=objections)
            doubt = self._second_yes.doubts(card, asked.decision)
            for doubtful in (*objections, *(doubt.dangers if doubt else ())):
                self._say(f"  ! {brief(doubtful, covered)}")
            wrong = f"the rules are against #{card.number} as you changed it"
            raise LineError(wrong, WORDS["anyway"].usage(card.number))

        def repeat() -> None:
            """Have the agent told the same again when it next wants to stop."""
            if asked.repeats:
                words = asked.decision.reason
                order = keep_going_order(card.event, asked.repeats, words)
                self.submit(do.GiveOrder(order), card)

        self._decide(card, asked.decision, then=repeat, sure=sure)

    def _allow_surely(self, card: Card, command: LineCommand) -> None:
        if self._second_yes.drop(card.number):
            wrong = f"your edit of #{card.number} was not given; allow! means it as it was asked"
            usage = f"{card.number} allow!, or {WORDS['edit'].usage(card.number)}"
            raise LineError(wrong, usage)
        self._give_judged(card, line_decision(ACTS["allow"], card, command.rest), (), sure=True)

    def named(self, line: str) -> bool:
        """Whether a line names what wants a second yes, as in `18 deletes`; then that is given."""
        give = self._second_yes.to(line)
        if give is not None:
            give()
        return give is not None

    def _anyway(self, card: Card, _: LineCommand) -> None:
        """Allow what the rules objected to just now."""
        objected = self._objected.pop(card.number, None)
        if objected is None or objected[0].requests != card.requests:
            wrong = f"nothing was said against a change of #{card.number}"
            raise LineError(wrong, WORDS["edit"].usage(card.number))
        self._decide(card, objected[1], sure=True)

    def _hush(self, card: Card, _: LineCommand) -> None:
        """Send suppressOutput with the decision, or no longer."""
        if card.state is not State.WAITING or Beside.SUPPRESS not in card.choices.beside:
            raise LineError(f"#{card.number} has no output to suppress", other_words(card))
        self._quiet ^= {card.number}
        on = card.number in self._quiet
        what = "suppressOutput goes" if on else "no suppressOutput goes"
        self._say(f"· {what} with your decision about #{card.number}: nothing is sent yet")

    def _always_allow(self, card: Card, command: LineCommand) -> None:
        """List the rules offered for a card; or allow it and write one of them."""
        if command.rest:
            rule, _ = self._rules_that_allow.chosen(card, command.rest)
            self._decide(card, Decision(Verdict.ALLOW), rule)
        else:
            self._rules_that_allow.list(card)

    def _always_deny(self, card: Card, command: LineCommand) -> None:
        """List the rules that would deny such calls; or deny it and write one of them."""
        if command.rest:
            rule, reason = self._rules_that_deny.chosen(card, command.rest)
            self._decide(card, Decision(Verdict.DENY, reason=reason or NO_REASON), rule)
        else:
            self._rules_that_deny.list(card)

    def _take_back(self, card: Card, _: LineCommand) -> None:
        if self._answers.held(card.number) is None:
            late = self._answers.too_late()
            raise LineError(
                f"no allow of #{card.number} is held; {late}", "list, to see what waits"
            )
        self._say(self._answers.take_back(card.number))

    def _snooze(self, card: Card, command: LineCommand) -> None:
        seconds = read_duration(command.rest, command.word.usage(card.number))
        self.submit(do.Snooze(card.number, seconds), card)

    def _extend(self, card: Card, command: LineCommand) -> None:
        seconds = read_duration(command.rest, command.word.usage(card.number))
        self.submit(do.Extend(card.number, seconds), card, write=other_words(card))

    def _check_role(self, act: Act) -> None:
        """Raise CrabhookError where a person's role may not do an act; programs ask the server."""
        why = act.refusal(self._desk.role())
        if why and self._person is not None:
            raise CrabhookError(why)

    def _check_free(self, card: Card, decision: Decision | None = None) -> None:
        """Raise CrabhookError where the held answer to a card is not to be replaced or changed."""
        if why := self._answers.blocks(card, decision):
            raise CrabhookError(why)

    # How a decision is given.

    def _decide(
        self,
        card: Card,
        decision: Decision,
        rule: TakenOffer | None = None,
        then: Callable[[], object] = lambda: None,
        *,
        sure: bool = False,
    ) -> None:
        """Give a decision, or hold it for a moment; it replaces a less strict one.

        A decision that needs a second yes goes through only when `sure`. Raises CrabhookError for a
        decision less strict than the held answer.
        """
        self._check_free(card, decision)
        if not sure:
            again = partial(self._decide, card, decision, rule, then, sure=True)
            self._second_yes.ask(card, decision, plain=rule is None, give=again)
        number, now = card.number, self._desk.now()
        if number in self._quiet:
            decision = replace(decision, suppress_output=True)
        self._decided.append(number)
        self._answers.drop(number)
        in_time = card.state is State.WAITING and card.wait_until - now > self._held_for + JUST_NOW
        if decision.verdict in HELD_BACK and self._held_for and in_time:
            self._answers.give([Seen(card, card.revision)], decision, rule)
            done = decision.verdict.done.lower()
            if kept := outlasting(card.event, decision, covered):
                done = f"{done} + {kept}"
            self._say(f"#{number} is {done} in {self._held_for:.1f} s; {number} undo takes it back")
            self._tick()
            return
        command = self._answers.sparing(do.decide(number, card.revision, decision, rule))
        self.submit(command, card, write="" if rule else other_words(card), then=then)

    def _tick(self) -> None:
        """Give what has been held long enough, and come back for the next."""
        self._answers.tick()
        if self._timer:
            self._timer.cancel()
        if (due := self._answers.due) is not None:
            wait = max(due - self._desk.now(), _SHORTEST_WAIT)
            self._timer = asyncio.get_running_loop().call_later(wait, self._tick)
