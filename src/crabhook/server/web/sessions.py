"""Who is signed in: in memory alone, so that a restart ends every session."""

import hmac
import secrets
from hashlib import sha256

from crabhook.datatypes import Bounded, frozen

KEPT_FOR = 12 * 3600.0  # seconds from signing in
IDLE_FOR = 30 * 60.0  # seconds without a request of the page
CHALLENGE_FOR = 120.0  # seconds to answer a challenge: somebody has to find the finger
_SESSIONS = 1024
_CHALLENGES = 4096  # that were answered, each once
_MAC = 16  # bytes


@frozen
class Session:
    """A device that signed in by a passkey: its person's id and the passkey's."""

    operator: str
    passkey: str
    began: float


class Sessions:
    """The sessions by their cookie, which is kept as a digest; times are monotonic seconds."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._of: Bounded[bytes, tuple[Session, float]] = Bounded(_SESSIONS)
        self._answered: Bounded[bytes, None] = Bounded(_CHALLENGES)

    def begin(self, operator: str, passkey: str, now: float) -> str:
        """Return the cookie of a new session."""
        cookie = secrets.token_urlsafe(32)
        self._of[_digest(cookie)] = Session(operator, passkey, now), now
        return cookie

    def of(self, cookie: str, now: float) -> Session | None:
        """Return the session of a cookie, which counts as used; None where it has ended."""
        digest = _digest(cookie)
        session, used = self._of.get(digest, (None, 0.0))
        if session is None or now - session.began > KEPT_FOR or now - used > IDLE_FOR:
            self._of.pop(digest, None)
            return None
        self._of[digest] = session, now
        return session

    def end(self, cookie: str) -> None:
        """End a session."""
        self._of.pop(_digest(cookie), None)

    def challenge(self, now: float) -> bytes:
        """Return a challenge to sign in with; nothing is kept of it, so nobody can fill memory."""
        made = round(now * 1000).to_bytes(8, "big") + secrets.token_bytes(8)
        return made + self._mac(made)

    def takes(self, challenge: bytes, now: float) -> bool:
        """Whether a challenge is ours, fresh, and answered for the first time."""
        made, mac = challenge[:-_MAC], challenge[-_MAC:]
        if len(challenge) != 16 + _MAC or not hmac.compare_digest(mac, self._mac(made)):
            return False
        fresh = 0 <= now - int.from_bytes(made[:8], "big") / 1000 <= CHALLENGE_FOR
        if not fresh or challenge in self._answered:
            return False
        self._answered[challenge] = None
        return True

    def _mac(self, made: bytes) -> bytes:
        return hmac.digest(self._key, made, "sha256")[:_MAC]


def _digest(cookie: str) -> bytes:
    return sha256(cookie.encode("utf-8", "replace")).digest()
