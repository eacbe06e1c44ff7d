-- Contact details of a person, for a user who has unlocked them, within a search of theirs that found the person and has not expired, while
-- the person is open to work or contact; otherwise no row. The serving role can read contact details only here, so the function has its
-- owner's rights; its names are bound when it is created.
create or replace function contact_of_person(p_user_id text, p_search_id uuid, p_person_id text)
returns table (email text, phone text, links text[])
language sql stable security definer
begin atomic
  select p.email, p.phone, p.links
  from people_searches s
  join people_search_results r on r.search_id = s.id
  join contact_unlocks u on u.user_id = s.user_id and u.person_id = r.person_id
  join people p on p.id = r.person_id
  where s.id = p_search_id and s.user_id = p_user_id and s.expires_at > now() and r.person_id = p_person_id
    and (p.open_to_work or p.open_to_contact);
end;

revoke execute on function contact_of_person(text, uuid, text) from public;
grant execute on function contact_of_person(text, uuid, text) to quarry_serving, quarry_loading;
