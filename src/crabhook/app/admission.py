"""Whom a server admits, and what its listeners for people share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from crabhook.server.address import Tls, Tokens
from crabhook.server.core.runner import Runner
from crabhook.server.watch import ListenerWatch

if TYPE_CHECKING:
    from crabhook.server.operators.service import OperatorService
    from crabhook.team.team_file import TeamReader

Switch: TypeAlias = Callable[[Runner], object]
"""Leads a listener to another runner."""


class Admitted(NamedTuple):
    """The tokens and the team that are admitted over TCP, and the server's TLS."""

    tokens: Tokens
    team: "TeamReader | None"
    tls: Tls | None


class PeopleListening(NamedTuple):
    """What the listeners for people share: `switches` lead them to another runner."""

    service: "OperatorService"
    runner: Runner
    switches: list[Switch]
    watch: ListenerWatch | None
