"""Which proxy the environment names for an address that this program asks by itself."""

from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for an address, if any.

    `HTTPS_PROXY` and `NO_PROXY` alone count: by TLS a proxy is a tunnel, which learns the service's
    name and nothing else. What has no TLS is a port of this machine.
    """
    proxy, parts = getproxies_environment().get("https"), urlsplit(url)
    host = parts.hostname
    if not proxy or parts.scheme != "https" or not host or proxy_bypass(host):
        return None
    return proxy
