"""What can be wrong with what we are given; every message is written to be shown to a person."""

from typing import ClassVar


class CrabhookError(Exception):
    """The root of every error crabhook raises on purpose; a command that it ends has its code."""

    exit_code: ClassVar[int] = 1


class PayloadError(CrabhookError):
    """A hook's input that cannot be read as its platform's protocol says."""


class QuestionError(CrabhookError):
    """A question, or an answer to one, that has not the shape it must have."""


class DecisionError(CrabhookError):
    """A decision that its event cannot carry, refused when it is made."""


class InstallError(CrabhookError):
    """Something prevents an installation; nothing was changed."""


class DocumentError(InstallError):
    """A settings file is not the JSON it should be; says where."""
