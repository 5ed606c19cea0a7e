"""What several commands are given: times as people write them, and the owner's rule files."""

import argparse
from datetime import UTC, datetime, timedelta

from crabhook.config import config_folder, state_folder
from crabhook.rulebook.files import RuleFiles
from crabhook.store.record import iso

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def when(text: str) -> str:
    """Return a past time as the record writes it; what has no zone is meant in this machine's."""
    if text[:-1].isdigit() and text[-1:] in _UNITS:
        return _ago(text)
    today = datetime.now().astimezone().date().isoformat()
    for written in (f"{today}T{text}", text):
        try:
            return iso(datetime.fromisoformat(written).timestamp())
        except ValueError:
            continue
    raise argparse.ArgumentTypeError(
        f"{text!r} is no time; write 2026-01-31, 2026-01-31T10:00, 10:00 or 2h"
    )


def _ago(text: str) -> str:
    try:
        ago = timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
        return iso((datetime.now(UTC) - ago).timestamp())
    except (OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is longer ago than there are years") from None


def moment(text: str) -> datetime:
    """Return the time at which a rule ends; what has no zone is meant in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date and time") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def rule_files() -> RuleFiles:
    """Return the files where people's settings are; crabhook's own places are protected."""
    return RuleFiles(config_folder(), (str(state_folder()),))


def count(text: str) -> int:
    """Return a number of things, 0 or more."""
    try:
        return max(0, int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
