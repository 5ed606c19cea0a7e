"""What every reviewer offers to the supervisor's process."""

from typing import Protocol

from crabhook.supervisor.deadline import Deadline
from crabhook.supervisor.review import Finding, Review


class Reviewer(Protocol):
    """Somebody who says whether an agent may stop, or ask."""

    def review(self, review: Review, deadline: Deadline) -> Finding:
        """Return what they find.

        Raises ReviewerError where there is no finding, OutOfTimeError where
        there is none by the deadline.
        """

    def told(self) -> None:
        """Hear that the agent has been told what was found."""
