"""Tries the way to phones, from a process beside the server, which hears the reports.

The two share the folder of the key and the subscriptions. Only the server writes there.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import time

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.server.push import message
from crabhook.server.push.delivery import Carrier, Fate, ServiceAnswer
from crabhook.server.push.endpoints import Services
from crabhook.server.push.phone_book import Subscription
from crabhook.server.push.push import addressee
from crabhook.server.push.subscriptions import Subscriptions, kept_in

LOOK_EVERY = 0.2  # seconds between two looks at what phones reported


@frozen
class PhoneTrial:
    """What became of a trial at one phone; `shown` if it reported that in time."""

    phone: Subscription
    service: str
    answer: ServiceAnswer
    shown: bool = False


async def tried(
    folder: Path, services: Services, phones: Iterable[Subscription], within: float
) -> list[PhoneTrial]:
    """Send a trial to each phone; wait so many seconds for their reports.

    Raises ServerKeyError, SubscriptionError.
    """
    kept, since = kept_in(folder, services), int(time())
    async with Carrier.opened() as carrier:
        sends = (_sent(kept, carrier, phone) for phone in phones)
        trials = list(await asyncio.gather(*sends))
    accepted = {trial.phone.id for trial in trials if trial.answer.fate is Fate.ACCEPTED}
    shown = await _shown(lambda: _reports(folder, services), accepted, since, within)
    return [
        PhoneTrial(each.phone, each.service, each.answer, each.phone.id in shown) for each in trials
    ]


async def _sent(kept: Subscriptions, carrier: Carrier, phone: Subscription) -> PhoneTrial:
    try:
        endpoint, key = kept.endpoint(phone), kept.key_of(phone)
        content = message.trial(addressee(key, phone, time()))
        shows = key.header(endpoint.origin, time())
        answer = await carrier.bring(content, endpoint, phone.keys, shows)
    except CrabhookError as error:
        return PhoneTrial(phone, "", ServiceAnswer(Fate.REFUSED, str(error)))
    return PhoneTrial(phone, endpoint.service, answer)


async def _shown(
    reports: Callable[[], Mapping[str, int]], wanted: set[str], since: int, within: float
) -> set[str]:
    """Return which of the phones reported something as shown, as soon as all did."""
    shown: set[str] = set()
    loop = asyncio.get_running_loop()
    until = loop.time() + within
    while shown != wanted and loop.time() < until:
        await asyncio.sleep(LOOK_EVERY)
        at = await asyncio.to_thread(reports)
        shown = {name for name in wanted if at.get(name, 0) >= since}
    return shown


def _reports(folder: Path, services: Services) -> Mapping[str, int]:
    return {phone.id: phone.shown for phone in kept_in(folder, services)}
