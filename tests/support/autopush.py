"""Mozilla's push service on loopback: the part that Firefox talks to, and the part that we post to."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.support.push_service import b64, fault_of, on_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Autopush:
    """A push service with one browser; `acknowledged` are the codes of its acknowledgements."""

    def __init__(self) -> None:
        self.origin = ""
        self.acknowledged: list[int] = []
        self.refused: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._channels: dict[str, str] = {}  # by the path of the endpoint
        self._browser: web.WebSocketResponse | None = None

    @property
    def address(self) -> str:
        """What the settings have to name."""
        return self.origin.removeprefix("http://")

    @property
    def settings(self) -> dict[str, object]:
        """Firefox's settings by which it uses this service, and shows notifications."""
        return {
            "dom.push.serverURL": f"ws://{self.address}/",
            "dom.push.testing.allowInsecureServerURL": True,
            "dom.push.connection.enabled": True,
            "permissions.default.desktop-notification": 1,
            # There is no desktop that would show them.
            "alerts.useSystemBackend": False,
        }

    async def browser(self, request: web.Request) -> web.WebSocketResponse:
        """Talk to the browser: it greets, registers, and acknowledges."""
        socket = self._browser = web.WebSocketResponse(protocols=("push-notification",))
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT and message.data != "{}":
                if answer := self._answer(json.loads(message.data)):
                    await socket.send_json(answer)
            else:
                await socket.send_str("{}")
        return socket

    def _answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        kind = message["messageType"]
        if kind == "hello":
            names = message.get("uaid") or token_hex(16)
            return {
                "messageType": kind,
                "status": 200,
                "uaid": names,
                "use_webpush": True,
                "broadcasts": {},
            }
        if kind == "register":
            path, channel = f"/wpush/v2/{token_hex(16)}", message["channelID"]
            self._channels[path] = channel
            endpoint = f"{self.origin}{path}"
            return {
                "messageType": kind,
                "status": 200,
                "channelID": channel,
                "pushEndpoint": endpoint,
            }
        if kind == "unregister":
            channel = message["channelID"]
            self._channels = {
                path: each for path, each in self._channels.items() if each != channel
            }
            return {"messageType": kind, "status": 200, "channelID": channel}
        if kind == "ack":
            self.acknowledged += [update["code"] for update in message["updates"]]
        return None

    async def take(self, request: web.Request) -> web.Response:
        """Take a message of our server, and bring it to the browser."""
        channel = self._channels.get(request.path)
        if channel is None:
            return web.Response(status=410)
        if why := fault_of(request.headers["Authorization"], self.origin):
            self.refused.append(why)
            return web.Response(status=403, text=why)
        assert self._browser is not None
        self.headers.append(dict(request.headers))
        notification = {
            "messageType": "notification",
            "channelID": channel,
            "version": token_hex(8),
            "data": b64(await request.read()),
            "headers": {"encoding": request.headers["Content-Encoding"]},
        }
        await self._browser.send_json(notification)
        return web.Response(status=201)


@asynccontextmanager
async def autopush() -> AsyncIterator[Autopush]:
    """Run the service on a free port of this machine."""
    service, app = Autopush(), web.Application()
    app.router.add_get("/", service.browser)
    app.router.add_post("/wpush/v2/{name}", service.take)
    async with on_loopback(app) as service.origin:
        yield service
