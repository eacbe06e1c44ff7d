-- How long people have worked, as stored in `people`: the days of their visible past experience of work, business, research and teaching,
-- with overlaps counted once, and the day on which ongoing experience began. Both null: none of it is dated.
create or replace function experience_of(p_people text[]) returns table (id text, experience_days int, experience_since date)
language sql stable
as $$
  select h.id, case when h.since is null then h.ended else coalesce(h.ended, 0) end::int, h.since
  from (
    select u.id, sum(upper(s.span) - lower(s.span)) filter (where not upper_inf(s.span)) as ended,
      min(lower(s.span)) filter (where upper_inf(s.span)) as since
    from unnest(p_people) u (id)
    left join lateral (
      select unnest(range_agg(daterange(c.start_date, c.end_date, '[]'))) as span
      from experience_cards c
      where c.person_id = u.id and c.visible and c.intent_primary in ('work', 'business', 'research', 'teaching')
        and (c.start_date <= c.end_date or (c.end_date is null and c.start_date is not null and c.is_current is not false))
    ) s on true
    group by u.id
  ) h
$$;
