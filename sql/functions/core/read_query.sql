-- A user's query, parsed as websearch_to_tsquery does (quotes, OR, -not; typographic quotes too), within limits that hold for any input: a
-- repeated word adds nothing, and of very many words, phrases and exclusions, the first ones are used.
--
-- all_words: the whole query; an empty tsquery if it has no words.
-- required: what must match even if not all words need to: quoted phrases and exclusions.
-- excluded: only its exclusions, negated, which always apply.
-- phrases: its quoted phrases of several words, one by one.
-- words: the distinct words (lexemes) without exclusions, in order of appearance, including those that are too many for all_words.
--
-- It is parsed for rows in p_language; null: for our own tables, which are in English (see asked_words).
--
-- A dash before a word excludes it; an even number of dashes has no effect. A query, or a part of it next to OR, with only exclusions
-- matches nothing.
create or replace function read_query(
  p_query text, p_language regconfig default null,
  out all_words tsquery, out required tsquery, out excluded tsquery, out phrases tsquery[], out words text[]
)
language plpgsql immutable parallel safe
as $$
declare
  max_characters constant int := 4000;  -- twice as many as a request may have
  max_part_characters constant int := 240;  -- per word or phrase
  max_parts constant int := 250;  -- distinguished before stems are compared
  max_part_words constant int := 12;  -- a longer phrase is split into words in any position
  max_words constant int := 16;
  max_excluded constant int := 6;
  max_required constant int := 8;
  -- each with its closing mark: a single mark may mean inches
  set_quotes constant text := '“([^“”„"]*)”|„([^“”„"]*)[“”]|«([^«»"]*)»';
begin
  with typed as (
    select m.place, m.part[1] as part, left(m.part[1], 1) = '"' as quoted, lower(m.part[1]) = 'or' as is_or,
      ltrim(m.part[1], '-') as bare, sum(length(m.part[1]) - length(ltrim(m.part[1], '-'))) over (order by m.place) as dashes
    from regexp_matches(
      regexp_replace(left(p_query, max_characters), set_quotes, '"\1\2\3"', 'g'), '"[^"]*"?|[^\s"]+', 'g'
    ) with ordinality m (part, place)
  ), parts as (
    select t.branch, t.excluded, t.quoted, left(t.bare, max_part_characters) as bare, min(t.place) as place
    from (
      select t.*, count(*) filter (where t.is_or) over (order by t.place) as branch,
        (t.dashes - coalesce(lag(t.dashes) over (order by t.place), 0)) % 2 = 1 as excluded
      from typed t where t.bare <> ''
    ) t
    where not t.is_or
    group by 1, 2, 3, 4 order by 5 limit max_parts
  ), read as (
    select p.branch, p.excluded, min(p.place) as place, bool_or(p.quoted) as quoted, min(p.bare) as bare, q.query
    from parts p, lateral (select asked_words(p_language, p.bare) as query offset 0) w, lateral (
      select case when numnode(w.query) < 2 * max_part_words then w.query else (
        select string_agg(quote_literal(l.lexeme), ' & ')::tsquery
        from (select l.lexeme from unnest(said_words(p_language, p.bare)) l order by l.positions[1] limit max_part_words) l
      ) end as query offset 0
    ) q
    where numnode(w.query) > 0
    group by p.branch, p.excluded, q.query
  ), kept as (
    select * from (
      select r.*, sum((numnode(r.query) + 1) / 2) over (partition by r.excluded order by r.place) as so_far,
        sum((numnode(r.query) + 1) / 2) over (partition by r.excluded, r.quoted and not r.excluded order by r.place)
          - (numnode(r.query) + 1) / 2 as before_it
      from read r
    ) r
    -- the first phrase of a kind is kept, however long
    where case when r.excluded then r.before_it < max_excluded else r.so_far <= max_words end
  ), branches as (
    select b.query, min(b.branch) as branch
    from (
      select k.branch, string_agg(case when k.excluded then '!' else '' end || '(' || k.query::text || ')', ' & ' order by k.place) as query
      from kept k group by k.branch having not bool_and(k.excluded)
    ) b
    group by 1
  )
  select (select string_agg('(' || b.query || ')', ' | ' order by b.branch)::tsquery from branches b),
    (select string_agg(case when k.excluded then '!' else '' end || '(' || k.query::text || ')', ' & ' order by k.place)::tsquery
     from kept k where k.excluded or k.quoted and k.before_it < max_required),
    (select string_agg('!(' || k.query::text || ')', ' & ' order by k.place)::tsquery from kept k where k.excluded),
    array(select k.query from kept k where k.quoted and not k.excluded and k.before_it < max_required and numnode(k.query) > 1
      order by k.place),
    array(
      select l.lexeme from (select string_agg(r.bare, ' ' order by r.place) as said from read r where not r.excluded) r,
        unnest(said_words(p_language, r.said)) l
      order by l.positions[1], l.lexeme limit max_parts)
  into all_words, required, excluded, phrases, words;
  all_words := coalesce(all_words, '');
  required := coalesce(required, '');
  excluded := coalesce(excluded, '');
end
$$;
