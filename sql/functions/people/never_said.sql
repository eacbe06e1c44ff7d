-- The texts that no visible card, child or profile of anybody contains.
create or replace function never_said(p_texts text[]) returns text[]
language sql stable
security definer set search_path from current  -- reads whole people, whose contacts the serving role may not read
as $$
  select coalesce(array_agg(t.text order by t.place), '{}')
  from unnest(p_texts) with ordinality t (text, place), any_phrase(array[t.text]) q (phrase)
  where not exists (select from experience_cards c where c.visible and c.text_search @@ q.phrase)
    and not exists (
      select from experience_card_children k join experience_cards c on c.id = k.card_id where c.visible and k.text_search @@ q.phrase)
    and not exists (select from people p where p.text_search @@ q.phrase)
$$;

revoke execute on function never_said(text[]) from public;
grant execute on function never_said(text[]) to quarry_serving;
