"""A device joins by an invitation, and says where it may be called."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crabhook.server.push.endpoints import Services
from crabhook.server.web.listener import TRIES
from crabhook.team.passkeys import from_text, to_text
from crabhook.team.web_enrolling import CommandSide, shown_of
from tests.support.authenticator import Authenticator
from tests.support.push_service import push_service
from tests.unit.server.web.standing import HOST, Standing, standing

if TYPE_CHECKING:
    from crabhook.team.web_enrolling import Offered
    from tests.support.web_page import Answered, WebPage


def invited(desk: Standing) -> CommandSide:
    """Invite another device of dee's."""
    member = desk.house.team.members[1]
    return CommandSide(desk.folder, desk.house.team, member, desk.origin, time.time())


async def step(page: WebPage, name: str, side: CommandSide, **value: Any) -> Answered:
    shown = to_text(shown_of(side.link.partition("#")[2]))
    return await page.ask("POST", "/enrol", {"step": name, "shown": shown, **value})


async def offered(desk: Standing, page: WebPage, side: CommandSide) -> Offered:
    begun = await step(page, "begin", side)
    assert (begun.value["name"], begun.value["team"]) == ("dee", "ours")
    registration = page.key.register(from_text(begun.value["options"]["challenge"])).json
    answer = await step(page, "offer", side, registration=registration, device="Pixel 9")
    offer = side.look(time.time())
    assert offer is not None
    assert answer.value == {"words": offer.words}
    return offer


async def test_a_device_joins_once_an_admin_compared_its_words() -> None:
    async with standing() as desk:
        side, page = invited(desk), desk.page()
        page.key = Authenticator(rp=HOST, origin=desk.origin)
        offer = await offered(desk, page, side)
        assert (await step(page, "outcome", side)).value == {"device": None}
        assert (await page.sign_in()).status == 403
        passkey = side.passkey(offer, time.time(), agents_machine=False)
        ann, dee, vic = desk.house.team.members
        dee = replace(dee, passkeys=(*dee.passkeys, passkey))
        desk.house.team = replace(desk.house.team, members=(ann, dee, vic))
        side.admitted(passkey.name)
        assert (await step(page, "outcome", side)).value == {"device": "Pixel 9"}
        assert (await page.sign_in()).value == {"name": "dee"}


async def test_a_browser_on_the_servers_machine_is_one_where_agents_run() -> None:
    async with standing() as desk:
        side, page = invited(desk), desk.page()
        page.key = Authenticator(rp=HOST, origin=desk.origin)
        offer = await offered(desk, page, side)
        assert offer.here
        assert not side.passkey(offer, time.time(), agents_machine=False).counts


async def test_a_wrong_secret_joins_nobody_and_tries_are_bounded() -> None:
    async with standing() as desk:
        side, page = invited(desk), desk.page()
        wrong = {"step": "begin", "shown": to_text(b"x" * 32)}
        answers = [await page.ask("POST", "/enrol", wrong) for _ in range(TRIES + 1)]
        assert [answer.status for answer in answers] == [403] * TRIES + [429]
        assert side.refused()[0] > 0


async def test_an_invitation_that_is_over_says_so() -> None:
    async with standing() as desk:
        side, page = invited(desk), desk.page()
        side.ended("ann took it back")
        answer = await step(page, "begin", side)
        assert (answer.status, answer.why) == (410, "ann took it back")
        assert (await page.ask("POST", "/enrol", {"step": "x", "shown": ""})).status == 400


async def test_a_page_is_told_the_key_and_an_address_beyond_the_known_services_is_refused() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        answer = (await page.ask("GET", "/push")).value
        assert (answer["key"], answer["phones"]) == (desk.push.public_key, [])
        keys = {"p256dh": to_text(b"\x04" + b"1" * 64), "auth": to_text(b"2" * 16)}
        value = {"subscription": {"endpoint": "https://10.0.0.1/x", "keys": keys}}
        refused = await page.ask("POST", "/push", value)
        assert refused.status == 422
        assert refused.why
        assert (await page.ask("POST", "/push/test")).value == {"sent": []}
        assert (await page.ask("DELETE", "/push", {"endpoint": "https://x"})).status == 200


async def test_a_page_lists_its_persons_devices_by_name_with_when_they_were_last_there() -> None:
    async with standing() as desk, push_service() as service:
        desk.push._kept._services = Services([service.address])
        page, browser = await desk.signed_in(), service.browser()
        value = {"subscription": browser.subscription}
        assert (await page.ask("POST", "/push", value)).status == 200
        (phone,) = (await page.ask("GET", "/push")).value["phones"]
        assert (phone["device"], phone["here"], phone["seen"]) == ("dee", True, 0)
        beat = {"page": page.name, "visible": True, "number": 1}
        assert (await page.ask("POST", "/beat", beat)).status == 204
        (phone,) = (await page.ask("GET", "/push")).value["phones"]
        assert abs(phone["seen"] - time.time()) < 60
        assert browser.endpoint not in str(phone)
        assert (await (await desk.signed_in("ann")).ask("GET", "/push")).value["phones"] == []
        desk.push._kept.lose(phone["id"], time.time())
        answer = (await page.ask("GET", "/push")).value
        assert answer["phones"] == []
        assert [(gone["device"], gone["service"]) for gone in answer["gone"]] == [
            ("dee", service.address)
        ]


async def test_a_report_needs_a_token_of_ours() -> None:
    async with standing() as desk:
        page = desk.page()
        for value, status in (
            ({"what": "shown", "token": "x"}, 403),
            ({"what": "later", "token": ""}, 403),
            ({"what": "allow", "token": "x"}, 400),
            ({"what": "shown"}, 400),
        ):
            assert (await page.ask("POST", "/push/report", value)).status == status


async def test_a_page_that_is_looked_at_is_not_called() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        for number, visible in enumerate((True, False), 1):
            beat = {"page": page.name, "visible": visible, "number": number}
            assert (await page.ask("POST", "/beat", beat)).status == 204
            ((_, until),) = desk.push._pages.values()
            assert bool(until) is visible
        del beat["number"]
        assert (await page.ask("POST", "/beat", beat)).status == 400
