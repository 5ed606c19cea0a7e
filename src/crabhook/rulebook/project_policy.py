"""The rules of a project as they judge a call there; a fault in judging asks a person."""

import logging
from typing import TYPE_CHECKING

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.policy.context import Context
from crabhook.policy.rule import RuleVerdict, Ruling

if TYPE_CHECKING:
    from crabhook.policy.evaluate import Policy

_LOG = logging.getLogger(__name__)


@frozen
class ProjectPolicy:
    """The rules of a project, and what a ruling about calls there needs to know."""

    policy: "Policy"
    context: Context

    def ruling(self, event: Event) -> Ruling:
        """Return what the rules say of a call; a fault in judging is a question to a person."""
        try:
            return self.policy.examine(event, self.context)
        except Exception:  # noqa: BLE001 - as where calls are judged when they come
            _LOG.debug("the rules could not be asked about %s", event.name, exc_info=True)
            return Ruling(RuleVerdict.ASK_OPERATOR, None, "the rules could not be asked: a fault")
