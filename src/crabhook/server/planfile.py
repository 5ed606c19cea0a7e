"""A plan that its event only names: Gemini CLI's exit_plan_mode says which file holds it.

The file lies where Gemini CLI keeps a session's plans, beside its transcripts:
…/tmp/PROJECT/chats/….jsonl and …/tmp/PROJECT/SESSION/plans/NAME.  Where its
user keeps plans elsewhere, the name is all there is to show.
"""

import os
import re
from pathlib import PurePosixPath

from crabhook.model.event import Event
from crabhook.ownfile import open_own
from crabhook.policy.paths import LONGEST_PATH

LONGEST = 64 * 1024  # bytes of a plan that are read; no person reads past them
_NAME = re.compile(r"\w[\w.-]{0,200}")
_SESSION = re.compile(r"[A-Za-z0-9-]{1,100}")


def plan_file(event: Event) -> str:
    """Return where the plan lies that the event asks about; empty where it names none."""
    given = event.tool.input if event.tool else None
    name = given.get("plan_filename") if isinstance(given, dict) else None
    said = event.text("transcript_path")
    transcript = PurePosixPath(said if len(said) <= LONGEST_PATH else "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return ""
    if transcript.parent.name != "chats" or not _SESSION.fullmatch(event.session):
        return ""
    return str(transcript.parent.parent / event.session / "plans" / name)


def read_plan(path: str) -> str:
    """Return the beginning of the plan at `path`; empty where nothing can be read.

    A folder on its way may be no link either, so that no name leads to
    another file than the one it says.  Whatever is wrong, nothing raises.
    """
    try:
        if os.path.realpath(path) != os.path.normpath(path):
            return ""
        with open_own(path) as (file, _):
            return file.read(LONGEST).decode("utf-8", "replace").strip()
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return ""
