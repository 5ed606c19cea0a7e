"""What a hook says beside its input, in headers that whoever installed it wrote.

A slip in one is refused and not passed over: a hook that was meant to leave
the agent's dialog alone must not hold its calls.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from crabhook.model.request import Stance
from crabhook.platforms.claude.write import STANCE, WAIT
from crabhook.server.http.turned import TurnedAwayError

_OURS = "x-crabhook-"
_STANCES: Mapping[str, Stance] = {stance.value: stance for stance in Stance}


@dataclass(frozen=True, slots=True)
class Terms:
    """How the hook was installed, and how many seconds it waits, 0 where it does not say."""

    stance: Stance = Stance.GATE
    wait: float = 0.0


def terms(headers: Mapping[str, str]) -> Terms:
    """Return the terms in a request's headers; raises TurnedAwayError for what is none."""
    said: dict[str, Any] = {}
    for name, value in headers.items():  # one that is there twice comes twice
        if not name.lower().startswith(_OURS):
            continue
        if name.lower() not in _READ:
            raise _wrong(f"of the headers X-Crabhook-… there are {STANCE} and {WAIT}")
        field, read = _READ[name.lower()]
        if field in said:
            raise _wrong(f"{name} is there twice")
        said[field] = read(value)
    return Terms(**said)


def _stance(value: str) -> Stance:
    if value not in _STANCES:
        raise _wrong(f"{STANCE} is one of: {', '.join(_STANCES)}")
    return _STANCES[value]


def _seconds(value: str) -> float:
    if not re.fullmatch("[1-9][0-9]{0,7}", value):
        raise _wrong(f"{WAIT} is a whole number of seconds")
    return float(value)


_READ: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    STANCE.lower(): ("stance", _stance),
    WAIT.lower(): ("wait", _seconds),
}


def _wrong(what: str) -> TurnedAwayError:
    return TurnedAwayError(
        HTTPStatus.BAD_REQUEST, what, told="a request with terms that do not exist was turned away"
    )
