"""What there is to ask for, by path and method; each route says whether it takes the token."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

from aiohttp import web

from crabhook.server.http.turned import TurnedAwayError

NAMED = {"Server": "crabhook"}
"""The header that says who answers, and not which library of which version."""

Answer: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Route:
    """What answers there, and whether only to those who show the token."""

    answer: Answer
    token: bool = True


Routes: TypeAlias = Mapping[str, Mapping[str, Route]]


def route_of(routes: Routes, request: web.BaseRequest) -> Route:
    """Return the route of a request; raises TurnedAwayError where there is none.

    The path is compared as it was sent: there is one way to write each.
    """
    methods = routes.get(request.raw_path)
    if methods is None:
        known = ", ".join(routes)
        raise TurnedAwayError(HTTPStatus.NOT_FOUND, f"there is nothing; known: {known}", ends=True)
    if request.method not in methods:
        allowed = ", ".join(methods)
        words = f"here one may {allowed} alone"
        raise TurnedAwayError(
            HTTPStatus.METHOD_NOT_ALLOWED, words, ends=True, headers={"Allow": allowed}
        )
    return methods[request.method]
