"""Who may ask on the port: whoever can reach the Unix socket, and over TCP who shows the token."""

from typing import TYPE_CHECKING, Any, TypeAlias

from crabhook.server.token import shows

if TYPE_CHECKING:
    import grpc

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

NO_TOKEN = "no token, or a wrong one: give the server's token with --token-file"  # noqa: S105 - none


def admitted(context: Context, token: str | None) -> bool:
    """Whether the peer may ask."""
    if context.peer().startswith("unix:"):
        return True  # the socket's folder let nobody else in
    headers = dict(context.invocation_metadata() or ())
    shown = headers.get("authorization", "")
    return token is not None and isinstance(shown, str) and shows(token, shown)
