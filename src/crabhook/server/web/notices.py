"""A page's requests about the notifications of its device, and a worker's reports of them."""

from hashlib import sha256
from http import HTTPStatus
from typing import Any

from aiohttp import web

from crabhook.model.errors import CrabhookError
from crabhook.server.http.middleware import TurnedAwayError
from crabhook.server.operators.refusals import StandsBy
from crabhook.server.push.phone_book import Subscription
from crabhook.server.push.push import PhonesElsewhereError, Push
from crabhook.server.web.routes import Pages, Visit, posted


class Notices:
    """Answers about notifications; `pages` makes the answers."""

    def __init__(self, push: Push, pages: Pages) -> None:
        self._push, self._pages = push, pages

    async def told(self, visit: Visit) -> web.StreamResponse:
        """Send the key to subscribe with, and the person's devices that are called."""
        person = visit.session.operator
        phones = [self._phone(phone, visit) for phone in self._push.phones(person)]
        gone = [
            {"device": self._push.device(lost), "service": lost.service, "at": lost.at}
            for lost in self._push.gone(person)
        ]
        shown = {"key": self._push.public_key, "phones": phones, "gone": gone}
        return self._pages.answer(HTTPStatus.OK, shown)

    async def subscribe(self, visit: Visit) -> web.StreamResponse:
        """Call this device from now on."""
        value, session = await posted(visit.request), visit.session
        page = visit.request.headers["Origin"]
        try:
            made = self._push.subscribe(
                session.operator, session.passkey, value.get("subscription"), page
            )
            await self._push.recorded()
        except CrabhookError as error:
            return self._not_done(error)
        return self._pages.answer(HTTPStatus.OK, {"phone": self._phone(made, visit)})

    async def forget(self, visit: Visit) -> web.StreamResponse:
        """Call this device no more."""
        value = await posted(visit.request)
        try:
            self._push.forget(visit.session.operator, str(value.get("endpoint", "")))
            await self._push.recorded()
        except CrabhookError as error:
            return self._not_done(error)
        return self._pages.answer(HTTPStatus.OK, {})

    def _not_done(self, error: CrabhookError) -> web.StreamResponse:
        """Answer that a change was not made, or is not surely known to all servers."""
        if isinstance(error, PhonesElsewhereError):
            return self._pages.refusal(StandsBy(str(error)))
        return self._pages.answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"why": str(error)})

    async def test(self, visit: Visit) -> web.StreamResponse:
        """Send a notification that only tries the way to the person's devices."""
        answers = await self._push.test(visit.session.operator)
        sent = [
            {**self._phone(phone, visit), "answer": answer.fate.value, "why": answer.why}
            for phone, answer in answers
        ]
        return self._pages.answer(HTTPStatus.OK, {"sent": sent})

    async def report(self, request: web.BaseRequest, _: frozenset[str]) -> web.StreamResponse:
        """Take a worker's report about a notification; its token shows which device it is of."""
        value = await posted(request)
        push = self._push
        reports = {"shown": push.reported, "closed": push.closed, "later": push.later}
        take, token = reports.get(str(value.get("what"))), value.get("token")
        if take is None or not isinstance(token, str):
            raise TurnedAwayError(HTTPStatus.BAD_REQUEST, "a report says what, and its token")
        if not take(token):
            raise TurnedAwayError(HTTPStatus.FORBIDDEN, "this token is of no device here")
        return self._pages.answer(HTTPStatus.OK, {})

    def _phone(self, phone: Subscription, visit: Visit) -> dict[str, Any]:
        """Return a phone as its person may see it: its address is a secret.

        By the `mark` a device knows itself: another server may have what this server has not.
        """
        return {
            "id": phone.id,
            "mark": sha256(phone.url.encode()).hexdigest()[:16],
            "device": self._push.device(phone),
            "here": phone.passkey == visit.session.passkey,
            "since": phone.since,
            "accepted": phone.accepted,
            "shown": phone.shown,
            "seen": phone.seen,
            "trouble": phone.trouble,
        }
