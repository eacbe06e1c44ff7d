"""The SQL functions that follow from the types of record; `make docs` writes them into sql/functions/records."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.records.types import TYPES, Declared, RecordType


def functions() -> Mapping[str, str]:
    """The texts of the functions, by their names."""
    return {
        "record_texts": _record_texts(),
        **{f"hybrid_search_{declared.table.name}": _search(name, declared) for name, declared in TYPES.items()},
    }


def _record_texts() -> str:
    arms = "\nunion all\n".join(_texts(name, declared) for name, declared in TYPES.items())
    return f"""-- Written by tools/generate.py from the types of record.
-- What a reader sees of a record of any type: a title, a text, and the topic that it belongs to.
create or replace view record_texts (type, id, title, body, topic, speaker, date, meeting_id, url) as
{arms};
"""


def _texts(name: RecordType, declared: Declared) -> str:
    fields, joins = declared.row.model_fields, ""
    if "agenda_item_id" in fields:
        joins += " left join agenda_items a on a.id = r.agenda_item_id"
    if "t." in declared.topic:
        joins += f" left join matters t on t.id = {'r' if 'matter_id' in fields else 'a'}.matter_id"
    return (
        f"select '{name}', r.id, {declared.title},\n  {declared.body},\n"
        f"  {declared.topic}, {declared.speaker}, r.date, r.meeting_id, r.url\nfrom {declared.table.name} r{joins}"
    )


def _search(name: RecordType, declared: Declared) -> str:
    table = declared.table.name
    return f"""-- Written by tools/generate.py from the types of record.
-- Hybrid search over {table.replace("_", " ")}; see hybrid_rank_records.
create or replace function hybrid_search_{table}(
  query_text text, query_embedding halfvec, match_count int, full_text_weight double precision default 1,
  semantic_weight double precision default 1, rrf_k int default 50, date_from date default null, date_to date default null,
  ids text[] default null
) returns table (
  id text, rank_score double precision, text_rank int, semantic_rank int, text_score double precision, similarity double precision
)
language sql stable
as $$
  select * from hybrid_rank_records('{table}', '{name}_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to, ids)
$$;
"""
