"""How much a user may keep."""

from __future__ import annotations

from psycopg.sql import SQL, Identifier

from quarry.platform.errors import Forbidden
from quarry.postgres.pool import Connection


async def take_room(connection: Connection, table: str, user_id: str, most: int) -> None:
    """See that the user has fewer than `most` rows in a table, also where several are added at once. Raises Forbidden."""
    await connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 7305114))", [f"{table} {user_id}"])
    cursor = await connection.execute(
        SQL("select count(*) >= %s as is_full from {} where user_id = %s").format(Identifier(table)), [most, user_id]
    )
    row = await cursor.fetchone()
    if row and row["is_full"]:
        raise Forbidden(f"You keep {most} of these already; delete one first.")
