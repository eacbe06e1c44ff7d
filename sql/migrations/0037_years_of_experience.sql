-- For how long people have worked: days, by their visible experience of work, business, research and teaching, of which what
-- overlaps counts once. What goes on grows by itself, so it is kept by the day it goes on from. Null: nothing of it is dated.

alter table people
  add column experience_days int,  -- of what has ended
  add column experience_since date;  -- what goes on; null where nothing does

alter type card_filters add attribute experience_least int;  -- days
alter type card_filters add attribute experience_most int;
alter type card_filters add attribute experience_on date;  -- the day on which they are counted

create function count_experience(p_people text[]) returns void
language plpgsql
as $$
begin
  -- in one order, so that two writers wait for each other and never both
  perform from people p where p.id = any(p_people) order by p.id for no key update;
  update people p set experience_days = w.days, experience_since = w.since
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
  ) h cross join lateral (select case when h.since is null then h.ended else coalesce(h.ended, 0) end, h.since) w (days, since)
  where p.id = h.id and (p.experience_days, p.experience_since) is distinct from (w.days, w.since);
end
$$;

-- Counts anew for whom a statement changes what is counted; for nobody else, since people are then written.
create function keep_experience() returns trigger
language plpgsql
as $$
declare
  written text[];
begin
  if tg_op = 'TRUNCATE' then
    update people set experience_days = null, experience_since = null where experience_days is not null;
  elsif tg_op = 'INSERT' then
    written := array(select distinct person_id from new_rows where start_date is not null);
  elsif tg_op = 'DELETE' then
    written := array(select distinct person_id from old_rows where start_date is not null);
  else
    written := array(
      select distinct w.person_id from (
        (select * from (select id, person_id, visible, intent_primary, start_date, end_date, is_current from new_rows) n
         except select id, person_id, visible, intent_primary, start_date, end_date, is_current from old_rows)
        union all
        (select * from (select id, person_id, visible, intent_primary, start_date, end_date, is_current from old_rows) o
         except select id, person_id, visible, intent_primary, start_date, end_date, is_current from new_rows)
      ) w where w.start_date is not null);
  end if;
  if cardinality(written) > 0 then
    perform count_experience(written);
  end if;
  return null;
end
$$;
create trigger experience_inserted after insert on experience_cards referencing new table as new_rows
  for each statement execute function keep_experience();
create trigger experience_updated after update on experience_cards referencing old table as old_rows new table as new_rows
  for each statement execute function keep_experience();
create trigger experience_deleted after delete on experience_cards referencing old table as old_rows
  for each statement execute function keep_experience();
create trigger experience_truncated after truncate on experience_cards execute function keep_experience();

select count_experience(array(select id from people));

grant select (experience_days, experience_since) on people to quarry_serving;
