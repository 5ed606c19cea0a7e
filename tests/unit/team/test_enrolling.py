"""Joining by an invitation, over real gRPC and TLS: once, in time, by who has the secret."""

import asyncio
import base64
import hashlib
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.data_files import names, tables
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.team import invitation as module
from crabhook.team.certificates import Authority, CertificateError, new_key, plain, request_of
from crabhook.team.enrolling import Inviting, InvitingError, JoinPort, outcome
from crabhook.team.invitation import (
    Invitation,
    InvitationError,
    Joined,
    JoinError,
    Joining,
    Joins,
    join,
    new_token,
    pin_of,
    six_words,
)
from crabhook.v1 import enrol_pb2 as pb
from tests.support.examples import examples

NOW = time.time()
OURS, THEIRS = Authority.new("ours", NOW), Authority.new("theirs", NOW)


@dataclass
class Host:
    """Who invites: says yes to the words when `same` is set, and remembers what was asked."""

    joins: Joins = Joins.DESK
    shown: list[str] = field(default_factory=list)
    granted: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    answer: bool = True
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def inviting(self) -> Inviting:
        return Inviting(self.joins, self.check, self.compare, self.grant, self.told.append)

    def check(self, who: Joining) -> None:
        if who.joins is Joins.DESK:
            OURS.for_device(who.key, "o", "d", NOW)

    async def compare(self, words: str, _: Joining) -> bool:
        self.shown.append(words)
        await self.ready.wait()
        return self.answer

    def grant(self, who: Joining) -> Joined:
        self.granted.append(who.name)
        made = OURS.for_device(who.key, "o", "d", NOW) if who.joins is Joins.DESK else b""
        return Joined(OURS.certificate, made, b"", "127.0.0.1:7444", "ours", "ann", "decider")


@asynccontextmanager
async def inviting(host: Host) -> AsyncIterator[tuple[Invitation, JoinPort]]:
    place = InvitationAddress("127.0.0.1", 0, "127.0.0.1")
    async with open_invitation(host.inviting(), OURS.certificate, place, NOW) as opened:
        yield opened


def ann(name: str = "laptop") -> Joining:
    return Joining(Joins.DESK, request_of(new_key()), b"", name)


async def joined(
    invitation: Invitation, who: Joining, show: Callable[[str], None] = lambda _: None
) -> Joined:
    return await asyncio.to_thread(join, invitation, who, show, within=60)


async def test_who_was_invited_joins_and_both_ends_show_the_same_words() -> None:
    host, seen = Host(), list[str]()
    async with inviting(host) as (invitation, port):
        host.ready.set()
        there = await joined(Invitation.parse(str(invitation)), ann(), seen.append)
        assert (await outcome(port, 5)) == there
    assert seen == host.shown
    assert len(seen[0].split()) == 6
    assert (there.server, there.team, there.name, there.role) == (
        "127.0.0.1:7444",
        "ours",
        "ann",
        "decider",
    )
    assert host.granted == ["laptop"]


async def test_somebody_in_between_with_another_authority_makes_other_words_on_the_two_ends() -> (
    None
):
    """They hand a line of their own on, and come with what they were sent by the true one."""
    host, theirs, seen = Host(), Host(), list[str]()
    came: asyncio.Queue[Joining] = asyncio.Queue()
    relayed: list[asyncio.Task[Joined]] = []

    async def relay(words: str, who: Joining) -> bool:
        relayed.append(asyncio.ensure_future(joined(true, who)))
        await came.put(who)
        return await theirs.compare(words, who)

    place = InvitationAddress("127.0.0.1", 0, "127.0.0.1")
    false = replace(theirs.inviting(), compare=relay)
    async with (
        inviting(host) as (true, _),
        open_invitation(false, THEIRS.certificate, place, NOW) as (line, _),
    ):
        trying = asyncio.ensure_future(joined(line, ann(), seen.append))
        await came.get()
        async with asyncio.timeout(60):
            while not (seen and host.shown):  # noqa: ASYNC110 - they are shown by other threads
                await asyncio.sleep(0.01)
        assert len({*seen, *host.shown}) == 2  # so a person says no, on either end
        host.answer, theirs.answer = False, False
        host.ready.set()
        theirs.ready.set()
        ended = await asyncio.gather(trying, *relayed, return_exceptions=True)
    assert all(isinstance(one, JoinError) for one in ended)
    assert host.granted == theirs.granted == []


async def test_a_machine_joins_by_the_digest_of_a_token_that_stays_with_it() -> None:
    host = Host(Joins.MACHINE)
    host.ready.set()
    token, digest = new_token()
    async with inviting(host) as (invitation, _):
        there = await joined(invitation, Joining(Joins.MACHINE, digest, b"", "build1"))
    assert there.certificate == b""
    assert len(token) == 43
    assert len(digest) == 32


