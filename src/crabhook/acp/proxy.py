"""The proxy's process: the agent as its child, the editor on standard input and output.

It ends when either of the two ends, and leaves no process of the agent's behind.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TypeAlias

from crabhook.acp.asking import DeskRequest, Errands, in_thread, options_of, result_of
from crabhook.acp.conversation import (
    PASS,
    AskDesk,
    Complain,
    Conversation,
    Message,
    Pass,
    Race,
    RaceStage,
    Step,
    Tell,
    ToAgent,
    ToEditor,
    read,
)
from crabhook.acp.lines import LineCutter, Piece, WholeLine
from crabhook.hook import Options, Unanswered
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.jsontext import parse_object

_Heard: TypeAlias = Callable[[Message, int], Sequence[Step]]
"""What takes a line of one side, with its size."""
AT_ONCE = 0.25
"""Seconds in which a rule may answer before the editor is asked, so that no dialog flashes up."""
_LOOK = 0.005
LONG = 1 << 20
"""Bytes of a line that is read in a thread, so that the other side goes on."""
LEAVING, STOPPING = 2.0, 2.0
"""Seconds that an agent has to end once its editor is gone, and once it was told to stop."""
_CHUNK = 1 << 16
COMPLAINTS = 20
"""Complaints that standard error gets in full; of the later, the 32nd, the 64th and so on."""


class ProxyError(CrabhookError):
    """The proxy cannot begin; the text says why."""


def run(command: Sequence[str], words: Sequence[str]) -> int:
    """Stand between the editor and an agent until one of them ends; return the exit code.

    `command` starts the agent, `words` are options of crabhook's own hook that say where to ask.
    Raises ProxyError.
    """
    options = options_of(words)
    if options.problem:
        raise ProxyError(options.problem)
    return asyncio.run(_Proxy(options).run(command))


class _Out:
    """One direction: whole lines, one after another."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._turn = asyncio.Lock()
        self._within = False

    async def line(self, data: bytes) -> None:
        """Write a line; raises OSError where nobody reads any more."""
        async with self._turn:
            await self._write(data)

    async def piece(self, piece: Piece) -> None:
        """Write a piece of a line; nothing else is written until the last piece is."""
        if not self._within:
            await self._turn.acquire()
            self._within = True
        try:
            await self._write(piece.data)
        finally:
            if piece.ends:
                self._within = False
                self._turn.release()

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """Tell the reader that no more comes."""
        with suppress(OSError, RuntimeError):
            self._writer.close()


