-- Those of some words that stand in no company's texts or niches, in their order; of very many the first max_words are looked for. A word
-- of which the database knows how many companies hold it is not looked for in them.
create or replace function unspoken_words(p_words text[]) returns text[]
language plpgsql stable
set enable_seqscan = off  -- how rare they are nothing tells the planner
as $$
declare
  max_words constant int := 64;
begin
  return array(
    select u.word
    from unnest(p_words[:max_words]) with ordinality u (word, place), plainto_tsquery('english', u.word) q
    where numnode(q) > 0
      and not exists (select from lexeme_counts c where c.of_table = 'companies' and c.lexeme = btrim(q::text, '''') offset 0)
      and not exists (select from companies t where t.text_search @@ q)
      and not exists (select from companies t where t.niches_search @@ q)
    order by u.place);
end
$$;
