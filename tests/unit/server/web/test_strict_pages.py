"""A page decides a card of a strict hook by a passkey's signature of the statement itself."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from crabhook.hook.statement import of_call, of_reply, statement, ticket_digest
from crabhook.model.statements import vote_of
from crabhook.team.decision_signatures import check_signature
from tests.support.desk import PLAYED_SECRET
from tests.support.sitting import call
from tests.unit.server.web.standing import standing
from tests.unit.server.web.test_web_desk import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.web_page import WebPage
    from tests.unit.server.web.standing import Standing

ASKED = call(session_id="strict")


@asynccontextmanager
async def strict() -> AsyncIterator[tuple[Standing, WebPage, str]]:
    """A web desk at which dee is, where a strict hook asks as #2."""
    async with standing() as desk:
        desk.house.team = replace(desk.house.team, id=sha256(b"ours").hexdigest())
        name = desk.server.ask(ASKED, strict=1)
        yield desk, await opened(desk), name


def assertions(page: WebPage, statements: list[bytes]) -> list[Any]:
    return [page.key.sign(sha256(text).digest()).json for text in statements]


async def test_a_passkey_signs_the_statement_and_the_hook_finds_it_true() -> None:
    async with strict() as (desk, page, name):
        posted, statements = await page.statements(desk.told(2))
        assert len(statements) == 1
        posted["assertions"] = assertions(page, statements)
        answer = await page.ask("POST", "/do", posted)
        assert (answer.status, answer.value) == (200, {"done": True}), answer.value
        reply = desk.server.replies[name]
        (made,) = reply.signed
        team = desk.house.team
        asked = of_call(
            team=bytes.fromhex(team.id),
            request_id=name,
            ticket=ticket_digest(PLAYED_SECRET),
            platform="claude",
            stance=1,
            payload=sha256(json.dumps(ASKED).encode()).digest(),
        )
        printed = of_reply(reply.stdout, reply.stderr.encode(), reply.exit_code)
        by_the_hook = replace(made, statement=statement(asked, printed, vote_of(made)))
        check_signature(by_the_hook, team, made.signed_at / 1000, {desk.origin})
        card = desk.server.card(2)
        assert card is not None
        assert card.decided is not None
        assert card.decided.by.shown == "passkey"  # type: ignore[union-attr]


async def test_nothing_else_that_a_page_posts_allows_a_strict_call() -> None:
    async with strict() as (desk, page, _):
        usual = await page.call(desk.told(2), sign=True)
        assert "signed replies alone" in usual.why
        assert (await page.call(desk.told(2))).status == 401
        posted, statements = await page.statements(desk.told(2))
        denial, to_deny = await page.statements(desk.told(2, act="deny"))
        (right,) = assertions(page, statements)
        other = desk.page("ann").key.sign(sha256(statements[0]).digest()).json
        for wrong, status in (
            ({"assertions": assertions(page, to_deny)}, 403),
            ({"assertions": [other]}, 403),
            ({"assertions": [right], "signed_at": posted["signed_at"] + 1}, 403),
            ({"assertions": [right], "signed_at": posted["signed_at"] - 700_000}, 403),
            ({"assertions": [right, right]}, 422),
            ({"assertions": []}, 400),
            ({"assertions": [right], "signed_at": "now"}, 400),
            ({"assertions": ["x"]}, 400),
        ):
            answer = await page.ask("POST", "/do", posted | wrong)
            assert answer.status == status, (wrong, answer.value)
        # A true signature of a statement that is too old.
        old = posted["signed_at"] - 700_000
        (late,) = assertions(page, [statements[0][:-8] + old.to_bytes(8, "big")])
        answer = await page.ask("POST", "/do", posted | {"signed_at": old, "assertions": [late]})
        assert (answer.status, "too long ago" in answer.why) == (403, True)
        # What was signed for one act is no signature for another.
        assert (await page.ask("POST", "/do", denial | {"assertions": [right]})).status == 403
        assert desk.server.card(2).decided is None  # type: ignore[union-attr]


async def test_a_bare_denial_of_the_cookie_passes_and_is_signed_by_nobody() -> None:
    async with strict() as (desk, page, name):
        answer = await page.call(desk.told(2, act="deny"))
        assert answer.status == 200, answer.value
        assert desk.server.replies[name].signed == ()
        ordinary, statements = await page.statements(desk.told(1))
        assert (statements, "call" in ordinary) == ([], True)
