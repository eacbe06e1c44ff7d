-- The part of a query that an index can look up: its words, wherever they are, without its exclusions; every row that matches the query
-- matches this. An empty tsquery if no index can help. A word in several phrases is looked up once, unless there are alternatives: each
-- look-up reads the index.
create or replace function index_query(p_query tsquery) returns tsquery
language sql immutable parallel safe
as $$
  select coalesce(case when q.words like '%|%' then q.words else (
    select string_agg(w.word, ' & ' order by w.place)
    from (select m.word[1] as word, min(m.place) as place
      from regexp_matches(q.words, $re$'(?:[^']|'')+'$re$, 'g') with ordinality m (word, place) group by 1) w
  ) end, '')::tsquery
  from (select nullif(regexp_replace(querytree(p_query), '<(-|\d+)>', '&', 'g'), 'T') as words) q
$$;
