"""A strict hook prints nothing that people of its team have not signed; imported for --team alone.

It reads the team's file before it asks. While a person thinks it imports what verifies
(`crabhook.hook.signed`) and makes the team's keys ready. What nobody signed becomes fixed words.
"""

import posix
from time import time

from crabhook.hook import Options, Unanswered, words
from crabhook.hook.statement import SignedTerms, of_call, of_reply, sha256, ticket_digest
from crabhook.hook.wire import COMPANION, MalformedBytes, WireReply, write_message

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crabhook.hook.signed import SigningTeam

_LARGEST_TEAM = 4 << 20  # bytes: ten thousand members
_KIND, _REGULAR = 0o170000, 0o100000  # of a mode; `stat` is one more import
_CLOCKS = 600.0  # seconds by which two clocks may differ
_SILENCE = (b"", b"{}\n")  # what is printed to say nothing, by agent


class StrictCheck:
    """What one request of a strict hook needs to know of its answer.

    `wish` is a StrictHook for the server. Raises Unanswered for a team file that cannot be read.
    """

    def __init__(self, options: Options, request_id: str, secret: str, payload: bytes) -> None:
        self._options, self._payload, self._began = options, payload, time()
        self._ticket = request_id, ticket_digest(secret)
        try:
            self._content = team_content(options.team)
        except (OSError, ValueError) as error:
            problem = f"the team file {options.team!r}: {words(error)}"
            raise Unanswered("unsigned", problem) from error
        digest = sha256(self._content).digest()
        self.wish = write_message(options.authority[:32], digest, options.need)
        self.wish += b"".join(write_message(b"", b"", b"", name) for name in options.of)
        self._team: SigningTeam | None = None
        self._call = b""
        self._steps = self._ahead()

    def work_ahead(self) -> bool:
        """Do the next milliseconds of what a check needs; return whether more is left."""
        return next(self._steps, False)

    def _ahead(self) -> "Iterator[bool]":
        from crabhook.hook.curves import known_answers
        from crabhook.hook.signed import SigningTeam, UnsignedError

        options, (request_id, ticket) = self._options, self._ticket
        self._call = of_call(
            team=options.authority[:32],
            request_id=request_id,
            ticket=ticket,
            platform=options.platform,
            stance=options.stance,
            payload=sha256(self._payload).digest(),
        )
        yield True
        try:
            self._team = SigningTeam(self._content, options.authority, options.team_version)
        except UnsignedError as error:
            raise Unanswered("unsigned", f"the team file {options.team!r}: {error}") from error
        yield True
        yield from known_answers()
        yield from self._team.made_ready()

    def checked(self, reply: WireReply, response: bytes) -> WireReply:
        """Return the reply if it may be printed as it is; raise Unanswered("unsigned") if not.

        A denial may be printed once a person has signed it, however many an allow needs.
        """
        options = self._options
        wish = options.when_unsigned or options.when_lost
        silent = reply.stdout in _SILENCE and not reply.stderr and not reply.exit_code
        if silent and (wish == "pass" or options.stance == COMPANION):
            return reply
        while self._team is None and self.work_ahead():
            pass
        team = self._team
        if team is None:
            raise Unanswered("unsigned", "its team file could not be read before")
        from crabhook.hook.signed import signatures_in, team_file_in

        try:
            votes, newer = signatures_in(response), team_file_in(response)
        except MalformedBytes as error:
            raise Unanswered("unsigned", f"its signatures cannot be read: {error}") from error
        if votes and newer:
            team = team.newer(newer) or team
        team.here(self._payload, options.token)
        signed = self._call, of_reply(reply.stdout, reply.stderr, reply.exit_code)
        now = time()
        count = team.count(votes, signed, now=now, within=options.wait + _CLOCKS)
        least, waited = SignedTerms(options.need, options.of), round((now - self._began) * 1000)
        if not (problem := count.problem(least, waited)):
            return reply
        if count.people:
            from crabhook.hook.fallback import is_denial

            if is_denial(options, self._payload, reply):
                return reply
        raise Unanswered("unsigned", problem, unsigned=reply)


def team_content(path: str) -> bytes:
    """Return a file's bytes; raise OSError, or ValueError for what is no team file."""
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        about, content = posix.fstat(file), b""
        if about.st_mode & _KIND != _REGULAR or about.st_size > _LARGEST_TEAM:
            raise ValueError("it is no file, or too large")
        while part := posix.read(file, _LARGEST_TEAM):
            content += part
    finally:
        posix.close(file)
    return content
