"""Runs a server from its start to its end: alone, or as leader and standby in turn.

Of the servers that share a record, one leads. With each change of its role this process gets a new
runner, which begins with what is on record; the listeners stay open and pass to the new runner.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from crabhook import config
from crabhook.app.admission import Admitted
from crabhook.app.desks import Follower, Whereabouts, open_desk
from crabhook.app.leadership import Leadership, StandingBy, Writing
from crabhook.app.listeners import Listeners, beside, watched
from crabhook.app.logs import fields, log_file
from crabhook.app.other_hooks import OtherHooks
from crabhook.app.places import receipts, rule_files
from crabhook.app.status import Part, ServerStatus
from crabhook.app.wiring import Wired, wire
from crabhook.broker.pending import Limits, SameFile
from crabhook.config import Settings
from crabhook.model.ballot import NOBODY_VOTES, Electorate
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.rulebook.files import RulesError, read_text
from crabhook.rulebook.receipts import digest_of_text
from crabhook.server.address import Address, PageAddress, UnixAddress
from crabhook.server.core.parts import Faults, Parts
from crabhook.server.core.persisted_orders import KeptOrders
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import Runner
from crabhook.server.service.activation import ServiceManager
from crabhook.server.unix_socket import SocketWatch, StatusFile
from crabhook.server.watch import ListenerWatch
from crabhook.store.interface import (
    FullError,
    LockedError,
    ReadOnlyError,
    StoreError,
    TakenError,
    UnreachableError,
    WriterEndedError,
)
from crabhook.store.opening import Place, open_history, open_writer
from crabhook.store.postgres.leader import AnotherLeadsError, Leader, Pace, skewed
from crabhook.store.record import RecordKind, Retention
from crabhook.store.recorder import OnTrouble, Recorder
from crabhook.store.verify import stops_amiss
from crabhook.store.writer import Courier, through

if TYPE_CHECKING:
    from crabhook.server.core.documents import Documents
    from crabhook.server.core.policy_changes import PolicyChanges
    from crabhook.server.export.exporter import Exporter
    from crabhook.server.metrics.collector import Metrics

_LOG = logging.getLogger(__name__)

HAND_OVER = signal.SIGUSR1
"""The signal to make room for the next server, where the waiting hooks ask again."""

_IN_GOOD_ORDER = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, HAND_OVER)
_AT_ONCE = (signal.SIGTERM, signal.SIGINT)
SETTINGS = "settings.toml"
PATIENCE = 1.0  # seconds that one try to lead waits for the end of the leader
AGAIN_AFTER = 0.25  # seconds between two tries while the database does not answer
_PASSES = (UnreachableError, TakenError, ReadOnlyError, FullError, LockedError)
"""Errors that a started server waits out: a moved database, for example, is first a replica."""


def _stops_amiss(store: str | None) -> str:
    """Say that the stopped sessions were changed by hand while no server ran; "" if not."""
    try:
        with open_history(store or config.state_folder(), config.state_folder()) as history:
            difference = stops_amiss(history.beside(), history.last_stops())
    except StoreError as error:
        _LOG.warning("the stopped sessions could not be compared with the record: %s", error)
        return ""
    return (
        f"{difference}. Look at your sessions, and stop again what must stop" if difference else ""
    )


def _bounds(settings: Settings) -> Limits:
    return Limits(
        settings.max_waiting,
        int(settings.max_waiting_megabytes * 1_000_000),
        settings.max_session_waiting,
        int(settings.max_session_megabytes * 1_000_000),
        SameFile(settings.same_file),
        settings.open_for,
    )


def _status(wired: Wired, bound: Sequence[object]) -> ServerStatus:
    """Return the status of a server that listens at `bound`."""
    runner, leadership = wired.runner, wired.leadership
    leader, pace = leadership.leader, leadership.pace
    return ServerStatus(
        os.getpid(),
        *runner.counts(),
        tuple(map(str, bound)),
        role=leadership.part.value,
        leader=leader.name,
        epoch=pace.epoch,
        lag=int(pace.lag),
        commit_ms=round(pace.commit * 1000, 1),
        batch=round(pace.batch, 1),
        leader_at=leader.hooks,
        troubles=runner.troubles(),
        pages=_pages(bound),
    )


def _pages(bound: Sequence[object]) -> tuple[str, ...]:
    """Return where browsers find the server, of all that it listens at."""
    return tuple(page.url for page in bound if isinstance(page, PageAddress))


class Leaving:
    """The end of a server: by a signal (`signalled`), or by HAND_OVER (`hands_over`)."""

    def __init__(self) -> None:
        self.hands_over = self.signalled = self.begun = False

    def on_signal(self, end: Callable[[], object]) -> None:
        """Call `end` at the first signal."""
        loop = asyncio.get_running_loop()
        for number in _IN_GOOD_ORDER:
            loop.add_signal_handler(number, self._signalled, number, end)

    def begin(self) -> None:
        """Note that the end has begun; the next signal kills the process."""
        self.begun = True
        loop = asyncio.get_running_loop()
        for number in _AT_ONCE:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    def _signalled(self, number: signal.Signals, end: Callable[[], object]) -> None:
        self.signalled, self.hands_over = True, number == HAND_OVER
        self.begin()
        end()


class Server:
    """One server process; `me` has its addresses for clients, if other servers share its record."""

    def __init__(
        self, settings: Settings, manager: ServiceManager, admitted: Admitted, me: Leader
    ) -> None:
        self._settings, self._manager, self._admitted, self._me = settings, manager, admitted, me
        self._others = OtherHooks(os.environ)
        self._documents: Documents | None = None
        self._faults = Faults()  # of the process, whatever its runner
        self._listeners_watch = ListenerWatch()
        self._faults.report(lambda: self._listeners_watch.trouble)
        self._exporter: Exporter | None = None
        if (wish := settings.export) is not None:
            from crabhook.app.exporting import exporter_of  # few have one

            self._exporter = exporter_of(settings, wish)
        self._policy: PolicyChanges | None = None
        self._desk: asyncio.Future[None] | None = None
        self._metrics: Metrics | None = None
        if settings.http is not None:  # only there can metrics be read
            from crabhook.server.metrics import collector

            self._metrics = collector.Metrics()
        self._leaving = Leaving()
        self._leader, self._pace = Leader(), Pace()
        self._recorder: Recorder | None = None
        self._where = self._said = ""
        self._pages: Sequence[str] = ()
        self._failed: CrabhookError | None = None

    async def run(self, places: Sequence[socket.socket] | Sequence[Address]) -> None:
        """Serve at these addresses, or on these sockets, until the end."""
        try:
            self._recorder = await self._begun()
            self._others.begin()
            wired = await self._taken_up() or await self._wired()  # before a hook can connect
            listeners = Listeners(
                wired.runner,
                self._metrics,
                self._admitted,
                self._settings,
                self._listeners_watch,
            )
            async with listeners.opened(listeners.port(places)) as bound:
                await self._by_turns(wired, listeners, bound)
            self._manager.close()
            if self._failed is not None:
                raise self._failed
        finally:
            if self._recorder is not None:
                self._recorder.close()

    def _give_up(self, error: CrabhookError) -> None:
        """End the server in good order, and with an error for who started it."""
        _LOG.error("a listener ended and cannot be opened again: %s", error)
        self._failed = error
        os.kill(os.getpid(), signal.SIGTERM)

    async def _by_turns(self, wired: Wired, listeners: Listeners, bound: Sequence[object]) -> None:
        """Lead or stand by, behind open listeners, until the end."""
        paths = [address.path for address in bound if isinstance(address, UnixAddress)]
        watch = SocketWatch(paths)
        self._faults.report(lambda: watch.trouble)
        self._where = ", ".join(map(str, bound))
        self._pages = _pages(bound)
        watch.paused = lambda: listeners.watch.ended
        listeners.watch.give_up = self._give_up
        listeners.watch.renewed = lambda address: (
            watch.renew(address.path) if isinstance(address, UnixAddress) else None
        )
        # Before the server is ready: `crabhook up`, once it ends, leaves a true `status`.
        files = [StatusFile(path, lambda: asdict(_status(wired, bound))) for path in paths]
        for file in files:
            await file.write()
        tasks = [
            listeners.watch.keep(),
            watch.keep(listeners.warn),
            self._manager.keep_informed(lambda: self._state(wired)),
            *(file.keep() for file in files),
        ]
        async with beside(*tasks):
            while True:
                if isinstance(standing := wired.leadership, StandingBy):
                    leading = await self._follow(wired, standing)
                    if leading is None:
                        return
                    wired = leading
                    listeners.switch_to(wired.runner)
                if not await self._lead(wired):
                    return
                await self._let_go()
                self._leader = Leader()
                # Requests that wait here get no answer, since another server leads.
                wired = await self._wired()
                listeners.switch_to(wired.runner)

    async def _taken_up(self) -> Wired | None:
        """Return a runner with what is on record; None where another server leads now."""
        amiss = ""
        try:
            if self._recorder is not None:
                # Before they are taken up: the server then writes them on record anew.
                amiss = await asyncio.to_thread(_stops_amiss, self._settings.store)
            wired = await self._wired(amiss)
            await wired.runner.restore()
            for fault in filter(None, (amiss, wired.in_force.failing)):
                wired.runner.warn(fault)
        except (WriterEndedError, *_PASSES) as error:
            _LOG.error("%s", error)
            await self._let_go()
            return None
        return wired

    async def _texts_of_all(self, place: Place) -> "Documents | None":
        """Return a shared record's documents, at its leader; learn which token all admit."""
        from crabhook.server.core import documents as of_all  # few share a record

        tokens, team = self._admitted.tokens, self._admitted.team
        if self._recorder is None:
            tokens.shared.digest = await asyncio.to_thread(of_all.token_on_record, place)
            return None
        if documents := await of_all.shared(rule_files(), self._recorder, place, team):
            tokens.shared.digest = documents.begin_token(tokens)
        return documents

    async def _wired(self, amiss: str = "") -> Wired:
        """Return a runner for this server's present role, without what is on record.

        `amiss` is a fault of the record that its screens show.
        """
        settings, recorder = self._settings, self._recorder
        place = settings.store or config.state_folder()
        self._documents = documents = await self._texts_of_all(place) if settings.shared else None
        files = replace(rule_files(), shared=documents)
        self._policy = self._policy_of(recorder) if recorder else None
        in_force = RulesInForce(files, self._others.at)
        if recorder is not None and documents is None:
            from crabhook.server.core.documents import OwnTexts  # after the port's modules

            own = OwnTexts(recorder, files, self._policy)
            in_force = RulesInForce(files, self._others.at, own.take)
        faults = Faults(self._faults)
        parts = Parts(
            PLATFORMS,
            recorder,
            bounds=_bounds(settings),
            standing=KeptOrders(documents),
            faults=faults,
            silent=lambda: self._listeners_watch.silent,
            writer_ended=self._writer_ended,
            exporter=self._exporter,
            texts=documents,
            electorate=self._electorate,
        )
        if amiss:
            faults.report(lambda: amiss)
        leadership = self._leadership(faults)
        wired = wire(in_force, place, parts, leadership=leadership, metrics=self._metrics)
        if settings.headless and in_force.unread and recorder:
            raise RulesError(f"--headless decides by the rules alone, and {in_force.unread}")
        return wired

    def _electorate(self, event: Event) -> Electorate:
        """Return who may decide a card about an event, by the team as it is now."""
        if (team := self._admitted.team) is None:
            return NOBODY_VOTES
        from crabhook.team.electorate import electorate_of  # few have a team

        return electorate_of(team.current(), event, time.time())

    def _leadership(self, faults: Faults) -> Leadership:
        """Return this server's part among those that share its record; report a wrong clock."""
        settings, recorder = self._settings, self._recorder
        if settings.shared and recorder is None:
            return StandingBy(self._leader)
        if not settings.shared:
            return Writing()
        if skew := skewed(self._pace):
            _LOG.warning("%s", skew)
            faults.report(lambda: skew)
        return Writing(Part.LEADER, self._me, self._pace)

    def _writer_ended(self) -> None:
        """Leave the desk, since another server has the record now."""
        if self._desk is not None:
            self._desk.cancel()

    async def _follow(self, wired: Wired, standing: StandingBy) -> Wired | None:
        """Stand by until this server leads, and return its runner then; None at its end."""
        runner = wired.runner
        _LOG.info("standing by", extra=fields(where=self._where))
        self._manager.ready(self._state(wired))
        follower = Follower(runner, standing, self._settings.store or "")
        shown = [follower.keep(), runner.keep_record()]
        team = watched(self._admitted.team, runner, self._faults)
        with self._faults.reporting(follower.trouble):
            async with team, beside(*shown):
                while True:
                    leads = asyncio.ensure_future(self._elected(standing))
                    self._leaving.on_signal(leads.cancel)
                    await asyncio.wait([leads])
                    if leads.cancelled():
                        return None
                    self._recorder = leads.result()
                    if leading := await self._taken_up():
                        return leading

    async def _elected(self, standing: StandingBy) -> Recorder:
        """Return the record once this server leads; until then, report who leads."""
        while True:
            try:
                return await self._opened()
            except _PASSES as error:
                self._report(error, standing)
                if not isinstance(error, TakenError):
                    await asyncio.sleep(AGAIN_AFTER)

    async def _let_go(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            await asyncio.to_thread(recorder.close)

    async def _lead(self, wired: Wired) -> bool:
        """Serve; return whether this server shall stand by now, because another leads."""
        runner, in_force, where, leaving = wired.runner, wired.in_force, self._where, self._leaving

        def release() -> None:
            if leaving.hands_over:
                runner.hand_over()
            else:
                runner.close(stopped=leaving.signalled)

        documents = self._documents
        kept = documents.kept(in_force) if documents else nullcontext()
        async with watched(self._admitted.team, runner, self._faults), kept:
            shown = open_desk(wired, self._settings, self._whereabouts(), release)
            desk = asyncio.ensure_future(shown)
            leaving.on_signal(desk.cancel)
            self._desk = desk
            if runner.writer_ended is not None:  # already, while it read what waits
                desk.cancel()
            if self._settings.shared:
                before = self._leader.name or "nobody that is known"
                epoch = wired.leadership.pace.epoch
                _LOG.info("leads now", extra=fields(epoch=epoch, after=before))
            _LOG.info("listening", extra=fields(where=where))
            self._manager.ready(self._state(wired))
            tasks = (
                runner.keep_record(),
                in_force.watch(),
                self._exported(runner),
                self._attested(runner),
            )
            async with beside(*tasks):
                try:
                    await asyncio.wait([desk])
                    if runner.writer_ended is not None and not leaving.begun:
                        return True
                finally:
                    if runner.writer_ended is None or leaving.begun:
                        leaving.begin()
                        waiting = len(runner.broker.waiting())
                        _LOG.info("ending", extra=fields(waiting=waiting))
                        self._manager.stopping("letting go what waits")
                        release()
        if not desk.cancelled() and (error := desk.exception()):
            raise error
        return False

    def _policy_of(self, recorder: Recorder) -> "PolicyChanges":
        """Return what records changes of rules, team and settings; look at the settings' file."""
        from crabhook.server.core.policy_changes import PolicyChanges  # after the port's modules

        changes = PolicyChanges(recorder, receipts())
        try:
            text = read_text(config.config_folder() / SETTINGS)
            digest = digest_of_text(text) if text else ""
            name = f"{SETTINGS} on {socket.gethostname()}" if self._settings.shared else SETTINGS
            changes.look_at(RecordKind.SETTINGS_CHANGED, name, digest, "a file")
        except CrabhookError as error:
            _LOG.warning("whether the settings changed is not recorded: %s", error)
        return changes

    async def _attested(self, runner: Runner) -> None:
        """Tell of changes that nobody answers for, and take attestations, until cancelled."""
        team = self._admitted.team

        def signed() -> str:
            return "" if team is None or team.shared else team.digest

        def taken_away() -> Mapping[str, str]:
            return {} if team is None else team.taken_away

        if (changes := self._policy) is not None:
            with self._faults.reporting(lambda: changes.trouble):
                await changes.keep(signed, taken_away, runner.warn)

    async def _exported(self, runner: Runner) -> None:
        """Export the record, where the settings say so, until cancelled."""
        if (exporter := self._exporter) is not None:
            with self._faults.reporting(lambda: exporter.trouble):
                await exporter.keep(runner)

    def _whereabouts(self) -> Whereabouts:
        """Return what a desk here shows of where this server is."""
        team = self._admitted.team
        if not self._pages or team is None:
            return Whereabouts(self._where)
        from crabhook.app.page_words import page_words, reaches_phones  # few show one
        from crabhook.ui.web.qr import qr_lines  # likewise

        page = self._pages[0]
        words, code = page_words(page, team.current()), qr_lines(page)
        return Whereabouts(
            self._where, page, tuple(words), tuple(code) if reaches_phones(page) else ()
        )

    def _state(self, wired: Wired) -> str:
        """Return what the service manager shows of this server."""
        if isinstance(standing := wired.leadership, StandingBy):
            leads = standing.leader.name or "nobody that is known"
            return f"standing by on {self._where}, {leads} leads"
        waiting, desks = wired.runner.counts()
        nobody = "" if desks else ", nobody is at a desk"
        return f"listening on {self._where}, {waiting} waiting{nobody}"

    async def _begun(self) -> Recorder | None:
        """Return the opened record; None where another server leads.

        The recorder of a record on this machine reports a fault and tries again. For a shared
        record the server waits before it listens, so that hooks use their fallback at once. A
        signal cancels the wait.
        """
        if not self._settings.shared:
            return await self._opened()
        if waits := asyncio.current_task():
            for number in _IN_GOOD_ORDER:
                asyncio.get_running_loop().add_signal_handler(number, waits.cancel)
        tried = 0
        while True:
            try:
                return await self._opened(0.0)
            except TakenError as error:
                self._report(error)
                return None
            except UnreachableError as error:
                self._report(error)
            if tried % 20 == 0:
                self._manager.waiting(self._said)
            tried += 1
            await asyncio.sleep(AGAIN_AFTER)

    def _report(self, error: Exception, standing: StandingBy | None = None) -> None:
        """Report, once, why this server does not lead; note who leads."""
        self._leader = error.leader if isinstance(error, AnotherLeadsError) else Leader()
        if standing is not None:
            standing.leader = self._leader
        if self._said == str(error):
            return
        self._said = reason = str(error)
        if (leader := self._leader).name:
            at = f", at {leader.hooks}" if leader.hooks else ""
            _LOG.info("another server leads: %s%s. This server stands by", leader.name, at)
        else:
            _LOG.warning("%s: waiting until it can be written", reason)
        if log_file(self._settings):
            print(f"crabhook: {reason}: waiting for it", file=sys.stderr)  # noqa: T201 - no screen is open yet

    async def _opened(self, patience: float = PATIENCE) -> Recorder:
        """Return the record, opened by its writer; wait `patience` seconds for a shared record."""
        settings, state = self._settings, config.state_folder()
        retention = Retention(settings.keep_days, int(settings.keep_megabytes * 1_000_000))
        courier = Courier(through(settings.head_command)) if settings.head_command else None
        trouble = OnTrouble.DECIDE if settings.decides_in_trouble else OnTrouble.REFUSE
        if not settings.shared:
            opening = partial(open_writer, settings.store or state, retention, state)
            return Recorder(opening, on_trouble=trouble, courier=courier)
        from crabhook.store.postgres.journal import lead  # few share a record

        leads = partial(lead, settings.store or "", self._me, patience, retention, state)
        writer, self._pace = await asyncio.to_thread(leads)
        self._said = ""
        return Recorder(lambda: writer, on_trouble=trouble, courier=courier)
