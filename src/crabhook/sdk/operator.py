"""The operator, asked from inside a person's own hook, over the same wire as crabhook's hook."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crabhook.sdk.event import Answer

if TYPE_CHECKING:
    from crabhook.hook.client import HookRequest
    from crabhook.hook.wire import WireReply
    from crabhook.sdk.event import Event

DEFAULT_TIMEOUT = 3630.0  # seconds, as crabhook's own hook waits


def ask_operator(
    event: Event,
    *,
    address: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    token_file: str | None = None,
    tls_ca: str | None = None,
) -> Answer | None:
    """Ask the operator about this event; None means no opinion, and never an allow.

    The server gets the input byte for byte, so every hook of one call shares one card. The answer
    is the operator's decision: return it, or check its `verdict` first. None: no operator, no
    answer in time, an operator who passed, or an event that is not held; a line on standard error
    says which.

    `address` is `unix:PATH` or `HOST:PORT`, by default that of crabhook's own hook
    ($CRABHOOK_SERVER); `timeout` is in seconds. Only TCP needs `token_file` and `tls_ca`.
    """
    asked = ask(event, address=address, timeout=timeout, token_file=token_file, tls_ca=tls_ca)
    if asked is None:
        return None
    from crabhook.sdk import heard  # only where there was a reply

    answer = heard.answer(event, asked.reply)
    if answer is None:
        passed = asked.reply.confirm
        why = "the operator passed" if passed else "it is not held, or a rule passed it"
        sys.stderr.write(f"crabhook.sdk: no opinion on {event.name}: {why}\n")
        asked.confirm()  # that is all there is to give on
        return None
    own = _OperatorsAnswer(*answer)
    own.asked = asked
    return own


class Asked:
    """A reply of the server's, and the connection it came on."""

    def __init__(self, reply: WireReply, request: HookRequest) -> None:
        self.reply = reply
        self._request = request

    def __del__(self) -> None:
        self._request.close()  # a hook may drop an answer that it does not want

    def confirm(self) -> None:
        """Tell the server that the reply was given on."""
        if self.reply.confirm:
            self._request.confirm()
        self._request.close()


def ask(
    event: Event,
    *,
    address: str | None,
    timeout: float,
    token_file: str | None = None,
    tls_ca: str | None = None,
) -> Asked | None:
    """Ask, and return the reply as it came; None where there was none."""
    import posix  # with the client, which only hooks that ask need

    from crabhook.hook import Unanswered, read_options  # likewise
    from crabhook.hook.client import HookRequest  # likewise

    options = {
        "--server": address,
        "--wait": timeout,
        "--platform": event.platform.value,
        "--token-file": token_file,
        "--tls-ca": tls_ca,
    }
    arguments = [f"{name}={value}" for name, value in options.items() if value is not None]
    request = HookRequest(read_options(arguments, posix.environ))
    try:
        reply = request.ask(event.payload)
    except Unanswered as unanswered:
        sys.stderr.write(f"crabhook.sdk: nobody answered ({unanswered.kind}): {unanswered}\n")
        return None
    sys.stderr.write(reply.stderr.decode("utf-8", "replace"))
    return Asked(reply, request)


class _OperatorsAnswer(Answer):
    """The operator's own answer; printing it confirms it to the operator.

    A changed copy is not the operator's any more and confirms nothing.
    """

    asked: Asked | None = None

    def printed(self) -> None:
        """Tell the operator that the agent has it."""
        if self.asked is not None:
            self.asked.confirm()
