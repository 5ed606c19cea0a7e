"""Floor 3: memory that outlives the process: the record of what happened, and what still waits.

`interface.Store` is what the server needs of a store, `sqlite.SqliteStore` is
the one there is, and `recorder.Recorder` stands between the two, so that a
store that fails takes no decision with it.
"""