async def test_nobody_is_let_in_before_the_words_were_compared_nor_when_they_differ() -> None:
    host = Host(answer=False)
    async with inviting(host) as (invitation, port):
        trying = asyncio.ensure_future(joined(invitation, ann()))
        await asyncio.sleep(0.05)
        assert not trying.done()
        host.ready.set()
        with pytest.raises(JoinError, match="Ask for a new invitation"):
            await trying
        with pytest.raises(InvitingError, match="Invite again"):
            await outcome(port, 5)
    assert host.granted == []


async def test_of_two_at_once_one_is_let_in_and_the_other_is_told() -> None:
    host = Host()
    async with inviting(host) as (invitation, _):
        both = [asyncio.ensure_future(joined(invitation, ann(name))) for name in ("a", "b")]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        host.ready.set()
        outcomes = await asyncio.gather(*both, return_exceptions=True)
        assert host.told == ["somebody came with the invitation a second time: refused"]
    lost = [str(one) for one in outcomes if isinstance(one, JoinError)]
    assert len(lost) == 1
    assert "was used, or is over" in lost[0]
    assert len(host.granted) == len(host.shown) == 1


async def test_an_invitation_is_used_once_and_leads_nowhere_afterwards() -> None:
    host = Host()
    host.ready.set()
    async with inviting(host) as (invitation, _):
        await joined(invitation, ann())
        with pytest.raises(JoinError, match="was used, or is over"):
            await joined(invitation, ann("again"))
    with pytest.raises(JoinError, match=r"nobody listens at 127.0.0.1.*lasts 15 minutes"):
        await joined(invitation, ann("late"))
    assert host.granted == ["laptop"]


async def test_an_invitation_runs_out() -> None:
    host = Host()
    async with inviting(host) as (_, port):
        with pytest.raises(InvitingError, match="nobody came in time"):
            await outcome(port, 0.01)


async def test_five_wrong_secrets_end_it_and_the_right_one_then_opens_nothing() -> None:
    host = Host()
    host.ready.set()
    async with inviting(host) as (invitation, port):
        guess = replace(invitation, secret=bytes(16))
        for number in range(1, 6):
            with pytest.raises(JoinError, match="not the invitation's secret"):
                await joined(guess, ann())
            assert host.told[-1] == f"a wrong secret was shown ({number} of 5): refused"
        with pytest.raises(InvitingError, match="5 wrong secrets"):
            await outcome(port, 5)
        with pytest.raises(JoinError, match="was used, or is over"):
            await joined(invitation, ann())
    assert host.shown == host.granted == []


async def test_a_wrong_secret_is_not_told_whether_the_invitation_was_used() -> None:
    host = Host()
    host.ready.set()
    async with inviting(host) as (invitation, _):
        await joined(invitation, ann())
        with pytest.raises(JoinError, match="not the invitation's secret"):
            await joined(replace(invitation, secret=bytes(16)), ann())


async def test_what_is_no_key_or_joins_as_something_else_is_refused_and_uses_nothing_up() -> None:
    host = Host()
    host.ready.set()
    async with inviting(host) as (invitation, _):
        with pytest.raises(JoinError, match="cannot be read"):
            await joined(invitation, replace(ann(), key=b"no request"))
        with pytest.raises(JoinError, match="this invitation is for a person"):
            await joined(invitation, replace(ann(), joins=Joins.MACHINE))
        for name in ("", "x" * 65, "a\x1b[2J"):
            with pytest.raises(JoinError, match="a name has 1 to 64 letters"):
                await joined(invitation, ann(name))
        await joined(invitation, ann())


async def test_who_hangs_up_before_the_words_were_compared_is_not_let_in() -> None:
    host = Host()
    async with inviting(host) as (invitation, port):
        with pytest.raises(JoinError, match="did not answer in time"):
            await asyncio.to_thread(join, invitation, ann(), lambda _: None, within=0.2)
        with pytest.raises(InvitingError, match="hung up"):
            await outcome(port, 5)
        host.ready.set()
        await asyncio.sleep(0.01)
    assert host.granted == []


async def test_nothing_is_said_to_a_listener_that_is_not_the_one_who_invited() -> None:
    host = Host()
    host.ready.set()
    async with inviting(host) as (invitation, _):
        with pytest.raises(JoinError, match="the invitation is not from the program"):
            await joined(replace(invitation, pin=bytes(20)), ann())
        assert not host.told
        with pytest.raises(JoinError, match="another team"):
            await joined(replace(invitation, team=bytes(16)), ann())


