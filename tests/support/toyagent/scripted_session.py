"""The toy agent on the doctor's stage; its model has nothing to say."""

from crabhook.platforms.interface import ScriptedSession

SCRIPTED_SESSION = ScriptedSession(
    lambda _, model: {".toy/model": model}, (), lambda *_: None, {"TOY_MODEL": "{model}"}
)
