"""Memory that outlives the process: the record of what happened, and what still waits.

`recorder.Recorder` writes for the server, and goes on when a storage fails. Below, a
`writer.Writer` removes secrets and chains the records, an `interface.Journal` keeps them, and an
`interface.History` reads. `opening` chooses by URL: SQLite, or PostgreSQL for several servers.
"""
