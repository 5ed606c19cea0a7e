"""Lending the terminal to the operator's own editor, while agents are served on."""

import os

from prompt_toolkit.application import Application, run_in_terminal

from crabhook.ui.full.outside import EditorError, Errand, OutsideEditor, editor_of
from crabhook.ui.full.screen import Screen


class Errands:
    """Does what the screen asks to be done outside of it, one thing at a time."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._editor: OutsideEditor | None = None

    def __repr__(self) -> str:
        return f"<Errands {self._editor}>"

    def look(self, application: Application[None]) -> None:
        """Begin what the screen asks for, if it asks for anything."""
        errand, self._screen.errand = self._screen.errand, None
        if errand is not None:
            self._screen.drawn(shows_card=False)  # what comes back into view is read anew
            application.create_background_task(self._edit(errand, application))

    def stop(self) -> None:
        """End the editor that is open: the desk closes, and waits for it."""
        if self._editor is not None:
            self._editor.stop()

    async def _edit(self, errand: Errand, application: Application[None]) -> None:
        file = application.input.fileno()
        try:
            command = editor_of(os.environ)
            editor = self._editor = OutsideEditor(command, file if os.isatty(file) else None)
            text = await run_in_terminal(
                lambda: editor.edit(errand.text, errand.file_name), in_executor=True
            )
        except EditorError as error:
            self._screen.say(str(error))
        else:
            errand.done(text)
        finally:
            self._editor = None
        application.invalidate()