async def test_a_team_that_cannot_be_changed_lets_nobody_in_and_says_so_on_both_ends() -> None:
    host = Host()
    host.ready.set()

    def full(_: Joining) -> Joined:
        raise CertificateError("the disk is full")

    host.grant = full  # type: ignore[method-assign]
    async with inviting(host) as (invitation, port):
        with pytest.raises(JoinError, match="the other end said: the disk is full"):
            await joined(invitation, ann())
        with pytest.raises(InvitingError, match="the disk is full; nobody joined"):
            await outcome(port, 5)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad\r\n\r\n", b"\0" * 4096])
async def test_a_hostile_listener_with_the_right_key_makes_an_error_in_words(
    answer: bytes, tmp_path: object
) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(9)
        writer.write(answer)
        await writer.drain()
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = tmp_path / "both.pem"  # type: ignore[operator]
    file.write_bytes(plain(OURS.key) + OURS.certificate)
    context.load_cert_chain(file)
    server = await asyncio.start_server(speak, "127.0.0.1", 0, ssl=context)
    pin = pin_of(ssl.PEM_cert_to_DER_cert(OURS.certificate.decode()))
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(JoinError, match=r"lost|closed"):
            await joined(Invitation("127.0.0.1", port, pin, bytes(16), bytes(16)), ann())


LINE = str(Invitation("desk.example", 7445, b"p" * 20, b"t" * 16, b"s" * 16))


def test_an_invitation_is_one_line_and_reads_back() -> None:
    assert LINE.startswith("crab1")
    assert LINE.endswith("@desk.example:7445")
    assert len(LINE) == 111
    for host in ("desk.example", "10.0.0.1", "fe80::1"):
        invitation = Invitation(host, 1, b"p" * 20, b"t" * 16, b"s" * 16)
        assert Invitation.parse(f" {invitation}\n") == invitation
    assert "secret" not in repr(Invitation.parse(LINE))


NEWER = bytes((2,)) + bytes(52)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "this is no invitation"),
        (LINE.partition("@")[0], "this is no invitation"),
        (LINE.replace(":7445", ":0"), "this is no invitation"),
        (LINE.replace(":7445", ":70000"), "this is no invitation"),
        (LINE.replace("crab1", "crab2"), "this is no invitation"),
        (LINE[:9] + LINE[10:], "missing or wrong"),
        (LINE[:9] + ("a" if LINE[9] != "a" else "b") + LINE[10:], "missing or wrong"),
        ("crab1a@h:1", "missing or wrong"),
    ],
)
def test_a_line_that_was_not_copied_whole_says_so(line: str, words: str) -> None:
    with pytest.raises(InvitationError, match=words):
        Invitation.parse(line)


def test_a_newer_invitation_says_so() -> None:
    packed = base64.b32encode(NEWER + hashlib.sha256(NEWER).digest()[:2]).decode().lower()
    with pytest.raises(InvitationError, match="newer crabhook"):
        Invitation.parse(f"crab1{packed}@h:1")


def test_there_is_a_word_for_each_byte_and_other_keys_have_other_words() -> None:
    assert len(names(tables(module.__file__, "words")["words"])) == 256
    assert six_words(b"p", b"n", b"a", b"b") == six_words(b"p", b"n", b"a", b"b")
    assert six_words(b"p", b"n", b"a", b"b") != six_words(b"p", b"n", b"ab", b"")


@given(st.one_of(st.text(), st.builds("crab1{}@{}:{}".format, st.text("abc234567"), st.text(), st.integers(0, 10**6))))  # fmt: skip
@examples(60)
def test_any_text_is_an_invitation_or_an_error_in_words(text: str) -> None:
    with pytest.raises(InvitationError):
        Invitation.parse(text)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "..", " ", "\x00", "nowhere.invalid"])
def test_a_host_that_nobody_knows_is_an_error_that_says_what_to_do(host: str) -> None:
    with pytest.raises(JoinError, match=r"knows no host(.|\n)*team names NAME"):
        join(Invitation(host, 1, bytes(20), bytes(16), bytes(16)), ann(), lambda _: None)


@given(
    st.sampled_from(Joins), st.binary(max_size=99), st.binary(max_size=99), st.text(max_size=70),
    st.binary(max_size=40),
)  # fmt: skip
@examples(60)
def test_whatever_is_sent_without_the_secret_takes_nothing(
    joins: Joins, key: bytes, closing: bytes, name: str, shown: bytes
) -> None:
    async def attempt() -> None:
        host = Host()
        port = JoinPort(host.inviting(), b"k" * 32, b"p" * 20)
        sent = pb.BeginJoinRequest(
            joins=int(joins), key=key, closing_key=closing, name=name, proof=shown
        )
        refused = port._taken(sent)
        assert refused
        assert refused[0] is grpc.StatusCode.PERMISSION_DENIED
        assert host.shown == host.granted == []
        port.stop()

    asyncio.run(attempt())
