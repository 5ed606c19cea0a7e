"""Makes the exporter that the settings ask for."""

from functools import partial
from socket import gethostname

from crabhook import __version__, config
from crabhook.config import Settings
from crabhook.export.wish import ExportWish
from crabhook.server.export.cursor import CursorFile
from crabhook.server.export.exporter import Exporter, ExportRoute
from crabhook.server.export.receivers import receiver_of
from crabhook.store.opening import open_history

CURSOR = "export.cursor"
"""The cursor's file in the state folder."""


def exporter_of(settings: Settings, wish: ExportWish) -> Exporter:
    """Return the exporter of the record that the settings name. Raises ExportWishError."""
    state = config.state_folder()
    route = ExportRoute(
        receiver_of(wish), wish.packing, CursorFile(state / CURSOR), gethostname(), __version__
    )
    return Exporter(route, partial(open_history, settings.store or state))
