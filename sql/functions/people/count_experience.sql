-- Stores how long people have worked (experience_of); correct rows are not written.
create or replace function count_experience(p_people text[]) returns void
language plpgsql
as $$
begin
  -- in a fixed order, so that two writers cannot deadlock
  perform from people p where p.id = any(p_people) order by p.id for no key update;
  update people p set experience_days = w.experience_days, experience_since = w.experience_since
  from experience_of(p_people) w
  where p.id = w.id and (p.experience_days, p.experience_since) is distinct from (w.experience_days, w.experience_since);
end
$$;
