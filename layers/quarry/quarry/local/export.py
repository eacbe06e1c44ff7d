"""`quarry export user`: what is kept about a user, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import LiteralString

from quarry.local.database import LocalDatabase
from quarry.local.telling import write_json
from quarry.platform.errors import NotFound

EXPORTED: Mapping[str, LiteralString] = {
    "runs": """select r.id::text, r.domain, r.query, r.request, r.status, r.end_reason, r.started_at,
        r.helpful, r.feedback_reason, r.feedback_at,
        array(select jsonb_build_object('type', x.result_type, 'id', x.result_id)
          from search_run_results x where x.run_id = r.id order by x.rank) as results
      from search_runs r where r.caller = %(user)s order by r.started_at""",
    "answers": """select id, query, answer, sources, suggested_followups, confidence, citations, created_at, expires_at
      from answer_cache where owner = %(user)s order by created_at""",
    "people_searches": """select s.id::text, s.query_text as query, s.parsed_constraints as constraints, s.filters,
        s.fallback_tier, s.created_at, s.expires_at,
        array(select jsonb_build_object(
            'person_id', x.person_id, 'rank', x.rank, 'score', x.score, 'why_matched', x.extra -> 'why_matched')
          from people_search_results x where x.search_id = s.id order by x.rank) as results
      from people_searches s where s.user_id = %(user)s order by s.created_at""",
    "contact_unlocks": """select person_id, search_id::text, unlocked_at from contact_unlocks
      where user_id = %(user)s order by unlocked_at""",
    "credits": """select amount, reason, reference, created_at from credit_ledger
      where user_id = %(user)s order by entry_number""",
    "conversations": """select id::text, domain, title, turns, created_at, updated_at from conversations
      where user_id = %(user)s order by created_at""",
    "saved_searches": """select s.id::text, s.domain, s.name, s.query, s.parameters, s.created_at, s.opened_at,
        array(select jsonb_build_object('type', x.result_type, 'id', x.result_id)
          from saved_search_results x where x.search_id = s.id order by x.shown_at, x.result_type, x.result_id) as shown
      from saved_searches s where s.user_id = %(user)s order by s.created_at""",
    "idempotency_keys": """select endpoint, key, response::jsonb as response, expires_at from idempotency_keys
      where caller = %(user)s order by expires_at""",
    "streams": """select s.run_id::text as id, s.started_at,
        array(select e.event::jsonb from run_events e where e.run_id = s.run_id order by e.number) as events
      from run_streams s where s.caller = %(user)s order by s.started_at""",
}
"""What is kept about a user, by the name it is exported under."""


async def export_user(database: LocalDatabase, user: str) -> None:
    """Print it. Raises NotFound where nothing is kept."""
    async with database.services() as services, services.database.transaction() as connection:
        kept = {
            name: await (await connection.execute(statement, {"user": user})).fetchall()
            for name, statement in EXPORTED.items()
        }
    if not any(kept.values()):
        raise NotFound(f"Nothing is kept about a user {user!r}.")
    write_json({"user": user, **kept})
