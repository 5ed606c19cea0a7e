"""The rules in force, read from the owner's files, and read again when the files change.

When the owner's own file is broken, the last good rules stay in force and the screen says so. A
typing error must neither open the gate nor shut it. A project's file comes from a stranger: an
unreadable project file counts for nothing, and the owner's rules still hold. Where tests in a file
fail its rules are in force, but for those that the tests set aside.

An agent names its own folder, so a thread reads the files there. No other hook waits for a slow
disk or for a thousand rules.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeAlias

from crabhook.datatypes import Bounded, frozen
from crabhook.model.card import NO_RISK, UNTOLD, Risk
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.policy.context import Context
from crabhook.policy.paths import LONGEST_PATH
from crabhook.policy.rule import RuleSet, RuleVerdict, Ruling, Trust
from crabhook.rulebook.context import (
    LOOK_AGAIN,
    PROJECTS_KEPT,
    DirectoryLookups,
    context_here,
    context_now,
    project_of,
)
from crabhook.rulebook.files import (
    PROJECT_FILE,
    RULES,
    TRUSTED,
    RuleFiles,
    Trusted,
    stamp_of,
)
from crabhook.rulebook.rulings import RememberedRulings

if TYPE_CHECKING:
    from crabhook.policy.evaluate import Policy

_LOG = logging.getLogger(__name__)

_Judge: TypeAlias = Callable[[Event, Context], Ruling | None]
Warner: TypeAlias = Callable[[Event], tuple[str, ...]]
"""Returns the first alarms of a card about an event."""

OWN_TEXTS = (RULES, TRUSTED)
LOOK_WITHIN = 2.0  # seconds; a slower folder is on a file system that hangs
MOST_HANGING = 8  # threads that may hang there


def no_warning(_event: Event) -> tuple[str, ...]:
    """Warn of nothing."""
    return ()


def _no_warner(_project: Path) -> Warner:
    return no_warning


class Rules(Protocol):
    """The owner's rules in force, as a runner asks them.

    `long`: to judge the event may take a while, so a thread does it.
    """

    @property
    def trouble(self) -> str:
        """The fault of the owner's own files, or their failed tests; empty without one."""

    def judge(self, event: Event, /, *, long: bool) -> Awaitable[Ruling | None]:
        """Return the ruling about an event; None where no rule decides."""

    def risk(self, event: Event, /, *, long: bool) -> Awaitable[Risk]:
        """Return the risk of an event's call, for its card."""

    def warnings(self, event: Event, /) -> tuple[str, ...]:
        """Return the first alarms of a card about an event."""

    def edition(self, event: Event, /) -> Hashable:
        """Return the edition of the rules for an event: equal until the rules change."""

    def state(self) -> str:
        """Return in a few words how the rules are; empty without rules."""

    def listen(self, hear: Callable[[str], object], alarmed: Callable[[str], object]) -> None:
        """Tell `hear` of every change of the rules, every fault and its end.

        `alarmed` hears of tests that fail.
        """


class NoRules:
    """No rules: nothing is decided, and no risk is seen."""

    trouble = ""

    async def judge(self, _event: Event, /, *, long: bool) -> Ruling | None:
        """Decide nothing."""

    async def risk(self, event: Event, /, *, long: bool) -> Risk:  # noqa: ARG002 - as `Rules` has it
        """Return no risk."""
        return UNTOLD if event.tool else NO_RISK

    def warnings(self, _event: Event, /) -> tuple[str, ...]:
        """Warn of nothing."""
        return ()

    def edition(self, _event: Event, /) -> Hashable:
        """Return the only edition there is."""
        return None

    def state(self) -> str:
        """Return nothing."""
        return ""

    def listen(self, hear: Callable[[str], object], alarmed: Callable[[str], object]) -> None:
        """Tell of nothing, since nothing changes."""


