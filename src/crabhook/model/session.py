"""A session of an agent as it is seen from the desk, and the notes an operator gives it.

Every text here but a note's comes from hooks, so an agent may have written it.
"""

from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.actor import Actor
from crabhook.model.event import Event

SessionKey: TypeAlias = tuple[str, str, str]
"""The platform, the session's id, and the machine whose own token its hooks showed."""


@frozen
class Activity:
    """What an agent does, or did last; `event` has the start of what it tells.

    `at` is when it was heard of, on the broker's clock. `outcome` is what became of it, empty
    while nobody has told. `times`: how often the very same call is among the agent's last calls.
    """

    event: Event
    at: float
    outcome: str = ""
    times: int = 1


@frozen
class AgentView:
    """One agent of a session: the main agent, whose `id` is empty, or a subagent of that `kind`."""

    id: str
    kind: str
    since: float
    doing: Activity | None = None


@frozen
class Note:
    """What an operator tells a running session's main agent, or the subagent with the id `agent`.

    `call` is the event, and its tool, with which it was given last; empty before that.
    `delivered_at` is when the hook had printed it, None while it has not. `machine` is the
    session's machine.
    """

    id: int
    platform: str
    session: str
    agent: str
    text: str
    by: Actor
    at: float
    call: str = ""
    delivered_at: float | None = None
    machine: str = ""

    @property
    def key(self) -> SessionKey:
        """The name of the session that it is for."""
        return self.platform, self.session, self.machine

    @property
    def label(self) -> str:
        """The note's name in a line of news."""
        whom = f"subagent {self.agent}" if self.agent else "its main agent"
        return f"note {self.id} to {whom}"

    @property
    def waits(self) -> bool:
        """Whether it was not delivered yet."""
        return self.delivered_at is None


@frozen
class KeptNote:
    """A note of which it is not known that it arrived.

    `request_id` is the id of the answer it was given with; empty while it waits.
    """

    note: Note
    request_id: str = ""


@frozen
class SharedFile:
    """A file that another live session changes too: which sessions, the last to change it last."""

    path: str
    sessions: tuple[SessionKey, ...]


@frozen
class SessionView:
    """A session that was heard of and has not ended.

    `title` is the agent's own name, `mode` its permission mode. `since` and `heard` are when it was
    first and last heard of, on the broker's clock. `agents` begin with the main agent. `waiting`
    are the numbers of its cards that wait, `files` what it changed, the last at the end. `notes`
    are those that wait to be given, and the last that were. `machine` is the machine whose own
    token its hooks showed, empty where none did.
    """

    platform: str
    title: str
    session: str
    cwd: str
    mode: str
    since: float
    heard: float
    agents: tuple[AgentView, ...]
    waiting: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    shared: tuple[SharedFile, ...] = ()
    notes: tuple[Note, ...] = ()
    machine: str = ""

    @property
    def key(self) -> SessionKey:
        """The session's name among those of all agents."""
        return self.platform, self.session, self.machine
