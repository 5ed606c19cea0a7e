"""Serves AAP, the Agent Approval Protocol, under `/aap/v1/requests`: the door is the provider.

It speaks as the package agentapprovalprotocol 0.3.3 reads, errors too. Nothing here decides: a
request becomes a card, and only what `Approvals` holds as approved can be consumed.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from uuid import uuid4

from aiohttp import web

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import Value, compact
from crabhook.platforms.aap import submissions
from crabhook.server.core.runner import Runner
from crabhook.server.http.approvals import (
    PENDING,
    PLATFORM,
    Approval,
    ApprovalError,
    Approvals,
    not_here,
)
from crabhook.server.http.bodies import read
from crabhook.server.http.connections import SERVER, Connections, transport_of
from crabhook.server.http.middleware import TurnedAwayError, origin

PREFIX = "/aap/"
LARGEST = 1 << 20  # bytes of a request: an agent reads 8 MiB, and ours has up to six for one
LONGEST_POLL = 30  # seconds of one request for news; an agent asks again
LONGEST_KEY = 255  # letters of an idempotency key

_PATH = re.compile(
    "/aap/v1/requests(?:/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/(consume|outcome))?)?"
)
_WAIT = re.compile("wait=([0-9]{1,6})s")
_KEY = re.compile("[!-~]+")

_TYPES: Mapping[HTTPStatus, tuple[str, str]] = {
    HTTPStatus.BAD_REQUEST: ("invalid_request", "invalid_request"),
    HTTPStatus.UNAUTHORIZED: ("unauthorized", "invalid_token"),
    HTTPStatus.FORBIDDEN: ("forbidden", "forbidden"),
    HTTPStatus.NOT_FOUND: ("not_found", "not_found"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("invalid_request", "method_not_allowed"),
    HTTPStatus.REQUEST_TIMEOUT: ("invalid_request", "too_slow"),
    HTTPStatus.CONFLICT: ("conflict", "conflict"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("invalid_request", "too_large"),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: ("invalid_request", "not_json"),
    HTTPStatus.MISDIRECTED_REQUEST: ("invalid_request", "wrong_host"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", "too_many"),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("internal", "internal"),
    HTTPStatus.SERVICE_UNAVAILABLE: ("unavailable", "unavailable"),
}
"""The protocol's `type` of an error, and the `code` of those that have none of their own."""


def error_body(error: TurnedAwayError) -> bytes:
    """Return what is answered to a request that was turned away, as the protocol has errors."""
    kind, code = _TYPES[error.status]
    content: dict[str, Value] = {
        "type": kind,
        "code": error.code if isinstance(error, ApprovalError) else code,
        "message": f"crabhook: {error}",
        "request_id": str(uuid4()),
    }
    return compact({"error": content}).encode("ascii")


def _invalid(code: str, words: str) -> ApprovalError:
    return ApprovalError(HTTPStatus.BAD_REQUEST, code, words)


class AapRoute:
    """Answers all requests under PREFIX, whose connections `connections` watches.

    `complain` shows the operator a mistake of an agent's program.
    """

    def __init__(
        self,
        runner: Runner,
        wait: float,
        connections: Connections,
        complain: Callable[[str], None],
    ) -> None:
        self._wait, self._connections, self._complain = wait, connections, complain
        self.switch_to(runner)
        self._does: Mapping[tuple[str, bool, str], Callable[..., Awaitable[web.Response]]] = {
            ("POST", False, ""): self._create,
            ("GET", True, ""): self._look,
            ("DELETE", True, ""): self._cancel,
            ("POST", True, "consume"): self._consume,
            ("POST", True, "outcome"): self._report,
        }

    def switch_to(self, runner: Runner) -> None:
        """Keep approvals with this runner from now on."""
        self._runner = runner
        self._approvals = Approvals(runner, self._wait)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request; raises TurnedAwayError."""
        path = _PATH.fullmatch(request.raw_path.partition("?")[0])
        if path is None:
            words = "there is nothing. Requests for approval are at /aap/v1/requests"
            raise ApprovalError(HTTPStatus.NOT_FOUND, "not_found", words)
        request_id, act = path[1], path[2] or ""
        does = self._does.get((request.method, request_id is not None, act))
        if does is None:
            words = f"here one may not {request.method[:10]}"
            raise ApprovalError(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", words)
        if request_id is None:
            return await does(request)
        return await does(request, self._approvals.named(request_id, origin(request).machine))

    async def _create(self, request: web.BaseRequest) -> web.Response:
        key = _key_of(request)
        fields = await self._body(request, submissions.REQUEST)
        approval, is_new = await self._approvals.create(fields, key, origin(request))
        return self._told(approval, HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    async def _look(self, request: web.BaseRequest, approval: Approval) -> web.Response:
        """Answer with how it stands; the agent may wait for news a while."""
        query = request.raw_path.partition("?")[2]
        asked = _WAIT.fullmatch(query)
        if query and asked is None:
            raise _invalid("invalid_wait", "the query is wait=SECONDSs, such as wait=25s")
        with self._connections.waiting(transport_of(request)):
            await approval.news(min(int(asked[1]), LONGEST_POLL) if asked else 0)
        return self._told(approval)

    async def _cancel(self, _: web.BaseRequest, approval: Approval) -> web.Response:
        await self._approvals.cancel(approval)
        return self._told(approval)

    async def _consume(self, request: web.BaseRequest, approval: Approval) -> web.Response:
        await self._approvals.consume(approval, _key_of(request))
        return self._told(approval)

    async def _report(self, request: web.BaseRequest, approval: Approval) -> web.Response:
        outcome = await self._body(request, submissions.OUTCOME)
        await self._approvals.report(approval, outcome, origin(request))
        return self._told(approval)

    async def _body(self, request: web.BaseRequest, what: str) -> dict[str, Value]:
        body = await read(request, LARGEST, "a request for approval was not taken")
        try:
            return submissions.read(body, what)
        except PayloadError as error:
            self._runner.witness.unread(PLATFORM)
            self._complain(f"unreadable {what} of AAP, {len(body)} bytes: {error}")
            raise _invalid("invalid_request", str(error)) from error

    def _told(self, approval: Approval, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
        if approval.status == PENDING and approval.elsewhere:
            raise not_here()
        self._approvals.heard(approval)
        return web.Response(
            body=compact(approval.as_json()).encode("ascii"),
            status=status,
            content_type="application/json",
            headers=SERVER,
        )


def _key_of(request: web.BaseRequest) -> str:
    """Return the idempotency key; raises ApprovalError without a single usable one."""
    keys = request.headers.getall("Idempotency-Key", [])
    if len(keys) != 1:
        raise _invalid("missing_idempotency_key", "the header Idempotency-Key must be there, once")
    if len(keys[0]) > LONGEST_KEY or not _KEY.fullmatch(keys[0]):
        words = f"the header Idempotency-Key has at most {LONGEST_KEY} visible ASCII letters"
        raise _invalid("invalid_idempotency_key", words)
    return keys[0]
