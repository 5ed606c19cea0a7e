"""Documents that somebody proposes who reaches the database: a table that the writer looks at.

Only the writer writes documents, in the chain; so a proposal is a row beside it, with an answer.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crabhook.store.interface import Proposal, UnreachableError
from crabhook.store.postgres.line import Line, connect, shown, speaking_of
from crabhook.store.postgres.tables import documents_in, marked, unmarked

if TYPE_CHECKING:
    from crabhook.store.postgres.line import Connection

ANSWERED_WITHIN = 15.0  # seconds; a server that writes looks each second
_LOOK_EVERY = 0.2  # seconds between two looks for the answer
_PUT = """
INSERT INTO proposal (id, document, follows, text, name, desk, signature)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_OPEN = """
SELECT id, document, follows, text, name, desk, signature FROM proposal
WHERE answer IS NULL AND at > now() - interval '1 minute' ORDER BY at LIMIT 16
"""
_OLD = "DELETE FROM proposal WHERE at < now() - interval '1 hour'"


async def proposals_in(connection: "Connection") -> Sequence[Proposal]:
    """Return the proposals that have no answer yet and are still waited for, the oldest first."""
    return [Proposal(*map(unmarked, row)) for row in await connection.fetch(_OPEN)]


async def answer_to(connection: "Connection", proposal: str, said: str) -> None:
    """Answer a proposal, by its id, in words: empty where it is now the document."""
    await connection.execute(
        "UPDATE proposal SET answer = $2 WHERE id = $1", proposal, marked(said)
    )
    await connection.execute(_OLD)


def propose(url: str, proposal: Proposal, within: float = ANSWERED_WITHIN) -> str:
    """Propose a document; return what the writer says to it: why not, or nothing.

    Raises StoreError, and then it may have become the document or not.
    """
    line = Line(url)
    try:
        return line.wait(_proposed(url, proposal, within), None)
    finally:
        line.close()


async def _proposed(url: str, proposal: Proposal, within: float) -> str:
    connection = await connect(url)
    values = (proposal.id, proposal.document, proposal.follows, proposal.text)
    try:
        with speaking_of(url):
            row = (*map(marked, (*values, proposal.name, proposal.desk)), proposal.signature)
            await connection.execute(_PUT, *row)
            try:
                async with asyncio.timeout(within):
                    return await _heard(connection, proposal)
            except TimeoutError:
                return await _unanswered(connection, url, proposal)
            finally:
                await connection.execute("DELETE FROM proposal WHERE id = $1", proposal.id)
    finally:
        connection.terminate()


async def _heard(connection: "Connection", proposal: Proposal) -> str:
    while True:
        text = "SELECT answer FROM proposal WHERE id = $1 AND answer IS NOT NULL"
        row = await connection.fetchrow(text, proposal.id)
        if row is not None:
            return str(unmarked(row["answer"]))
        await asyncio.sleep(_LOOK_EVERY)


async def _unanswered(connection: "Connection", url: str, proposal: Proposal) -> str:
    """Return nothing where it is the document all the same: the writer ended before it said so."""
    now = (await documents_in(connection)).get(proposal.document)
    if now is not None and (now.version, now.text) == (proposal.follows + 1, proposal.text):
        return ""
    raise UnreachableError(
        f"no server that writes the record in {shown(url)} answers: begin one, and try again"
    )
