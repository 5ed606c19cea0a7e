"""The plan file of a session in plan mode, which its agent writes without asking.

An agent in plan mode keeps its plan in a file, and shows the plan to its user when it is done. To
ask about the file too would ask twice about one plan. So the call is passed: no opinion, never an
allow. The agent alone knows which file is its session's, and goes by its own rules. It asks its
user about any other file, and then that file is a protected place again.
"""

import re
from posixpath import basename, dirname

from crabhook.model.event import Event
from crabhook.policy.calls.parts import CallKind, FilePart, Part, Use, kind_of
from crabhook.policy.paths import Bases, expand_home, normal
from crabhook.vocabulary import plan_folder

ENTRY = "agent-instructions"
"""The protected entry that plan files lie in."""

WHY = "in plan mode the agent writes its plan file by its own rules, and the plan itself is asked"

# `curious-otter.md`, or `curious-otter-agent-a1b2.md`; of other names an agent may read something.
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+\.md", re.ASCII)


def is_plan_file(part: Part, event: Event, bases: Bases) -> bool:
    """Whether the part is a write of a plan file, by an agent's own tool and in plan mode.

    The file lies directly in the agent's folder of plans, and neither is a link; the agent's whole
    folder of settings may be one, as dotfiles are.
    """
    folder = plan_folder(event)
    if not (folder and bases.home and isinstance(part, FilePart) and event.tool):
        return False
    if kind_of(event.tool.name) is not CallKind.EDIT or part.use is not Use.WRITE or part.glob:
        return False
    if len(part.places) != 1:
        return False
    named = normal(expand_home(folder, bases.home))
    real = f"{normal(bases.real(dirname(named)))}/{basename(named)}"
    file = part.places[0]
    name = basename(file.named)
    is_there = dirname(file.named) in (named, real) and file.real == f"{real}/{name}"
    return is_there and _NAME.fullmatch(name) is not None
