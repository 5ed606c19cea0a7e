"""An identity provider of other people's make on the loopback, and a person with a browser there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

from crabhook.model.actor import Role
from crabhook.team.identity import OidcPolicy
from tests.support.requirements import insist_on_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = Path(__file__).resolve().parents[1] / "provider"
ROLES = (("eng", Role.DECIDER), ("ops", Role.ADMIN), ("all", Role.VIEWER))


def policy_of(issuer: str, **changes: Any) -> OidcPolicy:
    """The team's settings for a provider of the tests."""
    groups = changes.pop("groups", (("ops", "leads"),))
    return OidcPolicy(issuer, "crabhook", "crabhook", "groups", ROLES, groups, **changes)


def insist() -> None:
    """Skip the test where node or the provider is missing; fail it in CI."""
    insist_on_packages(FOLDER, "the identity provider")


class IdentityProvider:
    """The provider as a process; `issuer` is where it is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.issuer = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def knows(self, accounts: Mapping[str, Mapping[str, Any]]) -> None:
        """Have these accounts from now on, each with its claims; others are disabled."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(accounts)}\n")
        self._process.stdin.flush()
        assert self._line() == "told"

    def stop(self) -> None:
        """Have the provider unreachable."""
        self._process.kill()
        self._process.wait()


@contextmanager
def provider_of(
    accounts: Mapping[str, Mapping[str, Any]], **config: Any
) -> Iterator[IdentityProvider]:
    """Run a provider; `config` is what provider.mjs reads."""
    insist()
    process = subprocess.Popen(
        ["node", str(FOLDER / "provider.mjs"), json.dumps({"accounts": accounts, **config})],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    with process:
        try:
            yield IdentityProvider(process)
        finally:
            process.kill()


_FORM = re.compile(r'<form[^>]*\baction="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
_HIDDEN = re.compile(r'<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"')


class Person:
    """A person's browser: it follows the provider's own pages, as `name` with a password."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._browser: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))

    def signs_in(self, page: str, code: str) -> str:
        """Enter the code, sign in and agree; return the last page."""
        return self._through(page, code, agrees=True)

    def refuses(self, page: str, code: str) -> str:
        """Enter the code and say no on the page that follows."""
        return self._through(page, code, agrees=False)

    def _through(self, page: str, code: str, *, agrees: bool) -> str:
        where, text = self._get(page)
        where, text = self._post(where, text, user_code=code)
        if not agrees:
            return self._post(where, text, abort="yes")[1]
        where, text = self._post(where, text)
        where, text = self._post(where, text, login=self._name, password="any")
        return self._post(where, text)[1]

    def _get(self, where: str, data: bytes | None = None) -> tuple[str, str]:
        with self._browser.open(where, data, timeout=60) as answer:
            return answer.url, answer.read().decode()

    def _post(self, where: str, text: str, **fields: str) -> tuple[str, str]:
        form = _FORM.search(text)
        assert form is not None, text
        hidden = {unescape(name): unescape(value) for name, value in _HIDDEN.findall(form[2])}
        return self._get(urljoin(where, unescape(form[1])), urlencode(hidden | fields).encode())
