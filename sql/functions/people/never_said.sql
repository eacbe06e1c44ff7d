-- Those of the texts that no visible card, no child of one and no profile holds, whoever it is.
create or replace function never_said(p_texts text[]) returns text[]
language sql stable
security definer set search_path from current  -- whole people are compared, of whom who serves may not read contacts
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
