"""The intake of every hook's request, from every port.

A gRPC client makes a ticket, with which it finds its request again after a lost connection; see
`anonymous_intake` for requests without one.
"""

import asyncio
from dataclasses import replace

from crabhook.model.card import UNTOLD, Request
from crabhook.model.decision import Verdict
from crabhook.model.marked_call import denial, mark_of
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.server.core.file_finder import FileFinder
from crabhook.server.core.pending_call import PendingCall, RefusedError, is_here
from crabhook.server.core.runner import Runner

VERY_LONG = 1 << 20  # bytes; a thread measures longer inputs, so that no other hook waits
LONG = 2048  # bytes; the rules judge a shorter input in a few milliseconds
_JUDGED = (Held.ALWAYS, Held.AT_THE_GATE, Held.BY_RULE, Held.AFTERWARDS)


def _can_be_denied(asked: Request) -> bool:
    return PLATFORMS[asked.event.platform].takes(asked.event, Verdict.DENY)


class Intake:
    """Passes requests to a runner, each with what the owner's rules say about it.

    The rules judge a held event before the runner takes it. So other agents' hooks do not wait for
    a long input, a read of the rules or a search in a folder. The risk is computed only where the
    broker says that the event comes to a card. Between a no to that and the event's arrival nothing
    is awaited, so no card is without its risk.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._finder = FileFinder()

    def __repr__(self) -> str:
        return f"<Intake to {self._runner!r}>"

    async def enter(self, asked: Request) -> PendingCall:
        """Pass a request to the runner; the call may have its reply. Raises RefusedError."""
        self._runner.entering += 1
        try:
            return await self._pass_on(asked)
        finally:
            self._runner.entering -= 1

    async def _pass_on(self, asked: Request) -> PendingCall:
        if (mark := mark_of(asked.event)) and _can_be_denied(asked):
            return self._runner.deny_marked(asked, denial(mark))
        # With the shell parser, which the rules in force import once the port listens.
        from crabhook.policy.calls.read import changed_paths, may_take_long

        if asked.origin.machine:
            asked = replace(asked, event=replace(asked.event, machine=asked.origin.machine))
        if asked.size > VERY_LONG and asked.event.tool is not None:
            await asyncio.to_thread(asked.event.tool.measure)
        if asked.event.proxied:
            asked = replace(asked, event=self._runner.broker.with_agent(asked.event))
        held = PLATFORMS[asked.event.platform].held(asked.event, asked.stance)
        long = asked.size > LONG or may_take_long(asked.event)
        ruling, risk = None, UNTOLD
        if held in _JUDGED:
            ruling = await self._runner.rules.judge(asked.event, long=long)
        files: tuple[str, ...] = ()
        if changed := changed_paths(asked.event):
            # For a short call, the rules have just looked up its files.
            looked = held in _JUDGED and not long
            elsewhere = "" if is_here(asked) else asked.origin.machine or asked.origin.host
            files = await self._finder.found(changed, elsewhere, looked=looked)
        if self._runner.comes_to_a_card(asked, ruling, files):
            risk = await self._runner.rules.risk(asked.event, long=long)
        try:
            return self._runner.enter(asked, ruling, risk, files)
        except RefusedError as error:
            self._runner.witness.refused(error.refusal)
            raise
