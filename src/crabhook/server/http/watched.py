"""What a machine that watches this one asks for: `GET /healthz` and `GET /metrics`."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import web

from crabhook.server.health import Health
from crabhook.server.http.routes import NAMED, Answer


@dataclass(frozen=True, slots=True)
class Page:
    """A text that is made anew for each who asks, and the type it has."""

    content: Callable[[], bytes]
    content_type: str


def healthz(health: Health) -> Answer:
    """Return what answers whether the server serves, to anybody: it tells nothing else."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        if health.serving:
            return web.Response(text="ok\n", headers=NAMED)
        unfit = HTTPStatus.SERVICE_UNAVAILABLE
        return web.Response(text=f"{health.reason}\n", status=unfit, headers=NAMED)

    return answer


def showing(page: Page) -> Answer:
    """Return what answers with a page."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = NAMED | {"Content-Type": page.content_type}
        return web.Response(body=page.content(), headers=headers)

    return answer
