"""What can go wrong with a store, as the kinds of trouble a person can do something about."""

from crabhook.model.errors import CrabhookError


class StoreError(CrabhookError):
    """The store could not do what it was asked; nothing of that was written."""


class FullError(StoreError):
    """The disk, or the share of it we may use, is full."""


class LockedError(StoreError):
    """Another program holds the database for itself; it may let go again."""


class ReadOnlyError(StoreError):
    """The record's files, or their folder, may not be written."""


class CorruptError(StoreError):
    """The database's file is damaged; what is in it cannot be relied on."""


class TakenError(StoreError):
    """Another crabhook writes this record already."""


class ForeignError(StoreError):
    """The database was made by a newer crabhook, or is not a record at all."""


class TicketError(StoreError):
    """A request id came with another secret than the one it first came with."""
