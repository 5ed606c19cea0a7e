"""A server whose people have a passkey each: ann may all, dee decides, vic looks."""

from __future__ import annotations

from dataclasses import dataclass, field

from crabhook.model.actor import Role
from crabhook.model.ballot import Electorate, Voter
from crabhook.server.operators.service import OperatorService
from crabhook.team.membership import Member, Scope, Team
from tests.support.authenticator import HOST, Authenticator
from tests.support.desk import PlayedDesk
from tests.support.sitting import call

ROLES = {"ann": Role.ADMIN, "dee": Role.DECIDER, "vic": Role.VIEWER}
DECIDERS = Electorate((Voter("o-ann", "ann"), Voter("o-dee", "dee")), owner_known=True)


@dataclass
class PasskeyHouse:
    """One call waits there; `rp` is the name for which the passkeys are."""

    server: PlayedDesk = field(default_factory=lambda: PlayedDesk(electorate=lambda _: DECIDERS))
    rp: str = HOST

    def __post_init__(self) -> None:
        self.keys = {name: Authenticator(rp=self.rp) for name in ROLES}
        members = (
            Member(f"o-{name}", name, ROLES[name], Scope(), passkeys=(key.passkey(name),))
            for name, key in self.keys.items()
        )
        self.team = Team("t", "ours", 1, tuple(members))
        self.service = OperatorService(self.server.runner, lambda: self.team)
        self.server.ask(call(cwd="/shop"))
