"""Invariants of the database after every fault."""

from __future__ import annotations

import psycopg

from quarry import catalog

_BALANCES_THAT_DO_NOT_ADD_UP = """
    select coalesce(a.user_id, l.user_id), a.balance, l.sum
    from credit_accounts a
    full join (select user_id, sum(amount) from credit_ledger group by 1) l using (user_id)
    where coalesce(a.balance, 0) <> coalesce(l.sum, 0) or a.balance < 0"""
_CHARGES_THAT_BELONG_TO_NOTHING_STORED = """
    select 'search', coalesce(s.id::text, l.reference)
    from people_searches s
    full join (select * from credit_ledger where reason = 'search') l on l.reference = s.id::text and l.user_id = s.user_id
    where s.id is null or l.amount <> -1
      or (l.reference is not null) <> exists (select from people_search_results r where r.search_id = s.id)
    union all
    select 'unlock', coalesce(u.person_id, l.reference)
    from contact_unlocks u
    full join (select * from credit_ledger where reason = 'unlock') l
      on l.reference = u.search_id || '/' || u.person_id and l.user_id = u.user_id
    where u.person_id is null or l.reference is null or l.amount <> -1"""
_ANSWERS_WITHOUT_A_SEARCH = """
    select k.caller, k.key from idempotency_keys k
    where k.response is not null
      and not exists (select from people_searches s where s.id::text = k.response::jsonb ->> 'search_id')"""
_VECTORS_OUT_OF_STEP = """
    select t.id from {table} t
    where (t.embedded_hash is null) = exists (select from {embeddings} e where e.record_id = t.id)"""


def assert_sound(url: str) -> None:
    """Asserts that each unlock, and each search that found somebody, was charged once, and nothing else; and that vectors exist
    exactly where rows say so.
    """
    unsound = [_BALANCES_THAT_DO_NOT_ADD_UP, _CHARGES_THAT_BELONG_TO_NOTHING_STORED, _ANSWERS_WITHOUT_A_SEARCH]
    for table in catalog.EMBEDDED.values():
        unsound.append(_VECTORS_OUT_OF_STEP.format(table=table.name, embeddings=table.embeddings))
    with psycopg.connect(url) as connection:
        for query in unsound:
            assert connection.execute(query.encode()).fetchall() == []