class _Proxy:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._talk = Conversation()
        self._errands = Errands(options, self._complain)
        self._asked: dict[Race, DeskRequest] = {}
        self._settled: dict[Race, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._complaints = 0

    async def run(self, command: Sequence[str]) -> int:
        loop = asyncio.get_running_loop()
        agent = await _started(command)
        assert agent.stdin is not None and agent.stdout is not None  # noqa: S101, PT018 - pipes
        try:
            editor_in = asyncio.StreamReader(limit=_CHUNK)
            self._to_editor = _Out(await _standard_output(loop))
            self._to_agent = _Out(agent.stdin)
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(editor_in), sys.stdin)
        except ValueError as error:
            await _stop(agent, 0)
            what = "standard input and output have to be pipes: an editor starts this"
            raise ProxyError(what) from error
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stopped.set)
        errands = asyncio.create_task(self._errands.run())
        from_agent = asyncio.create_task(self._pump(agent.stdout, self._to_editor, "agent"))
        from_editor = asyncio.create_task(self._pump(editor_in, self._to_agent, "editor"))
        stop = asyncio.create_task(stopped.wait())
        await asyncio.wait({from_agent, from_editor, stop}, return_when=asyncio.FIRST_COMPLETED)
        who = "the agent has ended" if from_agent.done() else "the editor has ended"
        self._do_all(self._talk.ended(who))
        self._to_agent.close()
        until = loop.time() + (0.0 if stopped.is_set() else LEAVING)
        if not from_agent.done():  # what it still has to say is heard
            await asyncio.wait({from_agent}, timeout=until - loop.time())
        code = await _stop(agent, until - loop.time())
        await self._errands.finish(STOPPING)
        for request in list(self._asked.values()):
            request.withdraw()
        for task in (errands, from_agent, from_editor, stop, *self._tasks):
            task.cancel()
        await asyncio.wait({errands, from_agent, from_editor, stop, *self._tasks}, timeout=STOPPING)
        return code

    async def _pump(self, peer: asyncio.StreamReader, out: _Out, who: str) -> None:
        """Pass on what one side says, until it has no more to say or nobody hears it."""
        cutter = LineCutter()
        heard = self._talk.from_agent if who == "agent" else self._talk.from_editor
        with suppress(OSError):
            while chunk := await peer.read(_CHUNK):
                for cut in cutter.feed(chunk):
                    await self._pass(cut, out, who, heard)
            for cut in cutter.close():
                await self._pass(cut, out, who, heard)

    async def _steps(self, data: bytes, heard: _Heard) -> Sequence[Step]:
        """Return what a line brings; a fault of ours lets it pass, as if nobody were between."""
        try:
            message = await in_thread(lambda: read(data)) if len(data) > LONG else read(data)
            return heard(message, len(data))
        except Exception as error:  # noqa: BLE001 - neither side may wait in vain
            self._complain(f"a fault of crabhook's own, {error!r}: the line passes")
            return (PASS,)

    async def _pass(self, cut: WholeLine | Piece, out: _Out, who: str, heard: _Heard) -> None:
        if isinstance(cut, Piece):
            if cut.ends:
                self._do_all(self._talk.unread(who))
            await out.piece(cut)
            return
        for step in await self._steps(cut.data, heard):
            if isinstance(step, Pass):
                await out.line(cut.data)
            elif isinstance(step, AskDesk):
                if not await self._answered_at_once(step.race):
                    step.race.shown = True
                    await out.line(cut.data)
            else:
                self._do(step)

    async def _answered_at_once(self, race: Race) -> bool:
        """Ask the desk; return whether it has answered before the editor needs to be asked."""
        settled = self._settled[race] = asyncio.Event()
        self._errands.ask(lambda: self._begin(race))
        try:
            async with asyncio.timeout(AT_ONCE):
                while not settled.is_set() and not self._waits(race):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_LOOK):
                            await settled.wait()
        except TimeoutError:
            pass
        del self._settled[race]
        return race.stage is RaceStage.DESK

    def _waits(self, race: Race) -> bool:
        request = self._asked.get(race)
        return request is not None and request.waits

    def _begin(self, race: Race) -> None:
        if race.stage is RaceStage.OPEN:
            self._start(self._ask(race))

    async def _ask(self, race: Race) -> None:
        request = self._asked[race] = DeskRequest(self._options)
        try:
            reply = await in_thread(lambda: request.ask(race.payload))
            self._errands.reached()
            if result := result_of(reply):
                answered = False
                for step in self._talk.decided(race, parse_object(result)):
                    answered = answered or isinstance(step, ToAgent)
                    await self._send(step)
                if not answered:
                    return
            if reply.confirm:
                await in_thread(request.confirm)
        except Unanswered as unanswered:
            if race.stage is RaceStage.OPEN:  # else it was withdrawn
                self._errands.unanswered(unanswered)
        except (PayloadError, OSError) as error:
            self._complain(f"an answer of the desk was not given: {error}")
        finally:
            request.close()
            del self._asked[race]
            if (settled := self._settled.get(race)) is not None:
                settled.set()

    async def _send(self, step: Step) -> None:
        if isinstance(step, ToAgent):
            await self._to_agent.line(step.data)
        elif isinstance(step, ToEditor):
            await self._to_editor.line(step.data)
        else:
            self._do(step)

    def _do_all(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._do(step)

    def _do(self, step: Step) -> None:
        if isinstance(step, Tell):
            races = step.then
            self._errands.tell(step.payload, lambda: self._withdraw(races))
        elif isinstance(step, Complain):
            self._complain(step.text)

    def _withdraw(self, races: Sequence[Race]) -> None:
        for race in races:
            if (request := self._asked.get(race)) is not None:
                request.withdraw()
            if (settled := self._settled.get(race)) is not None:
                settled.set()

    def _start(self, doing: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _complain(self, text: str) -> None:
        self._complaints += 1
        if self._complaints <= COMPLAINTS or self._complaints.bit_count() == 1:
            with suppress(OSError):
                os.write(2, f"crabhook acp: {text}\n".encode("utf-8", "backslashreplace"))


async def _started(command: Sequence[str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_CHUNK,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProxyError(f"the agent {command[0]!r} cannot be started: {why}") from error


async def _standard_output(loop: asyncio.AbstractEventLoop) -> asyncio.StreamWriter:
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _stop(agent: asyncio.subprocess.Process, patience: float) -> int:
    """Wait for the agent's end, tell it to end, then end it and what it started."""
    for number, within in ((0, patience), (signal.SIGTERM, STOPPING)):
        if number:
            _signal(agent.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, within)):
                await agent.wait()
                break
    _signal(agent.pid, signal.SIGKILL)
    code = await agent.wait()
    agent._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - else it outlives the loop
    await asyncio.sleep(0)
    return code if code >= 0 else 128 - code


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
