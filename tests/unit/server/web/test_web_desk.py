"""A page of the web desk does what its person may do, and no other page does anything."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from crabhook.model.ballot import Terms
from crabhook.model.card import State
from crabhook.model.decision import Verdict
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.web.guard import HEADERS
from crabhook.server.web.held import AT_ONCE
from crabhook.server.web.listener import TRIES
from tests.support.sitting import call
from tests.support.web_page import Answered, Told, WebPage, until
from tests.unit.server.web.standing import HOST, Standing, standing


def verdict_of(desk: Standing, number: int = 1) -> Verdict | None:
    card = desk.server.card(number)
    assert card is not None
    return card.decision.verdict if card.decision else None


async def opened(desk: Standing, who: str = "dee") -> WebPage:
    """A page whose stream has said who is there."""
    page = await desk.signed_in(who)
    async with page.stream() as events:
        await until(events, "all")
    return page


async def test_every_answer_has_the_strict_headers() -> None:
    async with standing() as desk:
        page = await opened(desk)
        for method, path in (
            ("GET", "/"),
            ("GET", "/enrol"),
            ("GET", "/desk.js"),
            ("GET", "/nothing"),
            ("GET", f"/card?page={page.name}&card=1"),
            ("POST", "/do"),
        ):
            answer = await page.ask(method, path)
            assert {name: answer.headers.get(name) for name in HEADERS} == dict(HEADERS), path
            assert "aiohttp" not in answer.headers["Server"]


HOSTS = {
    "its own name": (f"{HOST}:PORT", 200),
    "localhost": ("localhost:PORT", 200),
    "its number": ("127.0.0.1:PORT", 200),
    "a name of the settings": ("desk.example", 200),
    "a name that leads here by a trick": ("evil.example:PORT", 421),
    "a longer name": (f"{HOST}.evil.example:PORT", 421),
    "a port that is not ours": ("localhost:1", 421),
    "none": ("", 421),
}


@pytest.mark.parametrize(("host", "status"), HOSTS.values(), ids=HOSTS)
async def test_a_request_names_this_server_or_is_misdirected(host: str, status: int) -> None:
    async with standing("desk.example") as desk:
        named = host.replace("PORT", str(desk.port))
        assert (await desk.page().ask("GET", "/", Host=named)).status == status


ORIGINS = {
    "another site's": {"Origin": "https://evil.example"},
    "another port's": {"Origin": f"http://{HOST}:1"},
    "a frame's without an origin": {"Origin": "null"},
    "a same-site server's": {"Sec-Fetch-Site": "same-site"},
    "a cross-site page's": {"Sec-Fetch-Site": "cross-site"},
}


@pytest.mark.parametrize("headers", ORIGINS.values(), ids=ORIGINS)
async def test_another_page_may_post_nothing(headers: dict[str, str]) -> None:
    async with standing() as desk:
        page = await opened(desk)
        for path in (
            "/do",
            "/uncover",
            "/outcome",
            "/take-back",
            "/ask",
            "/beat",
            "/challenge",
            "/session",
        ):
            assert (await page.ask("POST", path, {}, **headers)).status == 403, path
        assert (await page.ask("DELETE", "/session", **headers)).status == 403
        posted = {"page": page.name, "call": json.dumps(desk.told(act="deny", id="x"))}
        assert (await page.ask("POST", "/do", posted, **headers)).status == 403
        assert verdict_of(desk) is None
    assert desk.notices == ["another web page's request to the web desk was turned away"]


async def test_another_page_loads_nothing_from_here_but_follows_a_link() -> None:
    async with standing() as desk:
        page = await opened(desk)
        loads = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
        for path in ("/", "/desk.js", f"/news?page={page.name}", "/session"):
            assert (await page.ask("GET", path, **loads)).status == 403, path
        link = {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        assert (await page.ask("GET", "/", **link)).status == 200
        framed = link | {"Sec-Fetch-Dest": "iframe"}
        assert (await page.ask("GET", "/", **framed)).status == 403


async def test_nothing_is_told_without_a_session() -> None:
    async with standing() as desk:
        page = desk.page()
        for method, path in (
            ("GET", f"/news?page={page.name}"),
            ("GET", f"/card?page={page.name}&card=1"),
            ("POST", "/do"),
            ("POST", "/ask"),
            ("POST", "/beat"),
            ("GET", "/session"),
        ):
            answer = await page.ask(method, path, {} if method == "POST" else None)
            assert (answer.status, "sign in" in answer.why) == (401, True), path
        page.cookie = "__Host-crabhook=" + "A" * 43
        assert (await page.ask("GET", "/session")).status == 401


async def test_a_person_signs_in_by_a_passkey_and_out_again() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        assert "=" in page.cookie
        assert (await page.ask("GET", "/session")).status == 200
        left = page.cookie
        assert (await page.ask("DELETE", "/session")).status == 200
        page.cookie = left
        assert (await page.ask("GET", "/session")).status == 401


async def test_the_cookie_is_of_this_host_alone_and_no_script_reads_it() -> None:
    async with standing() as desk:
        answer = await desk.page().sign_in()
        flags = set(answer.headers["Set-Cookie"].split("; ")[1:])
    assert {"Path=/", "Secure", "HttpOnly", "SameSite=Strict"} <= flags


async def test_a_challenge_is_answered_once_and_only_ours_counts() -> None:
    async with standing() as desk:
        page = desk.page()
        challenge = (await page.ask("POST", "/challenge", {})).value["challenge"]
        from crabhook.team.passkeys import from_text, to_text

        assertion = page.key.sign(from_text(challenge)).json
        answered = {"challenge": challenge, "assertion": assertion}
        assert (await page.ask("POST", "/session", answered)).status == 200
        assert (await page.ask("POST", "/session", answered)).status == 403
        own = to_text(b"c" * 32)
        forged = {"challenge": own, "assertion": page.key.sign(b"c" * 32).json}
        assert (await page.ask("POST", "/session", forged)).status == 403


async def test_a_stranger_and_a_revoked_passkey_do_not_sign_in() -> None:
    async with standing() as desk:
        page = desk.page()
        desk.house.team = replace(desk.house.team, members=desk.house.team.members[:1])
        answer = await page.sign_in()
        assert answer.status == 403
        assert "of nobody in the team" in answer.why


async def test_tries_to_sign_in_are_bounded() -> None:
    async with standing() as desk:
        page = desk.page()
        statuses = [(await page.ask("POST", "/challenge", {})).status for _ in range(TRIES + 1)]
    assert statuses == [200] * TRIES + [429]


async def test_a_page_is_told_what_waits_and_every_change() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        async with page.stream() as events:
            everything = await until(events, "all")
            assert everything.value["put"] == [["row-1", "waits"]]
            desk.server.ask(call(2, cwd="/shop"))
            assert await rows(events, "row-2") == ["waiting"]


async def rows(events: object, row: str, most: int = 1) -> list[str]:
    """The next states of a row."""
    states: list[str] = []
    while len(states) < most:
        told: Told = await until(events, "some")  # type: ignore[arg-type]
        states += [html for name, html in told.value["put"] if name == row]
    return states


async def test_a_stream_that_was_cut_goes_on_without_a_gap_or_a_double() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        async with page.stream() as events:
            await until(events, "all")
        seen: list[str] = []
        for number in range(2, 22):
            desk.server.ask(call(number, cwd="/shop"))
            async with page.stream() as events:
                hello = await until(events, "hello")
                assert hello.value["resumed"]
                told = await until(events, "some")
                seen += [name for name, _ in told.value["put"]]
        # What the server had sent and the page had not got comes again, and nothing comes twice.
        assert seen == [f"row-{number}" for number in range(2, 22)]


async def test_events_that_a_page_did_not_get_are_sent_again() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        async with page.stream() as events:
            await until(events, "all")
            place = page.last
            for number in range(2, 7):
                desk.server.ask(call(number, cwd="/shop"))
            await rows(events, "row-6")
        page.last = place
        async with page.stream() as events:
            numbers = [
                name
                for told in [await until(events, "some") for _ in range(5)]
                for name, _ in told.value["put"]
            ]
        assert numbers == [f"row-{number}" for number in range(2, 7)]


async def test_a_page_whose_place_is_not_known_gets_everything() -> None:
    async with standing() as desk:
        page = await opened(desk)
        page.last = "00:1:00"
        async with page.stream() as events:
            assert (await until(events, "all")).value["put"] == [["row-1", "waits"]]


async def test_a_bare_denial_needs_no_finger_and_an_allow_does() -> None:
    async with standing() as desk:
        page = await opened(desk)
        answer = await page.call(desk.told())
        assert (answer.status, answer.value["needs"]) == (401, "assertion")
        assert verdict_of(desk) is None
        assert (await page.call(desk.told(), sign=True)).value == {"done": True}
        assert verdict_of(desk) is Verdict.ALLOW
        desk.server.ask(call(2, cwd="/shop"))
        assert (await page.call(desk.told(2, "deny"))).value == {"done": True}
        assert verdict_of(desk, 2) is Verdict.DENY


async def test_a_yes_that_needs_others_too_is_counted_and_not_called_a_decision() -> None:
    two = Ruling(RuleVerdict.ASK_OPERATOR, None, "two of us", terms=(Terms(need=2),))
    async with standing() as desk:
        ann, dee = await opened(desk, "ann"), await opened(desk)
        desk.server.read.judge = lambda _: two
        desk.server.ask(call(2, cwd="/shop"))
        first = (await ann.call(desk.told(2), sign=True)).value
        assert first == {"done": True, "still_needs": "1 of 2 said yes: ann. It waits for dee."}
        assert verdict_of(desk, 2) is None
        assert (await dee.call(desk.told(2), sign=True)).value == {"done": True}
        assert verdict_of(desk, 2) is Verdict.ALLOW


async def test_an_assertion_counts_for_the_bytes_that_it_signed() -> None:
    async with standing() as desk:
        page = await opened(desk)
        desk.server.ask(call(2, cwd="/shop"))
        text = json.dumps({"id": "x", "at": page.hello["now"], **desk.told()})
        other = json.dumps({"id": "y", "at": page.hello["now"], **desk.told(2)})
        assertion = page.signed(text, page.hello["now"]).json
        posted = {"page": page.name, "call": other, "assertion": assertion}
        assert (await page.ask("POST", "/do", posted)).status == 403
        posted["call"] = text
        assert (await page.ask("POST", "/do", posted)).status == 200
        # Replayed, it only says again what became of it.
        assert (await page.ask("POST", "/do", posted)).value == {"done": True}
        assert (verdict_of(desk), verdict_of(desk, 2)) == (Verdict.ALLOW, None)


async def test_a_viewer_does_nothing() -> None:
    async with standing() as desk:
        page = await opened(desk, "vic")
        for act in ("allow", "deny"):
            answer = await page.call(desk.told(act=act), sign=True)
            assert (answer.status, "only a decider" in answer.why) == (403, True)


async def test_a_page_knows_the_role_of_who_sits_at_it() -> None:
    async with standing() as desk:
        page = await opened(desk, "vic")
        (known,) = desk.faces
        assert known.role() == "viewer"
        assert page.hello["role"] == "viewer"


async def test_a_late_call_says_who_decided() -> None:
    async with standing() as desk:
        ann, dee = await opened(desk, "ann"), await opened(desk)
        told = desk.told()
        assert (await ann.call(told, sign=True)).status == 200
        answer = await dee.call({**told, "act": "deny"})
        assert (answer.status, answer.value["late"], answer.value["by"]) == (409, True, "ann")


async def test_a_card_that_changed_is_shown_anew_and_not_decided() -> None:
    async with standing() as desk:
        page = await opened(desk)
        told = desk.told() | {"seen_sha256": "00" * 32}
        answer = await page.call(told, sign=True)
        assert (answer.status, answer.value["changed"]) == (409, True)
        assert answer.value["card"].startswith("1 ")
        assert verdict_of(desk) is None


async def held_at(desk: Standing) -> None:
    """Wait until an answer is held at the server, as other desks see it."""
    for _ in range(6000):
        if desk.server.runner.claims.published():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nothing is held")


async def test_a_held_answer_is_given_at_its_time_or_taken_back() -> None:
    async with standing() as desk:
        page = await opened(desk)
        call_ = asyncio.ensure_future(page.call(desk.told(id="held", hold=9), sign=True))
        await held_at(desk)
        taken = await page.ask("POST", "/take-back", {"id": "held"})
        assert taken.value == {"taken_back": True}
        assert (await call_).value == {"taken_back": True}
        assert verdict_of(desk) is None
        assert (await page.call(desk.told(hold=0.05), sign=True)).value == {"done": True}
        assert verdict_of(desk) is Verdict.ALLOW


async def test_a_held_answer_outlives_its_connection() -> None:
    async with standing() as desk:
        page = await opened(desk)
        text = json.dumps({"id": "x", "at": page.hello["now"], **desk.told(hold=0.5)})
        assertion = page.signed(text, page.hello["now"]).json
        posted = {"page": page.name, "call": text, "assertion": assertion}
        lost = asyncio.ensure_future(page.ask("POST", "/do", posted))
        await held_at(desk)
        lost.cancel()
        assert (await page.ask("POST", "/do", posted)).value == {"held": 0.5}
        assert (await page.outcome("x")).value == {"done": True}
        # The same call again is held by nobody: it says what became of it.
        assert (await page.ask("POST", "/do", posted)).status == 202
        assert (await page.outcome("x")).value == {"done": True}
        assert verdict_of(desk) is Verdict.ALLOW
        assert (await page.ask("POST", "/take-back", {"id": "x"})).status == 409


async def test_what_is_held_is_bounded_and_takes_no_place_of_a_connection() -> None:
    async with standing() as desk:
        page = await opened(desk)
        for number in range(2, AT_ONCE + 2):
            desk.server.ask(call(number, cwd="/shop"))
        at = page.hello["now"]

        async def denied(number: int) -> int:
            told = {"id": f"d{number}", "at": at, **desk.told(number, "deny", hold=9)}
            posted = {"page": page.name, "call": json.dumps(told)}
            return (await page.ask("POST", "/do", posted)).status

        statuses = [await denied(number) for number in range(1, AT_ONCE + 2)]
        assert statuses == [202] * AT_ONCE + [429]
        for number in range(1, AT_ONCE + 1):
            assert (await page.ask("POST", "/take-back", {"id": f"d{number}"})).status == 200
            assert (await page.outcome(f"d{number}")).value == {"taken_back": True}
        assert await denied(AT_ONCE + 1) == 202
        assert (await page.outcome("nothing")).status == 404


async def test_a_wrong_proof_is_told_before_anything_is_held() -> None:
    async with standing() as desk:
        page = await opened(desk)
        assert (await page.call(desk.told(hold=9))).status == 401
        assert not desk.server.runner.claims.published()


async def test_a_whole_card_comes_with_what_its_agent_said() -> None:
    async with standing() as desk:
        page = await opened(desk)
        answer = await page.ask("GET", f"/card?page={page.name}&card=1")
        card = desk.server.card(1)
        assert card is not None
        assert answer.value.split() == ["1", str(card.revision), desk.told()["seen_sha256"], "True"]
        assert (await page.ask("GET", f"/card?page={page.name}&card=9")).status == 410


async def test_secrets_are_shown_to_who_signs_for_them_and_once() -> None:
    async with standing() as desk:
        page = await opened(desk, "vic")

        async def asked(*, sign: bool, **other: object) -> Answered:
            told = {"id": "u", "act": "uncover", "card": 1, "at": page.hello["now"], **other}
            posted = {"page": page.name, "call": json.dumps(told)}
            if sign:
                posted["assertion"] = page.signed(posted["call"], page.hello["now"]).json
            return await page.ask("POST", "/uncover", posted)

        bare = await asked(sign=False)
        assert (bare.status, bare.value["needs"]) == (401, "assertion")
        shown = await asked(sign=True)
        assert (shown.status, "and a secret" in shown.value) == (200, True)
        assert (await asked(sign=True)).status == 403  # the same again
        assert (await asked(sign=True, id="v", act="allow")).status == 400
        assert (await asked(sign=True, id="w", card=9)).status == 410
        of_another = {"id": "x", "act": "uncover", "card": 1, "at": page.hello["now"]}
        signed = page.signed(json.dumps({**of_another, "id": "y"}), page.hello["now"]).json
        posted = {"page": page.name, "call": json.dumps(of_another), "assertion": signed}
        assert (await page.ask("POST", "/uncover", posted)).status == 403
        # What a page gets without that has none.
        assert "secret" not in (await page.ask("GET", f"/card?page={page.name}&card=1")).value


async def test_what_a_page_asks_for_comes_as_what_it_changes_and_does_nothing() -> None:
    async with standing() as desk:
        page = await opened(desk)
        asked = {"page": page.name, "ask": "context", "card": 1}
        assert (await page.ask("POST", "/ask", asked)).value == {"put": []}
        (known,) = desk.faces
        assert known.around(1) is not None
        act = {"page": page.name, **desk.told(act="deny"), "id": "x"}
        assert (await page.ask("POST", "/ask", act)).status == 400
        unknown = {"page": page.name, "act": "nothing"}
        assert (await page.ask("POST", "/ask", unknown)).status == 422
        assert (await page.ask("POST", "/ask", {**asked, "card": 9})).status == 410
        assert verdict_of(desk) is None


async def test_a_revoked_passkey_ends_its_stream_within_a_second() -> None:
    async with standing() as desk:
        page = await desk.signed_in()
        async with page.stream() as events:
            await until(events, "all")
            dee = desk.house.team.members[1]
            gone = replace(dee, passkeys=(replace(dee.passkeys[0], revoked=1),))
            others = (desk.house.team.members[0], gone)
            desk.house.team = replace(desk.house.team, members=others)
            over = await asyncio.wait_for(until(events, "over"), 5)
            assert "was revoked" in over.value["why"]
        assert (await page.call(desk.told(act="deny"))).status == 403
        assert desk.server.card(1).state is State.WAITING  # type: ignore[union-attr]


BAD = {
    "no JSON": (b"{", 400),
    "a list": (b"[]", 400),
    "no page": (b'{"call":"{}"}', 400),
    "a page with another name": (b'{"page":"x","call":"{}"}', 400),
    "a call that is no text": (b'{"page":"0123456789abcdef","call":{}}', 400),
    "a call that is no JSON": (b'{"page":"0123456789abcdef","call":"{"}', 400),
    "an act that is none": (
        b'{"page":"0123456789abcdef","call":"{\\"act\\":\\"x\\",\\"at\\":1}"}',
        422,
    ),
    "a call at no time": (b'{"page":"0123456789abcdef","call":"{\\"act\\":\\"x\\"}"}', 400),
    "a card that is no number": (
        b'{"page":"0123456789abcdef","call":"{\\"card\\":true,\\"at\\":1}"}',
        400,
    ),
    "deeper than can be read": (b"[" * 100_000, 400),
}


@pytest.mark.parametrize(("body", "status"), BAD.values(), ids=BAD)
async def test_bad_input_gets_words(body: bytes, status: int) -> None:
    async with standing() as desk:
        page = await opened(desk)
        headers = {
            "Origin": desk.origin,
            "Cookie": page.cookie,
            "Content-Type": "application/json",
        }
        async with desk.http.post(f"{desk.origin}/do", data=body, headers=headers) as answer:
            assert (answer.status, bool((await answer.json())["why"])) == (status, True)


async def test_a_body_that_is_too_long_is_refused() -> None:
    async with standing() as desk:
        page = await opened(desk)
        assert (await page.ask("POST", "/beat", {"page": "x" * 100_000})).status == 413


async def test_a_report_of_the_policy_is_a_notice() -> None:
    async with standing() as desk:
        headers = {"Content-Type": "application/csp-report"}
        for _ in range(2):
            async with desk.http.post(f"{desk.origin}/csp", data=b"{}", headers=headers) as answer:
                assert answer.status == 204
        assert len(desk.notices) == 1


@pytest.mark.parametrize("packed", [True, False])
async def test_files_come_packed_to_who_can_unpack_them(packed: bool) -> None:
    async with standing() as desk:
        encoding = "gzip" if packed else "identity"
        answer = await desk.page().ask("GET", "/desk.js", **{"Accept-Encoding": encoding})
        assert (answer.value, "Content-Encoding" in answer.headers) == ("//" * 600, packed)
