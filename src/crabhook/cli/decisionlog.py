"""What is logged where nobody watches: each decision in a line, and what the house has to say.

A log is read by more people than a desk, so secrets are taken out of what a
call was for, as they are out of the record.
"""

import logging
import secrets

from crabhook.broker.card import Card
from crabhook.broker.desk import News
from crabhook.cli.logs import told
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.model.wording import who
from crabhook.server.runner import Runner
from crabhook.store.redact import Redactor
from crabhook.ui.cards.summary import summary

_LOG = logging.getLogger("crabhook.decisions")

SHORT = 160  # characters shown of what a call was for


def keep_log(runner: Runner) -> None:
    """Log every decision from now on, the desk's own news, and at debug what went by."""
    redactor = Redactor(secrets.token_bytes(16))

    def log(event: Event, decided: Decided) -> None:
        _LOG.info("decided", extra=_about(event, decided, redactor))

    runner.decided = log
    runner.subscribe(_log_news)


def _about(event: Event, decided: Decided, redactor: Redactor) -> dict[str, object]:
    decision = decided.decision
    subject = redactor.text(summary(event, spell=str))
    return told(
        verdict=decision.verdict.value,
        by=who(decided.by),
        event=event.name,
        tool=event.tool.name if event.tool else "",
        session=event.session,
        cwd=event.cwd,
        subject=subject if len(subject) <= SHORT else f"{subject[:SHORT]}…",
        reason=redactor.text(decision.reason),
    )


def _log_news(news: News) -> None:
    if isinstance(news, Card) or news.number is not None:
        return  # a card here is decided as soon as it has come
    event = news.event
    unread = event.name == "?"  # an input that nobody could read has no name
    if not event.platform or unread:
        _LOG.warning("%s", news.text)
    elif not news.text:
        _LOG.debug("observed", extra=told(event=event.name, session=event.session, cwd=event.cwd))
