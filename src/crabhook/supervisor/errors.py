"""How a review can fail, each with what the agent's process is told and the code it ends with."""

from typing import ClassVar

from crabhook.model.errors import CrabhookError


class SupervisorError(CrabhookError):
    """There is no answer.  The line on standard error says why, the exit code what kind of why."""

    exit_code: ClassVar[int] = 1
    line: ClassVar[str] = "{}"

    def __str__(self) -> str:
        return self.line.format(super().__str__())


class HookInputError(SupervisorError):
    """Standard input is not what a hook is given."""

    exit_code = 2
    line = "failed to parse hook input: {}"


class NoSessionError(SupervisorError):
    """Nobody has said which session it is, so its iterations cannot be counted."""

    exit_code = 2


class ReviewerError(SupervisorError):
    """The reviewer gave no verdict, or none that can be read; the agent goes on by itself."""

    exit_code = 1
    line = "supervisor SDK failed: {}"


class OutOfTimeError(SupervisorError):
    """The time for all of it has passed; the agent goes on by itself."""

    exit_code = 124
    line = "hook execution timeout"

    def __init__(self) -> None:
        super().__init__("")
