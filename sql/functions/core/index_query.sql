-- What an index can be asked for on behalf of a query: its words, wherever they stand, without its exclusions; every row that
-- matches the query matches this. An empty tsquery where no index can help. A word of several phrases is asked for once, unless
-- there are alternatives: each time that an index is asked for it, it is read.
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
