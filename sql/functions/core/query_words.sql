-- weigh_words for a query as typed: its distinct words, without what it excludes (-word), as read_query reads it.
create or replace function query_words(
  p_table regclass, p_query text, p_max_words int, p_max_candidates double precision, p_two_words boolean default false
) returns table (words text[], weights double precision[], candidates tsquery)
language sql stable
as $$
  select w.* from weigh_words(p_table, (read_query(p_query)).words, p_max_words, p_max_candidates, p_two_words) w
$$;
