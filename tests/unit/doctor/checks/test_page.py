"""What a phone would miss at the page of the web desk, and what a person types."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from crabhook.doctor.checks import page
from crabhook.doctor.checks.page import (
    PageFacts,
    examine_pages,
    judged,
    look_at,
    shared_phones,
)
from crabhook.doctor.finding import Finding, Status, exit_code, lines
from tests.support.team import founded
from tests.unit.server.web.standing import standing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_800_000_000.0
DAY = 86_400
FINE = PageFacts(
    "https://desk.example:7446",
    ("192.168.1.7",),
    issuer="Let's Encrypt",
    ends=NOW + 60 * DAY,
    status=200,
    ours=True,
)
HERE = PageFacts("http://crabhook.localhost:7446", ("127.0.0.1",), status=200, ours=True)


def of(facts: PageFacts) -> dict[str, Finding]:
    return {finding.id: finding for finding in judged(facts, NOW)}


def test_a_page_that_a_phone_can_use_has_nothing_to_mend() -> None:
    findings = of(FINE)
    assert [*findings] == [
        "page.served",
        "page.name",
        "page.secure",
        "page.certificate",
        "page.answers",
    ]
    assert {finding.status for finding in findings.values()} == {Status.OK}
    assert "until 2027-03-16" in findings["page.certificate"].what


@pytest.mark.parametrize(
    ("changes", "finding", "status"),
    [
        ({"url": "https://192.168.1.7:7446"}, "page.name", Status.FAULT),
        ({"url": "https://[fd00::7]:7446"}, "page.name", Status.FAULT),
        ({"addresses": ()}, "page.name", Status.FAULT),
        ({"addresses": ("127.0.1.1", "::1")}, "page.name", Status.WARNING),
        ({"url": "http://desk.example:7446"}, "page.secure", Status.FAULT),
        *(
            ({"untrusted": case, "why": "so", "status": 0}, "page.certificate", Status.FAULT)
            for case in ("stranger", "name", "late", "early", "unverified")
        ),
        ({"untrusted": "late", "status": 0}, "page.answers", Status.UNKNOWN),
        ({"ends": NOW + DAY}, "page.certificate", Status.WARNING),
        *(
            ({"status": status, "ours": False}, "page.answers", Status.FAULT)
            for status in (0, 200, 404, 421, 502, 503)
        ),
    ],
)
def test_what_is_missing_is_told_with_what_comes_of_it(
    changes: dict[str, object], finding: str, status: Status
) -> None:
    findings = of(replace(FINE, **changes))  # type: ignore[arg-type]
    assert findings[finding].status is status
    assert findings[finding].means or status is Status.UNKNOWN
    assert exit_code(findings.values()) in (0 if status is Status.WARNING else 1, 1)


def test_what_has_no_address_is_not_asked() -> None:
    assert "page.answers" not in of(replace(FINE, addresses=(), ends=0.0))


def test_the_page_of_this_machine_is_fine_for_its_own_browser_alone() -> None:
    findings = of(HERE)
    assert findings["page.name"].status is Status.WARNING
    assert findings["page.secure"].status is Status.OK
    assert "page.certificate" not in findings
    assert exit_code(findings.values()) == 0


@pytest.mark.parametrize("facts", [HERE, replace(FINE, untrusted="stranger", status=0)])
def test_what_to_type_is_told_a_way_a_line_and_no_command_is_cut(facts: PageFacts) -> None:
    advice = next(finding for finding in judged(facts, NOW) if "tailscale" in finding.advice)
    told = "\n".join(lines(advice, 60))
    for command in (
        "tailscale serve --bg 7446",
        "tailscale cert MACHINE.TAILNET.ts.net",
        "lego --dns PROVIDER --domains desk.example.org run",
        "reverse_proxy 127.0.0.1:7446 { flush_interval -1 }",
        "proxy_set_header Host $host; proxy_buffering off;",
        "mkcert -install && mkcert desk.home.arpa",
        "ssh -L 7446:127.0.0.1:7446 HOST",
    ):
        assert command in told
    assert told.count("note:") == 1


def test_a_name_that_the_page_does_not_answer_to_is_what_to_start_it_with() -> None:
    answers = of(replace(FINE, status=421, ours=False))["page.answers"]
    assert "--web-name desk.example" in answers.advice


def test_without_a_page_there_is_one_thing_to_do() -> None:
    (finding,) = examine_pages(())
    assert (finding.status, finding.mend.endswith(" up --web")) == (Status.FAULT, True)


def test_servers_of_a_record_share_phones_where_each_has_the_key_of_the_team(
    tmp_path: Path,
) -> None:
    folder, shared = founded(tmp_path / "team", NOW).folder, "postgresql://crabhook@db/crabhook"
    assert [each.status for each in shared_phones(shared, folder)] == [Status.OK]
    folder.sealing_key.unlink()
    (finding,) = shared_phones(shared, folder)
    assert (finding.status, finding.mend.endswith(" team pull")) == (Status.FAULT, True)
    assert [*shared_phones(tmp_path, folder)] == []


async def test_the_page_of_a_server_is_seen() -> None:
    async with standing() as desk:
        facts = await asyncio.to_thread(look_at, desk.origin)
        assert facts == PageFacts(desk.origin, ("127.0.0.1",), status=200, ours=True)
        findings = await asyncio.to_thread(lambda: [*examine_pages((desk.origin,))])
        assert findings[-1].status is Status.OK


@contextmanager
def answering(answer: bytes, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A program that answers every request at a port of this machine with the same bytes."""

    def serve() -> None:
        with listener:
            while True:
                try:
                    line, _ = listener.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(line, server_side=True) if context else line as taken:
                        taken.recv(4096)
                        taken.sendall(answer)
                except OSError:
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_another_program_and_one_that_hangs_up_are_told_apart() -> None:
    with answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") as port:
        facts = look_at(f"http://crabhook.localhost:{port}")
        assert (facts.status, facts.ours) == (502, False)
    with answering(b"") as port:
        facts = look_at(f"http://crabhook.localhost:{port}")
        assert facts.status == 0
        assert facts.why
    gone = look_at(f"http://crabhook.localhost:{port}")
    assert (gone.status, gone.why) == (0, "Connection refused")


def test_a_certificate_that_no_browser_knows_is_a_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = founded(tmp_path / "team", time.time())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(team.folder.server, team.folder.server_key)
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", context) as port:
        url = f"https://localhost:{port}"
        assert look_at(url).untrusted == "stranger"
        # A machine that has the CA sees what a phone with it would see.
        trusting = ssl.create_default_context(cafile=str(team.folder.authority))
        monkeypatch.setattr(page.ssl, "create_default_context", lambda: trusting)
        facts = look_at(url)
        assert (facts.untrusted, facts.status, facts.ours) == ("", 200, False)
        assert facts.ends > time.time()
        assert facts.issuer
        assert look_at(f"https://crabhook.localhost:{port}").untrusted == "name"


def test_a_name_that_nobody_knows_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(page.socket, "getaddrinfo", nobody)
    facts = look_at("https://desk.example")
    assert (facts.addresses, facts.status) == ((), 0)
