"""Why a file could not be looked at."""

from crabhook.lint.finding import START, Place
from crabhook.model.errors import CrabhookError


class CannotReadError(CrabhookError):
    """The file cannot be read at all, so nothing is known about it.  Written for a person."""


class CannotParseError(CrabhookError):
    """The file is not what its kind should be, so no agent can use it; `place` says where."""

    def __init__(self, message: str, place: Place = START) -> None:
        super().__init__(message)
        self.place = place