@frozen
class _OwnerRules:
    """The owner's last good rules as of the last `read`, and the fault since then."""

    rules: RuleSet
    trusted: tuple[Trusted, ...]
    stamps: tuple[object, ...]
    trouble: str = ""
    read: bool = False
    texts: tuple[str, ...] = ()
    """The texts that were read, of OWN_TEXTS."""
    failing: str = ""
    """The tests of the rules that fail, in words."""


@frozen
class _ProjectRules:
    """The rules for one project, as of the last look.

    `trouble` is with the project's file, `failing` are its tests that fail.
    """

    project: Path
    around: Context
    policy: "Policy"
    theirs: RuleSet
    own: _OwnerRules
    stamp: object
    trouble: str
    looked: float
    warn: Warner
    failing: str = ""


def _not_kept(_texts: tuple[str, ...]) -> None:
    pass


class RulesInForce:
    """Judges events by the rule files; the `Rules` of a server.

    `warner` is called in a thread for each project; the function that it returns runs on the loop
    and reads no files. `taken` hears of the owner's texts, of OWN_TEXTS, before any event is judged
    by them.
    """

    def __init__(
        self,
        files: RuleFiles,
        warner: Callable[[Path], Warner] = _no_warner,
        taken: Callable[[tuple[str, ...]], object] = _not_kept,
    ) -> None:
        self.files, self._warner, self._taken = files, warner, taken
        self._heard_by: list[Callable[[str], object]] = []
        self._alarmed: list[Callable[[str], object]] = []
        self._own = _OwnerRules(RuleSet(), (), ())
        self._by_project: Bounded[Path, _ProjectRules] = Bounded(PROJECTS_KEPT)
        self._by_folder: Bounded[str, _ProjectRules] = Bounded(PROJECTS_KEPT)
        self._looking: dict[str, asyncio.Future[_ProjectRules]] = {}
        self._hanging: set[asyncio.Future[_ProjectRules]] = set()
        self._looker = ThreadPoolExecutor(MOST_HANGING + 1, "crabhook-rules")
        self._looks = DirectoryLookups()  # into folders that agents search
        self._rulings = RememberedRulings()
        self._ours = -inf  # when this server last changed the files
        self._told = False  # whether that change was already reported
        self._assessed = False  # whether a call was assessed; the first reads the table of programs

    def __repr__(self) -> str:
        return f"<RulesInForce projects={len(self._by_project)} trouble={self.trouble!r}>"

    @property
    def trouble(self) -> str:
        """The fault of the owner's own files, or their failed tests; empty without one."""
        return self.unread or self.failing

    @property
    def unread(self) -> str:
        """Why the owner's own files cannot be read; empty where they can."""
        return self._own.trouble

    @property
    def failing(self) -> str:
        """The tests of the owner's own rules that fail; empty where all hold."""
        return self._own.failing

    def state(self) -> str:
        """Return how many of the owner's rules are in force, and whether the files are valid."""
        return f"rules {len(self._own.rules.rules)} {'WRONG' if self.trouble else 'ok'}"

    def listen(self, hear: Callable[[str], object], alarmed: Callable[[str], object]) -> None:
        """Tell `hear` of every change, fault and its end; the log gets them while nobody hears.

        `alarmed` hears of tests that fail.
        """
        self._heard_by.append(hear)
        self._alarmed.append(alarmed)

    def _changed(self, text: str) -> None:
        for hear in self._heard_by or (_LOG.warning,):
            hear(text)

    def _fails(self, text: str) -> None:
        # At the start nobody listens yet; whoever serves then asks for `failing`.
        for alarmed in self._alarmed:
            alarmed(text)

    def look_again(self, *, reported: bool = True) -> None:
        """Read the rules again at the next event, after our own change; `reported`: it was told."""
        self._ours, self._told = monotonic(), reported
        self._looking.clear()  # later callers must not get the result of an earlier look

    def look(self) -> None:
        """Read the owner's files now, to report their faults before the first call."""
        self._store_own(self._read_own())

    async def watch(self) -> None:
        """Check all files every second, so that changes are reported without a call."""
        while True:
            for folder in ("/", *map(str, self._by_project)):
                try:
                    await self._refreshed(folder)
                except OSError as error:
                    _LOG.info("the rules of %s cannot be looked at: %s", folder, error)
            await asyncio.sleep(LOOK_AGAIN)

    async def judge(self, event: Event, *, long: bool) -> Ruling | None:
        """Return the ruling about an event, or None where no rule decides.

        `long`: a thread judges the event. A hostile shell line or a search in a large folder may
        take a second, and other agents' hooks must not wait. For a short event, the last look into
        a folder counts.
        """
        if event.tool is None:
            return None
        if (there := self._fresh(event.cwd)) is None:
            event = _in_a_folder(event)
            there = await self._refreshed(event.cwd)
        below = there.around.below if long else self._looks.recalled
        around = context_now(there.around, event, below)
        if not long:
            return _judged(partial(self._rulings.judge, there.policy), event, around)
        judging = asyncio.get_running_loop().run_in_executor
        return await judging(None, _judged, there.policy.judge, event, around)

    async def risk(self, event: Event, *, long: bool) -> Risk:
        """Return the risk of an event's call, by the last look at its project; for a card.

        `long`: as in `judge`. The first call reads the table of programs, in a thread too.
        """
        if event.tool is None:
            return NO_RISK
        event = _in_a_folder(event)
        there = self._by_folder.get(event.cwd)
        if there is None:
            return UNTOLD
        below = (
            self._looks.recalled if (soon := self._assessed and not long) else there.around.below
        )
        around = context_now(there.around, event, below)
        if soon:
            return _assessed(there.policy, event, around)
        judging = asyncio.get_running_loop().run_in_executor
        risk = await judging(None, _assessed, there.policy, event, around)
        self._assessed = True
        return risk

    def warnings(self, event: Event) -> tuple[str, ...]:
        """Return the first alarms of a card, as of the last look at the event's project."""
        there = self._by_folder.get(_in_a_folder(event).cwd) if event.tool else None
        return there.warn(event) if there else ()

    def edition(self, event: Event) -> Hashable:
        """Return the edition of the rules for an event: equal until the rules change.

        The edition is as of the last look (`watch` repeats it every second) or our own change.
        Without a remembered look it equals no other edition, so that an old ruling never counts as
        new.
        """
        there = self._by_folder.get(_in_a_folder(event).cwd)
        return (self._own.stamps, self._ours, there.stamp if there else object())

    def _fresh(self, folder: str) -> _ProjectRules | None:
        there = self._by_folder.get(folder)
        if there and there.looked > self._ours and monotonic() - there.looked < LOOK_AGAIN:
            return there
        return None

    async def _refreshed(self, folder: str) -> _ProjectRules:
        """Look in a thread, once for all callers, since a caller may leave.

        Where a file system hangs, the rules of the last look count, the owner's at least.
        """
        if (looking := self._looking.get(folder)) is None:
            loop = asyncio.get_running_loop()
            looking = loop.run_in_executor(self._looker, self._read, folder)
            self._looking[folder] = looking
            looking.add_done_callback(lambda done: self._end_look(folder, done))
        if looking not in self._hanging:
            try:
                async with asyncio.timeout(LOOK_WITHIN):
                    return self._store(folder, await asyncio.shield(looking))
            except TimeoutError:
                self._hanging.add(looking)
        if rules := self._by_folder.get(folder):
            return rules
        policy, around = self._policy(self._own.rules), context_here(Path(folder), self._looks)
        rest = (RuleSet(), self._own, None, "", -inf, no_warning)
        return _ProjectRules(Path(folder), around, policy, *rest)

    def _policy(self, *rules: RuleSet) -> "Policy":
        # This imports the shell parser; `watch` imports it first, once the port listens.
        from crabhook.policy.evaluate import Policy

        return Policy(rules, self.files.protected)

    def _end_look(self, folder: str, done: "asyncio.Future[_ProjectRules]") -> None:
        self._hanging.discard(done)
        if self._looking.get(folder) is done:
            del self._looking[folder]

    def _read(self, folder: str) -> _ProjectRules:
        """Read the files that have changed; store nothing."""
        looked, project = monotonic(), project_of(folder)
        before = self._by_project.get(project)
        own, stamp = self._read_own(), stamp_of(project / PROJECT_FILE)
        warn, around = self._warner(project), context_here(project, self._looks)
        if before and before.own is own and before.stamp == stamp:
            return replace(before, around=around, looked=looked, warn=warn)
        theirs, trouble = RuleSet(folder=str(project), trust=Trust.NONE), ""
        if stamp is not None:
            try:
                theirs = self.files.rules_of(project, own.trusted)
            except CrabhookError as error:
                trouble = f"RULES YOU TRUSTED COUNT FOR NOTHING, your own hold: {error}"
        policy, failing = self._policy(own.rules, theirs), _failing(theirs)
        parts = (around, policy, theirs, own, stamp, trouble, looked, warn, failing)
        return _ProjectRules(project, *parts)

    def _read_own(self) -> _OwnerRules:
        files, before = self.files, self._own
        stamps = tuple(map(files.edition, OWN_TEXTS))
        if stamps == before.stamps:
            return before
        try:
            texts = tuple(map(files.read, OWN_TEXTS))
            rules, trusted = files.user_rules(), files.trusted_files()
            failing = _failing(rules)
            return _OwnerRules(rules, trusted, stamps, read=True, texts=texts, failing=failing)
        except CrabhookError as error:
            means = "RULES NOT READ, the rules before stay" if before.read else "NO RULES ARE"
            trouble = f"{means} in force: {error}"
            return replace(before, stamps=stamps, trouble=trouble)

    def _store(self, folder: str, there: _ProjectRules) -> _ProjectRules:
        """Store a look's result, and report new faults."""
        before = self._by_project.get(there.project)
        self._store_own(there.own)
        if there.trouble and (before is None or there.trouble != before.trouble):
            self._changed(there.trouble)
        elif before and before.stamp != there.stamp:
            file = there.project / PROJECT_FILE
            self._changed(f"{file} has changed: {len(there.theirs.counting)} of its rules count")
        if there.failing and (before is None or there.failing != before.failing):
            self._fails(there.failing)
        self._by_project[there.project] = self._by_folder[folder] = there
        return there

    def _store_own(self, own: _OwnerRules) -> None:
        """Store the owner's files, and report changes not reported yet."""
        if own is self._own:
            return
        before, self._own = self._own, own
        reported, self._told = self._told, False
        if own.texts != before.texts:
            self._taken(own.texts)  # before a call is judged by them
        if own.trouble:
            if own.trouble != before.trouble:
                self._changed(own.trouble)
        elif before.stamps and not (reported and not before.trouble):
            again = "the rules are read again" if before.trouble else "the rules have changed"
            self._changed(f"{again}: {len(own.rules.counting)} of yours are in force")
        if own.failing and own.failing != before.failing:
            self._fails(own.failing)


def _failing(rules: RuleSet) -> str:
    """Return in words which tests of a file fail; empty where all hold."""
    if not rules.failed:
        return ""
    from crabhook.rulebook.rule_tests import in_words  # few files have tests

    return in_words(rules)


def _in_a_folder(event: Event) -> Event:
    """Return the event with a folder that can be: of another name it is `/`, of no project."""
    try:
        os.fsencode(event.cwd)
        can_be = len(event.cwd) <= LONGEST_PATH and "\0" not in event.cwd
    except UnicodeEncodeError:
        can_be = False
    return event if can_be else replace(event, cwd="/")


def _judged(judge: _Judge, event: Event, around: Context) -> Ruling | None:
    try:
        return judge(event, around)
    except Exception:  # noqa: BLE001 - a fault in judging is a question to a person
        _LOG.exception("the rules could not be asked about %s", event.name)
        return Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")


def _assessed(policy: "Policy", event: Event, around: Context) -> Risk:
    try:
        return policy.risk(event, around)
    except Exception:  # noqa: BLE001 - a fault in looking is no reason to show no card
        _LOG.exception("the risk of %s could not be told", event.name)
        return UNTOLD
