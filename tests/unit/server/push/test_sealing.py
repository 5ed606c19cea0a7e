"""Messages sealed for one browser: by the RFC's own example, and by another reader."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.server.push.sealing import (
    LARGEST,
    BrowserKeys,
    Once,
    SealingError,
    from_base64url,
    sealed,
    to_base64url,
)
from tests.support.push_service import Browser

GOOD = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


def test_the_example_of_rfc_8291_comes_out_to_the_byte() -> None:
    """Its appendix A."""
    browser = BrowserKeys.parse(GOOD["p256dh"], GOOD["auth"])
    number = int.from_bytes(from_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")
    once = Once(
        ec.derive_private_key(number, ec.SECP256R1()), from_base64url("DGv6ra1nlYgDCS1FRnbzlw")
    )
    made = sealed(b"When I grow up, I want to be a watermelon", browser, once)
    assert to_base64url(made) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6T"
        "lzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4"
        "a-fN"
    )


@settings(max_examples=40)
@given(st.binary(max_size=LARGEST))
def test_what_is_sealed_is_opened_by_its_browser(message: bytes) -> None:
    browser = Browser("")
    made = sealed(message, BrowserKeys(browser.point, browser.secret))
    assert browser.opened(made) == message
    assert len(made) <= 4096


def test_nothing_random_is_used_twice() -> None:
    browser = Browser("")
    keys = BrowserKeys(browser.point, browser.secret)
    made = {sealed(b"x", keys)[:16] + sealed(b"x", keys)[21:86] for _ in range(8)}
    assert len(made) == 8


def test_a_message_that_no_service_takes_is_not_sealed() -> None:
    browser = Browser("")
    with pytest.raises(SealingError):
        sealed(bytes(LARGEST + 1), BrowserKeys(browser.point, browser.secret))


@pytest.mark.parametrize(
    ("point", "secret"),
    [
        (GOOD["p256dh"], GOOD["auth"][:-2]),
        (GOOD["p256dh"][:-2], GOOD["auth"]),
        (to_base64url(b"\4" + bytes(64)), GOOD["auth"]),
        (to_base64url(b"\2" + from_base64url(GOOD["p256dh"])[1:33]), GOOD["auth"]),
        ("ü" + GOOD["p256dh"][1:], GOOD["auth"]),
        (GOOD["p256dh"].replace(GOOD["p256dh"][3], "+", 1) + " ", GOOD["auth"]),
        ("", ""),
    ],
)
def test_keys_that_no_browser_makes_are_refused(point: str, secret: str) -> None:
    with pytest.raises(SealingError):
        BrowserKeys.parse(point, secret)


def test_keys_may_be_padded() -> None:
    padded = GOOD["p256dh"] + "=", GOOD["auth"] + "=="
    assert BrowserKeys.parse(*padded) == BrowserKeys.parse(GOOD["p256dh"], GOOD["auth"])
