"""How a hook reaches the server: by a process that the agent starts, or a request of its own."""

from enum import StrEnum


class Transport(StrEnum):
    """The ways there are; not every agent has every one."""

    COMMAND = "command"
    HTTP = "http"
