"""What a ruling needs to know besides the event: handed in, since the policy looks nothing up."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from crabhook.policy.holding import Look, not_looked


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where and when a call is judged.

    `project`: the agent's project folder, absolute; empty where it has none, as
    in the home folder: then every file is outside of it.  `home`: the home folder
    of the agent's user.  `now`: an aware datetime, for rules that expire.
    `real`: an absolute path with its symbolic links followed; where a part
    does not exist, that part as it is (like `os.path.realpath`).  `below`:
    what a folder holds of the files that are wanted; unless somebody looks,
    nobody knows, and a search of it is asked about.
    """

    project: str
    home: str
    now: datetime
    real: Callable[[str], str]
    below: Look = not_looked
