"""What each agent reads, as tables: the linter's measure of right and wrong."""

from collections.abc import Mapping

from crabhook.platforms import HOOKED
from crabhook.platforms.event_table import Protocol


def protocols() -> Mapping[str, Protocol]:
    """Return what each agent reads, by its platform's name."""
    return {name: platform.protocol for name, platform in HOOKED.items()}
