"""Whether a phone can use the page of the web desk: its name, TLS, certificate and way.

`look_at` collects what is seen from this machine; `judged` says what it means, and what to type.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.doctor.checks.untrusted import untrusted_case
from crabhook.doctor.finding import Finding, crabhook_command, make_finding
from crabhook.store.opening import Place, is_shared
from crabhook.team.certificates import DAY
from crabhook.team.folder import Folder
from crabhook.team.web_enrolling import is_name, is_this_machine

WITHIN = 5.0  # seconds
SOON = 14 * DAY  # certificates of ACME are renewed before
_OURS = "trusted-types crabhook"  # in the policy that every page of ours has
_LARGEST = 64 << 10  # bytes that are read of an answer
_NO_WAY = (502, 503, 504)  # a proxy's words for a server that it does not reach


@frozen
class PageFacts:
    """What is seen of a page from this machine.

    `addresses`: where its name leads. `untrusted`: why browsers refuse its certificate. If they
    take it, `issuer` and `ends` are there. `status`: the answer's, 0 without one, with `why`;
    `ours`: crabhook gave it.
    """

    url: str
    addresses: tuple[str, ...] = ()
    untrusted: str = ""
    issuer: str = ""
    ends: float = 0.0
    status: int = 0
    ours: bool = False
    why: str = ""


def examine_pages(pages: Sequence[str]) -> Iterator[Finding]:
    """Look at the pages of the server here; yield each finding as it is made."""
    if not pages:
        yield make_finding("page.served", "none", crabhook_command("up", "--web"))
    for url in pages:
        yield from judged(look_at(url), time.time())


def shared_phones(place: Place, team: Folder) -> Iterator[Finding]:
    """Whether the servers that share the record at `place` call the same phones."""
    if not is_shared(place):
        return
    if team.sealing_key.exists():
        yield make_finding("page.phones", "shared")
    else:
        yield make_finding("page.phones", "alone", crabhook_command("team", "pull"))


def judged(facts: PageFacts, now: float) -> Iterator[Finding]:
    """Say of a page what a phone would miss."""
    parts = urlsplit(facts.url)
    host = parts.hostname or ""
    here = is_this_machine(host)
    yield make_finding("page.served", "fine", url=facts.url)
    yield make_finding(
        "page.name",
        _case_of_name(host, facts),
        host=host,
        url=facts.url,
        at=", ".join(facts.addresses),
        port=parts.port or 443,
        ways=_ways(),
    )
    secure = "fine" if parts.scheme == "https" else "here" if here else "plain"
    yield make_finding("page.secure", secure, url=facts.url, ways=_ways())
    if parts.scheme == "https" and (facts.untrusted or facts.ends):
        yield _certificate(host, facts, now)
    if not facts.addresses:
        return  # there is nowhere to ask
    yield make_finding(
        "page.answers",
        _case_of_answer(facts),
        host=host,
        url=facts.url,
        why=facts.why,
        status=facts.status,
    )


def _case_of_name(host: str, facts: PageFacts) -> str:
    if is_this_machine(host):
        return "own"
    if not is_name(host):
        return "number"
    if not facts.addresses:
        return "unknown"
    return "loops" if all(map(is_this_machine, facts.addresses)) else "fine"


def _certificate(host: str, facts: PageFacts, now: float) -> Finding:
    day = time.strftime("%Y-%m-%d", time.gmtime(facts.ends))
    soon = "soon" if facts.ends - now < SOON else "fine"
    return make_finding(
        "page.certificate",
        facts.untrusted or soon,
        host=host,
        why=facts.why,
        issuer=facts.issuer,
        day=day,
        ways=_ways(),
    )


def _case_of_answer(facts: PageFacts) -> str:
    if facts.status == 0:
        return "unseen" if facts.untrusted else "silent"
    if facts.status == HTTPStatus.MISDIRECTED_REQUEST:
        return "other-name"
    if facts.ours:
        return "fine"
    return "proxy" if facts.status in _NO_WAY else "stranger"


@cache
def _ways() -> str:
    """Return what to type so that a phone gets a name and a certificate that it trusts."""
    return "\n".join(tables(__file__, "page_ways")["ways"])


# What is seen.


def look_at(url: str) -> PageFacts:
    """Go to a page as a browser does, as far as it gets."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    addresses = ("127.0.0.1",) if is_this_machine(host) else _addresses(host, parts)
    facts = PageFacts(url, addresses)
    if not addresses:
        return facts
    try:
        return _asked(facts, parts)
    except ssl.SSLCertVerificationError as error:
        case = untrusted_case(error)
        return replace(facts, untrusted=case, why=error.verify_message)
    except (OSError, http.client.HTTPException) as error:
        return replace(facts, why=getattr(error, "strerror", None) or str(error) or "it hung up")


def _addresses(host: str, parts: SplitResult) -> tuple[str, ...]:
    with suppress(OSError, UnicodeError, ValueError):
        there = socket.getaddrinfo(host, parts.port or 443, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(address[0]) for *_, address in there))
    return ()


def _asked(facts: PageFacts, parts: SplitResult) -> PageFacts:
    """Ask for the page; raises OSError or HTTPException."""
    secure = parts.scheme == "https"
    line = socket.create_connection(
        (facts.addresses[0], parts.port or (443 if secure else 80)), WITHIN
    )
    with line:
        connection = http.client.HTTPConnection(parts.hostname or "", timeout=WITHIN)
        connection.sock = line
        if secure:
            context = ssl.create_default_context()
            with context.wrap_socket(line, server_hostname=parts.hostname) as secured:
                connection.sock = secured
                return _answered(_certified(facts, secured), connection, parts)
        return _answered(facts, connection, parts)


def _answered(
    facts: PageFacts, connection: http.client.HTTPConnection, parts: SplitResult
) -> PageFacts:
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", parts.netloc)
    connection.endheaders()
    response = connection.getresponse()
    response.read(_LARGEST)
    ours = _OURS in (response.getheader("Content-Security-Policy") or "")
    return replace(facts, status=response.status, ours=ours)


def _certified(facts: PageFacts, secured: ssl.SSLSocket) -> PageFacts:
    """Note who signed the certificate that this machine trusts, and when it ends."""
    certificate: Any = secured.getpeercert()
    names = dict(pair for row in certificate.get("issuer", ()) for pair in row)
    issuer = names.get("organizationName") or names.get("commonName") or "somebody"
    ends = ssl.cert_time_to_seconds(certificate["notAfter"])
    return replace(facts, issuer=issuer, ends=ends)
