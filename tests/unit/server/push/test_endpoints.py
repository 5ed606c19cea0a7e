"""Where messages may go: the services that are known, and nowhere into this network."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from crabhook.server.push.endpoints import LONGEST, EndpointError, Services
from tests.support.rows import every_row

SERVICES = Services(["127.0.0.1:8030", "[::1]:8030", "*.push.example.org", "one.example.net"])


@pytest.mark.parametrize(
    ("url", "origin", "service"),
    [
        ("https://fcm.googleapis.com/fcm/send/a:B_c-9", "https://fcm.googleapis.com", "Google"),
        (
            "https://updates.push.services.mozilla.com/wpush/v2/gAAA-_=",
            "https://updates.push.services.mozilla.com",
            "Mozilla",
        ),
        ("https://web.push.apple.com/QaBC", "https://web.push.apple.com", "Apple"),
        (
            "https://wns2-par02p.notify.windows.com/w/?token=BQ%2fx%3d",
            "https://wns2-par02p.notify.windows.com",
            "Microsoft",
        ),
        ("http://127.0.0.1:8030/x", "http://127.0.0.1:8030", "127.0.0.1:8030"),
        ("http://[::1]:8030/x", "http://[::1]:8030", "[::1]:8030"),
        ("https://a.b.push.example.org/x", "https://a.b.push.example.org", "*.push.example.org"),
        ("https://one.example.net/", "https://one.example.net", "one.example.net"),
    ],
)
def test_a_service_that_is_known_is_asked_at_its_origin(
    url: str, origin: str, service: str
) -> None:
    endpoint = SERVICES.endpoint(url)
    assert endpoint == (url, origin, service)
    assert str(URL(endpoint.url, encoded=True).origin()) == origin
    assert "x" not in repr(endpoint)[12:].replace(service, ""), "the address is a secret"


@every_row(
    "url",
    [
        # Not by TLS, another scheme, none.
        "http://fcm.googleapis.com/x",
        "ftp://fcm.googleapis.com/x",
        "file:///etc/passwd",
        "//fcm.googleapis.com/x",
        "fcm.googleapis.com/x",
        "HTTPS://fcm.googleapis.com/x",
        # Another host behind a user, a port, a letter that readers disagree about.
        "https://fcm.googleapis.com@127.0.0.1/x",
        "https://fcm.googleapis.com:x@127.0.0.1/x",
        "https://fcm.googleapis.com:443/x",
        "https://fcm.googleapis.com:8443/x",
        "https://fcm.googleapis.com:/x",
        "https://fcm.googleapis.com\\@127.0.0.1/x",
        "https://127.0.0.1\\.push.apple.com/x",
        "https://127.0.0.1#.push.apple.com/x",
        "https://127.0.0.1?.push.apple.com/x",
        "https://127.0.0.1/.push.apple.com/x",
        "https://fcm.googleapis.com%2f@127.0.0.1/x",
        "https://fcm.googleapis.com\t.example/x",
        " https://fcm.googleapis.com/x",
        "https://fcm.googleapis.com/x\r\nHost: localhost",
        "https://fcm.googleapis.com/x\n",
        "https://fcm.googleapis.com/a b",
        "https://fcm.googleapis.com/x#y",
        # A name like a known one.
        "https://fcm.googleapis.com./x",
        "https://fcm.googleapis.com.evil.example/x",
        "https://evilfcm.googleapis.com/x",
        "https://x.fcm.googleapis.com/x",
        "https://push.apple.com.evil.example/x",
        "https://evilpush.apple.com/x",
        "https://push.apple.com/x",
        "https://.push.apple.com/x",
        "https://a..push.apple.com/x",
        "https://FCM.googleapis.com/x",
        "https://fcm。googleapis.com/x",
        "https://fcm.googleap\u0131s.com/x",
        "https://xn--fcm-googleapis-com.example/x",
        "https://*.push.apple.com/x",
        "https://push.example.org/x",
        "https://x.one.example.net/x",
        # This machine and this network, in all their spellings.
        "https://127.0.0.1/x",
        "https://127.1/x",
        "https://2130706433/x",
        "https://0x7f000001/x",
        "https://0177.0.0.1/x",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://[fe80::1%25eth0]/x",
        "https://localhost/x",
        "http://localhost:8030/x",
        "http://127.0.0.1:8031/x",
        "http://127.0.0.1:08030/x",
        "http://127.0.0.1/x",
        "http://[::1]:80/x",
        "http://one.example.net:8030/x",
        # Nothing, too much.
        "",
        "https://",
        "https:///x",
        "https://fcm.googleapis.com",
        "https://fcm.googleapis.com/" + "x" * LONGEST,
    ],
)
def test_any_other_address_is_refused(url: str) -> None:
    with pytest.raises(EndpointError):
        SERVICES.endpoint(url)


@given(
    st.lists(
        st.sampled_from(
            [
                *("https:", "//", "/", "@", ":", "443", "\\", "#", "?", ".", "%40", "x", "[::1]"),
                *("fcm.googleapis.com", "127.0.0.1", "push.apple.com", "evil.example"),
            ]
        ),
        max_size=9,
    ).map("".join)
)
def test_no_mixture_leads_elsewhere(url: str) -> None:
    try:
        endpoint = SERVICES.endpoint(url)
    except EndpointError:
        return
    asked = URL(endpoint.url, encoded=True)
    assert asked.host == "fcm.googleapis.com" or str(asked.host).endswith(".push.apple.com")
    assert (asked.scheme, asked.port, asked.user) == ("https", 443, None)


def test_a_numbers_entry_in_the_settings_opens_no_number_beyond_this_machine() -> None:
    services = Services(["10.0.0.1", "*.0.0.1"])
    for host in ("10.0.0.1", "127.0.0.1", "1.0.0.1"):
        with pytest.raises(EndpointError):
            services.endpoint(f"https://{host}/x")
