-- The words that are in no company's texts or niches, in order; of very many, the first max_words are checked. A word with a known number
-- of companies is not searched for.
create or replace function unspoken_words(p_words text[]) returns text[]
language plpgsql stable
set enable_seqscan = off  -- the planner does not know how rare they are
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
