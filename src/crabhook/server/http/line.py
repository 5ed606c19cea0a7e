"""What is answered to those who speak no HTTP: in our own words, and with none of theirs."""

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from crabhook.server.http.routes import NAMED

_WORDS = "crabhook: this is no HTTP, or its head is too long\n"


class Line(RequestHandler):
    """A connection's protocol, as the library has it but for these answers.

    Its own say which library this is, and of which version, and give back what came in.
    """

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002 - the library's signature
        message: str | None = None,  # noqa: ARG002 - likewise
    ) -> web.StreamResponse:
        """Return the answer to what could not be read; the connection ends with it."""
        if request.writer.output_size > 0:
            raise ConnectionAbortedError("an answer is under way, and there is no other")
        response = web.Response(status=status, text=_WORDS, headers=NAMED)
        response.force_close()
        return response
