"""The toy agent on the doctor's stage; its model has nothing to say."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from crabhook.platforms.staging import Answer, Body, Next, Stage


class _Played:
    """Toy Agent 1.0."""

    def prepare(self, stage: Stage, model: str) -> None:
        """Say where the model is."""
        stage.write(".toy/model", model)

    def environment(self, model: str) -> Mapping[str, str]:
        """Return where the model is."""
        return {"TOY_MODEL": model}

    def command(self, program: Path, prompt: str) -> Sequence[str]:
        """Return the command of a run."""
        return (str(program), prompt)

    def answer(self, _path: str, _body: Body, _say: Next) -> Answer | None:
        """Know no request."""
        return None


STAGE = _Played()
