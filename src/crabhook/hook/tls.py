"""TLS for a connection to a server; imported for --tls-ca alone, since `ssl` is slow to import."""

import socket
import ssl

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from crabhook.hook import sockets

NO_TLS = "no TLS came about"
_NOT_NOW = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class _TlsSocket(ssl.SSLSocket):
    """A TLS socket that raises the same errors as a plain socket."""

    def send(self, data: "Buffer", flags: int = 0) -> int:
        try:
            return super().send(data, flags)
        except _NOT_NOW as error:
            raise BlockingIOError from error
        except ssl.SSLError as error:  # the peer closed, perhaps after an answer
            raise ConnectionError(error.strerror) from error

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except _NOT_NOW as error:
            raise BlockingIOError from error


def wrap(sock: "sockets.socket", host: str, tls_ca: str, *, seconds: float) -> ssl.SSLSocket:
    """Begin TLS on a connected socket; raise OSError unless a CA in `tls_ca` vouches for it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(tls_ca)
    except OSError as error:
        why = "holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConnectionError(f"the file of --tls-ca, {tls_ca!r}: {why}") from error
    context.set_alpn_protocols(["h2"])
    context.sslsocket_class = _TlsSocket
    bare = socket.socket(fileno=sock.detach())
    try:
        bare.settimeout(seconds)
        secured = context.wrap_socket(bare, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        bare.close()
        why = f"--tls-ca does not vouch for the server: {error.verify_message}"
        raise ConnectionError(why) from error
    except ssl.SSLError as error:
        bare.close()
        raise ConnectionError(f"{NO_TLS} ({error.reason})") from error
    except BaseException:
        bare.close()
        raise
    if secured.selected_alpn_protocol() != "h2":
        secured.close()
        raise ConnectionError("it speaks TLS, but not HTTP/2 inside it")
    return secured
