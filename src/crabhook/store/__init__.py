"""Floor 3: memory that outlives the process: the record of what happened, and what still waits.

`recorder.Recorder` writes for the server, and goes on when a storage fails.
Below it a `writer.Writer` takes out secrets and chains the records, and an
`interface.Journal` keeps them; an `interface.History` is read.  `opening`
chooses both by a URL: SQLite, or PostgreSQL, which several servers reach.
"""
