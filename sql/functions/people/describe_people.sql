-- People in the form for answers: never with contact details. Of the named cards, those that are visible, with the named children; if a
-- person has none of these, the p_cards_max latest visible cards. In no order.
create or replace function describe_people(p_people text[], p_cards text[], p_children text[], p_cards_max int) returns table (
  id text, name text, headline text, bio text, open_to_work boolean, open_to_contact boolean,
  work_preferred_locations text[], work_preferred_salary_min double precision, cards jsonb
)
language sql stable
as $$
  select p.id, p.name, p.headline, p.bio, p.open_to_work, p.open_to_contact, p.work_preferred_locations, p.work_preferred_salary_min,
    (select coalesce(jsonb_agg(s.family order by s.place), '[]')
     from (
       select card_family(c, p_children) as family,
         rank() over (order by c.id = any(p_cards) desc) as choice,
         row_number() over (order by c.id = any(p_cards) desc, c.end_date desc nulls first, c.start_date desc nulls last, c.id) as place
       from experience_cards c
       where c.person_id = p.id and c.visible
     ) s
     where s.choice = 1 and s.place <= p_cards_max)
  from people p
  where p.id = any(p_people)
$$;
