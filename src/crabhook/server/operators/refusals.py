"""Why a call of a desk elsewhere is refused, as values that know no transport.

What becomes of a command that could be looked at is no refusal but an `Outcome`.
"""

from crabhook.datatypes import frozen


@frozen
class DeskRefusal:
    """A call that is not carried out. `why` is for the person who called, and may quote others."""

    why: str


@frozen
class Forbidden(DeskRefusal):
    """The caller is nobody in the team, or may not do this, or may see something else by now."""


@frozen
class NeedsPresence(Forbidden):
    """The person may do this, but the call came without a proof that the person is there."""


@frozen
class NoRoom(DeskRefusal):
    """Too many calls of one device or address are open at once."""


@frozen
class Malformed(DeskRefusal):
    """A command that no desk makes."""


@frozen
class Gone(DeskRefusal):
    """What the call asks for is not there any more."""


@frozen
class StandsBy(DeskRefusal):
    """This server does nothing, since another does, which desks reach at `desks_at`, if known."""

    desks_at: str = ""
