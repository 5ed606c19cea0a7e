"""The page for everybody: by axe, in every look and size, by keys alone; and no agent's text is HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from tests.support.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from playwright.async_api import Locator

    from tests.browser.conftest import MakePhone
    from tests.support.browser import Phone
    from tests.support.web_house import WebHouse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

PLAN = "# Plan\n\n1. Look at the shop\n2. Change the price"
EDIT = {
    "file_path": "/home/dev/a.py",
    "old_string": "a = 1\nb = 2\n",
    "new_string": "a = 1\nb = 3\n",
}
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "light": {"color_scheme": "light"},
    "forced colours": {"forced_colors": "active"},
    "no motion": {"reduced_motion": "reduce"},
}
HOSTILE = (
    "echo '</pre></code><script>alert(1)</script>'",
    "<img src=x onerror=alert(1)><svg onload=alert(1)>",
    '" autofocus onfocus=alert(1) x="',
    "echo \x1b]52;c;AAAA\x07 \u202e; ls\x00\n\x1b[2J",
    "echo \x1b[2J╭ #1 · Claude Code ╮ ▲▲ \u202e\n\nrm -rf ~",
    "javascript:alert(1)\u200b&lt;b&gt;",
)


async def shown(house: WebHouse, device: Phone) -> AsyncIterator[str]:
    """Show each view of the desk in turn, with something of each kind in it; yield its name."""
    ends = house.runs("npm run ends")
    await device.row("npm run ends").wait_for()
    ends.kill()
    house.runs("git push --force && npm test")
    house.asks("PreToolUse-AskUserQuestion")
    house.asks("PreToolUse-ExitPlanMode", tool_input={"plan": PLAN})
    house.asks("PreToolUse-Edit", tool_input=EDIT)
    await expect(device.at("#queue-list > li:not([data-is-gone])")).to_have_count(4)
    yield "queue"
    for words in ("Push", "Answer these 2 questions", "Start with this plan?", "a.py"):
        card = await device.card(words)
        await card.locator("details.others").evaluate("node => { node.open = true; }")
        yield words
    for view, list_ in {"sessions": "#session-list > li", "history": "#history-list > li"}.items():
        await device.page.evaluate(f"location.hash = '#{view}'")
        await device.at(list_).first.wait_for()
        yield view
    await device.page.evaluate("location.hash = '#you'")
    await expect(device.at("#you-are")).to_contain_text("ann")
    yield "you"
    await device.page.evaluate("location.hash = '#queue'")
    await device.page.route("**/news?*", lambda route: route.abort())
    await device.page.evaluate("dispatchEvent(new Event('pagehide'))")
    await expect(device.at("html")).to_have_class("unheard")
    yield "queue, not heard"


async def judged(device: Phone, where: str) -> list[str]:
    """Return what is wrong with a view: by axe, and where it is wider than the window."""
    wider = await device.sideways()
    return [f"{where}: {fault}" for fault in await device.judged()] + (
        [f"{where}: {wider} px wider than the window"] if wider else []
    )


async def enlarged(device: Phone) -> None:
    await device.page.evaluate("document.documentElement.style.fontSize = '200%'")


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("look", LOOKS)
async def test_every_view_is_without_fault_in_every_look(
    house: WebHouse, phone: MakePhone, look: str, size: Mapping[str, Any]
) -> None:
    device = await phone(**LOOKS[look], **size)
    faults = []
    async for view in shown(house, device):
        faults += await judged(device, view)
    assert faults == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_every_view_stands_a_text_of_twice_the_size(
    house: WebHouse, phone: MakePhone, size: Mapping[str, Any]
) -> None:
    device = await phone(**size)
    await enlarged(device)
    faults = []
    async for view in shown(house, device):
        faults += await judged(device, view)
    assert faults == []


@pytest.mark.parametrize("look", LOOKS)
async def test_what_a_stranger_sees_is_without_fault(
    house: WebHouse, phone: MakePhone, look: str
) -> None:
    device = await phone(signed_in=False, enrolled=False, **LOOKS[look])
    await device.open()
    await device.button("Sign in").wait_for()
    faults = await judged(device, "sign-in")
    await device.page.goto(house.invite().link)
    await device.button("Make a passkey").tap()
    await expect(device.at("#enrol-words li")).to_have_count(6)
    faults += await judged(device, "enrol")
    await enlarged(device)
    faults += await judged(device, "enrol, large")
    assert faults == []


async def test_keys_alone_lead_through_the_desk(house: WebHouse, phone: MakePhone) -> None:
    device = await phone(signed_in=False, **DESKTOP)
    keys = device.page.keyboard

    async def tab_to(place: Locator) -> None:
        """Go on by Tab until a place has the focus."""
        for _ in range(60):
            if await place.evaluate("node => node === document.activeElement"):
                return
            await keys.press("Tab")
        raise AssertionError("Tab does not lead there")

    await device.open()
    await tab_to(device.button("Sign in"))
    await keys.press("Enter")
    await device.is_live()
    hook, other = house.runs("npm test"), house.runs("git push --force")
    await device.row("npm test").wait_for()
    await device.row("git push --force").wait_for()
    await tab_to(device.row("npm test").locator("a.open"))
    await keys.press("Enter")
    allow = device.at("article").locator("button[data-act=allow]")
    await expect(allow).to_be_enabled()
    await tab_to(allow)
    await expect(allow).to_be_enabled()  # where going there moved it
    await keys.press("Enter")
    assert hook.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
    await tab_to(device.row("git push --force").locator("a.open"))
    await expect(device.row("git push --force").locator("[data-act=allow]")).to_be_enabled()
    await keys.press("a")
    yes = device.at("#second-yes")
    await expect(yes).to_be_enabled()
    await tab_to(yes)
    await keys.press("Enter")
    assert other.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"


DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
HIDDEN = """
() => {
  const node = document.activeElement;
  if (node === document.body) return ""; // past the last, before the first
  const box = node.getBoundingClientRect();
  const middle = box.left + box.width / 2;
  const bars = [...document.querySelectorAll(".top, .tabs, article :is(.first, .foot), .unread")];
  const over = (y) => {
    const hit = document.elementFromPoint(middle, y);
    return !hit || bars.some((bar) => bar.contains(hit) && !bar.contains(node));
  };
  const shown = Math.min(box.bottom - 2, box.top + innerHeight / 3);
  return over(box.top + 2) || over(shown) ? node.outerHTML.slice(0, 200) : "";
}
"""


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_what_a_key_leads_to_lies_under_no_bar(
    house: WebHouse, phone: MakePhone, size: Mapping[str, Any]
) -> None:
    device = await phone(**size)
    plan = "\n".join(f"{step}. Look at part {step}" for step in range(1, 40))
    house.asks("PreToolUse-ExitPlanMode", tool_input={"plan": plan})
    house.asks("PreToolUse-AskUserQuestion")
    house.runs("npm test")
    hidden = []
    for words in ("Start with this plan?", "Answer these 2 questions", "npm test"):
        card = await device.card(words)
        await card.locator("details.others").evaluate("node => { node.open = true; }")
        for key, times in {"Tab": 60, "Shift+Tab": 60}.items():
            for _ in range(times):
                await device.page.keyboard.press(key)
                await device.page.evaluate(DRAWN)
                if fault := await device.page.evaluate(HIDDEN):
                    hidden.append(f"{words}, {key}: {fault}")
    assert hidden == []


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_text_of_an_agent_becomes_an_element(
    house: WebHouse, phone: MakePhone, text: str
) -> None:
    device = await phone()
    opened: list[str] = []
    device.page.on("dialog", lambda dialog: opened.append(dialog.message))
    option = {"label": text, "description": text, "preview": text}
    question = {"question": text, "header": text, "options": [option, option], "multiSelect": False}
    house.runs(text, cwd=f"/home/{text.splitlines()[0]}".replace("\0", ""))
    house.asks("PreToolUse-AskUserQuestion", tool_input={"questions": [question]})
    house.asks("PreToolUse-ExitPlanMode", tool_input={"plan": text})
    house.asks("PreToolUse-mcp", tool_name=f"mcp__{text}__x", tool_input={text: text})
    rows = device.at("#queue-list > li")
    await expect(rows).to_have_count(4)
    for number in range(4):
        card = await rows.nth(number).get_attribute("data-card")
        await device.page.evaluate(f"location.hash = '#card-{card}'")
        await device.at(f"article#card-{card}").wait_for()
        made = "script:not([src]), img, svg, iframe, object, embed, b:not(.changed), [onerror], [onfocus]"
        await expect(device.at("body").locator(made)).to_have_count(0)
        words = await device.at("body").inner_text()
        assert not {"\x1b", "\x07", "\0", "\u202e", "\u200b"} & set(words)
    assert opened == []
