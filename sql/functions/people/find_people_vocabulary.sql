-- Which of `p_phrases` (lower case) are names that visible cards hold. One row; every phrase is looked up by index.
create or replace function find_people_vocabulary(p_phrases text[]) returns table (
  companies text[], teams text[], domains text[], sub_domains text[], cities text[], countries text[], skills text[]
)
language sql stable
as $$
  with phrases as materialized (select distinct p.phrase from unnest(p_phrases) p (phrase))
  select
    array(select phrase from phrases where exists (select from experience_cards c where c.company_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.team_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.domain_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.sub_domain_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.city_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.country_norm = phrase and c.visible)),
    array(select phrase from phrases
      where exists (select from experience_cards c where lowered_names(c.skills) @> array[phrase] and c.visible))
$$;
