-- How many rows of a table a search finds: those that contain any word of the query (not only those worth ranking), and those of p_found,
-- found by meaning, that contain none. `rows` is exact up to p_limit; `is_capped`: there may be more.
--
-- The work is bounded by p_limit: if a single word may be in more rows, it is looked up by itself first. An index knows words, not phrases:
-- if a phrase is required or excluded, p_limit rows with the words are checked, and `rows` is how many of these match. If words are
-- required, only these are looked up in the index.
--
-- `p_filter` is an SQL condition on a row `t` of the table, built by the service: only rows that meet it are counted. p_fitting: see
-- text_candidates.
create or replace function count_candidates(
  p_table regclass, p_query weighed_query, p_filter text, p_limit int, p_found text[], p_fitting text[] default null, out rows int, out is_capped boolean
)
language plpgsql stable
set work_mem = '32MB'  -- the owners of related rows that no index finds are read once, into memory
set enable_seqscan = on
as $$
declare
  condition constant text := case
    -- not `any`, which the planner would estimate id by id
    when cardinality(p_fitting) > 1000 then 'and t.id in (select unnest($4)) is true'
    when p_fitting is not null then 'and t.id = any($4)' else coalesce('and (' || p_filter || ')', '') end;
  required constant tsquery := coalesce((p_query).required, '');
  holds_phrase constant boolean := required::text like '%<%';
  indexed constant tsquery := case when holds_phrase then bounded_index_query(p_table, required, 'infinity') else required end;
  common constant tsquery[] := array(
    select quote_literal(c.lexeme)::tsquery from lexeme_counts c
    where c.of_table = p_table::text and c.lexeme = any((p_query).words) and c.rows > p_limit order by c.rows desc limit 1);
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w), ' | ')::tsquery from unnest((p_query).words) w), '');
  needs_words constant boolean := required::text not like '%|%' and numnode(index_query(required)) > 0;
  words tsquery;
  others int;
begin
  foreach words in array case when needs_words then array[indexed] else common || any_word end loop
    -- the planner underestimates the cost of searching texts row by row, except for a word found early; for this call only: the
    -- function's own setting is restored after it
    perform set_config('enable_seqscan', (not needs_words and words <> any_word)::text, true);
    -- one query for both: the index applies the exclusions
    execute format('
      select count(*) filter (where t.is_found), count(*) > $2
      from (select %s as is_found from %s t where t.text_search @@ $1 %s limit $2 + 1) t',
      case when holds_phrase or needs_words then 't.text_search @@ $3' else 'true' end, p_table, condition)
      into rows, is_capped using case when numnode(indexed) > 0 and not needs_words then words && indexed else words end, p_limit,
        case when needs_words then any_word && required else required end, p_fitting;
    if is_capped then
      rows := least(rows, p_limit);
      return;
    end if;
  end loop;
  execute format('select count(*) from %s t where t.id = any($1) and not t.text_search @@ $2 %s', p_table, condition)
    into others using p_found, any_word, null::text, p_fitting;
  is_capped := rows + others > p_limit;
  rows := least(rows + others, p_limit);
end
$$;
