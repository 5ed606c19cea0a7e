"""What other pages on the same machine can do with the browser of a person who is signed in: nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from tests.support.web_house import HOST
from tests.support.web_page import WebPage, client

if TYPE_CHECKING:
    from playwright.async_api import Route

    from tests.browser.conftest import MakePhone
    from tests.support.browser import Phone
    from tests.support.web_house import WebHouse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

ELSEWHERE = ("http://evil.localhost:9", f"http://{HOST}:9")
"""Another site, and another port of the same name: what an agent's own server could be."""

READS = """
async ([desk, call]) => {
  const all = {};
  const headers = {"Content-Type": "text/plain"};
  const told = async (name, ask) => {
    all[name] = await ask().then((answer) => answer.text()).catch(() => "refused");
  };
  await told("read", () => fetch(desk + "/session", {credentials: "include"}));
  await told("blind", () =>
    fetch(desk + "/do", {method: "POST", mode: "no-cors", credentials: "include", headers, body: call}));
  await told("json", () =>
    fetch(desk + "/do", {method: "POST", credentials: "include",
      headers: {"Content-Type": "application/json"}, body: call}));
  const frame = document.createElement("iframe");
  frame.src = desk + "/";
  const loaded = new Promise((done) => { frame.onload = frame.onerror = done; });
  document.body.append(frame);
  await loaded;
  all.frames = frame.contentWindow.length;
  return all;
}
"""
FORM = """
([desk, call]) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "POST", action: desk + "/do", enctype: "text/plain", target: "_blank"});
  const field = document.createElement("input");
  [field.name, field.value] = [call.slice(0, -1) + ',"x":"', '"}'];
  form.append(field);
  document.body.append(form);
  form.submit();
}
"""


async def hostile(device: Phone, origin: str) -> Any:
    """Open a page of another origin in the same browser; return it, and the cookies that it gets."""
    got: list[str] = []

    async def serve(route: Route) -> None:
        got.append((await route.request.all_headers()).get("cookie", ""))
        await route.fulfill(content_type="text/html", body="<!doctype html><title>x</title><body>")

    page = await device.context.new_page()
    await page.route(f"{origin}/**", serve)
    await page.goto(f"{origin}/")
    return page, got


def denial(house: WebHouse, number: str) -> str:
    call = {"id": "0" * 32, "act": "deny", "card": int(number), "seen": 1, "seen_sha256": ""}
    return json.dumps({"page": "0" * 32, "call": json.dumps(call)})


@pytest.mark.parametrize("origin", ELSEWHERE)
async def test_a_page_of_another_origin_reads_nothing_and_gives_no_call(
    house: WebHouse, phone: MakePhone, origin: str
) -> None:
    device = await phone()
    hook = house.runs("npm test")
    number = await device.row("npm test").get_attribute("data-card")
    page, _ = await hostile(device, origin)
    answers: list[int] = []
    device.context.on(
        "response", lambda got: answers.append(got.status) if got.url.endswith("/do") else None
    )
    told = [house.origin, denial(house, str(number))]
    seen = await page.evaluate(READS, told)
    assert seen == {"read": "refused", "blind": "refused", "json": "refused", "frames": 0}
    async with device.context.expect_page() as sent:
        await page.evaluate(FORM, told)
    await (await sent.value).wait_for_load_state()
    assert answers
    assert set(answers) == {403}
    await expect(device.row("npm test")).to_be_visible()
    assert hook.poll() is None


@pytest.mark.parametrize("origin", ELSEWHERE)
async def test_a_window_that_another_page_opened_is_out_of_its_reach(
    phone: MakePhone, origin: str, house: WebHouse
) -> None:
    device = await phone()
    page, _ = await hostile(device, origin)
    async with device.context.expect_page() as opened:
        await page.evaluate("(desk) => { window.desk = window.open(desk + '/'); }", house.origin)
    await (await opened.value).wait_for_load_state()
    assert await page.evaluate("window.desk.closed")  # as if: another group of windows has it


async def test_the_cookie_that_another_port_gets_opens_nothing(
    house: WebHouse, phone: MakePhone
) -> None:
    device = await phone()
    hook, other = house.runs("npm test"), house.runs("npm run other")
    await device.row("npm run other").wait_for()
    sent = device.sends("/do")
    await device.tap(device.row("npm test"), "allow")
    assert hook.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
    await expect(device.row("npm test")).to_have_count(0)
    (posted,) = map(json.loads, sent)
    page, got = await hostile(device, ELSEWHERE[1])
    await page.reload()
    (stolen,) = {cookie for cookie in got if cookie}  # cookies know no ports
    async with client() as http:
        thief = WebPage(http, house.origin, house.key, cookie=stolen)
        assert (await thief.ask("GET", "/session")).status == 200  # it may look, and no more
        number = int(str(await device.row("npm run other").get_attribute("data-card")))
        sha = await device.row("npm run other").get_attribute("data-sha")
        call = json.loads(posted["call"]) | {"card": number, "seen_sha256": sha, "hold": 0}
        swapped = {"page": thief.name, "call": json.dumps(call)}
        bare = await thief.ask("POST", "/do", swapped)
        assert (bare.status, bare.value["needs"]) == (401, "assertion")
        answer = await thief.ask("POST", "/do", swapped | {"assertion": posted["assertion"]})
        assert answer.status == 403
        replayed = await thief.ask("POST", "/do", posted | {"page": thief.name})
        assert replayed.value == {"held": 2}  # it is held no more, and nothing comes anew
        done = await thief.outcome(json.loads(posted["call"])["id"])
        assert done.value == {"done": True}
    assert other.poll() is None
