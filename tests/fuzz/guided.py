"""One target under atheris, in a process of its own: `python -m tests.fuzz.guided TARGET SECONDS FOLDER`.

The folder holds `inputs`, which grow, and is given `crash`, the input that broke the law, if one
did. The last line of standard output is what came of it, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from random import Random

import atheris

BROKEN = 77
"""The exit code of a law that was broken."""


class Run:
    """Takes inputs until the time is over, and then ends the process."""

    def __init__(self, name: str, seconds: float, folder: Path) -> None:
        with atheris.instrument_imports(include=["crabhook"]):
            from tests.fuzz.target import load

            self._target = load(name)
        self._folder = folder
        self._tried = 0
        self._began = time.monotonic()
        self._until = self._began + seconds

    def take(self, data: bytes) -> None:
        """Hold the law to one input of the engine's."""
        self._tried += 1
        try:
            self._target.take(data)
        except BaseException:  # noqa: BLE001 - whatever it is, it is what we are here for
            traceback.print_exc()
            (self._folder / "crash").write_bytes(data)
            self._end(BROKEN)
        if time.monotonic() >= self._until:
            self._end(0)

    def mutated(self, data: bytes, longest: int, seed: int) -> bytes:
        """Vary an input by its grammar, or as the engine does with what it has seen compared."""
        chance = Random(seed)
        if chance.random() < 0.4:
            varied: bytes = atheris.Mutate(data, longest)
            return varied
        return self._target.mutation(data, chance)[:longest]

    def go(self) -> None:
        """Run; does not return."""
        options = [f"-max_len={self._target.longest}", "-timeout=30", "-rss_limit_mb=2048"]
        prefix = f"-artifact_prefix={self._folder}/engine-"
        inputs = str(self._folder / "inputs")
        arguments = [sys.argv[0], *options, prefix, "-reload=0", "-print_pcs=0", inputs]
        atheris.Setup(arguments, self.take, custom_mutator=self.mutated)
        atheris.Fuzz()

    def _end(self, code: int) -> None:
        came = {"tried": self._tried, "seconds": time.monotonic() - self._began}
        print(json.dumps(came), flush=True)
        sys.stderr.flush()
        os._exit(code)  # the engine has no other end that leaves its inputs and our line in peace


if __name__ == "__main__":
    Run(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])).go()
